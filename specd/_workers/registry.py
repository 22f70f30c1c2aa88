"""All workers by name. Runs some of them in one process."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from importlib import import_module

from specd import _logs as logs
from specd._db.clock import Clock
from specd._db.database import Database
from specd._project import Service, current, find_object, find_services
from specd._settings import Settings
from specd._workers.context import WorkerContext, WorkerFactory
from specd._workers.heartbeats import expect_workers, find_table, heartbeats_of
from specd._workers.jobs import find_workers
from specd._workers.loop import WorkerPool
from specd._workers.retention import make_retention


def find_all(service: Service) -> dict[str, WorkerFactory]:
    """Return the workers of a service by name, including the worker that deletes old rows."""
    found = find_workers(import_module(service.workers)) if service.workers else {}
    if service.retention:
        name = f"{service.name}_retention"
        if name in found:
            raise ValueError(f"{service.workers} and the library both have a worker {name}")
        rules = find_object(service.retention)
        found[name] = partial(make_retention, name=name, rules=rules)
    return found


SERVICES: Mapping[str, Mapping[str, WorkerFactory]] = {
    each.name: workers for each in find_services() if (workers := find_all(each))
}
"""Service -> its workers, which use only the database of that service."""


def map_to_services(services: Mapping[str, Mapping[str, WorkerFactory]]) -> dict[str, str]:
    """Return worker -> its service, sorted. Raise ValueError if two services use the same name."""
    found: dict[str, str] = {}
    for service, workers in services.items():
        for name in workers:
            if name in found:
                raise ValueError(f"{found[name]} and {service} both have a worker named {name}")
            found[name] = service
    return dict(sorted(found.items()))


SERVICE_OF = map_to_services(SERVICES)
NAMES = tuple(SERVICE_OF)


class UnknownWorker(ValueError):
    """No worker has this name."""


class NoDatabase(Exception):
    """The service of a worker has no database."""


def run(names: Sequence[str], settings: Settings) -> None:
    """Run the named workers, or all if `names` is empty, until SIGTERM or SIGINT. Main thread only.

    Raise `UnknownWorker` or `NoDatabase` before anything starts. Raise `SystemExit(1)` if a bug
    ended a worker.
    """
    for name in names:
        if name not in SERVICE_OF:
            raise UnknownWorker(f"There is no worker named {name}; there are {', '.join(NAMES)}.")
    for name in names or NAMES:
        if SERVICE_OF[name] not in settings.database_urls:
            raise NoDatabase(
                f"The worker {name} needs a database, and the service {SERVICE_OF[name]} has none:"
                f" it has neither tables ({SERVICE_OF[name]}.models) nor migrations."
            )
    logs.configure(settings.log_level, secrets=current().secret_patterns())
    pool, clock = WorkerPool(), Clock()
    with ExitStack() as stack:
        contexts = {
            service: WorkerContext(
                settings,
                stack.enter_context(closing(Database.for_service(service, settings))),
                clock,
                pool,
            )
            for service in settings.database_urls
        }
        for context in contexts.values():
            context.database.availability.on_return(pool.wake)
        workers = []
        running: dict[str, list[str]] = {}
        for name in dict.fromkeys(names or NAMES):
            service = SERVICE_OF[name]
            contexts[service].database.watch()
            workers.append(SERVICES[service][name](contexts[service]))
            running.setdefault(service, []).append(name)
        for service, theirs in running.items():
            table = find_table(service)
            if table is not None:
                find_running = partial(_find_running, theirs, pool)
                database = contexts[service].database
                workers.append(heartbeats_of(table, database, clock, service, find_running))
        pool.run_until_signal(workers)
    if pool.failed:
        raise SystemExit(1)


def expect_all(service: str, database: Database) -> None:
    """Expect a heartbeat of each worker of a service from now on."""
    if service in SERVICES:
        expect_workers(service, database, Clock(), tuple(SERVICES[service]))


def _find_running(names: Sequence[str], pool: WorkerPool) -> list[str]:
    """Return the names of workers whose last step did not fail and that are not stuck."""
    stuck = pool.notice_stuck()
    return [name for name in names if name not in pool.failing and name not in stuck]
