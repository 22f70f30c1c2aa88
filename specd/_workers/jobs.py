"""The workers of a module: those in `WORKERS`, and functions marked with `every`."""

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from specd._workers.context import WorkerContext, WorkerFactory
from specd._workers.loop import Worker

_EVERY_S = "_specd_every_s"
Job = TypeVar("Job", bound=Callable[[Session], object])


def every(*, seconds: float) -> Callable[[Job], Job]:
    """Mark a function as a background job, which `specd worker` runs at this interval.

        @every(seconds=60)
        def delete_old_carts(session: Session) -> None:
            session.execute(delete(Cart).where(Cart.expires_at < func.now()))

    The function is called with a database session. Its changes are committed when it returns. If it
    raises, they are rolled back and it is tried again after a growing pause. If it returns True, it
    is called again immediately, so a large task can be done in small transactions. The name of the
    function is the name of the worker.

    Define the function in the module `workers` of the service. Several processes can run it at the
    same time, so lock the rows that it must not process twice.
    """
    if seconds <= 0:
        raise ValueError("seconds must be greater than 0")

    def mark(job: Job) -> Job:
        setattr(job, _EVERY_S, float(seconds))
        return job

    return mark


def find_workers(module: ModuleType) -> dict[str, WorkerFactory]:
    """Return the workers of a module by name. Raise ValueError if two have the same name."""
    found: dict[str, WorkerFactory] = dict(getattr(module, "WORKERS", {}))
    for job in vars(module).values():
        poll_s = getattr(job, _EVERY_S, None)
        if poll_s is None:
            continue
        if job.__name__ in found:
            raise ValueError(f"{module.__name__} has two workers named {job.__name__}")
        found[job.__name__] = _factory(job, poll_s)
    return found


def _factory(job: Callable[[Session], object], poll_s: float) -> WorkerFactory:
    def make(context: WorkerContext[Any]) -> Worker:
        return Worker(job.__name__, lambda: context.database.run(job) is True, poll_s=poll_s)

    return make
