"""The backlogs of the chat service's workers, for the operator's metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from models.chat.common import outbox
from models.chat.exports import runs
from models.chat.outgoing_webhooks import queue
from models.chat.scheduling import delivery
from models.chat.tables import MessageRemoval, Outbox, StaleSearch
from specd.db import Db, WorkQueue

QUEUES: Mapping[str, WorkQueue] = {
    "bot_messages": queue.QUEUE,
    "exports": runs.QUEUE,
    "mail": outbox.QUEUE,
    "scheduled_messages": delivery.QUEUE,
}
"""Queue -> its rows, each of which is due at a time."""
BATCHES = {"message_removal": MessageRemoval.id, "search_index": StaleSearch.message_id}
"""Queue -> its rows, which are processed as soon as possible, in any order."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """The backlog of a queue: the number of `waiting` rows, the number of rows that are `due` now,
    and the time since the first of them became due.
    """

    waiting: int
    due: int
    oldest: timedelta


@dataclass(frozen=True, slots=True)
class Backlogs:
    """The backlogs: `queues` with times, and numbers of rows in `batches`. `dead_mail` is the
    number of mails that were given up. Each number is at most `WorkQueue.MAX_COUNTED`.
    """

    queues: Mapping[str, Backlog]
    batches: Mapping[str, int]
    dead_mail: int


def find_backlogs(db: Db, *, now: datetime) -> Backlogs:
    """Return the current backlogs, with one statement."""
    columns = [column for its in QUEUES.values() for column in its.backlog_at(now)]
    columns += [WorkQueue.count_up_to(select(column)) for column in BATCHES.values()]
    columns.append(
        WorkQueue.count_up_to(select(Outbox.closed_at).where(Outbox.state == outbox.DEAD))
    )
    numbers = iter(db.execute(select(*columns)).one())
    queues = {}
    for name in QUEUES:
        waiting, due, first = (next(numbers) for _ in range(3))
        queues[name] = Backlog(waiting, due, timedelta(0) if first is None else now - first)
    return Backlogs(queues, {name: next(numbers) for name in BATCHES}, next(numbers))
