"""Limits apply to the acting user or bot, also if the credentials are not in the header.

The operations come from the document: a new operation fails here until it is listed.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
import pytest

from adapters.video_vendor.vendor import HttpVideoVendor
from models.chat.identity.jwt_sign_in import change_configuration
from specd.db import Database
from tests.handlers.chat.test_every_operation import operations
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.bots import make
from tests.support.chat.calls import NOTICE_TOKEN
from tests.support.chat.mail import token_of
from tests.support.chat.people import PASSWORD, VAULT, Cast
from tests.support.chat.rows import change_user
from tests.support.frozen_clock import FrozenClock

JSON = {"Content-Type": "application/json"}
JWT_KEY = "what Acme signs its tokens with, 32 bytes and more"


@dataclass(frozen=True)
class Sent:
    """One request: method, path, form or body, and headers."""

    method: str
    path: str
    form: Mapping[str, Any] = field(default_factory=dict)
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Scene:
    """The organization Acme without limits, for creating credentials."""

    client: ChatClient
    app: ChatApp
    database: Database
    cast: Cast
    clock: FrozenClock

    @property
    def bot(self) -> str:
        return str(make(self.client, "Herald", bot_type=2)["api_key"])


def webhook(scene: Scene, name: str, payload: Any) -> tuple[Sent, Sent]:
    body = json.dumps(payload).encode()
    right, wrong = (
        Sent("POST", f"/external/{name}?api_key={key}", content=body, headers=JSON)
        for key in (scene.bot, "x" * 32)
    )
    return right, wrong


def email_link(scene: Scene, method: str) -> tuple[Sent, Sent]:
    """Return a link whose address is in use meanwhile, so confirming fails and the link stays
    valid.
    """
    assert scene.client.patch("/settings", email="new@acme.example")["result"] == "success"
    token = token_of(scene.database)
    taken = {"delivery_email": "new@acme.example", "email_key": "new@acme.example"}
    change_user(scene.database, scene.cast.othello.id, **taken)
    at = "/accounts/confirm_new_email"
    return Sent(method, f"{at}/{token}"), Sent(method, f"{at}/{'x' * len(token)}")


def invitation(scene: Scene, method: str) -> tuple[Sent, Sent]:
    """Return an invitation whose passwords are too weak, so accepting fails and it stays valid."""
    form = {"invitee_emails": "yorick@acme.example", "stream_ids": []}
    assert scene.client.post("/invites", **form)["result"] == "success"
    token = token_of(scene.database)
    form = {"full_name": "Yorick", "password": "x"} if method == "POST" else {}
    at = "/accounts/join"
    return Sent(method, f"{at}/{token}", form), Sent(method, f"{at}/{'x' * len(token)}", form)


def vendor_link(scene: Scene) -> tuple[Sent, Sent]:
    link = scene.client.get("/calls/vendor/register")["url"].partition("?link=")[2]
    return Sent("GET", f"/calls/vendor/register?link={link}"), Sent(
        "GET", f"/calls/vendor/register?link={link[:-4]}"
    )


def vendor_state(scene: Scene) -> tuple[Sent, Sent]:
    """Return a state without the code, so the state stays valid."""
    (right, _) = vendor_link(scene)
    url = ChatClient(scene.app, "acme.example").call("GET", right.path, {})["url"]
    state = url.partition("state=")[2].partition("&")[0]
    return Sent("GET", f"/calls/vendor/complete?state={state}&error=x"), Sent(
        "GET", "/calls/vendor/complete?state=x&error=x"
    )


def notice(scene: Scene) -> tuple[Sent, Sent]:
    object.__setattr__(scene.app.settings, "video_vendor_notice_token", NOTICE_TOKEN)
    body = b'{"event": "app_deauthorized", "payload": {"user_id": "nobody-here"}}'
    right, wrong = (
        Sent("POST", "/calls/vendor/deauthorize", content=body, headers={**JSON, **more})
        for more in ({"Authorization": NOTICE_TOKEN}, {"Authorization": "x"})
    )
    return right, wrong


def cookie(scene: Scene) -> tuple[Sent, Sent]:
    begun = scene.client.request("POST", "/users/me/sessions")
    name, _, token = begun.headers["Set-Cookie"].partition(";")[0].partition("=")
    right, wrong = (
        Sent("POST", "/session/fetch_api_key", headers={"Cookie": f"{name}={text}"})
        for text in (token, token[::-1])
    )
    return right, wrong


def signed_token(scene: Scene) -> tuple[Sent, Sent]:
    changes = {"jwt_key": JWT_KEY, "jwt_algorithms": "HS256", "jwt_audience": "", "jwt_max_age": 0}
    realm_id, now = scene.cast.realm_id, scene.clock.now()
    scene.database.run(lambda s: change_configuration(s, VAULT, realm_id, changes, now=now))
    claims = {"email": scene.cast.hamlet.email}
    right, wrong = (
        Sent("POST", "/jwt/fetch_api_key", {"token": jwt.encode(claims, key, algorithm="HS256")})
        for key in (JWT_KEY, JWT_KEY[::-1])
    )
    return right, wrong


def password(scene: Scene) -> tuple[Sent, Sent]:
    right, wrong = (
        Sent("POST", "/fetch_api_key", {"username": name, "password": PASSWORD})
        for name in (scene.cast.hamlet.email, "nobody@acme.example")
    )
    return right, wrong


ACTING: dict[str, Callable[[Scene], tuple[Sent, Sent]]] = {
    "receive_json": lambda scene: webhook(scene, "json", {}),
    "receive_webhook": lambda scene: webhook(scene, "slack_incoming", {"text": "x"}),
    "get_email_confirmation": lambda scene: email_link(scene, "GET"),
    "confirm_new_email": lambda scene: email_link(scene, "POST"),
    "get_invitation": lambda scene: invitation(scene, "GET"),
    "accept_invitation": lambda scene: invitation(scene, "POST"),
    "begin_vendor_authorization": vendor_link,
    "complete_vendor_authorization": vendor_state,
    "receive_vendor_notice": notice,
    "session_fetch_api_key": cookie,
    "jwt_fetch_api_key": signed_token,
    "fetch_api_key": password,
}
"""Functions that build a valid request, which can be sent repeatedly, and an invalid one."""
NOT_LIMITED = {
    "get_server_settings": "its response is the same for all callers",
    "dev_fetch_api_key": "it is served on the local machine only and verifies nothing",
}
KNOWS_PLACES = {"fetch_api_key"}
"""Operations that check the limit before the credentials, except for known addresses.

Verifying a password costs too much to be done first. Requests from new and from known addresses are
counted separately.
"""


@dataclass(frozen=True)
class Scale:
    """Limits, and a number of requests from many addresses, twice as many as a user may send."""

    per_user: int
    per_address: int
    requests: int
    addresses: int


FEW = Scale(per_user=8, per_address=4, requests=16, addresses=10)
MANY = Scale(per_user=200, per_address=100, requests=400, addresses=250)
SCALES = [
    pytest.param(FEW, id="few"),
    pytest.param(MANY, id="many", marks=pytest.mark.exhaustive),
]


@pytest.fixture
def scene(
    chat: ChatClient,
    chat_app: ChatApp,
    chat_database: Database,
    cast: Cast,
    clock: FrozenClock,
) -> Iterator[Scene]:
    before = chat_app.vendor.target
    chat_app.vendor.target = HttpVideoVendor(
        "http://127.0.0.1:9", "", client_id="acme", client_secret="x", timeout_s=1
    )
    yield Scene(chat, chat_app, chat_database, cast, clock)
    chat_app.vendor.target = before
    object.__setattr__(chat_app.settings, "video_vendor_notice_token", "")


@dataclass(frozen=True)
class Limited:
    """The service with limits. The proxy header distinguishes the addresses."""

    client: ChatClient

    def send(self, sent: Sent, number: int) -> int:
        """Send the request from the address with that number and return the status, which must be
        documented.
        """
        told = {"X-Forwarded-For": f"6.6.6.6, 10.{number // 250}.{number % 250}.7", **sent.headers}
        return self.client.request(
            sent.method, sent.path, sent.form, content=sent.content, headers=told
        ).status_code


@pytest.fixture
def limit(chat_app_with: Callable[..., ChatApp]) -> Callable[[Scale], Limited]:
    def limit(scale: Scale) -> Limited:
        app = chat_app_with(
            rate_limits=True,
            chat_rate_limit_per_user=scale.per_user,
            chat_rate_limit_per_address=scale.per_address,
        )
        return Limited(ChatClient(app, "acme.example"))

    return limit


def test_every_open_operation_is_listed() -> None:
    open_to_all = {
        operation["operationId"]
        for _, _, operation in operations()
        if not all(operation.get("security", [{"basicAuth": []}]))
        or operation.get("security") == []
    }
    assert len(open_to_all) > 10
    assert open_to_all == ACTING.keys() | NOT_LIMITED.keys()
    assert ACTING.keys().isdisjoint(NOT_LIMITED)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ACTING)
def test_actor_is_limited_across_addresses(
    scene: Scene, limit: Callable[[Scale], Limited], name: str, scale: Scale
) -> None:
    right, _ = ACTING[name](scene)
    limited = limit(scale)
    statuses = [limited.send(right, at % scale.addresses) for at in range(scale.requests)]
    if name in KNOWS_PLACES:
        assert 429 not in statuses[: scale.per_user // 2], statuses
        assert sum(status != 429 for status in statuses) <= scale.per_user, statuses
        assert set(statuses[-scale.per_address // 2 :]) == {429}, statuses
    else:
        assert 429 not in statuses[: scale.per_user], statuses
        assert set(statuses[scale.per_user :]) == {429}, statuses


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ACTING)
def test_invalid_requests_do_not_block_valid_ones_of_their_address(
    scene: Scene, limit: Callable[[Scale], Limited], name: str, scale: Scale
) -> None:
    right, wrong = ACTING[name](scene)
    limited = limit(scale)
    expected = limited.send(right, 0 if name in KNOWS_PLACES else 1)
    assert expected not in (401, 404, 429)
    statuses = [limited.send(wrong, 0) for _ in range(scale.per_address + 20)]
    assert statuses[0] in (400, 401, 404, 200), statuses
    assert set(statuses[-20:]) == {429}, statuses
    assert limited.send(right, 0) == expected
    if name in KNOWS_PLACES:
        assert limited.send(wrong, 2) == statuses[0]
        statuses = [limited.send(wrong, 2) for _ in range(scale.per_address)]
        assert limited.send(right, 2) == statuses[-1] == 429


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("bot_type", [None, 1, 2, 3])
def test_users_and_bots_are_limited_across_addresses(
    scene: Scene, limit: Callable[[Scale], Limited], bot_type: int | None, scale: Scale
) -> None:
    key, email = scene.cast.hamlet.key, scene.cast.hamlet.email
    if bot_type is not None:
        more = {"payload_url": "https://bots.example/oracle"} if bot_type == 3 else {}
        made = make(scene.client, "Herald", bot_type=bot_type, **more)
        (bot,) = (
            each for each in scene.client.get("/bots")["bots"] if each["user_id"] == made["user_id"]
        )
        key, email = made["api_key"], bot["username"]
    form = {"type": "direct", "to": [scene.cast.hamlet.id], "content": "x"}
    basic = b64encode(f"{email}:{key}".encode()).decode()
    right = Sent("POST", "/messages", form, headers={"Authorization": f"Basic {basic}"})
    basic = b64encode(f"{email}:{'x' * 32}".encode()).decode()
    wrong = Sent("POST", "/messages", form, headers={"Authorization": f"Basic {basic}"})
    limited = limit(scale)
    assert {limited.send(wrong, 0) for _ in range(scale.per_address + 20)} == {401, 429}
    statuses = [limited.send(right, at % scale.addresses) for at in range(scale.requests)]
    assert set(statuses[: scale.per_user]) == {200}, statuses
    assert set(statuses[scale.per_user :]) == {429}, statuses
