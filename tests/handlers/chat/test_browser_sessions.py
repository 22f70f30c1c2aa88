"""Sessions of browsers, of the tag sign_in."""

from collections.abc import Callable

import httpx
import pytest
from sqlalchemy import func, select

from models.chat.tables import AuditLog, BrowserSession
from specd.db import Database, UtcMs
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

SESSIONS, RESUME = "/users/me/sessions", "/session/fetch_api_key"
NAME = "__Host-specd_session"
FLAGS = "Path=/; Secure; HttpOnly; SameSite=Strict"
FORGET = f"{NAME}=; Max-Age=0; {FLAGS}"
MONTH_S = 30 * 86_400
LIFETIME = f"Max-Age={MONTH_S}"


class Browser:
    """A browser with its cookie and its name."""

    def __init__(self, app: ChatApp, host: str = "acme.example", name: str = "Mozilla/5.0") -> None:
        self.nobody = ChatClient(app, host)
        self.name = name
        self.cookie: str | None = None

    def ask(self, client: ChatClient, method: str, path: str) -> httpx.Response:
        headers = {"User-Agent": self.name}
        if self.cookie is not None:
            headers["Cookie"] = f"other=1; {NAME}={self.cookie}"
        response = client.request(method, path, headers=headers)
        if (told := response.headers.get("Set-Cookie")) is not None:
            name, _, rest = told.partition("=")
            token, _, flags = rest.partition("; ")
            assert name == NAME
            if token:
                assert flags == f"{LIFETIME}; {FLAGS}"
            else:
                assert told == FORGET
            self.cookie = token or None
        return response

    def stay(self, client: ChatClient) -> int:
        """Create a session and return its id."""
        return int(self.ask(client, "POST", SESSIONS).json()["session"]["id"])

    def resume(self) -> dict[str, object]:
        response = self.ask(self.nobody, "POST", RESUME)
        assert response.status_code == 200, response.text
        return dict(response.json())


@pytest.fixture
def desk(chat_app: ChatApp) -> Browser:
    return Browser(chat_app)


@pytest.fixture
def phone(chat_app: ChatApp) -> Browser:
    return Browser(chat_app, name="Mozilla/5.0 (Android)")


class TestSessionFetchApiKey:
    def test_returns_the_key(self, chat: ChatClient, desk: Browser, cast: Cast) -> None:
        assert desk.resume() == DONE
        session_id = desk.stay(chat)
        assert desk.cookie is not None
        assert len(desk.cookie) == 43
        told = {
            **DONE,
            "api_key": cast.hamlet.key,
            "email": cast.hamlet.email,
            "user_id": cast.hamlet.id,
            "session_id": session_id,
        }
        assert desk.resume() == told
        assert desk.resume() == told

    def test_other_operations_ignore_the_cookie(self, chat: ChatClient, desk: Browser) -> None:
        desk.stay(chat)
        for method, path in (("GET", "/users/me"), ("GET", SESSIONS), ("POST", SESSIONS)):
            assert desk.ask(desk.nobody, method, path).status_code == 401

    def test_session_is_valid_at_one_organization(
        self, chat: ChatClient, desk: Browser, chat_app: ChatApp
    ) -> None:
        desk.stay(chat)
        elsewhere = Browser(chat_app, host="globex.example")
        elsewhere.cookie = desk.cookie
        assert elsewhere.resume() == DONE
        assert elsewhere.cookie is None
        assert "api_key" in desk.resume()

    def test_unknown_cookie_is_deleted(self, desk: Browser) -> None:
        for cookie in ("x", "0" * 43, "x" * 4000):
            desk.cookie = cookie
            assert desk.resume() == DONE
            assert desk.cookie is None

    def test_session_expires(self, chat: ChatClient, desk: Browser, clock: FrozenClock) -> None:
        desk.stay(chat)
        clock.advance(seconds=MONTH_S - 1)
        assert "api_key" in desk.resume()
        clock.advance(seconds=1)
        assert desk.resume() == DONE
        assert chat.get(SESSIONS)["sessions"] == []

    def test_request_from_another_site_is_rejected(self, chat: ChatClient, desk: Browser) -> None:
        desk.stay(chat)
        cookie = {"Cookie": f"{NAME}={desk.cookie}"}
        for foreign in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            response = desk.nobody.request("POST", RESUME, headers={**cookie, **foreign})
            assert (response.status_code, response.json()["code"]) == (403, "CSRF_FAILED")
            assert "api_key" not in response.text

    def test_use_is_in_the_audit_log(
        self, chat: ChatClient, desk: Browser, cast: Cast, chat_database: Database
    ) -> None:
        desk.stay(chat)
        desk.resume()
        with chat_database.reading() as reader:
            rows = reader.execute(
                select(AuditLog.user_id, AuditLog.facts).where(AuditLog.kind == "signed_in")
            ).all()
        assert [(row.user_id, row.facts) for row in rows] == [(cast.hamlet.id, '{"by":"session"}')]


class TestBeginSession:
    def test_eleventh_session_replaces_the_oldest(
        self, chat: ChatClient, as_othello: ChatClient, chat_app: ChatApp
    ) -> None:
        others = Browser(chat_app)
        others.stay(as_othello)
        browsers = [Browser(chat_app, name=f"Browser {number}") for number in range(12)]
        for browser in browsers:
            browser.stay(chat)
        assert [browser.resume().keys() == DONE.keys() for browser in browsers] == (
            [True] * 2 + [False] * 10
        )
        assert len(chat.get(SESSIONS)["sessions"]) == 10
        assert "api_key" in others.resume()

    def test_browser_has_one_session(
        self, chat: ChatClient, as_othello: ChatClient, desk: Browser, cast: Cast
    ) -> None:
        """A user who signs in replaces the session of the previous user in that browser."""
        desk.stay(chat)
        old = desk.cookie
        desk.stay(as_othello)
        assert desk.resume()["user_id"] == cast.othello.id
        desk.cookie = old
        assert desk.resume() == DONE

    def test_stored_browser_name_is_limited(self, chat: ChatClient, chat_app: ChatApp) -> None:
        Browser(chat_app, name="Mozilla\t/5.0 " + "x" * 500).stay(chat)
        (kept,) = chat.get(SESSIONS)["sessions"]
        assert kept["user_agent"] == ("Mozilla /5.0 " + "x" * 500)[:200]

    def test_token_is_not_in_the_database(
        self, chat: ChatClient, desk: Browser, chat_database: Database
    ) -> None:
        desk.stay(chat)
        with chat_database.reading() as reader:
            (row,) = reader.execute(select(BrowserSession.__table__)).all()
        assert desk.cookie is not None
        assert desk.cookie not in repr(row)

    def test_rejects_bots(self, as_reminder: ChatClient) -> None:
        assert as_reminder.post(SESSIONS)["result"] == "error"


class TestListOwnSessions:
    def test_lists_sessions(
        self, chat: ChatClient, as_othello: ChatClient, desk: Browser, phone: Browser,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        began = UtcMs.to_ms(clock.now()) // 1000
        first = desk.stay(chat)
        clock.advance(seconds=60)
        second = phone.stay(chat)
        clock.advance(seconds=60)
        desk.resume()
        listed = desk.ask(chat, "GET", SESSIONS).json()["sessions"]
        assert listed == [
            {
                "id": first,
                "user_agent": "Mozilla/5.0",
                "created_at": began,
                "last_used_at": began + 120,
                "ends_at": began + MONTH_S,
                "is_current": True,
            },
            {
                "id": second,
                "user_agent": "Mozilla/5.0 (Android)",
                "created_at": began + 60,
                "last_used_at": began + 60,
                "ends_at": began + 60 + MONTH_S,
                "is_current": False,
            },
        ]
        assert as_othello.get(SESSIONS)["sessions"] == []


class TestEndSession:
    def test_ends_a_session(
        self, chat: ChatClient, as_othello: ChatClient, desk: Browser, phone: Browser
    ) -> None:
        first, second = desk.stay(chat), phone.stay(chat)
        assert as_othello.delete(f"{SESSIONS}/{first}") == bad("Invalid session ID")
        assert desk.ask(chat, "DELETE", f"{SESSIONS}/{second}").json() == DONE
        assert desk.cookie is not None, "it ended another user's session"
        assert phone.resume() == DONE
        assert desk.ask(chat, "DELETE", f"{SESSIONS}/{first}").json() == DONE
        assert desk.cookie is None
        assert chat.get(SESSIONS)["sessions"] == []
        assert chat.delete(f"{SESSIONS}/{first}") == bad("Invalid session ID")


class TestAttempts:
    @pytest.fixture
    def limited_app(self, chat_app_with: Callable[..., ChatApp]) -> ChatApp:
        return chat_app_with(rate_limits=True)

    def test_invalid_cookies_are_counted(
        self, limited_app: ChatApp, cast: Cast, clock: FrozenClock
    ) -> None:
        desk, thief = Browser(limited_app), Browser(limited_app)
        desk.stay(ChatClient(limited_app, "acme.example", cast.hamlet))
        for number in range(20):
            thief.cookie = f"guess-{number}"
            assert thief.resume() == DONE
        thief.cookie = "guess-20"
        refused = thief.ask(thief.nobody, "POST", RESUME)
        assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMIT_HIT")
        assert "api_key" in desk.resume(), "invalid cookies do not block a valid one"
        clock.advance(seconds=int(refused.headers["Retry-After"]))
        thief.cookie = "guess-21"
        assert thief.resume() == DONE
        thief.cookie = None
        assert thief.resume() == DONE, "a request without a cookie does not count"


def test_ended_sessions_have_no_rows(
    chat: ChatClient, desk: Browser, chat_database: Database
) -> None:
    """Every action that ends sessions deletes their rows.

    Expired rows are deleted by the retention.
    """
    desk.stay(chat)
    assert chat.post("/users/me/api_key/regenerate")["result"] == "success"
    with chat_database.reading() as reader:
        assert reader.execute(select(func.count()).select_from(BrowserSession)).scalar_one() == 0
