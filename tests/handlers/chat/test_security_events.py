"""Each security event writes its row in the audit log and its line in the log."""

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
from sqlalchemy import select, update
from structlog.testing import capture_logs

from models.chat.accounts import administering, key_renewal
from models.chat.common.security_events import ChatEvent
from models.chat.identity import jwt_sign_in
from models.chat.identity.key_digests import digest_of
from models.chat.organization import realms
from models.chat.tables import AuditLog, DataExport
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.mail import mails
from tests.support.chat.people import KEYS, PASSWORD, VAULT, Cast, Member
from tests.support.chat.rows import change_user
from tests.support.frozen_clock import FrozenClock

NEW = "correct horse battery staple"
JWT_KEY = "a key of thirty-two bytes at the very least"
Lines = list[MutableMapping[str, Any]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    with capture_logs() as captured:
        yield captured


@dataclass(frozen=True)
class Stage:
    """Clients of all actors, by name. `by` returns one of them."""

    nobody: ChatClient
    cast: Cast
    database: Database
    clock: FrozenClock

    def by(self, name: str) -> ChatClient:
        return self.nobody.acting_as(getattr(self.cast, name))

    def allow_jwt(self) -> None:
        changes = {"jwt_key": JWT_KEY, "jwt_algorithms": ["HS256"], "jwt_audience": "specd"}
        self.database.run(
            lambda session: jwt_sign_in.change_configuration(
                session, VAULT, self.cast.realm_id, changes, now=self.clock.now()
            )
        )

    def token(self, key: str = JWT_KEY) -> str:
        claims = {
            "email": self.cast.hamlet.email,
            "aud": "specd",
            "exp": int(self.clock.now().timestamp()) + 60,
        }
        return jwt.encode(claims, key, algorithm="HS256")


@pytest.fixture
def stage(as_nobody: ChatClient, cast: Cast, chat_database: Database, clock: FrozenClock) -> Stage:
    return Stage(as_nobody, cast, chat_database, clock)


def confirm_email(stage: Stage) -> Any:
    hamlet = stage.by("hamlet")
    hamlet.patch("/settings", email="prince@acme.example")
    link = next(text for _, _, text in mails(stage.database) if "confirm_new_email" in text)
    token = link.partition("/confirm_new_email/")[2].split()[0]
    return stage.nobody.post(f"/accounts/confirm_new_email/{token}")


def create_user(stage: Stage) -> Any:
    change_user(stage.database, stage.cast.iago.id, can_create_users=True)
    new = {"email": "yorick@acme.example", "password": NEW, "full_name": "Yorick"}
    return stage.by("iago").post("/users", **new)


def role(stage: Stage) -> Any:
    return stage.by("cordelia").patch(f"/users/{stage.cast.hamlet.id}", role=300)


def reactivate(stage: Stage) -> Any:
    return stage.by("iago").post(f"/users/{stage.cast.ophelia.id}/reactivate")


def delete_export(stage: Stage) -> Any:
    iago = stage.by("iago")
    export_id = iago.post("/export/realm")["id"]
    stage.database.run(lambda session: session.execute(_finished(export_id, stage.clock.now())))
    return iago.delete(f"/export/realm/{export_id}")


def _finished(export_id: int, now: Any) -> Any:
    done = {"state": "succeeded", "ended_at": now, "archive": "x.zip"}
    return update(DataExport).where(DataExport.id == export_id).values(done)


def sign_in_by_jwt(stage: Stage) -> Any:
    stage.allow_jwt()
    return stage.nobody.post("/jwt/fetch_api_key", token=stage.token())


Change = tuple[ChatEvent, str | None, str | None, Callable[[Stage], Any], dict[str, Any]]
"""Expected events: kind, actor, target, action, and further facts of the line."""

E = ChatEvent
CHANGES: list[Change] = [
    (E.SIGNED_IN, None, "hamlet", lambda stage: stage.nobody.post(
        "/fetch_api_key", username="hamlet@acme.example", password=PASSWORD), {"by": "password"}),
    (E.SIGNED_IN, None, "hamlet", lambda stage: stage.nobody.post(
        "/dev_fetch_api_key", username="hamlet@acme.example"), {"by": "development"}),
    (E.SIGNED_IN, None, "hamlet", sign_in_by_jwt, {"by": "jwt"}),
    (E.USER_PASSWORD_CHANGED, "hamlet", "hamlet", lambda stage: stage.by("hamlet").patch(
        "/settings", old_password=PASSWORD, new_password=NEW), {}),
    (E.USER_API_KEY_RENEWED, "hamlet", "hamlet", lambda stage: stage.by("hamlet").post(
        "/users/me/api_key/regenerate"), {}),
    (E.USER_EMAIL_CHANGED, None, "hamlet", confirm_email, {}),
    (E.USER_CREATED, "iago", None, create_user, {"role": 400}),
    (E.USER_ROLE_CHANGED, "cordelia", "hamlet", role, {"old": 400, "new": 300}),
    (E.USER_DEACTIVATED, "iago", "othello", lambda stage: stage.by("iago").delete(
        f"/users/{stage.cast.othello.id}"), {}),
    (E.USER_DEACTIVATED, "othello", "othello", lambda stage: stage.by("othello").delete(
        "/users/me"), {}),
    (E.USER_REACTIVATED, "iago", "ophelia", reactivate, {}),
    (E.REALM_SETTING_CHANGED, "cordelia", None, lambda stage: stage.by("cordelia").patch(
        "/realm", name_changes_disabled=True),
        {"property": "name_changes_disabled", "old": False, "new": True}),
    (E.EXPORT_REQUESTED, "iago", None, lambda stage: stage.by("iago").post("/export/realm"),
        {"export_id": 1, "export_type": "public"}),
    (E.EXPORT_DELETED, "iago", None, delete_export, {"export_id": 1}),
]  # fmt: skip
BY_COMMAND = {
    E.USER_RIGHTS_CHANGED, E.REALM_CREATED, E.JWT_SIGN_IN_CHANGED, E.JWT_SIGN_IN_ENDED,
    E.REALM_API_KEYS_REVOKED,
}  # fmt: skip


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_change_is_recorded_with_its_actor(number: int, stage: Stage, lines: Lines) -> None:
    event, actor, user, change, facts = CHANGES[number]
    answer = change(stage)
    assert answer["result"] == "success", answer
    told = [line for line in lines if line["event"] == "security" and line["name"] == event]
    (line,) = told
    row = newest(stage.database, event)
    asking: Member | None = None if actor is None else getattr(stage.cast, actor)
    target = None if user is None else getattr(stage.cast, user).id
    key = None if asking is None else digest_of(asking.key)[:8]
    by = target if asking is None else asking.id
    assert line == {
        "event": "security",
        "log_level": "info",
        "name": event.value,
        # For sign-ins and links, the actor follows from the sent credentials.
        "actor": None if event == E.USER_EMAIL_CHANGED else by,
        "key": key,
        "address": "127.0.0.1",
        "id": row.request_id,
        "user": row.user_id,
        "realm": stage.cast.realm_id,
        **facts,
    }
    assert (row.actor_id, row.key_id, row.address) == (by, key, "127.0.0.1")
    assert user is None or row.user_id == target
    for member in stage.cast.acme:
        assert member.key not in str(line)
        assert member.email not in str(line)


def test_every_event_is_tested() -> None:
    played = {event for event, *_ in CHANGES} | BY_COMMAND | {E.EXPORT_DOWNLOADED}
    assert played == set(ChatEvent)


def test_operator_is_the_actor_of_commands(stage: Stage, lines: Lines) -> None:
    cast, now = stage.cast, stage.clock.now()

    def work(session: Any) -> None:
        realm = realms.access_realm_named(session, "acme.example")
        administering.grant(session, realm, cast.hamlet.email, {"can_create_users": True}, now=now)
        key_renewal.note_revocation(session, realm, 9, now=now)
        jwt_sign_in.change_configuration(session, VAULT, cast.realm_id, {"jwt_key": ""}, now=now)

    stage.allow_jwt()
    stage.database.run(work)
    stage.database.run(
        lambda session: realms.create_realm(
            session, KEYS, host="new.example", name="New", owner_email="o@new.example",
            owner_name="Yorick", owner_password_hash=None, now=now,
        )
    )  # fmt: skip
    told = [line for line in lines if line["event"] == "security"]
    assert {line["name"] for line in told} >= {event.value for event in BY_COMMAND}
    assert all("actor" not in line for line in told)
    for event in BY_COMMAND:
        row = newest(stage.database, event)
        assert (row.actor_id, row.key_id, row.address, row.request_id) == (None,) * 4


def test_rolled_back_change_is_not_recorded(stage: Stage, lines: Lines) -> None:
    """A rejected change of settings rolls back a correct change of password."""
    wrong = stage.by("hamlet").patch(
        "/settings", old_password=PASSWORD, new_password=NEW, email="polonius@acme.example"
    )
    assert wrong["result"] == "error"
    assert [line["name"] for line in lines if line["event"] == "security"] == []


@pytest.mark.parametrize(
    ("path", "form", "reason", "known"),
    [
        ("/fetch_api_key", {"username": "hamlet@acme.example", "password": "not it"},
         "AuthenticationFailed", "hamlet"),
        ("/fetch_api_key", {"username": "nobody@acme.example", "password": "not it"},
         "AuthenticationFailed", None),
        ("/dev_fetch_api_key", {"username": "ophelia@acme.example"}, "SignInDeactivated",
         "ophelia"),
        ("/dev_fetch_api_key", {"username": "nobody@acme.example"}, "AuthenticationFailed", None),
        ("/jwt/fetch_api_key", {"token": "forged"}, "BadJwt", None),
    ],
)  # fmt: skip
def test_rejected_sign_in_is_recorded(
    path: str, form: dict[str, str], reason: str, known: str | None, stage: Stage, lines: Lines
) -> None:
    stage.allow_jwt()
    lines.clear()
    if form.get("token") == "forged":
        form = {"token": stage.token("another key of thirty-two bytes at least")}
    answer = stage.nobody.request("POST", path, form)
    operation = path.strip("/").replace("/", "_")
    assert answer.status_code in (400, 401)
    assert [line for line in lines if line["event"] == "security"] == [
        {
            "event": "security",
            "log_level": "warning",
            "name": "sign_in_refused",
            "actor": None if known is None else getattr(stage.cast, known).id,
            "key": None,
            "address": "127.0.0.1",
            "id": answer.headers["Request-Id"],
            "service": "chat",
            "operation": operation,
            "reason": reason,
        }
    ]


def test_each_exceeded_limit_is_recorded(
    chat_app_with: Callable[..., ChatApp], cast: Cast, lines: Lines
) -> None:
    app = chat_app_with(rate_limits=True, chat_rate_limit_per_user=2)
    hamlet = ChatClient(app, "acme.example", cast.hamlet)
    answers = [hamlet.request("GET", "/users/me") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    (line,) = [line for line in lines if line["event"] == "security"]
    assert line == {
        "event": "security",
        "log_level": "warning",
        "name": "limit_hit",
        "actor": cast.hamlet.id,
        "key": digest_of(cast.hamlet.key)[:8],
        "address": "127.0.0.1",
        "id": answers[-1].headers["Request-Id"],
        "service": "chat",
        "operation": "get_own_user",
        "reason": "RateLimited",
    }


def newest(database: Database, kind: str) -> Any:
    with database.reading() as reader:
        asked = select(AuditLog.__table__).where(AuditLog.kind == kind)
        return reader.execute(asked.order_by(AuditLog.id.desc()).limit(1)).one()
