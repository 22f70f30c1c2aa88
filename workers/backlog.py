"""Workers that finish long tasks that requests have queued in a table. They need no leader: several
share the work by skipping locked rows on PostgreSQL, and take turns on SQLite.
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
"""How many messages' search rows are refreshed per transaction. A long message takes a millisecond.
"""


class Backlog:
    """Processes the rows of a table in batches, one transaction each. `key` is a column of the
    table. `work(session)` processes a batch and returns whether there were any rows.

    `rest(seconds)` waits. Each batch is followed by a pause of the same length, so that SQLite's
    write lock is free for other writers at least half of the time.
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
        """Process one batch. Return whether there were any rows."""
        with self._database.reading() as reader:
            if not reader.execute(self._waiting).scalar():
                return False
        began = time.monotonic()
        was_any = self._database.run(self._work)
        self._rest(time.monotonic() - began)
        return was_any


def stale_search(database: Database, *, rest: Callable[[float], object]) -> Backlog:
    """Return the backlog of messages whose search rows are out of date."""
    return Backlog(
        database,
        StaleSearch.message_id,
        lambda session: search.refresh_some(session, BATCH),
        rest=rest,
    )


def message_removals(
    database: Database, clock: Clock, *, rest: Callable[[float], object]
) -> Backlog:
    """Return the backlog of message deletions that are too large for one request."""
    return Backlog(
        database,
        MessageRemoval.id,
        lambda session: removals.remove_some(session, clock.now()),
        rest=rest,
    )
