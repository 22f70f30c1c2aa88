"""What background jobs are made of."""

from specd._workers.context import WorkerContext, WorkerFactory, make_retention
from specd._workers.loop import NICENESS, PeriodicStep, Worker

__all__ = [
    "NICENESS",
    "PeriodicStep",
    "Worker",
    "WorkerContext",
    "WorkerFactory",
    "make_retention",
]
