"""An organization moves while people use it, with any interruption."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import String, delete, func, select, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Session

from adapters.file_store.store import StoreUnavailable
from models.chat.base import ChatBase
from models.chat.identity import actors
from models.chat.identity.links import Link, find_link, make_link, try_spend
from models.chat.imports import runs
from models.chat.imports.errors import IdsInUse, UnfinishedImport
from models.chat.imports.runs import Import
from models.chat.moves import capture
from models.chat.moves.errors import (
    MoveIsFinished,
    NoSuchOrganization,
    NotNoted,
    TooManyIds,
)
from models.chat.organization.errors import HostInUse
from models.chat.queues.retention import LASTS
from models.chat.tables import Event, Message, User
from models.chat.uploads import names
from specd.db import Database
from specd.errors import DatabaseUnavailable
from tests.conftest import NOW
from tests.contract.continuity.history import History
from tests.contract.round_trips.comparing import Comparison
from tests.handlers.chat.test_browser_sessions import Browser
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.bots import make as make_bot
from tests.support.chat.importing import (
    Installation,
    another_installation,
    person_at,
    store_of,
)
from tests.support.chat.moved import HOUR, WITH_EVERYTHING, Everything
from tests.support.chat.people import VAULT, Cast
from tests.support.chat.prepared import Preparation
from tests.support.databases import count_rows
from tests.support.frozen_clock import FrozenClock
from workers import imports, moves
from workers.scheduled_delivery import ScheduledDelivery

HOST = "acme.example"
KINDS = ("sqlite", "postgresql")
_OTHER = "of another " + sql_cast(User.id, String)
"""Values for unique keys, because those of the template are used at the source."""


def between(
    *daily: tuple[Any, ...], names: str = "", further: Sequence[tuple[Any, ...]] = ()
) -> pytest.MarkDecorator:
    """Run a test with these databases of the source and of the target (as for `elsewhere`), and
    additional values for `names`.

    With `--all`, run each of these and of the `further` targets with both sources.
    """
    targets = dict.fromkeys([*((target, *more) for _, target, *more in daily), *further])
    crossed = [
        pytest.param(*case, marks=[] if case in daily else pytest.mark.exhaustive)
        for source in KINDS
        for target, *more in targets
        for case in [(source, target, *more)]
    ]
    assert sum(not each.marks for each in crossed) == len(daily)
    return pytest.mark.parametrize(
        f"chat_filled, elsewhere{names and ', '}{names}", crossed,
        indirect=["chat_filled", "elsewhere"],
    )  # fmt: skip


@pytest.fixture
def clock() -> FrozenClock:
    """The clock starts after the users' actions, not at the first block of a chain."""
    return FrozenClock(NOW)


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """Return an installation; `empty` before the kind of its database means without
    organizations.
    """
    *words, kind = request.param.split()
    folder = tmp_path / "elsewhere"
    with another_installation(request, folder, kind, is_empty=bool(words)) as installation:
        others = update(User).values(api_key_sha256=_OTHER)
        installation.database.run(lambda session: session.execute(others))
        yield installation


other_kind = between(("sqlite", "postgresql"), ("postgresql", "sqlite"))
into_postgresql = between(("sqlite", "empty postgresql"), further=[("empty sqlite",)])
from_postgresql = between(("postgresql", "empty sqlite"), further=[("empty postgresql",)])
on_sqlite = between(("sqlite", "sqlite"), further=[("postgresql",)])
on_empty_sqlite = between(("sqlite", "empty sqlite"), further=[("empty postgresql",)])
"""The last two belong to rules that precede all statements."""


@pytest.fixture
def here(
    chat_database: Database, clock: FrozenClock, tmp_path: Path, chat_app: ChatApp
) -> Installation:
    return Installation(chat_database, clock, tmp_path / "here", store_of(chat_app))


@contextmanager
def while_moving(act: Callable[[], None], *, rounds: int) -> Iterator[None]:
    """Run changes at the source after the first copy and before each of some rounds."""
    follow, left = moves._Work.follow, rounds

    def follow_after(work: Any) -> int:
        nonlocal left
        if left:
            left -= 1
            act()
        return follow(work)

    with patch.object(moves._Work, "follow", follow_after), patch.object(moves, "SHORT", 0):
        yield


@between(
    ("sqlite", "empty postgresql", 1), ("postgresql", "sqlite", 2),
    names="seed", further=[("sqlite", 1), ("postgresql", 2), ("empty sqlite", 2)],
)  # fmt: skip
def test_random_history_goes_on_at_target(
    seed: int,
    as_nobody: ChatClient,
    chat_app: ChatApp,
    cast: Cast,
    clock: FrozenClock,
    here: Installation,
    elsewhere: Installation,
) -> None:
    history = History(as_nobody, here.database, cast, clock, seed)
    history.begin()

    def act() -> None:
        for _ in range(40):
            history.act_at_random()

    act()
    was_empty = contents(elsewhere)["realm"] == 0
    first = max(logs(here, cast.realm_id))
    register(as_nobody.acting_as(cast.cordelia))
    with while_moving(act, rounds=3):
        moved = elsewhere.moves_from(here).run(HOST)
    assert moved.run.keeps_ids is was_empty
    assert moved.rounds >= 4
    assert moved.changes > 100
    found = compare(here, cast.realm_id, elsewhere, moved)
    assert found.differences == []
    assert found.compared > 1000
    assert found.moved > 300 or was_empty
    events = {id_: text for id_, text in logs(here, cast.realm_id).items() if id_ > first}
    assert len(events) > 50
    assert logs(elsewhere, moved.run.realm_id) == (events if was_empty else {})


class Interrupted(BaseException):
    """Simulates that the process is killed."""


@contextmanager
def interrupted(after: int, *, at: str = "") -> Iterator[None]:
    """Kill the move in a unit of work after a number of units, with small batches of rows.

    `at`: count units of that kind only.
    """
    advance, forget, made = runs.advance, capture.forget_changes, 0

    def count(kind: str) -> None:
        nonlocal made
        made += at in ("", kind)
        if made > after:
            raise Interrupted

    def advance_or_not(session: Session, run: Import, **more: int) -> None:
        advance(session, run, **more)
        count("advance")

    def forget_or_not(session: Session, ids: list[int]) -> None:
        forget(session, ids)
        count("forget")

    with (
        patch.object(runs, "advance", advance_or_not),
        patch.object(capture, "forget_changes", forget_or_not),
        patch.object(imports, "BATCH_ROWS", 200),
        patch.object(moves, "BATCH", 30),
        patch.object(moves, "FORGOTTEN_AT_ONCE", 50),
    ):
        yield


def contents(installation: Installation) -> dict[str, int]:
    """Return the rows of each table, and the triggers."""
    with installation.database.reading() as reader:
        counts = count_rows(reader, ChatBase.metadata)
        search = "SELECT count(*) FROM message_search"
        counts["message_search"] = reader.exec_driver_sql(search).scalar_one()
        counts["triggers"] = len(capture.find_triggers(reader))
    return counts


def says(client: ChatClient, text: str, **headers: str) -> Any:
    sent = {"type": "channel", "to": "Elsinore", "topic": "ghost", "content": text}
    return client.request("POST", "/messages", sent, headers=headers)


def assert_sent(answer: Any) -> None:
    assert answer.status_code == 200, answer.text


def count_messages(database: Database, text: str) -> int:
    with database.reading() as reader:
        sent = select(func.count()).where(Message.content == text)
        return int(reader.execute(sent).scalar_one())


def compare(
    here: Installation, realm_id: int, elsewhere: Installation, moved: moves.Moved
) -> Comparison:
    """Compare the organization at the source with the moved one."""
    return Comparison(
        here.export(realm_id), elsewhere.export(moved.run.realm_id),
        was_moved=True, keeps_ids=moved.run.keeps_ids,
    )  # fmt: skip


def register(client: ChatClient) -> dict[str, Any]:
    """Return a new queue for messages."""
    made = client.post("/register", event_types=["message"], fetch_event_types=[])
    return {"queue_id": made["queue_id"], "last_event_id": made["last_event_id"]}


def hear(client: ChatClient, queue: dict[str, Any]) -> list[str]:
    """Return the texts of a queue's new messages, and acknowledge them."""
    texts = []
    while events := client.get("/events", **queue, dont_block=True)["events"]:
        queue["last_event_id"] = events[-1]["id"]
        texts += [each["message"]["content"] for each in events if each["type"] == "message"]
    return texts


def logs(installation: Installation, realm_id: int) -> dict[int, str]:
    """Return the events that clients may still receive, by id."""
    with installation.database.reading() as reader:
        kept = select(Event.id, Event.payload).where(
            Event.realm_id == realm_id, Event.type.not_in(LASTS)
        )
        return {row.id: row.payload for row in reader.execute(kept)}


@pytest.fixture
def preparation(request: pytest.FixtureRequest) -> Preparation | None:
    return WITH_EVERYTHING if "everything" in request.fixturenames else None


@pytest.fixture
def everything(prepared: Everything) -> Everything:
    return prepared


@between(
    ("sqlite", "empty postgresql"), ("postgresql", "sqlite"),
    further=[("empty sqlite",), ("postgresql",)],
)  # fmt: skip
def test_move_killed_after_any_unit_goes_on(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, clock: FrozenClock,
    everything: Everything, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, units, interruptions = as_nobody.acting_as(cast.hamlet), 3, 0
    queue, words = register(hamlet), []
    while True:
        try:
            with interrupted(units):
                moved = elsewhere.moves_from(here).run(HOST)
            break
        except Interrupted:
            interruptions += 1
            units += 1  # because each run repeats changes that the source still records
            said = says(hamlet, f"Word {interruptions}")
            assert said.status_code in (200, 503), said.text
            words += [f"Word {interruptions}"] * (said.status_code == 200)
    assert interruptions > 10
    assert len(words) > 5
    found = compare(here, cast.realm_id, elsewhere, moved)
    assert found.differences == []
    there = contents(elsewhere)
    assert there["moved_row"] == there["row_change"] == 0
    assert contents(here)["triggers"] == contents(here)["row_change"] == 0
    again = elsewhere.moves_from(here).run(HOST)
    assert (again.run.id, again.stopped_s) == (moved.run.id, None)
    assert contents(elsewhere) == {**there, "audit_log": there["audit_log"]}
    if moved.run.keeps_ids:
        chat_app.play(elsewhere.database, clock)
        assert hear(hamlet, queue) == words


@between(
    ("postgresql", "sqlite", 0, ""), ("sqlite", "empty postgresql", 5, ""),
    ("sqlite", "empty sqlite", 30, ""), ("postgresql", "empty postgresql", 0, "forget"),
    ("sqlite", "sqlite", 1, "forget"), names="units, kind", further=[("postgresql", 30, "")],
)  # fmt: skip
def test_discarded_move_leaves_nothing(
    units: int, kind: str, as_nobody: ChatClient, cast: Cast, everything: Everything,
    here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    there, at_source = contents(elsewhere), contents(here)
    with interrupted(units, at=kind), pytest.raises(Interrupted):
        elsewhere.moves_from(here).run(HOST)
    assert contents(here)["triggers"] == 3 * len(capture.CAPTURED)
    elsewhere.moves_from(here).discard(HOST)
    assert contents(elsewhere) == there
    left = contents(here)
    assert {**left, "event": 0} == {**at_source, "event": 0}
    assert says(as_nobody.acting_as(cast.hamlet), "Still here").status_code == 200
    moved = elsewhere.moves_from(here).run(HOST)
    with pytest.raises(MoveIsFinished):
        elsewhere.moves_from(here).discard(HOST)
    assert compare(here, cast.realm_id, elsewhere, moved).differences == []


@between(
    ("sqlite", "sqlite"), ("postgresql", "empty postgresql"),
    further=[("postgresql",), ("empty sqlite",)],
)  # fmt: skip
def test_keys_sessions_and_kept_answers_stay_valid(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, browser = as_nobody.acting_as(cast.hamlet), Browser(chat_app)
    browser.stay(hamlet)
    once = {"Idempotency-Key": "said-once-1"}
    first = says(hamlet, "Once", **once)
    assert first.status_code == 200, first.text
    sessions = hamlet.get("/users/me/sessions")["sessions"]
    moved = elsewhere.moves_from(here).run(HOST)
    chat_app.play(elsewhere.database, clock)
    new = person_at(elsewhere.database, HOST, cast.hamlet.email)
    assert new.key == cast.hamlet.key
    assert (new.id == cast.hamlet.id) is moved.run.keeps_ids
    assert (hamlet.get("/users/me/sessions")["sessions"] == sessions) is moved.run.keeps_ids
    assert browser.resume()["api_key"] == cast.hamlet.key
    again = says(hamlet, "Once", **once)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (again.json()["id"] == first.json()["id"]) is moved.run.keeps_ids
    assert count_messages(elsewhere.database, "Once") == 1
    (found,) = hamlet.get(
        "/messages", anchor=again.json()["id"], num_before=0, num_after=0, narrow=[]
    )["messages"]
    assert found["content"] == "<p>Once</p>"


@on_sqlite
def test_old_ids_refer_to_nothing(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    """A client that has not detected the move cannot address another channel or user."""
    moved = elsewhere.moves_from(here).run(HOST)
    assert min(n for of, n in moved.run.first_ids.items() if of != "realm") > moves.ROOM
    chat_app.play(elsewhere.database, clock)
    hamlet = as_nobody.acting_as(cast.hamlet)
    for to, kind in ((everything.channel_id, "channel"), ([cast.othello.id], "direct")):
        said = hamlet.post("/messages", type=kind, to=to, topic="ghost", content="To whom?")
        assert said["result"] == "error", said
    assert hamlet.delete(f"/messages/{everything.message_id}")["result"] == "error"


# --- ids that stay -------------------------------------------------------------------------------


@into_postgresql
def test_client_goes_on_with_kept_ids(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet = as_nobody.acting_as(cast.hamlet)
    said: list[int] = []
    new, old = register(hamlet), register(as_nobody.acting_as(cast.othello))
    mailbox = f"/streams/{everything.channel_id}/email_address"
    mail_to = hamlet.get(mailbox)["email"]

    def act() -> None:
        said.append(says(hamlet, f"Word {len(said)}").json()["id"])
        if len(said) == 1:
            assert hear(hamlet, new) == ["Word 0"]

    with while_moving(act, rounds=3):
        moved = elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    assert (moved.run.keeps_ids, moved.run.realm_id) == (True, cast.realm_id)
    chat_app.play(elsewhere.database, clock)
    assert hamlet.get("/users/me")["user_id"] == cast.hamlet.id
    for message_id in (everything.message_id, *said):
        assert hamlet.get(f"/messages/{message_id}")["result"] == "success"
    assert hamlet.get(f"/streams/{everything.channel_id}")["stream"]["name"] == "Elsinore"
    for address in (everything.file, everything.picture):
        key = names.key_of(cast.realm_id, names.handle_of(address.rpartition("/")[2]))
        assert b"".join(elsewhere.files.read(key)) == b"".join(here.files.read(key))
        assert hamlet.get(address)["result"] == "success"
    assert hamlet.get(mailbox)["email"] == mail_to
    sent = hamlet.post(
        "/messages", type="channel", to=everything.channel_id, topic="ghost", content="Here"
    )
    assert sent["id"] > max(said) + moves.ROOM // 2
    heard = ["Word 0", "Word 1", "Word 2", "Here"]
    assert hear(hamlet, new) == heard[1:]
    assert hear(as_nobody.acting_as(cast.othello), old) == heard


@from_postgresql
def test_presences_go_on_and_links_stay_spent(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, othello = map(as_nobody.acting_as, (cast.hamlet, cast.othello))

    def report(client: ChatClient, last: int) -> dict[str, Any]:
        return client.post("/users/me/presence", status="active", last_update_id=last)

    for _ in range(3):
        report(othello, -1)
        clock.advance(seconds=120)
    last = report(hamlet, -1)["presence_last_update_id"]
    purpose, now = "a test", clock.now()

    def make(session: Session) -> str:
        actor = actors.authenticate(
            session, host=HOST, email=cast.hamlet.email, api_key=cast.hamlet.key
        )
        return make_link(VAULT, actor, purpose=purpose, now=now)

    def find(database: Database, text: str) -> Link | None:
        with database.reading() as reader:
            found = find_link(
                reader, VAULT, text, purpose=purpose, realm_id=cast.realm_id, now=clock.now()
            )
        return None if found is None else found[0]

    spent, unspent = (here.database.run(make) for _ in range(2))
    link = find(here.database, spent)
    assert link is not None
    assert here.database.run(lambda session: try_spend(session, link, now=now))
    elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    assert find(elsewhere.database, spent) is None
    assert find(elsewhere.database, unspent) is not None
    chat_app.play(elsewhere.database, clock)
    report(othello, last)
    answer = report(hamlet, last)
    assert answer["presence_last_update_id"] > last
    assert str(cast.othello.id) in answer["presences"]


@on_empty_sqlite
def test_clients_register_again_where_others_have_the_ids_of_events(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, are_free = as_nobody.acting_as(cast.hamlet), runs.are_free
    queue, found = register(hamlet), []

    def are_free_once(*args: Any) -> bool:
        found.append(are_free(*args))
        return len(found) == 1

    with (
        while_moving(lambda: assert_sent(says(hamlet, "Word")), rounds=3),
        patch("models.chat.moves.clients.are_free", are_free_once),
    ):
        moved = elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    assert found == [True, True]
    assert moved.run.keeps_ids
    chat_app.play(elsewhere.database, clock)
    assert hamlet.get("/events", **queue, dont_block=True)["code"] == "BAD_EVENT_QUEUE_ID"
    assert count_messages(elsewhere.database, "Word") == 3
    again = register(hamlet)
    assert_sent(says(hamlet, "Here"))
    assert hear(hamlet, again) == ["Here"]


@into_postgresql
def test_queue_with_expired_events_is_gone(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, clock: FrozenClock,
    here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    """Retention at the target may delete them before they are read."""
    hamlet, othello = map(as_nobody.acting_as, (cast.hamlet, cast.othello))
    subscribed = [{"name": "Elsinore"}]
    hamlet.post("/users/me/subscriptions", subscriptions=subscribed, principals=[cast.othello.id])
    behind = register(hamlet)
    says(hamlet, "Word 0")
    ahead = register(othello)

    def act() -> None:
        says(hamlet, "Word 1")
        with elsewhere.database.reading() as reader:
            there = reader.execute(select(Event.id).order_by(Event.id)).scalars().all()
        if there:
            oldest = delete(Event).where(Event.id == there[0])
            elsewhere.database.run(lambda session: session.execute(oldest))

    with while_moving(act, rounds=2):
        elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    chat_app.play(elsewhere.database, clock)
    answer = hamlet.get("/events", **behind, dont_block=True)
    assert answer["code"] == "BAD_EVENT_QUEUE_ID"
    assert hear(othello, ahead) == ["Word 1"] * 2


@between(
    ("sqlite", "empty postgresql", 30), ("postgresql", "empty sqlite", 5), names="units",
    further=[("empty postgresql", 0)],
)  # fmt: skip
def test_organizations_that_share_ranges_of_ids_follow_one_another(
    units: int, as_nobody: ChatClient, cast: Cast, everything: Everything, here: Installation,
    elsewhere: Installation,
) -> None:  # fmt: skip
    hank = as_nobody.acting_as(cast.hank)
    subscribed = [{"name": "plant"}]
    assert hank.post("/users/me/subscriptions", subscriptions=subscribed)["result"] == "success"
    make_bot(as_nobody.acting_as(cast.hamlet))
    first = elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    there = contents(elsewhere)
    with interrupted(units), pytest.raises(Interrupted):
        elsewhere.moves_from(here).run("globex.example")
    elsewhere.moves_from(here).discard("globex.example")
    assert contents(elsewhere) == there
    assert compare(here, cast.realm_id, elsewhere, first).differences == []
    second = elsewhere.moves_from(here, must_keep_ids=True).run("globex.example")
    assert compare(here, cast.globex_id, elsewhere, second).differences == []
    with elsewhere.database.reading() as reader:
        ids = reader.execute(select(User.realm_id).order_by(User.id)).scalars().all()
    assert {*ids} == {cast.realm_id, cast.globex_id}
    assert ids != sorted(ids)


@other_kind
def test_move_without_free_ids_is_refused(
    cast: Cast, everything: Everything, here: Installation, elsewhere: Installation
) -> None:
    there, at_source = contents(elsewhere), contents(here)
    with pytest.raises(IdsInUse, match="rows of realm have some of them"):
        elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    assert (contents(elsewhere), contents(here)) == (there, at_source)


@on_empty_sqlite
def test_ids_reserved_by_another_import_are_refused(
    cast: Cast, everything: Everything, here: Installation, elsewhere: Installation
) -> None:
    archive = here.export(cast.globex_id)
    with interrupted(3), pytest.raises(Interrupted):
        elsewhere.bring(archive, "globex.example")
    with pytest.raises(IdsInUse, match=r"another one is on its way to globex\.example"):
        elsewhere.moves_from(here, must_keep_ids=True).run(HOST)
    moved = elsewhere.moves_from(here).run(HOST)
    assert not moved.run.keeps_ids
    elsewhere.bring(archive, "globex.example")
    assert compare(here, cast.realm_id, elsewhere, moved).differences == []


@on_empty_sqlite
def test_import_during_search_for_ids_is_noticed(
    cast: Cast, everything: Everything, here: Installation, elsewhere: Installation
) -> None:
    archive, are_free = here.export(cast.globex_id), runs.are_free

    def bring(*args: Any) -> bool:
        with patch.object(runs, "are_free", are_free), elsewhere.database.reading() as reader:
            if runs.find_import(reader, "globex.example") is None:
                elsewhere.bring(archive, "globex.example")
        return are_free(*args)

    with (
        patch.object(runs, "are_free", bring),
        pytest.raises(IdsInUse, match="another one has come meanwhile"),
    ):
        elsewhere.moves_from(here, must_keep_ids=True).run(HOST)


@into_postgresql
def test_row_of_another_organization_is_never_taken(
    as_nobody: ChatClient, cast: Cast, everything: Everything, here: Installation,
    elsewhere: Installation,
) -> None:  # fmt: skip
    """The source issues more ids than a move allows, and a user here has the same id."""
    hamlet = as_nobody.acting_as(cast.hamlet)
    archive = here.export(cast.globex_id)

    def act() -> None:
        there = elsewhere.bring(archive, "globex.example").run.first_ids["user"]
        names_of_bots = (f"Osric{number}" for number in range(10))
        while make_bot(hamlet, next(names_of_bots))["user_id"] < there:
            pass

    with (
        patch.object(moves, "ROOM", 0),
        while_moving(act, rounds=1),
        pytest.raises(TooManyIds),
    ):
        elsewhere.moves_from(here).run(HOST)
    assert says(hamlet, "Still here").status_code == 200
    elsewhere.moves_from(here).discard(HOST)
    with elsewhere.database.reading() as reader:
        names_there = reader.execute(select(User.full_name).order_by(User.id)).scalars().all()
    assert names_there == ["Hank", "Notification Bot"]


@pytest.mark.reaches("REALM_MOVING")
@other_kind
def test_only_the_source_organization_is_stopped(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, hank = as_nobody.acting_as(cast.hamlet), as_nobody.acting_as(cast.hank)
    registered = hamlet.post("/register", event_types=["message"])
    poll = hamlet.build(
        "GET", "/events",
        {"queue_id": registered["queue_id"], "last_event_id": registered["last_event_id"]},
    )  # fmt: skip
    done: list[moves.Moved] = []

    def while_switching() -> None:
        refused = says(hamlet, "Now?")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert refused.json()["code"] == "REALM_MOVING"
        for path in ("/server_settings", "/users/me", "/events"):
            assert hamlet.request("GET", path).status_code == 503, path
        assert hank.get("/users/me")["result"] == "success"

    move = elsewhere.moves_from(here)
    thread = threading.Thread(target=lambda: done.append(move.run(HOST)))
    thread.start()
    (told,) = as_nobody.at_once(poll)
    thread.join()
    assert [event["type"] for event in told.json()["events"]] == ["heartbeat"]
    assert done[0].stopped_s is not None
    while_switching()
    clock.advance(seconds=2 * HOUR)
    window = timedelta(hours=5)
    assert not ScheduledDelivery(here.database, clock, late_window=window).try_deliver_one()
    there = ScheduledDelivery(elsewhere.database, clock, late_window=window)
    assert there.try_deliver_one()
    assert not there.try_deliver_one()
    assert count_messages(elsewhere.database, "Later") == 1
    assert count_messages(here.database, "Later") == 0
    chat_app.play(elsewhere.database, clock)
    ended = hamlet.request(
        "GET", "/events", {"queue_id": registered["queue_id"], "last_event_id": 0}
    )
    assert ended.json()["code"] == "BAD_EVENT_QUEUE_ID"


@on_sqlite
def test_busy_source_is_asked_again_after_a_rest(
    elsewhere: Installation, here: Installation, cast: Cast
) -> None:
    failures = [DatabaseUnavailable(), DatabaseUnavailable()]
    asked: list[int] = []
    install = capture.install

    def busy(*args: Any, **options: Any) -> None:
        asked.append(len(rests))
        if failures:
            raise failures.pop()
        install(*args, **options)

    rests: list[float] = []
    move = elsewhere.moves_from(here, rest=rests.append)
    with patch.object(capture, "install", busy):
        move.run(HOST)
    assert asked[:3] == [0, 1, 2]
    assert rests[:2] == [moves.TRY_EVERY_S] * 2


@on_sqlite
def test_source_goes_on_if_files_cannot_follow(
    as_nobody: ChatClient, cast: Cast, everything: Everything, here: Installation,
    elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet = as_nobody.acting_as(cast.hamlet)
    move_files, was_stopped = moves._Work._move_files, []

    def refuse_at_the_end(work: Any, found: Any) -> None:
        refused = says(hamlet, "Now?").status_code == 503
        if refused:
            was_stopped.append(refused)
            raise StoreUnavailable()
        move_files(work, found)

    with (
        patch.object(moves._Work, "_move_files", refuse_at_the_end),
        pytest.raises(StoreUnavailable),
    ):
        elsewhere.moves_from(here).run(HOST)
    assert was_stopped == [True]
    assert says(hamlet, "Again").status_code == 200
    elsewhere.moves_from(here).run(HOST)
    assert count_messages(elsewhere.database, "Again") == 1


@other_kind
def test_running_transaction_is_awaited(
    as_nobody: ChatClient, cast: Cast, everything: Everything, here: Installation,
    elsewhere: Installation, clock: FrozenClock,
) -> None:  # fmt: skip
    written, may_end = threading.Event(), threading.Event()

    def work(session: Session) -> None:
        actors.authenticate(session, host=HOST, email=cast.hamlet.email, api_key=cast.hamlet.key)
        renamed = update(User).where(User.id == cast.othello.id)
        session.execute(renamed.values(full_name="Late"))
        written.set()
        may_end.wait(10)

    writer = threading.Thread(target=lambda: here.database.run(work))

    def begin() -> None:
        writer.start()
        assert written.wait(10)
        threading.Timer(0.3, may_end.set).start()

    move = elsewhere.moves_from(here)
    stop = move._stop

    def stop_while_writing(realm_id: int) -> None:
        begin()
        stop(realm_id)
        assert may_end.is_set()

    with patch.object(move, "_stop", stop_while_writing):
        moved = move.run(HOST)
    writer.join()
    with elsewhere.database.reading() as reader:
        late = select(func.count()).where(
            User.full_name == "Late", User.realm_id == moved.run.realm_id
        )
        assert reader.execute(late).scalar_one() == 1


@other_kind
def test_refused_move_writes_nothing(
    cast: Cast, everything: Everything, here: Installation, elsewhere: Installation
) -> None:
    there, at_source = contents(elsewhere), contents(here)
    with pytest.raises(NoSuchOrganization):
        elsewhere.moves_from(here).run("nowhere.example")
    with pytest.raises(HostInUse):
        elsewhere.moves_from(here).run("globex.example")
    assert (contents(elsewhere), contents(here)) == (there, at_source)


@between(("postgresql", "sqlite"), further=[("postgresql",)])
def test_source_without_capture_is_refused(
    cast: Cast, everything: Everything, here: Installation, elsewhere: Installation
) -> None:
    with interrupted(0, at="forget"), pytest.raises(Interrupted):
        elsewhere.moves_from(here).run(HOST)

    def forget(session: Session) -> None:
        for table in capture.CAPTURED:
            capture.remove(session, cast.realm_id, table)

    here.database.run(forget)
    with pytest.raises(NotNoted):
        elsewhere.moves_from(here).run(HOST)
    (elsewhere.folder / "moves" / HOST / "first-copy.zip").unlink()
    with pytest.raises(UnfinishedImport):
        elsewhere.moves_from(here).run(HOST)
    elsewhere.moves_from(here).discard(HOST)
    elsewhere.moves_from(here).run(HOST)
