"""Records in the database which workers of this process run, so that servers can report it."""

from collections.abc import Callable, Collection

from sqlalchemy import Table

from specd._db.base import table_of
from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.worker_heartbeats import expect_heartbeats, record_heartbeats
from specd._project import current, find_object
from specd._workers.loop import Worker

EVERY_S = 20.0


def find_table(service: str) -> Table | None:
    """Return the table of a service's heartbeats, or None if it has no such table."""
    model = current()[service].heartbeats
    return table_of(find_object(model)) if model else None


def heartbeats_of(
    table: Table,
    database: Database,
    clock: Clock,
    service: str,
    find_running: Callable[[], Collection[str]],
) -> Worker:
    """Return the worker that records heartbeats of the service's workers that `find_running`
    returns.
    """

    def try_record() -> bool:
        if names := find_running():
            now = clock.now()
            database.run(lambda session: record_heartbeats(session, table, names, now))
        return False

    return Worker(f"{service}_heartbeats", try_record, poll_s=EVERY_S)


def expect_workers(service: str, database: Database, clock: Clock, names: Collection[str]) -> None:
    """Expect a heartbeat of each of these workers from now on, if the service records
    heartbeats.
    """
    now, table = clock.now(), find_table(service)
    if table is not None:
        database.run(lambda session: expect_heartbeats(session, table, names, now))
