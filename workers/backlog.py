"""The workers that finish what requests left in a table, because it takes long. They need no
leader: several share the work by skipping locked rows on PostgreSQL, and take turns on SQLite.
"""

import time
from collections.abc import Callable

from sqlalchemy import SQLColumnExpression, exists, select
from sqlalchemy.orm import Session

from models.chat.deletion import removals
from models.chat.messages import search
from models.chat.tables import MessageRemoval, StaleSearch
from specd.db import Clock, Database

BATCH = 10
"""Messages whose search rows are refreshed at once: long ones take a millisecond each."""


class Backlog:
    """Steps over the rows of one table, one transaction each. `key` is a column of the table;
    `work(session)` does a batch and returns whether there was any.

    `rest(seconds)` waits: after each step as long as the step took, so that other writers have
    SQLite's one lock at least half of the time.
    """

    def __init__(
        self,
        database: Database,
        key: SQLColumnExpression[int],
        work: Callable[[Session], bool],
        *,
        rest: Callable[[float], object],
    ) -> None:
        self._database = database
        self._waiting = select(exists(select(key)))
        self._work = work
        self._rest = rest

    def try_some(self) -> bool:
        """Do one batch; return whether there was any."""
        with self._database.reading() as reader:
            if not reader.execute(self._waiting).scalar():
                return False
        began = time.monotonic()
        was_any = self._database.run(self._work)
        self._rest(time.monotonic() - began)
        return was_any


def stale_search(database: Database, *, rest: Callable[[float], object]) -> Backlog:
    """Return the backlog of messages that search finds at their old place."""
    return Backlog(
        database,
        StaleSearch.message_id,
        lambda session: search.refresh_some(session, BATCH),
        rest=rest,
    )


def message_removals(
    database: Database, clock: Clock, *, rest: Callable[[float], object]
) -> Backlog:
    """Return the backlog of messages that a request with more than a batch is to delete."""
    return Backlog(
        database,
        MessageRemoval.id,
        lambda session: removals.remove_some(session, clock.now()),
        rest=rest,
    )
