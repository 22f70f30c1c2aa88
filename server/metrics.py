"""Prometheus metrics of all requests, right across several gunicorn workers.

`PROMETHEUS_MULTIPROC_DIR` (set by gunicorn.conf.py before anything imports prometheus_client)
makes every worker count in files of its own, which a scrape of any worker adds up.
"""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REQUESTS = Counter("specd_requests", "Requests answered.", ("service", "operation", "status"))
ERRORS = Counter("specd_errors", "Requests answered with a 5xx.", ("service", "operation"))
SECONDS = Histogram(
    "specd_request_seconds",
    "Time from a request's headers to its answer.",
    ("service", "operation"),
    buckets=_BUCKETS,
)


class Meter:
    """Counts the requests of one operation; label look-ups are done once."""

    __slots__ = ("_labels", "_seconds", "_statuses")

    def __init__(self, service: str, operation: str) -> None:
        self._labels = (service, operation)
        self._seconds: Any = SECONDS.labels(service, operation)
        self._statuses: dict[int, Any] = {}

    def count(self, status: int, seconds: float) -> None:
        """One request answered with `status` after `seconds`."""
        counter = self._statuses.get(status)
        if counter is None:
            counter = self._statuses[status] = REQUESTS.labels(*self._labels, str(status))
        counter.inc()
        self._seconds.observe(seconds)
        if status >= 500:
            ERRORS.labels(*self._labels).inc()


def exposition() -> tuple[bytes, str]:
    """All metrics in the Prometheus text format, and its media type."""
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry), CONTENT_TYPE_LATEST
