"""Background jobs, which `specd worker` runs next to the server.

The module `workers` of a service has functions marked with `every`, or a mapping `WORKERS`: the
name of a worker -> a function that receives a `WorkerContext` and returns a `Worker`.
"""

from specd._workers.context import WorkerContext
from specd._workers.jobs import every
from specd._workers.loop import Worker

__all__ = [
    "Worker",
    "WorkerContext",
    "every",
]
