"""The protocol of the push relay, and its implementation over HTTP.

Only the relay (Zulip calls it bouncer) can read the tokens of the phones' push services. A client
encrypts its token for the relay. This server forwards it, and later identifies the token by the
first 8 bytes of its SHA-256. The relay cannot read the notifications.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from adapters.exchanges import Answer, NoAnswer, Peer

REGISTER = "/api/v1/remotes/push/e2ee/register"
NOTIFY = "/api/v1/remotes/push/e2ee/notify"
REFUSALS = frozenset(
    (
        "INVALID_BOUNCER_PUBLIC_KEY",
        "INVALID_ENCRYPTED_PUSH_REGISTRATION",
        "REQUEST_EXPIRED",
        "BAD_REQUEST",
    )
)
"""Error codes that mean that the registration is invalid, so that a retry is useless."""


class RelayFailed(Exception):
    """The relay did not carry out a request."""


class RelayUnreachable(RelayFailed):
    """The relay sent no response or an invalid one."""


class RelayBroken(RelayFailed):
    """The relay answered with a server error."""


class RelayDenied(RelayFailed):
    """The relay rejects this server or organization, or no relay is configured."""


class RegistrationRefused(Exception):
    """The relay rejected the registration. `code` is one of `REFUSALS`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Push:
    """An encrypted notification for a device. `push_key_id` identifies the encryption key."""

    token_id: str
    token_kind: str
    push_key_id: int
    encrypted_data: str


class PushRelay(Protocol):
    """Every method raises `RelayUnreachable`, `RelayBroken` and `RelayDenied`."""

    @property
    def is_configured(self) -> bool: ...

    async def register(
        self, realm_uuid: str, *, token_id: str, public_key: str, registration: str
    ) -> None:
        """Register an encrypted token. Raise `RegistrationRefused`."""
        ...

    async def notify(self, realm_uuid: str, pushes: Sequence[Push]) -> frozenset[str]:
        """Send notifications. Return the token ids that are no longer valid."""
        ...


class HttpPushRelay:
    """`PushRelay` over HTTP. `organization` and `key` identify this server with Basic
    authentication.
    """

    def __init__(self, url: str, *, organization: str, key: str, timeout_s: float) -> None:
        self._peer = Peer(url, timeout_s)
        self._credentials = (organization, key)

    @property
    def is_configured(self) -> bool:
        return bool(self._peer.url)

    async def register(
        self, realm_uuid: str, *, token_id: str, public_key: str, registration: str
    ) -> None:
        form = {
            "realm_uuid": realm_uuid,
            "token_id": token_id,
            "bouncer_public_key": public_key,
            "encrypted_push_registration": registration,
        }
        answer = await self._send(REGISTER, form=form)
        code = (answer.document or {}).get("code")
        if answer.status == 400 and code in REFUSALS:
            raise RegistrationRefused(code)
        self._require_success(answer)

    async def notify(self, realm_uuid: str, pushes: Sequence[Push]) -> frozenset[str]:
        requests = [
            {
                "token_id": push.token_id,
                "token_kind": push.token_kind,
                "priority": "high",
                "payload": {
                    "push_key_id": push.push_key_id,
                    "encrypted_data": push.encrypted_data,
                },
            }
            for push in pushes
        ]
        answer = await self._send(
            NOTIFY, document={"realm_uuid": realm_uuid, "push_requests": requests}
        )
        gone = self._require_success(answer).get("delete_token_ids_base64")
        if not isinstance(gone, list) or not all(isinstance(token_id, str) for token_id in gone):
            raise self._garbage()
        return frozenset(gone)

    async def _send(self, path: str, **body: Any) -> Answer:
        if not self.is_configured:
            raise RelayDenied()
        try:
            return await self._peer.send("POST", path, credentials=self._credentials, **body)
        except NoAnswer as failure:
            _log.warning("push_relay_failed", reason=str(failure))
            raise RelayUnreachable() from None

    def _require_success(self, answer: Answer) -> dict[str, object]:
        """Return the body of a successful response. Raise the matching error for any other."""
        if answer.status >= 500:
            _log.warning("push_relay_failed", reason=f"answered HTTP {answer.status}")
            raise RelayBroken()
        if 400 <= answer.status < 500:
            _log.warning("push_relay_refused", reason=f"answered HTTP {answer.status}")
            raise RelayDenied()
        document = answer.document or {}
        if answer.status != 200 or document.get("result") != "success":
            raise self._garbage()
        return document

    def _garbage(self) -> RelayUnreachable:
        _log.warning("push_relay_failed", reason="answered something that is no answer of a relay")
        return RelayUnreachable()


_log = structlog.get_logger(__name__)
