"""A simulated push relay, which accepts registrations and notifications like the real one.

Instead of sending notifications to push services, it stores them. A GET with the token reads them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import orjson
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from adapters.push_relay.relay import NOTIFY, REGISTER
from demo.local_server import Reply, Request

LIVENESS_S = 24 * 3600
KEPT = 100


def token_id_of(token: str) -> str:
    """Return the first 8 bytes of a token's SHA-256, in base64."""
    return base64.b64encode(hashlib.sha256(token.encode()).digest()[:8]).decode()


class LocalRelay:
    """The relay's state and its endpoints. Call it with a request."""

    def __init__(
        self, *, organization: str, key: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._credentials = (organization, key)
        self._clock = clock
        self._private = PrivateKey.generate()
        self._turn = threading.Lock()
        self._tokens: dict[tuple[str, str], str] = {}
        self._delivered: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.public_key = base64.b64encode(bytes(self._private.public_key)).decode()

    def __call__(self, request: Request) -> Reply:
        with self._turn:
            match request.method, request.path:
                case "GET", "/":
                    return Reply(200, {"bouncer_public_key": self.public_key})
                case "GET", "/delivered":
                    return Reply(200, {"delivered": self.delivered(request.args.get("token", ""))})
                case "POST", path if path in (REGISTER, NOTIFY):
                    if request.credentials != self._credentials:
                        return _error(401, "INVALID_ZULIP_SERVER", "Unknown organization or key")
                    return self._register(request) if path == REGISTER else self._notify(request)
        return _error(404, "NOT_FOUND", "Not found")

    def delivered(self, token: str) -> list[dict[str, Any]]:
        """Return the notifications for the device with this token, oldest first."""
        return list(self._delivered.get(token, ()))

    def _register(self, request: Request) -> Reply:
        form = request.form
        if form.get("bouncer_public_key") != self.public_key:
            return _error(400, "INVALID_BOUNCER_PUBLIC_KEY", "Invalid bouncer_public_key")
        try:
            sealed = base64.b64decode(form.get("encrypted_push_registration", ""), validate=True)
            registration = orjson.loads(SealedBox(self._private).decrypt(sealed))
        except (binascii.Error, ValueError, CryptoError, TypeError):
            return _error(400, "INVALID_ENCRYPTED_PUSH_REGISTRATION", "Invalid registration")
        match registration:
            case {"token": str(token), "token_kind": "apns" | "fcm", "timestamp": int(at)} if token:
                pass
            case _:
                return _error(400, "BAD_REQUEST", "Invalid registration")
        if token_id_of(token) != form.get("token_id"):
            return _error(400, "BAD_REQUEST", "token_id is not the token's")
        if self._clock() - at > LIVENESS_S:
            return _error(400, "REQUEST_EXPIRED", "Request expired")
        self._tokens[form.get("realm_uuid", ""), form["token_id"]] = token
        return Reply(200, {"result": "success", "msg": ""})

    def _notify(self, request: Request) -> Reply:
        match request.document:
            case {"realm_uuid": str(realm), "push_requests": list(requests)}:
                pass
            case _:
                return _error(400, "BAD_REQUEST", "Invalid push_requests")
        gone, sent = [], {"apns": 0, "fcm": 0}
        for push in requests:
            token = self._tokens.get((realm, push["token_id"]))
            if token is None:
                gone.append(push["token_id"])
                continue
            sent[push["token_kind"]] += 1
            kept = self._delivered[token]
            kept.append(push["payload"])
            del kept[:-KEPT]
        return Reply(
            200,
            {
                "result": "success",
                "msg": "",
                "android_successfully_sent_count": sent["fcm"],
                "apple_successfully_sent_count": sent["apns"],
                "delete_token_ids_base64": gone,
            },
        )


def _error(status: int, code: str, msg: str) -> Reply:
    return Reply(status, {"result": "error", "msg": msg, "code": code})
