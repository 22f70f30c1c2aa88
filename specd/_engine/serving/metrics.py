"""Prometheus metrics of all requests, correct for several gunicorn workers.

With `PROMETHEUS_MULTIPROC_DIR` (set by `specd/_cli/gunicorn_conf.py` before anything imports
prometheus_client), every worker counts in its own files, and a scrape of any worker adds them up.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from specd._engine.service import Gauge

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

METRICS_LAG_S = 0.25
"""How long a request may be missing from the metrics. A scrape waits a little longer."""

COUNTS_IN_FILES = "PROMETHEUS_MULTIPROC_DIR" in os.environ
"""Whether several processes count together. prometheus_client checks the same variable when it is
imported.
"""

REQUESTS = Counter("specd_requests", "Requests answered.", ("service", "operation", "status"))
ERRORS = Counter("specd_errors", "Requests answered with a 5xx.", ("service", "operation"))
SECONDS = Histogram(
    "specd_request_seconds",
    "Time from a request's headers to its answer.",
    ("service", "operation"),
    buckets=_BUCKETS,
)


class Meter:
    """Counts the requests of one operation in plain numbers, which `flush` passes to Prometheus.

    A multi-process counter writes to a mapped file and reads the process id each time, three times
    for a request. Adding up first costs a tenth of that. Only the event loop's thread may call
    `count` and `flush`.
    """

    __slots__ = ("_buckets", "_labels", "_seconds", "_statuses", "_sum", "is_flushed")

    def __init__(self, service: str, operation: str) -> None:
        self._labels = (service, operation)
        self._seconds: Any = SECONDS.labels(service, operation)
        self._statuses: dict[int, int] = {}
        self._buckets = [0] * (len(_BUCKETS) + 1)
        self._sum = 0.0
        self.is_flushed = True

    def count(self, status: int, seconds: float) -> None:
        """Count one request with the response status `status` after `seconds`."""
        self._statuses[status] = self._statuses.get(status, 0) + 1
        self._buckets[bisect_left(_BUCKETS, seconds)] += 1
        self._sum += seconds
        self.is_flushed = False

    def flush(self) -> None:
        """Pass the counts since the last call to Prometheus."""
        if self.is_flushed:
            return
        for status, requests in self._statuses.items():
            REQUESTS.labels(*self._labels, str(status)).inc(requests)
            if status >= 500:
                ERRORS.labels(*self._labels).inc(requests)
        # A histogram has no method for several observations, so this writes to its parts, as
        # `observe` does.
        for bucket, requests in zip(self._seconds._buckets, self._buckets, strict=True):
            if requests:
                bucket.inc(requests)
        self._seconds._sum.inc(self._sum)
        self._statuses = {}
        self._buckets = [0] * (len(_BUCKETS) + 1)
        self._sum = 0.0
        self.is_flushed = True


class _Gauges(Collector):
    """Current numbers, which are the same in every process."""

    def __init__(self, gauges: Iterable[Gauge]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for name, about, value, labels in self._gauges:
            family = families.get(name)
            if family is None:
                family = families[name] = GaugeMetricFamily(name, about, labels=[*labels])
            family.add_metric([*labels.values()], value)
        yield from families.values()


def exposition(gauges: Iterable[Gauge] = ()) -> tuple[bytes, str]:
    """Return all metrics in the Prometheus text format, and its media type."""
    registry = REGISTRY
    if COUNTS_IN_FILES:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    current = CollectorRegistry()
    current.register(_Gauges(gauges))
    return generate_latest(registry) + generate_latest(current), CONTENT_TYPE_LATEST
