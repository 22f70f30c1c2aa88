"""The context of one service's workers in one process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.retention import Policy
from specd._settings import Settings
from specd._workers import retention
from specd._workers.loop import NICENESS, PeriodicStep, Worker, WorkerPool

RETENTION_EVERY_S = 5.0
S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class WorkerContext(Generic[S]):
    """What the workers of one service share: its database and the pool of this process."""

    settings: S
    database: Database
    clock: Clock
    pool: WorkerPool


WorkerFactory = Callable[[WorkerContext[Any]], Worker]
"""Makes one worker of a service."""


def make_retention(context: WorkerContext[S], name: str, policy: Policy) -> Worker:
    """Return the worker that deletes a service's old rows by its policy."""
    worker = retention.Retention(
        context.database, context.clock, policy, context.settings, rest=context.pool.stopping.wait
    )
    tidy = PeriodicStep(context.clock, retention.EVERY, worker.try_forget_some)
    return Worker(name, tidy.try_one, poll_s=RETENTION_EVERY_S, niceness=NICENESS)
