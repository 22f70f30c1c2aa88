"""The state of a process's database connections, for metrics."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionUse:
    """The connections of one kind, at most `size`. `waiting` is the number of threads that are
    waiting for one.
    """

    kind: str
    size: int
    in_use: int
    waiting: int


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The state of a database as a process sees it, without a query. `outages` is the number of
    outages that have begun. `log_unread_s` is the number of seconds since the process last read the
    event log, or None if it does not follow the log.
    """

    connections: Sequence[ConnectionUse]
    is_available: bool
    outages: int
    log_unread_s: float | None
