"""The context of one service's workers in one process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.retention import Policy
from specd._settings import Settings
from specd._workers import retention
from specd._workers.loop import Worker, WorkerPool

NICENESS = 10
"""Of the worker that deletes old rows, which is less urgent than requests."""
S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class WorkerContext(Generic[S]):
    """What the functions in `WORKERS` of a service receive, to make a `Worker` with it: the
    settings, the database of the service, the clock, and the pool of all workers of the process.
    """

    settings: S
    database: Database
    clock: Clock
    pool: WorkerPool

    def delete_expired(self, name: str, policy: Policy) -> Worker:
        """Return the worker of this name that deletes old rows as the policy says."""
        worker = retention.Retention(
            self.database, self.clock, policy, self.settings, rest=self.pool.stopping.wait
        )
        return Worker(name, worker.try_delete_some, poll_s=retention.EVERY_S, niceness=NICENESS)


WorkerFactory = Callable[[WorkerContext[Any]], Worker]
"""Makes one worker of a service."""
