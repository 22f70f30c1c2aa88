"""The check of `specd doctor` that each worker runs somewhere."""

from collections.abc import Iterator
from contextlib import closing

from specd._cli.diagnosis import Finding
from specd._cli.diagnosis_machine import listen_at
from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.worker_heartbeats import find_heartbeats
from specd._settings import Settings
from specd._workers.heartbeats import find_table

GONE_S = 300.0
"""The time in the alerting rule SpecdWorkerGone."""


def diagnose_workers(service: str, database: Database, settings: Settings) -> Iterator[Finding]:
    """Yield a finding about workers that have not run anywhere for a while. If a server runs, this
    is a fault, because its work is not done.
    """
    table = find_table(service)
    if table is None:
        return
    now = Clock().now()
    with database.reading() as reader:
        ages = {
            name: (now - seen_at).total_seconds()
            for name, seen_at in find_heartbeats(reader, table)
        }
    gone = {name: age for name, age in ages.items() if age > GONE_S}
    if gone:
        longest = max(gone.values()) / 60
        yield Finding(
            f"{service} workers",
            "broken" if _is_served(settings) else "warning",
            f"{', '.join(gone)} last ran {longest:.0f} minutes ago; start specd worker, or look for"
            " worker_step_failed and worker_stuck in its log",
        )
    elif ages:
        yield Finding(f"{service} workers", "ok", f"all {len(ages)} are running")


def _is_served(settings: Settings) -> bool:
    try:
        with closing(listen_at(settings.bind)):
            return False
    except OSError:
        return True
