"""The relay as handlers see it, and the same over HTTP.

The relay (the reference says bouncer) alone knows the tokens of the phones' push services. A client
encrypts its token for the relay; this server passes that on, and afterwards names the token by the
first 8 bytes of its SHA-256. What a notification says, the relay cannot read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
"""What is wrong with a registration itself; trying the same again is no use."""


class RelayFailed(Exception):
    """The relay did not do what it was asked."""


class RelayUnreachable(RelayFailed):
    """No answer of the relay's, or none that can be understood."""


class RelayBroken(RelayFailed):
    """The relay answered that it has failed."""


class RelayDenied(RelayFailed):
    """The relay refuses this server or organization, or none is configured."""


class RegistrationRefused(Exception):
    """The relay understood and said no; `code` is one of `REFUSALS`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Push:
    """One notification for one device: which token, which key it is encrypted with, and what."""

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
        """Make the relay know a token, which only it can read. Raises `RegistrationRefused`."""
        ...

    async def notify(self, realm_uuid: str, pushes: Sequence[Push]) -> frozenset[str]:
        """Hand notifications over. Returns the token ids that no device has any more."""
        ...


class HttpPushRelay:
    """`PushRelay` over HTTP with Basic authentication of the organization that runs this server."""

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
        answer = await self._ask(REGISTER, form=form)
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
        answer = await self._ask(
            NOTIFY, document={"realm_uuid": realm_uuid, "push_requests": requests}
        )
        gone = self._require_success(answer).get("delete_token_ids_base64")
        if not isinstance(gone, list) or not all(isinstance(token_id, str) for token_id in gone):
            raise self._garbage()
        return frozenset(gone)

    async def _ask(self, path: str, **what: object) -> Answer:
        if not self.is_configured:
            raise RelayDenied()
        try:
            return await self._peer.send(
                "POST",
                path,
                credentials=self._credentials,
                **what,  # type: ignore[arg-type]
            )
        except NoAnswer as failure:
            _log.warning("push_relay_failed", reason=str(failure))
            raise RelayUnreachable() from None

    def _require_success(self, answer: Answer) -> dict[str, object]:
        """The body of a success; anything else by its class."""
        if answer.status >= 500:
            _log.warning("push_relay_failed", reason=f"answered HTTP {answer.status}")
            raise RelayBroken()
        if 400 <= answer.status < 500:
            _log.warning("push_relay_refused", reason=f"answered HTTP {answer.status}")
            raise RelayDenied()
        if (
            answer.status != 200
            or answer.document is None
            or answer.document.get("result") != "success"
        ):
            raise self._garbage()
        return answer.document

    def _garbage(self) -> RelayUnreachable:
        _log.warning("push_relay_failed", reason="answered something that is no answer of a relay")
        return RelayUnreachable()


_log = structlog.get_logger(__name__)
