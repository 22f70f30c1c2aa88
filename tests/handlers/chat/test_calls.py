"""Operations of the tag calls, with a local stand-in for the vendor."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import orjson
import pytest
from sqlalchemy import select, update
from structlog.testing import capture_logs

from demo.local_server import LocalServer, Reply
from handlers.chat.calls import CONTINUE
from models.chat.tables import ClientDevice, Event, User, VendorToken
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.calls import (
    COMPLETE,
    NOTICE,
    NOTICE_TOKEN,
    REGISTER,
    SECRET,
    TOKEN,
    Stage,
    Vendor,
    authorize,
    begin,
    complete,
    link_of,
    open_link,
)
from tests.support.chat.people import VAULT, Cast
from tests.support.chat.sign_in import deactivate_realm
from tests.support.frozen_clock import FrozenClock

CREATE, ALIAS = "/calls/vendor/create", "/calls/zoom/create"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SENTENCES = {
    CREATE: (
        "Video call credentials have not been configured",
        "Invalid video call access token",
        "Failed to create video call",
        "INVALID_VENDOR_TOKEN",
    ),
    ALIAS: (
        "Zoom credentials have not been configured",
        "Invalid Zoom access token",
        "Failed to create Zoom call",
        "INVALID_ZOOM_TOKEN",
    ),
}
SESSION = bad("Invalid video call session identifier")
CREDENTIALS = bad("Invalid video call credentials")


@pytest.fixture
def stage(chat_app: ChatApp) -> Iterator[Stage]:
    vendor = Vendor(client_id="acme", client_secret=SECRET)
    server = LocalServer(vendor)
    server.start()
    before = chat_app.vendor.target
    made = Stage(vendor, server, chat_app)
    made.connect()
    yield made
    chat_app.vendor.target = before
    server.close()


def refusal(path: str, which: int) -> dict[str, Any]:
    """Return a refusal: 0 for not configured, 1 for an invalid token, 2 for a failure."""
    texts = SENTENCES[path]
    code = texts[3] if which == 1 else "BAD_REQUEST"
    return bad(texts[which], code)


def has_token(client: ChatClient) -> bool:
    answer = client.get(TOKEN)
    assert answer == {**DONE, "has_vendor_token": answer["has_vendor_token"]}
    return bool(answer["has_vendor_token"])


def tokens_of(database: Database, user_id: int) -> list[str]:
    """Return the user's access and refresh tokens in clear."""
    with database.reading() as reader:
        sealed = reader.execute(
            select(VendorToken.sealed_tokens).where(VendorToken.user_id == user_id)
        ).scalar_one()
    opened = VAULT.open(sealed, purpose=f"vendor_tokens:{user_id}")
    assert opened is not None
    tokens: list[str] = orjson.loads(opened)
    return tokens


def token_events(database: Database) -> list[tuple[str, Any, list[int]]]:
    """Return type, value and user ids of the events about tokens."""
    types = ("has_vendor_token", "has_zoom_token")
    found = select(Event.type, Event.payload, Event.user_ids).where(Event.type.in_(types))
    with database.reading() as reader:
        return [
            (row.type, orjson.loads(row.payload)["value"], orjson.loads(row.user_ids))
            for row in reader.execute(found.order_by(Event.id))
        ]


def both(value: bool, user_id: int) -> list[tuple[str, Any, list[int]]]:
    return [(name, value, [user_id]) for name in ("has_vendor_token", "has_zoom_token")]


class TestCreateVideoCall:
    @pytest.mark.parametrize("path", [CREATE, ALIAS])
    def test_returns_the_url_of_a_new_call(self, chat: ChatClient, stage: Stage, path: str) -> None:
        authorize(chat, stage)
        answers = [chat.post(path, **form) for form in ({}, {"is_video_call": False})]
        ids = [meeting["id"] for meeting in stage.vendor.meetings]
        assert answers == [{**DONE, "url": f"{stage.server.url}/j/{number}"} for number in ids]
        asked = [meeting["asked"]["settings"] for meeting in stage.vendor.meetings]
        assert asked == [
            {"host_video": cameras, "participant_video": cameras} for cameras in (True, False)
        ]

    @pytest.mark.parametrize("path", [CREATE, ALIAS])
    def test_rejects_invalid_requests(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        as_reminder: ChatClient,
        as_nobody: ChatClient,
        stage: Stage,
        path: str,
    ) -> None:
        authorize(chat, stage)
        for client in (as_othello, as_reminder):
            response = client.request("POST", path)
            assert (response.status_code, response.json()) == (400, refusal(path, 1))
        assert chat.post(path, is_video_call="yes")["msg"] == "is_video_call is not valid JSON"
        assert chat.post(path, is_video_call=1)["msg"] == "is_video_call is not a boolean"
        assert as_nobody.post(path)["code"] == "UNAUTHORIZED"
        stage.connect("")
        assert chat.post(path) == refusal(path, 0)

    def test_reports_a_vendor_failure(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        authorize(chat, stage)
        secrets = [SECRET, *tokens_of(chat_database, cast.hamlet.id)]
        faults = ("forbidden", "down", "garbage", "redirect", "flood", "break", "hang", "refused")
        for fault in faults:
            stage.play(fault)
            with capture_logs() as lines:
                response = chat.request("POST", CREATE)
            assert (response.status_code, response.json()) == (400, refusal(CREATE, 2)), fault
            assert "video_vendor_failed" in [line["event"] for line in lines]
            assert not any(secret in repr(lines) + response.text for secret in secrets)
        stage.play("down")
        assert chat.post(ALIAS) == refusal(ALIAS, 2)
        stage.play("none")
        assert chat.post(CREATE)["result"] == "success"
        assert has_token(chat)

    def test_returns_only_web_addresses(self, chat: ChatClient, stage: Stage) -> None:
        authorize(chat, stage)
        for url in ("javascript:alert(1)", "file:///etc/passwd", "//x", "", 7, None, "http://"):
            answer = httpx.Response(201, json={"join_url": url})
            server = LocalServer(lambda request, body=answer.content: _reply(body))
            server.start()
            stage.connect(server.url)
            assert chat.post(CREATE) == refusal(CREATE, 2), url
            server.close()


def _reply(body: bytes) -> Any:
    return Reply(201, orjson.loads(body))


class TestRefresh:
    def test_token_is_refreshed_before_it_expires(
        self, chat: ChatClient, stage: Stage, clock: FrozenClock
    ) -> None:
        authorize(chat, stage)
        for advance, refreshes in ((3569, 0), (1, 1), (1, 1), (3600, 2)):
            clock.advance(seconds=advance)
            assert chat.post(CREATE)["result"] == "success"
            assert stage.vendor.refreshes == refreshes

    def test_token_is_refreshed_if_the_vendor_revoked_it(
        self, chat: ChatClient, stage: Stage
    ) -> None:
        authorize(chat, stage)
        stage.vendor.expire_access_tokens()
        assert chat.post(CREATE)["result"] == "success"
        assert stage.vendor.refreshes == 1

    def test_concurrent_requests_refresh_once(
        self, chat: ChatClient, stage: Stage, clock: FrozenClock
    ) -> None:
        """The vendor accepts a refresh token once.

        A second use would end the authorization, and so would a lost response at the next use.
        """
        authorize(chat, stage)
        for turn in (1, 2, 3):
            clock.advance(seconds=4000)
            answers = chat.at_once(*(chat.build("POST", CREATE) for _ in range(8)))
            assert [answer.json()["result"] for answer in answers] == ["success"] * 8
            assert stage.vendor.refreshes == turn

    def test_failed_refresh_is_retried(
        self, chat: ChatClient, stage: Stage, clock: FrozenClock
    ) -> None:
        authorize(chat, stage)
        clock.advance(seconds=4000)
        for fault in ("down", "garbage", "refused"):
            stage.play(fault)
            assert chat.post(CREATE) == refusal(CREATE, 2)
            assert has_token(chat)
        stage.play("none")
        assert chat.post(CREATE)["result"] == "success"

    def test_refresh_of_a_lost_process_is_retried_after_its_lease(
        self, chat: ChatClient, stage: Stage, clock: FrozenClock, chat_database: Database
    ) -> None:
        authorize(chat, stage)
        clock.advance(seconds=4000)
        stage.connect(timeout_s=1)
        until = clock.now()
        clock.advance(seconds=-1)
        lost = update(VendorToken).values(refreshing_until=until)
        chat_database.run(lambda session: session.execute(lost))
        stage.app.vendor.target.timeout_s = 0.05
        assert chat.post(CREATE) == refusal(CREATE, 2)
        stage.connect()
        clock.advance(seconds=1)
        assert chat.post(CREATE)["result"] == "success"

    @pytest.mark.parametrize("seconds", [0, 4000])
    @pytest.mark.reaches("INVALID_VENDOR_TOKEN", "INVALID_ZOOM_TOKEN")
    def test_refused_refresh_ends_the_authorization(
        self,
        chat: ChatClient,
        stage: Stage,
        clock: FrozenClock,
        chat_database: Database,
        cast: Cast,
        seconds: int,
    ) -> None:
        authorize(chat, stage)
        stage.vendor.forget_users()
        clock.advance(seconds=seconds)
        assert chat.post(ALIAS) == refusal(ALIAS, 1)
        assert not has_token(chat)
        assert token_events(chat_database) == both(True, cast.hamlet.id) + both(
            False, cast.hamlet.id
        )
        assert chat.post(CREATE) == refusal(CREATE, 1)
        assert len(token_events(chat_database)) == 4
        authorize(chat, stage)
        assert chat.post(CREATE)["result"] == "success"


class TestBeginVendorAuthorization:
    def test_redirects_the_browser_to_the_vendor(self, chat: ChatClient, stage: Stage) -> None:
        given = chat.request("GET", REGISTER, headers=BROWSER)
        assert "Set-Cookie" not in given.headers
        response = open_link(chat, link_of(chat), **BROWSER)
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
        (target,) = re.findall(r'href="([^"]*)"', response.text)
        page = CONTINUE.format(name="Hamlet", host="acme.example", url=target)
        assert response.text == page
        parts = urlsplit(unescape(target))
        assert (
            f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{stage.server.url}/oauth/authorize"
        )
        asked = parse_qs(parts.query)
        assert asked["client_id"] == ["acme"]
        assert asked["redirect_uri"] == ["http://acme.example/api/v1/calls/vendor/complete"]
        assert asked["code_challenge_method"] == ["S256"]
        assert "hamlet" not in asked["state"][0]
        assert SECRET not in response.text + str(response.headers)
        name, *flags = response.headers["Set-Cookie"].split("; ")
        assert name.startswith("specd_vendor_session=")
        assert flags == ["Path=/api/v1/calls/vendor", "Max-Age=600", "HttpOnly", "SameSite=Lax"]

    def test_cookie_is_secure_over_https(
        self, chat: ChatClient, stage: Stage, chat_app: ChatApp
    ) -> None:
        before = chat_app.settings.public_url
        object.__setattr__(chat_app.settings, "public_url", "https://chat.example")
        try:
            link = chat.get(REGISTER)["url"].partition("?link=")[2]
            response = open_link(chat, link)
            name, *flags = response.headers["Set-Cookie"].split("; ")
            assert name.startswith("__Secure-specd_vendor_session=")
            assert flags[-1] == "Secure"
            back = stage.consent(response.json()["url"])
            assert complete(chat, back, name).json() == DONE
        finally:
            object.__setattr__(chat_app.settings, "public_url", before)

    def test_link_is_valid_for_one_authorization(
        self, chat: ChatClient, stage: Stage, clock: FrozenClock
    ) -> None:
        link = link_of(chat)
        begun = [open_link(chat, link) for _ in range(2)]  # opening it does not use it
        cookies = [each.headers["Set-Cookie"].partition(";")[0] for each in begun]
        backs = [stage.consent(each.json()["url"]) for each in begun]
        assert complete(chat, backs[0], cookies[0]).json() == DONE
        assert complete(chat, backs[1], cookies[1]).json() == SESSION
        assert open_link(chat, link).json() == SESSION
        late = link_of(chat)
        clock.advance(seconds=600)
        assert open_link(chat, late).json() == SESSION

    def test_link_is_bound_to_user_and_organization(
        self, chat: ChatClient, as_hank: ChatClient, as_iago: ChatClient, stage: Stage, cast: Cast
    ) -> None:
        link = link_of(chat)
        assert open_link(as_hank, link).json() == SESSION
        for text in ("x", link[:-2], VAULT.seal('["x",1,9999999999999]', purpose="other")):
            assert open_link(chat, text).json() == SESSION
        assert as_iago.delete(f"/users/{cast.hamlet.id}")["result"] == "success"
        assert open_link(chat, link).json() == SESSION

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_reminder: ChatClient, as_nobody: ChatClient, stage: Stage
    ) -> None:
        bots = "This endpoint does not accept bot requests."
        assert as_reminder.get(REGISTER)["msg"] == bots
        response = as_nobody.request("GET", REGISTER, headers=BROWSER)
        assert response.status_code == 401
        assert (
            response.headers["WWW-Authenticate"] == 'Session realm="zulip"'
        )  # no request to the vendor
        link = link_of(chat)
        too_long = as_nobody.get(REGISTER, link="x" * 1001)
        assert too_long["msg"] == "link is too long (limit: 1000 characters)"
        stage.connect("")
        assert chat.get(REGISTER) == refusal(CREATE, 0)
        assert open_link(chat, link).json() == refusal(CREATE, 0)


class TestCompleteVendorAuthorization:
    def test_tokens_are_stored_sealed(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        assert not has_token(chat)
        authorize(chat, stage)
        assert has_token(chat)
        assert token_events(chat_database) == both(True, cast.hamlet.id)
        with chat_database.reading() as reader:
            (row,) = reader.execute(select(VendorToken.__table__)).all()
        tokens = tokens_of(chat_database, cast.hamlet.id)
        assert len(tokens) == 2
        assert not any(token in repr(row) + repr(token_events(chat_database)) for token in tokens)

    def test_browser_receives_a_page(self, chat: ChatClient, stage: Stage) -> None:
        url, cookie = begin(chat)
        query = dict(parse_qsl(stage.consent(url).query.decode()))
        headers = BROWSER | {"Cookie": cookie}
        response = chat.acting_as(None).request("GET", COMPLETE, query, headers=headers)
        assert response.status_code == 200
        assert "You can close this window." in response.text
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "Max-Age=0" in response.headers["Set-Cookie"]

    def test_other_browser_is_rejected(
        self, chat: ChatClient, as_othello: ChatClient, stage: Stage
    ) -> None:
        """Othello begins and makes Hamlet's browser complete it: Hamlet's vendor account must not
        become Othello's.
        """
        url, _ = begin(as_othello)
        _, hamlets = begin(chat)
        back = stage.consent(url)
        for cookie in (None, hamlets, "specd_vendor_session=", "specd_vendor_session=x, y", '"'):
            response = complete(chat, back, cookie)
            assert (response.status_code, response.json()) == (400, SESSION)
        assert not has_token(as_othello)
        assert not has_token(chat)

    def test_other_state_is_rejected(
        self, chat: ChatClient, as_hank: ChatClient, stage: Stage, clock: FrozenClock
    ) -> None:
        url, cookie = begin(chat)
        back = stage.consent(url)
        good = back.params["state"]
        forged = VAULT.seal('[1,"x","y","z",9999999999999]', purpose="jwt_key:1")
        for state in ("", "x", good[:-3] + "AAA", forged):
            assert complete(chat, back.copy_set_param("state", state), cookie).json() == SESSION
        assert complete(as_hank, back, cookie).json() == SESSION  # at another organization
        clock.advance(seconds=600)
        assert complete(chat, back, cookie).json() == SESSION
        clock.advance(seconds=-1)
        assert complete(chat, back, cookie).json() == DONE
        assert complete(chat, back, cookie).json() == CREDENTIALS  # a code is valid once

    def test_parameter_length_is_limited(self, as_nobody: ChatClient, stage: Stage) -> None:
        for name, limit in (("code", 2000), ("error", 200), ("state", 4000)):
            assert as_nobody.get(COMPLETE, **{name: "x" * limit}) == SESSION
            over = as_nobody.get(COMPLETE, **{name: "x" * (limit + 1)})
            assert over["msg"] == f"{name} is too long (limit: {limit} characters)"
        stage.connect("")
        assert as_nobody.get(COMPLETE, state="x") == refusal(CREATE, 0)

    def test_requires_confirmation_by_the_vendor(self, chat: ChatClient, stage: Stage) -> None:
        url, cookie = begin(chat)
        denied = stage.consent(url, consent="no")
        assert denied.params["error"] == "access_denied"
        assert complete(chat, denied, cookie).json() == CREDENTIALS
        wrong = stage.consent(url).copy_set_param("code", "x")
        assert complete(chat, wrong, cookie).json() == CREDENTIALS
        again = stage.consent(url)
        for fault in ("down", "garbage", "refused"):
            stage.play(fault)
            assert complete(chat, again, cookie).json() == CREDENTIALS
        stage.play("none")
        assert complete(chat, again, cookie).json() == DONE

    def test_deactivated_user_is_rejected(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        url, cookie = begin(chat)
        back = stage.consent(url)
        for value in (False, True):
            left = update(User).where(User.id == cast.hamlet.id).values(is_active=value)
            chat_database.run(lambda session, left=left: session.execute(left))
            if not value:
                assert complete(chat, back, cookie).json() == SESSION
        deactivate_realm(chat_database, cast.realm_id)
        assert complete(chat, back, cookie).json() == SESSION


class TestGetVendorTokenState:
    def test_state_is_per_user(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, stage: Stage
    ) -> None:
        authorize(chat, stage)
        assert has_token(chat)
        assert not has_token(as_othello)
        assert as_nobody.get(TOKEN)["code"] == "UNAUTHORIZED"


class TestDeactivation:
    def test_deactivation_removes_authorizations_and_devices(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, stage: Stage,
        chat_database: Database, cast: Cast,
    ) -> None:  # fmt: skip
        for client in (chat, as_othello):
            authorize(client, stage)
            assert client.post("/register_client_device")["result"] == "success"
        assert as_iago.delete(f"/users/{cast.hamlet.id}")["result"] == "success"
        with chat_database.reading() as reader:
            for table in (VendorToken, ClientDevice):
                assert reader.execute(select(table.user_id)).scalars().all() == [cast.othello.id]


class TestRevokeVendorToken:
    def test_deletes_tokens_here_and_at_the_vendor(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        authorize(chat, stage)
        assert stage.vendor.grants == 1
        assert chat.delete(TOKEN) == DONE
        assert stage.vendor.grants == 0
        assert not has_token(chat)
        assert token_events(chat_database)[2:] == both(False, cast.hamlet.id)
        assert chat.delete(TOKEN) == DONE
        assert len(token_events(chat_database)) == 4
        assert chat.post(CREATE) == refusal(CREATE, 1)

    def test_works_without_the_vendor(self, chat: ChatClient, stage: Stage) -> None:
        authorize(chat, stage)
        stage.play("refused")
        assert chat.delete(TOKEN) == DONE
        assert not has_token(chat)

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.delete(TOKEN)["code"] == "UNAUTHORIZED"


class TestReceiveVendorNotice:
    def notice(self, client: ChatClient, body: Any, token: str | None = NOTICE_TOKEN) -> Any:
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = token
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        return client.acting_as(None).request("POST", NOTICE, content=content, headers=headers)

    @pytest.fixture
    def noticed(self, chat: ChatClient, stage: Stage, chat_app: ChatApp) -> Iterator[ChatClient]:
        authorize(chat, stage)
        settings = chat_app.settings
        object.__setattr__(settings, "video_vendor_notice_token", NOTICE_TOKEN)
        yield chat
        object.__setattr__(settings, "video_vendor_notice_token", "")

    def test_ends_the_authorizations_of_the_user(
        self,
        noticed: ChatClient,
        as_othello: ChatClient,
        stage: Stage,
        chat_database: Database,
        cast: Cast,
    ) -> None:
        authorize(as_othello, stage, login="othello")
        payload = {"user_id": "user-hamlet", "account_id": "a", "client_id": "acme"}
        body = {"event": "app_deauthorized", "payload": payload}
        assert self.notice(noticed, body).json() == DONE
        assert not has_token(noticed)
        assert has_token(as_othello)
        assert token_events(chat_database)[-2:] == both(False, cast.hamlet.id)
        assert self.notice(noticed, body).json() == DONE
        other = {"event": "meeting.started", "payload": {"user_id": "user-othello"}}
        assert self.notice(noticed, other).json() == DONE
        assert has_token(as_othello)

    def test_other_notices_are_rejected(self, noticed: ChatClient, chat_app: ChatApp) -> None:
        body = {"event": "app_deauthorized", "payload": {"user_id": "user-hamlet"}}
        for token in (None, "", "wrong", NOTICE_TOKEN + "x", "Basic aGFtbGV0OmtleQ=="):
            response = self.notice(noticed, body, token)
            assert (response.status_code, response.json()["code"]) == (401, "UNAUTHORIZED")
        for sent, msg in (
            ({}, "Missing 'event' argument"),
            ({"event": "x", "payload": 7}, "payload is not a dict"),
            ({"event": "x", "payload": {}}, 'payload["user_id"] field is missing'),
            ({"event": "x" * 201, "payload": {"user_id": "x" * 255}},
             "event is too long (limit: 200 characters)"),
            ({"event": "x", "payload": {"user_id": "x" * 256}},
             'payload["user_id"] is too long (limit: 255 characters)'),
        ):  # fmt: skip
            response = self.notice(noticed, sent)
            assert (response.status_code, response.json()["msg"]) == (400, msg)
        assert self.notice(noticed, b"{").status_code == 400
        longest = {"event": "x" * 200, "payload": {"user_id": "x" * 255}}
        assert self.notice(noticed, longest).json() == DONE
        form = noticed.acting_as(None).request("POST", NOTICE, {"event": "app_deauthorized"})
        assert form.status_code == 400
        object.__setattr__(chat_app.settings, "video_vendor_notice_token", "")
        assert self.notice(noticed, body).json() == refusal(CREATE, 0)
        assert has_token(noticed)
