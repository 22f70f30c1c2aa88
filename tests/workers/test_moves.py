"""An organization moves while people use it, whatever interrupts it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import String, func, select, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Session

from adapters.file_store.store import StoreUnavailable
from models.base import ChatBase
from models.chat.identity import actors
from models.chat.imports import runs
from models.chat.imports.errors import UnfinishedImport
from models.chat.imports.runs import Import
from models.chat.moves import capture
from models.chat.moves.errors import MoveIsFinished, NoSuchOrganization, NotNoted
from models.chat.organization.errors import HostInUse
from models.chat.tables import Message, User
from models.database import Database
from tests.contract.continuity.history import History
from tests.contract.round_trips.comparing import Comparison
from tests.handlers.chat.test_browser_sessions import Browser
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.importing import (
    Installation,
    another_installation,
    person_at,
    store_of,
)
from tests.support.chat.moved import HOUR, Everything, make_everything
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock
from workers import imports, moves
from workers.scheduled_delivery import ScheduledDelivery

HOST = "acme.example"
SEEDS = range(1, 3)
_OTHER = "of another " + sql_cast(User.id, String)
"""Keys: those of the template are in use where the organization comes from."""


@pytest.fixture(params=["sqlite", "postgresql"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    with another_installation(request, tmp_path / "elsewhere") as installation:
        others = update(User).values(api_key_sha256=_OTHER)
        installation.database.run(lambda session: session.execute(others))
        yield installation


@pytest.fixture
def here(
    chat_database: Database, clock: FrozenClock, tmp_path: Path, chat_app: ChatApp
) -> Installation:
    return Installation(chat_database, clock, tmp_path / "here", store_of(chat_app))


@contextmanager
def while_moving(act: Callable[[], None], *, rounds: int) -> Iterator[None]:
    """Something happens at the source after the first copy and before each of some rounds."""
    follow, left = moves._Work.follow, rounds

    def follow_after(work: Any) -> int:
        nonlocal left
        if left:
            left -= 1
            act()
        return follow(work)

    with patch.object(moves._Work, "follow", follow_after), patch.object(moves, "SHORT", 0):
        yield


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_history_goes_on(
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
    with while_moving(act, rounds=3):
        moved = elsewhere.moves_from(here).run(HOST)
    assert moved.rounds >= 4
    assert moved.changes > 100
    found = Comparison(
        here.export(cast.realm_id), elsewhere.export(moved.run.realm_id), was_moved=True
    )
    assert found.differences == []
    assert found.compared > 1000
    assert found.moved > 300


class Interrupted(BaseException):
    """As if the process were killed."""


@contextmanager
def interrupted(after: int, *, at: str = "") -> Iterator[None]:
    """The move ends within the unit of work after so many, with small batches of rows; `at`: after
    so many of that kind.
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
    """The rows of each table, and the triggers."""
    with installation.database.reading() as reader:
        counts = {
            name: reader.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in ChatBase.metadata.tables.items()
        }
        search = "SELECT count(*) FROM message_search"
        counts["message_search"] = reader.exec_driver_sql(search).scalar_one()
        counts["triggers"] = len(capture.find_triggers(reader))
    return counts


def says(client: ChatClient, text: str, **headers: str) -> Any:
    sent = {"type": "channel", "to": "Elsinore", "topic": "ghost", "content": text}
    return client.request("POST", "/messages", sent, headers=headers)


def count_messages(database: Database, text: str) -> int:
    with database.reading() as reader:
        sent = select(func.count()).where(Message.content == text)
        return int(reader.execute(sent).scalar_one())


@pytest.fixture
def everything(as_nobody: ChatClient, cast: Cast, clock: FrozenClock) -> Everything:
    return make_everything(as_nobody, cast, now=int(clock.now().timestamp()))


def test_killed_after_any_unit_it_goes_on(
    as_nobody: ChatClient, cast: Cast, everything: Everything, here: Installation,
    elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, units, interruptions = as_nobody.acting_as(cast.hamlet), 3, 0
    while True:
        try:
            with interrupted(units):
                moved = elsewhere.moves_from(here).run(HOST)
            break
        except Interrupted:
            interruptions += 1
            units += 1  # because each run does some again that the source still notes
            said = says(hamlet, f"Word {interruptions}")
            assert said.status_code in (200, 503), said.text
    assert interruptions > 10
    found = Comparison(
        here.export(cast.realm_id), elsewhere.export(moved.run.realm_id), was_moved=True
    )
    assert found.differences == []
    there = contents(elsewhere)
    assert there["moved_row"] == there["row_change"] == 0
    assert contents(here)["triggers"] == contents(here)["row_change"] == 0
    again = elsewhere.moves_from(here).run(HOST)
    assert (again.run.id, again.stopped_s) == (moved.run.id, None)
    assert contents(elsewhere) == {**there, "audit_log": there["audit_log"]}


@pytest.mark.parametrize(
    ("units", "kind"), [(0, ""), (5, ""), (30, ""), (0, "forget"), (1, "forget")]
)
def test_discard_leaves_nothing(
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
    found = Comparison(
        here.export(cast.realm_id), elsewhere.export(moved.run.realm_id), was_moved=True
    )
    assert found.differences == []


def test_keys_sessions_and_kept_answers_stay(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    hamlet, browser = as_nobody.acting_as(cast.hamlet), Browser(chat_app)
    browser.stay(hamlet)
    once = {"Idempotency-Key": "said-once-1"}
    first = says(hamlet, "Once", **once)
    assert first.status_code == 200, first.text
    elsewhere.moves_from(here).run(HOST)
    chat_app.play(elsewhere.database, clock)
    new = person_at(elsewhere.database, HOST, cast.hamlet.email)
    assert new.key == cast.hamlet.key
    assert new.id != cast.hamlet.id
    assert browser.resume()["api_key"] == cast.hamlet.key
    again = says(hamlet, "Once", **once)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json()["id"] > first.json()["id"]
    assert count_messages(elsewhere.database, "Once") == 1
    (found,) = hamlet.get(
        "/messages", anchor=again.json()["id"], num_before=0, num_after=0, narrow=[]
    )["messages"]
    assert found["content"] == "<p>Once</p>"


def test_old_ids_are_of_nothing(
    as_nobody: ChatClient, chat_app: ChatApp, cast: Cast, everything: Everything,
    clock: FrozenClock, here: Installation, elsewhere: Installation,
) -> None:  # fmt: skip
    """A client that has not noticed the move means no other channel and no other person."""
    moved = elsewhere.moves_from(here).run(HOST)
    assert min(n for of, n in moved.run.first_ids.items() if of != "realm") > moves.ROOM
    chat_app.play(elsewhere.database, clock)
    hamlet = as_nobody.acting_as(cast.hamlet)
    for to, kind in ((everything.channel_id, "channel"), ([cast.othello.id], "direct")):
        said = hamlet.post("/messages", type=kind, to=to, topic="ghost", content="To whom?")
        assert said["result"] == "error", said
    assert hamlet.delete(f"/messages/{everything.message_id}")["result"] == "error"


@pytest.mark.reaches("REALM_MOVING")
def test_the_source_is_stopped_and_nobody_else(
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


def test_the_source_goes_on_when_the_files_cannot_follow(
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


def test_what_is_being_written_is_awaited(
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


def test_refused_before_anything_is_written(
    cast: Cast, everything: Everything, here: Installation, elsewhere: Installation
) -> None:
    there, at_source = contents(elsewhere), contents(here)
    with pytest.raises(NoSuchOrganization):
        elsewhere.moves_from(here).run("nowhere.example")
    with pytest.raises(HostInUse):
        elsewhere.moves_from(here).run("globex.example")
    assert (contents(elsewhere), contents(here)) == (there, at_source)


def test_a_source_that_no_longer_notes_is_refused(
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
