"""The chat service's own metrics, read from the database at each scrape."""

from datetime import datetime
from pathlib import Path

from handlers.gauges import Gauge, archive_gauges, disk_gauges, log_gauges, worker_gauges
from models.archiving import find_archiving
from models.chat import backlogs
from models.chat.tables import Event, WorkerHeartbeat
from models.event_span import find_span
from models.heartbeats import find_heartbeats
from specd.db import Database, WorkQueue, table_of

MAX_COUNTED = WorkQueue.MAX_COUNTED


def find_gauges(data_dir: Path, database: Database, now: datetime) -> list[Gauge]:
    """Return the metrics of what waits for workers and of the event log. Raise
    `DatabaseUnavailable`.
    """
    with database.reading_apart() as reader:
        found = backlogs.find_backlogs(reader, now=now)
        span = find_span(reader, table_of(Event), now=now)
        archiving = find_archiving(reader, database.dialect)
        heartbeats = find_heartbeats(reader, table_of(WorkerHeartbeat))
    waiting = {**{name: its.waiting for name, its in found.queues.items()}, **found.batches}
    gauges = [
        Gauge(
            "specd_queue_waiting",
            f"Rows that wait for a worker, also for their time, {MAX_COUNTED:,} at most.",
            count,
            {"queue": name},
        )
        for name, count in sorted(waiting.items())
    ]
    for name, its in found.queues.items():
        labels = {"queue": name}
        gauges += [
            Gauge(
                "specd_queue_due",
                f"Rows that wait for a worker and whose time has come, {MAX_COUNTED:,} at most.",
                its.due,
                labels,
            ),
            Gauge(
                "specd_queue_oldest_seconds",
                "How long the first of the rows whose time has come has been due.",
                its.oldest.total_seconds(),
                labels,
            ),
        ]
    about = f"Mails that were given up and are still kept, {MAX_COUNTED:,} at most."
    gauges.append(Gauge("specd_mail_dead", about, found.dead_mail))
    return [
        *gauges,
        *log_gauges("chat", span),
        *disk_gauges("chat", data_dir),
        *archive_gauges("chat", archiving),
        *worker_gauges(heartbeats, now),
    ]
