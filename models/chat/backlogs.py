"""What waits for the chat service's workers, for the operator's metrics."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from models.chat.common import outbox
from models.chat.exports import runs
from models.chat.outgoing_webhooks import queue
from models.chat.scheduling import delivery
from models.chat.tables import MessageRemoval, Outbox, StaleSearch
from models.reader import Db
from models.work_queue import Backlog, WorkQueue, count_up_to

QUEUES: Mapping[str, WorkQueue] = {
    "bot_messages": queue.QUEUE,
    "exports": runs.QUEUE,
    "mail": outbox.QUEUE,
    "scheduled_messages": delivery.QUEUE,
}
"""Queue -> the rows that are each due at a time."""
BATCHES = {"message_removal": MessageRemoval.id, "search_index": StaleSearch.message_id}
"""Queue -> the rows that are done as soon as possible, in any order."""


def find_backlogs(db: Db, *, now: datetime) -> Mapping[str, Backlog]:
    """Return the backlog of each queue in which rows have a time."""
    return {name: its.find_backlog(db, now=now) for name, its in QUEUES.items()}


def count_batches(db: Db) -> Mapping[str, int]:
    """Return how many rows wait in each of the other queues, `MOST_COUNTED` at most."""
    return {name: count_up_to(db, select(column)) for name, column in BATCHES.items()}


def count_dead_mail(db: Db) -> int:
    """Return how many mails were given up, `MOST_COUNTED` at most."""
    return count_up_to(db, select(Outbox.closed_at).where(Outbox.state == outbox.DEAD))
