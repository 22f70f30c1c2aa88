"""Tells the database which workers of this process run, so that servers can show it."""

from collections.abc import Callable, Collection

from sqlalchemy import Table

from models.base import table_of
from models.chat.tables import WorkerHeartbeat as ChatHeartbeat
from models.clock import Clock
from models.database import Database
from models.payment.tables import WorkerHeartbeat as PaymentHeartbeat
from models.worker_heartbeats import expect_heartbeats, record_heartbeats
from workers.loop import Worker

EVERY_S = 20.0
TABLES = {"payment": table_of(PaymentHeartbeat), "chat": table_of(ChatHeartbeat)}
"""Service with workers -> the table of their heartbeats."""


def heartbeats_of(
    table: Table,
    database: Database,
    clock: Clock,
    service: str,
    find_running: Callable[[], Collection[str]],
) -> Worker:
    """Return the worker that records those of a service's workers that `find_running` names."""

    def try_record() -> bool:
        if names := find_running():
            now = clock.now()
            database.run(lambda session: record_heartbeats(session, table, names, now))
        return False

    return Worker(f"{service}_heartbeats", try_record, poll_s=EVERY_S)


def expect_workers(service: str, database: Database, clock: Clock, names: Collection[str]) -> None:
    """Expect a heartbeat of each of a service's workers from now on."""
    now = clock.now()
    database.run(lambda session: expect_heartbeats(session, TABLES[service], names, now))
