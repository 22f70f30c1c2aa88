"""A simulated video call vendor, with the OAuth 2 and meeting operations of the real one.

There is no sign-in: the consent page has a field for the user's name.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

from adapters.video_vendor.vendor import AUTHORIZE, MEETINGS, REVOKE, TOKEN, USER
from demo.local_server import Reply, Request

CODE_LIFETIME_S = 600
"""The maximum lifetime that RFC 6749, section 4.1.2 recommends."""
EXPIRED = Reply(401, {"code": 124, "message": "Invalid access token."})
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Local video vendor</title>
<h1>Local video vendor</h1><p>{text}</p>{form}</html>"""


@dataclass(slots=True)
class Grant:
    """A user's consent, with its current access token and refresh token."""

    login: str
    access_token: str = ""
    refresh_token: str = ""
    expires_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Code:
    login: str
    redirect_uri: str
    challenge: str
    expires_at: float


class LocalVendor:
    """The vendor's state and its endpoints. Call it with a request."""

    def __init__(
        self,
        *,
        client_id: str,
        client_secret: str,
        access_lifetime_s: int = 3600,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = (client_id, client_secret)
        self._lifetime_s = access_lifetime_s
        self._clock = clock
        self._turn = threading.Lock()
        self._codes: dict[str, Code] = {}
        self._grants: list[Grant] = []
        self.meetings: list[dict[str, Any]] = []

    def __call__(self, request: Request) -> Reply:
        with self._turn:
            match request.method, request.path:
                case "GET", path if path == AUTHORIZE:
                    return self._ask_for_consent(request)
                case "POST", path if path == AUTHORIZE:
                    return self._consent(request)
                case "POST", path if path == TOKEN:
                    return self._give_tokens(request)
                case "POST", path if path == REVOKE:
                    return self._revoke(request)
                case "GET", path if path == USER:
                    return self._show_user(request)
                case "POST", path if path == MEETINGS:
                    return self._create_meeting(request)
                case "GET", path if path.startswith("/j/"):
                    return _page("This is where the call would be.")
        return Reply(404, {"code": 404, "message": "Not found."})

    def _ask_for_consent(self, request: Request) -> Reply:
        query = request.args
        if query.get("client_id") != self._client[0] or query.get("response_type") != "code":
            return Reply(400, body=b"Unknown client or response_type")
        hidden = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in query.items()
        )
        form = (
            f'<form method="post" action="{AUTHORIZE}">{hidden}<label>You are '
            '<input name="login" value="hamlet" required></label> '
            '<button name="consent" value="yes">Allow</button> '
            '<button name="consent" value="no">Deny</button></form>'
        )
        return _page("A chat server wants to create calls for you.", form)

    def _consent(self, request: Request) -> Reply:
        form = request.form
        redirect_uri = form.get("redirect_uri", "")
        if form.get("client_id") != self._client[0] or not urlsplit(redirect_uri).hostname:
            return Reply(400, body=b"Unknown client or redirect_uri")
        answer = {"error": "access_denied", "state": form.get("state", "")}
        if form.get("consent") == "yes":
            code = secrets.token_urlsafe(24)
            self._codes[code] = Code(
                form.get("login", ""),
                redirect_uri,
                form.get("code_challenge", ""),
                self._clock() + CODE_LIFETIME_S,
            )
            answer = {"code": code, "state": form.get("state", "")}
        return Reply(302, headers={"Location": f"{redirect_uri}?{urlencode(answer)}"})

    def _give_tokens(self, request: Request) -> Reply:
        form = request.form
        if request.credentials != self._client:
            return Reply(401, {"error": "invalid_client"})
        match form.get("grant_type"):
            case "authorization_code":
                code = self._codes.pop(form.get("code", ""), None)
                if code is None or not self._is_redeemed(code, form):
                    return Reply(400, {"error": "invalid_grant"})
                grant = Grant(code.login)
                self._grants.append(grant)
            case "refresh_token":
                grants = [g for g in self._grants if g.refresh_token == form.get("refresh_token")]
                if not grants:
                    return Reply(400, {"error": "invalid_grant"})
                grant = grants[0]
            case _:
                return Reply(400, {"error": "unsupported_grant_type"})
        grant.access_token = secrets.token_urlsafe(32)
        grant.refresh_token = secrets.token_urlsafe(32)
        grant.expires_at = self._clock() + self._lifetime_s
        return Reply(
            200,
            {
                "access_token": grant.access_token,
                "token_type": "bearer",
                "refresh_token": grant.refresh_token,
                "expires_in": self._lifetime_s,
                "scope": "meeting:write user:read",
            },
        )

    def _is_redeemed(self, code: Code, form: dict[str, str]) -> bool:
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        return (
            code.expires_at > self._clock()
            and code.redirect_uri == form.get("redirect_uri")
            and hmac.compare_digest(code.challenge, challenge)
        )

    def _revoke(self, request: Request) -> Reply:
        if request.credentials != self._client:
            return Reply(401, {"error": "invalid_client"})
        token = request.form.get("token", "")
        self._grants = [g for g in self._grants if token not in (g.access_token, g.refresh_token)]
        return Reply(200, {"status": "success"})

    def _grant_of(self, request: Request) -> Grant | None:
        for grant in self._grants:
            if grant.access_token == request.bearer and grant.expires_at > self._clock():
                return grant
        return None

    def _show_user(self, request: Request) -> Reply:
        grant = self._grant_of(request)
        return EXPIRED if grant is None else Reply(200, {"id": f"user-{grant.login}"})

    def _create_meeting(self, request: Request) -> Reply:
        grant = self._grant_of(request)
        if grant is None:
            return EXPIRED
        meeting = {"id": secrets.randbelow(10**10), "host": grant.login, "asked": request.document}
        self.meetings.append(meeting)
        join_url = f"http://{request.headers.get('host', '')}/j/{meeting['id']}"
        return Reply(201, {"id": meeting["id"], "type": 1, "join_url": join_url})


def _page(text: str, form: str = "") -> Reply:
    return Reply(200, body=PAGE.format(text=text, form=form).encode())
