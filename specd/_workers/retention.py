"""The worker that deletes old rows of a service's database.

Several processes can run it: on PostgreSQL they share the work by skipping locked rows, and on
SQLite they take turns.
"""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import structlog

from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.retention import Rule
from specd._settings import Settings
from specd._workers.context import WorkerContext
from specd._workers.loop import Worker

BATCH = 200
EVERY_S = 60.0
NICENESS = 10
"""Deletion has a lower priority than requests."""


class Retention:
    """Deletes old rows of one database. A step is one batch of each table, in one transaction per
    batch.

    `rest(seconds)` waits after each batch for as long as the batch took, so other writers can have
    SQLite's single write lock at least half of the time.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        rules: Sequence[Rule],
        settings: Settings,
        *,
        rest: Callable[[float], object],
        batch: int = BATCH,
    ) -> None:
        self._database = database
        self._clock = clock
        self._rules = [(rule, rule.retention(settings)) for rule in rules]
        self._rest = rest
        self._batch = batch
        self._log = structlog.get_logger("retention")

    def try_delete_some(self) -> bool:
        """Delete one batch of old rows of each table. Return whether there were any."""
        deleted = [rule.table for rule, kept_for in self._rules if self._delete(rule, kept_for)]
        if deleted:
            self._log.debug("rows_deleted", tables=deleted)
        return bool(deleted)

    def _delete(self, rule: Rule, kept_for: timedelta) -> bool:
        before = self._clock.now() - kept_for
        began = time.monotonic()
        was_any = self._database.run(
            lambda session: rule.delete_expired(session, before, self._batch)
        )
        if was_any:
            self._rest(time.monotonic() - began)
        return was_any


def make_retention(context: WorkerContext[Any], name: str, rules: Sequence[Rule]) -> Worker:
    """Return the worker with this name that deletes old rows by the rules."""
    worker = Retention(
        context.database, context.clock, rules, context.settings, rest=context.pool.stopping.wait
    )
    return Worker(name, worker.try_delete_some, poll_s=EVERY_S, niceness=NICENESS)
