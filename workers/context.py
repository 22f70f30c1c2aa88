"""The context of one service's workers in one process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from base_settings import Settings
from models.clock import Clock
from models.database import Database
from models.retention import Policy
from workers import retention
from workers.loop import NICENESS, PeriodicStep, Worker, WorkerPool

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
