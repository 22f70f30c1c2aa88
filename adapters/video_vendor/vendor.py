"""The protocol of the video call vendor, and its implementation over HTTP.

It uses OAuth 2 (RFC 6749) with PKCE (RFC 7636) and revocation (RFC 7009), and the meeting
operations of the vendor that Zulip supports. Only the operator's settings contain addresses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

import structlog

from adapters.exchanges import Answer, NoAnswer, Peer

AUTHORIZE = "/oauth/authorize"
TOKEN = "/oauth/token"
REVOKE = "/oauth/revoke"
USER = "/v2/users/me"
MEETINGS = "/v2/users/me/meetings"
INSTANT_MEETING = 1
TOKEN_MAX = 8192
LIFETIME_MAX_S = 10 * 365 * 86_400


class TokenRejected(Exception):
    """The vendor rejected a code or a token as invalid."""


class VendorFailed(Exception):
    """The vendor is not configured, or sent no response or an invalid one."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The secret tokens that the vendor returns for a code or a refresh token."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in_s: int


class VideoVendor(Protocol):
    """Every coroutine raises `TokenRejected` and `VendorFailed`."""

    @property
    def is_configured(self) -> bool: ...

    @property
    def timeout_s(self) -> float:
        """The maximum duration of one exchange, in seconds."""
        ...

    def authorization_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        """Return the URL at which a user authorizes this server."""
        ...

    async def exchange_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens: ...

    async def refresh(self, refresh_token: str) -> Tokens:
        """Return new tokens. The given refresh token becomes invalid."""
        ...

    async def revoke(self, token: str) -> None: ...

    async def find_user_id(self, access_token: str) -> str:
        """Return the user's id at the vendor."""
        ...

    async def create_meeting(self, access_token: str, *, is_video_call: bool) -> str:
        """Create a meeting and return the URL at which users join it."""
        ...


class HttpVideoVendor:
    """`VideoVendor` over HTTP."""

    def __init__(
        self, url: str, api_url: str, *, client_id: str, client_secret: str, timeout_s: float
    ) -> None:
        self._oauth = Peer(url, timeout_s)
        self._api = Peer(api_url or url, timeout_s)
        self._credentials = (client_id, client_secret)
        self.timeout_s = timeout_s

    @property
    def is_configured(self) -> bool:
        return bool(self._oauth.url) and all(self._credentials)

    def authorization_url(self, *, redirect_uri: str, state: str, challenge: str) -> str:
        query = {
            "response_type": "code",
            "client_id": self._credentials[0],
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._oauth.url}{AUTHORIZE}?{urlencode(query)}"

    async def exchange_code(self, code: str, *, redirect_uri: str, verifier: str) -> Tokens:
        return await self._ask_for_tokens(
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect_uri,
                "code_verifier": verifier,
            }
        )

    async def refresh(self, refresh_token: str) -> Tokens:
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return await self._ask_for_tokens(form)

    async def revoke(self, token: str) -> None:
        answer = await self._send(
            self._oauth, "POST", REVOKE, credentials=self._credentials, form={"token": token}
        )
        if answer.status != 200:
            raise self._failure(f"answered HTTP {answer.status}")

    async def find_user_id(self, access_token: str) -> str:
        answer = await self._send(self._api, "GET", USER, bearer=access_token)
        user_id = self._document(answer, 200).get("id")
        if not isinstance(user_id, str) or not 0 < len(user_id) <= 255:
            raise self._failure("named no user")
        return user_id

    async def create_meeting(self, access_token: str, *, is_video_call: bool) -> str:
        wanted = {
            "type": INSTANT_MEETING,
            "settings": {"host_video": is_video_call, "participant_video": is_video_call},
            "default_password": True,
        }
        answer = await self._send(self._api, "POST", MEETINGS, bearer=access_token, document=wanted)
        url = self._document(answer, 201).get("join_url")
        if not isinstance(url, str) or not _is_web_address(url):
            raise self._failure("named no address to join at")
        return url

    async def _ask_for_tokens(self, form: dict[str, str]) -> Tokens:
        answer = await self._send(
            self._oauth, "POST", TOKEN, credentials=self._credentials, form=form
        )
        if answer.status == 400 and (answer.document or {}).get("error") == "invalid_grant":
            raise TokenRejected()
        match answer.status, answer.document:
            case 200, {
                "access_token": str(access),
                "refresh_token": str(refresh),
                "expires_in": int(lifetime),
            } if 0 < len(access) <= TOKEN_MAX and 0 < len(refresh) <= TOKEN_MAX:
                return Tokens(access, refresh, max(0, min(lifetime, LIFETIME_MAX_S)))
        raise self._failure(f"gave no tokens (HTTP {answer.status})")

    async def _send(self, peer: Peer, method: str, path: str, **request: Any) -> Answer:
        if not self.is_configured:
            raise self._failure("is not configured")
        try:
            return await peer.send(method, path, **request)
        except NoAnswer as failure:
            raise self._failure(str(failure)) from None

    def _document(self, answer: Answer, status: int) -> dict[str, Any]:
        """Return the body of a successful response. Raise `TokenRejected` for HTTP 401."""
        if answer.status == 401:
            raise TokenRejected()
        if answer.status != status or answer.document is None:
            raise self._failure(f"answered HTTP {answer.status}")
        return answer.document

    def _failure(self, reason: str) -> VendorFailed:
        _log.warning("video_vendor_failed", reason=reason)
        return VendorFailed(reason)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= 2000


_log = structlog.get_logger(__name__)
