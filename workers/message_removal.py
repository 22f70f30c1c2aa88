"""The worker that deletes what users had sent, where a request was to delete more than a batch.
Needs no leader: several share the work by skipping locked rows on PostgreSQL, and take turns on
SQLite.
"""

import time
from collections.abc import Callable

from sqlalchemy import exists, select

from models.chat.deletion import removals as message_removals
from models.chat.tables import MessageRemoval
from models.clock import Clock
from models.database import Database


class MessageRemovals:
    """Steps over one chat database, one batch and one transaction each.

    `rest(seconds)` waits: after each step as long as the step took, so that those who write have
    SQLite's one lock at least half of the time.
    """

    def __init__(
        self, database: Database, clock: Clock, *, rest: Callable[[float], object]
    ) -> None:
        self._database = database
        self._clock = clock
        self._rest = rest

    def try_remove_some(self) -> bool:
        """Delete one batch; False when there was nothing to delete."""
        with self._database.reading() as reader:
            if not reader.execute(select(exists(select(MessageRemoval.id)))).scalar():
                return False
        began = time.monotonic()
        now = self._clock.now()
        found = self._database.run(lambda session: message_removals.remove_some(session, now))
        self._rest(time.monotonic() - began)
        return found
