"""The size of one events response, and that omitted events come with the next."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import orjson
import pytest
from sqlalchemy.orm import Session

from models.chat.events.log import ClientEvent, append, append_all
from models.chat.events.messages import DeleteMessageEvent, DraftsAddEvent
from models.chat.queues.delivery import Viewer
from models.chat.queues.entries import MAX_BYTES, MAX_ENTRIES
from models.chat.queues.polls import Polls, Waiter
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.frozen_clock import FrozenClock

pytestmark = pytest.mark.both_databases
"""The two databases generate ids of events by different statements."""

LARGEST = 150_000
Tell = Callable[..., None]


@pytest.fixture
def append_events(chat_database: Database, cast: Cast, clock: FrozenClock) -> Tell:
    """Append events for Hamlet in one unit of work."""

    def work(*events: ClientEvent) -> None:
        def write(session: Session) -> None:
            told = [(event, [cast.hamlet.id]) for event in events]
            append_all(session, cast.realm_id, told, now=clock.now())

        chat_database.run(write)

    return work


def large(number: int, size: int = LARGEST) -> DraftsAddEvent:
    draft = {"id": number, "type": "", "to": [], "topic": "", "content": "é" * 5000, "timestamp": 0}
    return DraftsAddEvent(drafts=[draft] * (size // 10_000))


def number_of(event: dict[str, Any]) -> int:
    return int(event["drafts"][0]["id"])


def read_to_the_end(place: Place) -> list[list[dict[str, Any]]]:
    answers = []
    while answer := place.read():
        answers.append(answer)
    return answers


def test_large_responses_are_split(chat: ChatClient, queues: Queues, append_events: Tell) -> None:
    place = queues.open(chat)
    for number in range(30):
        append_events(large(number))
    answers = read_to_the_end(place)
    assert len(answers) == 5
    assert all(len(orjson.dumps(answer)) < MAX_BYTES + LARGEST for answer in answers)
    assert [number_of(event) for answer in answers for event in answer] == list(range(30))


def test_single_oversized_event_is_returned(
    chat: ChatClient, queues: Queues, append_events: Tell
) -> None:
    place = queues.open(chat)
    append_events(large(0, 2 * MAX_BYTES), large(1))
    assert [len(answer) for answer in read_to_the_end(place)] == [1, 1]


def test_waiting_poll_has_the_same_limit(
    chat: ChatClient, queues: Queues, append_events: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simultaneous events arrive in one or several reads of the log while a client waits."""
    join, started = Polls.join, []

    def join_then_tell(polls: Polls, viewer: Viewer, position: int) -> Waiter | None:
        waiter = join(polls, viewer, position)
        if not started:
            started.append(
                Thread(target=append_events, args=[large(number) for number in range(30)])
            )
            started[0].start()
        return waiter

    monkeypatch.setattr(Polls, "join", join_then_tell)
    place = queues.open(chat)
    seen: list[int] = []
    while len(seen) < 30:
        (answer,) = chat.at_once(chat.build("GET", "/events", place.query()))
        events = answer.json()["events"]
        assert events
        assert len(answer.content) < 2 * MAX_BYTES
        seen += map(number_of, events)
        place.seen = events[-1]["id"]
    started[0].join()
    assert seen == list(range(30))


@pytest.mark.parametrize("is_capable", [True, False], ids=["in bulk", "one by one"])
def test_ids_ascend_and_no_deletion_is_lost(
    chat: ChatClient, queues: Queues, append_events: Tell, is_capable: bool
) -> None:
    capabilities = frozenset({"bulk_message_deletion"} if is_capable else ())
    place = queues.open(chat, capabilities=capabilities)
    numbers = list(range(1, 2 * MAX_ENTRIES + 10))
    half = len(numbers) // 2
    append_events(
        large(1),
        DeleteMessageEvent.of(numbers[:half], None, ""),
        DeleteMessageEvent.of(numbers[half:], None, ""),
        large(2),
    )
    append_events(large(3))
    answers = read_to_the_end(place)
    assert all(len(answer) <= MAX_ENTRIES for answer in answers)
    events = [event for answer in answers for event in answer]
    ids = [event["id"] for event in events]
    assert ids == sorted(set(ids))
    gone: list[int] = []
    for event in events:
        gone += event.get("message_ids", [event["message_id"]] if "message_id" in event else [])
    assert gone == numbers
    assert [event["type"] for event in events].count("drafts") == 3


def test_first_event_may_have_several_parts(
    chat_database: Database, cast: Cast, clock: FrozenClock, chat: ChatClient, queues: Queues
) -> None:
    place = queues.open(chat)
    event = DeleteMessageEvent.of([5, 6, 7], None, "")
    chat_database.run(
        lambda session: append(
            session, cast.realm_id, event, now=clock.now(), user_ids=[cast.hamlet.id]
        )
    )
    assert [one["message_id"] for one in place.read()] == [5, 6, 7]
