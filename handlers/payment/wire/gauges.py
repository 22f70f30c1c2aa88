"""The metrics of the payment service, read from the database at each scrape."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from handlers.gauges import Gauge, archive_gauges, disk_gauges, log_gauges, worker_gauges
from models.archiving import find_archiving
from models.event_span import find_span
from models.heartbeats import find_heartbeats
from models.payment import progress
from models.payment.leases import watcher_of
from models.payment.tables import Event, WorkerHeartbeat
from models.payment.webhooks import backlog
from specd.db import Database, table_of


def _waiting_gauges(
    waiting: progress.Waiting, now: datetime, labels: dict[str, str]
) -> list[Gauge]:
    age_s = 0.0 if waiting.oldest is None else (now - waiting.oldest).total_seconds()
    return [
        Gauge(
            "specd_watcher_newcomers",
            "Invoices whose blocks up to the last one that was read are not read yet.",
            waiting.newcomers,
            labels,
        ),
        Gauge(
            "specd_watcher_newcomers_oldest_seconds",
            "How long ago the oldest of these invoices was created.",
            age_s,
            labels,
        ),
        Gauge(
            "specd_watcher_rereadings",
            "Invoices whose blocks are being read again.",
            waiting.rereadings,
            labels,
        ),
    ]


def find_gauges(
    data_dir: Path, is_configured: Callable[[int], bool], database: Database, now: datetime
) -> list[Gauge]:
    """Return the metrics of webhooks, of the chains with an endpoint, of leases, of the event log,
    of the disk, of the WAL archive, and of workers. Raise `DatabaseUnavailable`.
    """
    with database.reading_apart() as reader:
        found = backlog.find_backlog(reader, now=now)
        chains, read = progress.find_progress(reader, is_configured)
        waiting = {row.chain_id: progress.find_waiting(reader, row.chain_id) for row in read}
        leases = progress.find_leases(reader)
        span = find_span(reader, table_of(Event), now=now)
        archiving = find_archiving(reader, database.dialect)
        heartbeats = find_heartbeats(reader, table_of(WorkerHeartbeat))
    led = {lease.name for lease in leases if lease.expires_at > now}
    gauges = [
        Gauge(
            "specd_webhook_messages_due",
            f"Messages to webhook endpoints whose time has come, {backlog.MAX_COUNTED:,} at most.",
            found.due,
        ),
        Gauge(
            "specd_webhook_oldest_seconds",
            "How long the oldest message to an endpoint that does not fail has been due.",
            found.oldest.total_seconds(),
        ),
        Gauge(
            "specd_webhook_endpoints_failing",
            "Enabled endpoints that have taken nothing since their last failure.",
            found.failing,
        ),
    ]
    for chain in chains:
        gauges.append(
            Gauge(
                "specd_watcher_leading",
                "Whether a process watches the chain: 1 while its lease has not lapsed.",
                watcher_of(chain) in led,
                {"chain": str(chain)},
            )
        )
    for row in read:
        chain_label = {"chain": str(row.chain_id)}
        gauges += [
            Gauge(
                "specd_watcher_blocks_behind",
                "Blocks of the chain that a watcher has seen and not read.",
                row.head_number - row.checkpoint_number,
                chain_label,
            ),
            Gauge(
                "specd_watcher_unread_seconds",
                "How far the chain's time, up to which all is read, is behind the clock.",
                (now - row.read_until).total_seconds(),
                chain_label,
            ),
            *_waiting_gauges(waiting[row.chain_id], now, chain_label),
            Gauge(
                "specd_watcher_readings_given_up",
                "Readings of invoices and blocks that ended although no endpoint showed all logs.",
                row.readings_given_up,
                chain_label,
            ),
        ]
        if row.head_seen_at is not None:
            gauges.append(
                Gauge(
                    "specd_watcher_head_age_seconds",
                    "How long ago an endpoint of the chain has last shown its newest block.",
                    (now - row.head_seen_at).total_seconds(),
                    chain_label,
                )
            )
    for lease in leases:
        gauges.append(
            Gauge(
                "specd_lease_seconds",
                "How long a job's lease still holds, with the host and process that has it.",
                (lease.expires_at - now).total_seconds(),
                {"lease": lease.name, "holder": lease.holder.rpartition(":")[0]},
            )
        )
    return [
        *gauges,
        *log_gauges("payment", span),
        *disk_gauges("payment", data_dir),
        *archive_gauges("payment", archiving),
        *worker_gauges(heartbeats, now),
    ]
