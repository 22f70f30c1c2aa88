"""If permissions end between the first check and the write, nothing is written.

Covers every operation of both documents that changes data, with an allowed request of
permissions.yaml, on both databases. `Overtaken` commits another change in between.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from sqlalchemy import MetaData, func, select, update
from sqlalchemy.orm import Session

import specs
from models.chat.base import ChatBase
from models.chat.identity.key_digests import digest_of
from models.chat.identity.roles import Role
from models.chat.tables import Realm, User
from models.payment import keys
from models.payment.base import PaymentBase
from specd.db import Database
from tests.contract.authorization import payment_stage
from tests.contract.authorization.chat_stage import HOST, call_of, furnish, members
from tests.contract.authorization.conftest import NOW
from tests.contract.authorization.policy import ALLOWED, Case, load, worded
from tests.support.chat.app import ChatApp, ChatClient, shared_app
from tests.support.chat.people import Cast, Member
from tests.support.contract import operations_of
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from tests.support.payment.app import FakeGateway, PaymentApp

Work = Callable[[Session], object]

WRITES_NOTHING_YET = {
    "render_text": "only reads",
    "register_push_device": "no relay is configured here; tests/handlers/chat/test_mobile_push.py",
    "send_test_push_notification": "writes down what the relay said, nothing of the user's",
    "create_video_call": "writes down what the vendor said, nothing of the user's",
    "create_zoom_call": "writes down what the vendor said, nothing of the user's",
}
"""Operations that write nothing of the user here -> the reason."""


CHANGES_NOTHING_OF_OURS = {
    "advance_clock", "mine_blocks", "pay_invoice", "reorganise_chain", "send_sample_event",
    "test_webhook_endpoint",
}  # fmt: skip
"""Operations of the payment service that affect an endpoint or a chain."""


class Overtaken:
    """A database that commits `change`, if set, just before the next write."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.change: Work | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def run_unit(self, work: Callable[[Any], Any]) -> Any:
        if self.change is not None:
            change, self.change = self.change, None
            self._database.run(change)
        return self._database.run_unit(work)

    @contextmanager
    def overtaking(self, change: Work, back: Work) -> Iterator[None]:
        """Commit `change` before the write of the request sent in the block. `back` undoes it."""
        self.change = change
        yield
        assert self.change is None, "the request has written nothing"
        self._database.run(back)


def contents(database: Database, metadata: MetaData) -> dict[str, int]:
    """Return the number of rows of each table."""
    with database.reading() as reader:
        return {
            table.name: reader.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


# --- chat --------------------------------------------------------------------------------------

POLICY = load("chat")
GET = {name for name, (method, _) in operations_of(specs.load("chat")).items() if method == "GET"}
OPEN = {
    operation["operationId"]
    for item in specs.load("chat")["paths"].values()
    for operation in item.values()
    if isinstance(operation, dict) and operation.get("security") == []
}
CHANGING = [case for case in POLICY.cases if case.operation not in GET | OPEN]
ALLOWED_ONES = [
    (case, actor)
    for case in CHANGING
    for actor in ("owner", "member")
    if case.cells[actor] == ALLOWED and (actor == "owner" or case.cells["owner"] != ALLOWED)
]
"""Each case with an allowed actor: the owner, or a member."""


@dataclass
class Stage:
    """The chat stage on a database in which other changes can precede a write."""

    app: ChatApp
    cast: Cast
    database: Overtaken
    things: dict[str, Any]
    own: dict[str, dict[str, Any]]

    def things_of(self, actor: str) -> dict[str, Any]:
        return {**self.things, **self.own["owner"], **self.own[actor]}

    def ask(self, case: Case, actor: str) -> httpx.Response:
        method, path, parameters = call_of(self.app, case, self.things_of(actor))
        return ChatClient(self.app, HOST, self.member(actor)).request(method, path, parameters)

    def member(self, actor: str) -> Member:
        return members(self.cast)[actor]

    def set_user(self, actor: str, **values: object) -> Work:
        user_id = self.member(actor).id
        return lambda s: s.execute(update(User).where(User.id == user_id).values(values))

    def set_realm(self, **values: object) -> Work:
        return lambda s: s.execute(
            update(Realm).where(Realm.id == self.cast.realm_id).values(values)
        )


@pytest.fixture(scope="module", params=["sqlite", in_all("postgresql")])
def stage(
    request: pytest.FixtureRequest,
    chat_apps: list[ChatApp],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    directory: Path = tmp_path_factory.mktemp("overtaken")
    clock = FrozenClock(NOW)
    with copy_of(request, directory) as (url, people):
        database = Overtaken(Database(url))
        app = shared_app(chat_apps, cast(Database, database), clock, tmp_path_factory)
        things, own = furnish(cast(Database, database), app, people, clock)
        yield Stage(app, people, database, things, own)
        database.dispose()


@contextmanager
def copy_of(request: pytest.FixtureRequest, directory: Path) -> Iterator[tuple[str, Cast]]:
    if request.param == "sqlite":
        source, people = request.getfixturevalue("chat_sqlite_template")
        file = directory / "stage.db"
        file.write_bytes(Path(source).read_bytes())
        yield f"sqlite:///{file}", people
    else:
        copies, people = request.getfixturevalue("chat_postgres_copies")
        with copies.one() as url:
            yield url, people


def told(response: httpx.Response) -> tuple[int, str, str]:
    body = response.json()
    return response.status_code, body["code"], body["msg"]


def test_every_writing_operation_is_tested() -> None:
    tried = {case.operation for case, _ in ALLOWED_ONES}
    assert tried | WRITES_NOTHING_YET.keys() == {case.operation for case in CHANGING}


def ends_of(stage: Stage, actor: str) -> dict[str, tuple[Work, Work, str]]:
    """Return the events that can end an actor's permissions: name, change, undo, and the expected
    error.
    """
    member = stage.member(actor)

    def user(**values: object) -> Work:
        return stage.set_user(actor, **values)

    return {
        "left": (user(is_active=False), user(is_active=True), "Account is deactivated"),
        "another key": (
            user(api_key_sha256="0" * 64),
            user(api_key_sha256=digest_of(member.key)),
            "Invalid API key",
        ),
        "another address": (
            user(email_key="other@acme.example"),
            user(email_key=member.email),
            "Invalid API key",
        ),
        "closed": (
            stage.set_realm(is_deactivated=True),
            stage.set_realm(is_deactivated=False),
            "This organization has been deactivated",
        ),
    }


class TestChat:
    def test_ended_permissions_stop_the_write(self, stage: Stage) -> None:
        before = contents(cast(Database, stage.database), ChatBase.metadata)
        unexpected = {}
        for case, actor in ALLOWED_ONES:
            if case.operation in WRITES_NOTHING_YET:
                continue
            for end, (change, back, text) in ends_of(stage, actor).items():
                with stage.database.overtaking(change, back):
                    answer = stage.ask(case, actor)
                if told(answer) != (401, "UNAUTHORIZED", text):
                    unexpected[case.name, end] = told(answer)
        assert unexpected == {}
        assert contents(cast(Database, stage.database), ChatBase.metadata) == before

    def test_demoted_user_gets_the_error_of_the_lower_role(self, stage: Stage) -> None:
        """A user who becomes a guest gets the response of a guest."""
        before = contents(cast(Database, stage.database), ChatBase.metadata)
        change = stage.set_user("owner", role=Role.GUEST)
        back = stage.set_user("owner", role=Role.OWNER)
        cases = [
            case
            for case, actor in ALLOWED_ONES
            if actor == "owner" and case.cells["guest"] != ALLOWED
        ]
        assert len(cases) > 20
        unexpected = {}
        for case in cases:
            status, text = POLICY.refusals[case.cells["guest"]]
            with stage.database.overtaking(change, back):
                status_now, _, text_now = told(stage.ask(case, "owner"))
            if (status_now, text_now) != (status, worded(text, stage.things_of("owner"))):
                unexpected[case.name] = (status_now, text_now)
        assert unexpected == {}
        assert contents(cast(Database, stage.database), ChatBase.metadata) == before


# --- payment -----------------------------------------------------------------------------------


class TestPayment:
    def test_revoked_key_stops_the_write(
        self, payment_app: PaymentApp, database: Database, clock: FrozenClock
    ) -> None:
        overtaken = Overtaken(database)
        app = payment_app
        app.play(cast(Database, overtaken), clock, FakeGateway())
        shop = payment_stage.prepare(app, database, clock)
        with database.reading() as reader:
            owner = keys.find_actor(reader, str(shop.keys["project"]))
        assert owner is not None
        reading = {name for name, (m, _) in operations_of(app.document).items() if m == "GET"}
        reading |= CHANGES_NOTHING_OF_OURS
        cases = [case for case in load("payment").cases if case.operation not in reading]
        allowed = [case for case in cases if case.cells["project"] == ALLOWED]
        unexpected = {}
        for case in allowed:
            _, key = database.run(
                lambda s: keys.create_key(s, project_id=owner.project_id, now=NOW)
            )
            before = contents(database, PaymentBase.metadata)
            with overtaken.overtaking(lambda s, key=key: revoke(s, key), lambda s: None):
                answer = replace(shop, keys={"project": key}).answer(case, "project")
            if (answer.status_code, answer.json()["code"]) != (401, "unauthorized"):
                unexpected[case.name] = answer.text
            assert contents(database, PaymentBase.metadata) == before
        assert unexpected == {}
        assert {case.operation for case in allowed} == {case.operation for case in cases}


def revoke(session: Session, key: str) -> None:
    keys.revoke_key(session, key_id=key.split("_")[2], now=NOW)
