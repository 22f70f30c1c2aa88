"""Metrics that every service has in addition to those of requests."""

import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from models.archiving import Archiving
from models.event_span import EventSpan
from models.heartbeats import Heartbeat


class Gauge(NamedTuple):
    """A number on `/metrics`. Gauges with the same name must have the same label names."""

    name: str
    about: str
    value: float
    labels: Mapping[str, str] = MappingProxyType({})


def log_gauges(service: str, span: EventSpan) -> list[Gauge]:
    """Return the metrics of a service's event log."""
    labels = {"service": service}
    return [
        Gauge(
            "specd_event_log_last_id",
            "The id of the newest event; how fast it grows is how many events there are.",
            span.last_id,
            labels,
        ),
        Gauge(
            "specd_event_log_oldest_seconds",
            "The age of the oldest event that is kept.",
            span.oldest.total_seconds(),
            labels,
        ),
    ]


def disk_gauges(service: str, data_dir: Path) -> list[Gauge]:
    """Return the metrics of the data directory's disk, or no metrics if it does not exist."""
    if not data_dir.is_dir():
        return []
    disk = shutil.disk_usage(data_dir)
    labels = {"service": service}
    return [
        Gauge(
            "specd_disk_size_bytes", "The size of the data directory's disk.", disk.total, labels
        ),
        Gauge(
            "specd_disk_free_bytes", "What is free of the data directory's disk.", disk.free, labels
        ),
    ]


def archive_gauges(service: str, found: Archiving | None) -> list[Gauge]:
    """Return the metrics of PostgreSQL's WAL archive, or no metrics if there is no archive."""
    if found is None:
        return []
    labels = {"service": service}
    return [
        Gauge(
            "specd_wal_archive_failing",
            "Whether PostgreSQL could not archive the last file of its WAL.",
            found.fails,
            labels,
        ),
        Gauge(
            "specd_wal_archive_last_seconds",
            "How long ago PostgreSQL has archived a file of its WAL.",
            found.last_s,
            labels,
        ),
    ]


def worker_gauges(found: Sequence[Heartbeat], now: datetime) -> list[Gauge]:
    """Return the metrics of a service's workers."""
    return [
        Gauge(
            "specd_worker_seen_seconds",
            "How long ago any process has last run the worker without a failure.",
            (now - heartbeat.seen_at).total_seconds(),
            {"worker": heartbeat.name},
        )
        for heartbeat in found
    ]
