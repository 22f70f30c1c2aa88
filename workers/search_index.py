"""The worker that has search find messages where they are now, when many moved or went at once.
Needs no leader: several share the work by skipping locked rows on PostgreSQL, and take turns on
SQLite.
"""

import time
from collections.abc import Callable

from sqlalchemy import exists, select

from models.chat.messages import search
from models.chat.tables import StaleSearch
from models.database import Database

BATCH = 10
"""Long ones take a millisecond each."""


class SearchIndex:
    """Steps over one chat database, a few messages and one transaction each.

    `rest(seconds)` waits: after each step as long as the step took, so that those who write have
    SQLite's one lock at least half of the time.
    """

    def __init__(
        self, database: Database, *, rest: Callable[[float], object], batch: int = BATCH
    ) -> None:
        self._database = database
        self._rest = rest
        self._batch = batch

    def try_refresh_some(self) -> bool:
        """Index some messages again; False when there were none."""
        with self._database.reading() as reader:
            if not reader.execute(select(exists(select(StaleSearch.message_id)))).scalar():
                return False
        began = time.monotonic()
        found = self._database.run(lambda session: search.refresh_some(session, self._batch))
        self._rest(time.monotonic() - began)
        return found
