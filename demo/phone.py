"""A mobile client that creates keys, registers its token and decrypts notifications."""

from __future__ import annotations

import base64
import secrets
import time
from typing import Any

import orjson
from nacl.exceptions import CryptoError
from nacl.public import PublicKey, SealedBox
from nacl.secret import SecretBox

from demo.push_relay import token_id_of

SECRETBOX = b"\x31"


class Phone:
    """A device with a push service token and a push key."""

    def __init__(self, token_kind: str = "fcm") -> None:
        self.token_kind = token_kind
        self.token = secrets.token_hex(16)
        self.renew_key()

    def renew_key(self) -> None:
        """Create a new push key with a new id."""
        self._key = secrets.token_bytes(32)
        self.push_key_id = secrets.randbits(32)

    @property
    def token_id(self) -> str:
        return token_id_of(self.token)

    def key_fields(self) -> dict[str, Any]:
        """Return the push key fields of `POST /mobile_push/register`."""
        push_key = base64.b64encode(SECRETBOX + self._key).decode()
        return {"push_key": push_key, "push_key_id": self.push_key_id}

    def token_fields(self, public_key: str, *, at: float | None = None) -> dict[str, Any]:
        """Return the token fields of `POST /mobile_push/register`, with the token encrypted for the
        relay's public key.
        """
        registration = {
            "token": self.token,
            "token_kind": self.token_kind,
            "timestamp": int(time.time() if at is None else at),
        }
        if self.token_kind == "apns":
            registration["ios_app_id"] = "example.specd"
        box = SealedBox(PublicKey(base64.b64decode(public_key)))
        return {
            "token_kind": self.token_kind,
            "token_id": self.token_id,
            "bouncer_public_key": public_key,
            "encrypted_push_registration": base64.b64encode(
                box.encrypt(orjson.dumps(registration))
            ).decode(),
        }

    def read(self, payload: dict[str, Any]) -> dict[str, Any] | None:
        """Decrypt a notification. Return None if it was not encrypted with this device's key."""
        if payload["push_key_id"] != self.push_key_id:
            return None
        try:
            opened = SecretBox(self._key).decrypt(base64.b64decode(payload["encrypted_data"]))
        except CryptoError:
            return None
        notification: dict[str, Any] = orjson.loads(opened)
        return notification
