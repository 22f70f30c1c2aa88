"""The use of threads and connections by a server process, and the availability of its databases.

Once a second these numbers are written to gauges, and a scrape of any process of the machine adds
them up. Writing takes a few microseconds and no query.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Counts
from collections.abc import Sequence

import prometheus_client as prometheus

from specd._engine.service import Use
from specd._engine.serving.exchange import ServedAPI

EVERY_S = 1.0


class _Uses:
    """The three gauges of one resource."""

    def __init__(self, name: str, about: str) -> None:
        self._gauges = [
            prometheus.Gauge(
                f"specd_{name}_{part}",
                f"{about} {how}, of all server processes of the machine.",
                ("service", "kind"),
                multiprocess_mode="livesum",
            )
            for part, how in (
                ("size", "that there are at most"),
                ("in_use", "in use"),
                ("waiting", "that something waits for"),
            )
        ]

    def show(self, service: str, uses: Sequence[Use]) -> None:
        for use in uses:
            for gauge, value in zip(self._gauges, (use.size, use.in_use, use.waiting), strict=True):
                gauge.labels(service, use.kind).set(value)


THREADS = _Uses("threads", "Threads for work with the database")
CONNECTIONS = _Uses("database_connections", "Connections to the database")
AWAY = prometheus.Gauge(
    "specd_database_away",
    "Server processes of the machine that cannot use the database.",
    ("service",),
    multiprocess_mode="livesum",
)
OUTAGES = prometheus.Counter(
    "specd_database_outages",
    "Outages of the database that a server process has seen.",
    ("service",),
)
LOG_UNREAD = prometheus.Gauge(
    "specd_event_log_unread_seconds",
    "For how long a server process whose clients wait has not looked at the event log.",
    ("service",),
    multiprocess_mode="livemax",
)


class UsageMeter:
    """Updates the gauges of these services from `start` to `stop`, on the event loop."""

    def __init__(self, apis: Sequence[ServedAPI]) -> None:
        self._apis = apis
        self._timer: asyncio.TimerHandle | None = None
        self._outages: Counts[str] = Counts()

    def start(self) -> None:
        """Update the gauges now and every `EVERY_S` seconds. The caller runs on the event loop."""
        self.show()
        self._timer = asyncio.get_running_loop().call_later(EVERY_S, self.start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def show(self) -> None:
        """Set the gauges to the current numbers."""
        for api in self._apis:
            name, database = api.service.name, api.service.database
            if database is None:
                continue
            state = database.state()
            THREADS.show(name, api.threads.uses)
            CONNECTIONS.show(name, state.connections)
            AWAY.labels(name).set(not state.is_available)
            OUTAGES.labels(name).inc(state.outages - self._outages[name])
            self._outages[name] = state.outages
            if state.log_unread_s is not None:
                LOG_UNREAD.labels(name).set(state.log_unread_s)
