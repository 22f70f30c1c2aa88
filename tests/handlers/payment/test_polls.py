"""Long polls of a process: no state is left, and only relevant events wake a poll."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from models.payment.polls import Polls
from specd.db import Database
from tests.support.payment.factories import Merchant, make_invoice


def playing(database: Database) -> Polls:
    polls = Polls()
    polls.tail.database = database
    return polls


async def is_true(condition: Callable[[], Any]) -> bool:
    """Return whether the condition becomes true within some seconds."""
    for _ in range(500):
        if condition():
            return True
        await asyncio.sleep(0.01)
    return False


def test_only_events_of_the_project_wake_a_poll(
    database: Database, ada: Merchant, ben: Merchant, now: datetime
) -> None:
    polls = playing(database)

    async def work() -> None:
        with polls.joined(ada.id) as one, polls.joined(ben.id) as other:
            await asyncio.to_thread(
                polls.tail.look, None
            )  # the first poll has no position yet, so any event wakes it
            assert await is_true(lambda: one.done() and other.done())
            with polls.joined(ada.id) as adas, polls.joined(ben.id) as bens:
                await asyncio.to_thread(database.run, lambda s: make_invoice(s, ben, now=now))
                assert await is_true(bens.done)
                assert not adas.done()

    asyncio.run(work())


def test_ended_poll_leaves_no_state(database: Database, ada: Merchant, now: datetime) -> None:
    polls = playing(database)

    async def work() -> None:
        with polls.joined(ada.id) as one, polls.joined(ada.id) as other:
            await asyncio.to_thread(polls.tail.look, None)
            assert await is_true(lambda: one.done() and other.done())
        await asyncio.to_thread(polls.tail.look, None)
        assert (dict(polls._waiting), polls._heads) == ({}, {})

    asyncio.run(work())
