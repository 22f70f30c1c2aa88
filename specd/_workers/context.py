"""The context of a service's workers in one process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from specd._db.clock import Clock
from specd._db.database import Database
from specd._settings import Settings
from specd._workers.loop import Worker, WorkerPool

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class WorkerContext(Generic[S]):
    """The argument of the functions in a service's `WORKERS`, from which they create a `Worker`:
    the settings, the database of the service, the clock, and the pool of all workers of the
    process.
    """

    settings: S
    database: Database
    clock: Clock
    pool: WorkerPool


WorkerFactory = Callable[[WorkerContext[Any]], Worker]
"""Creates one worker of a service."""
