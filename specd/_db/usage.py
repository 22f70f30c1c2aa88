"""How much of its database a process uses, and whether it can: for the operator's metrics."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionUse:
    """The connections of one kind: `size` at most; `waiting` threads wait for one."""

    kind: str
    size: int
    in_use: int
    waiting: int


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """What a process knows of its database without asking it. `outages`: how many have begun.
    `log_unread_s`: for how many seconds it has not looked at the event log, None where nobody waits
    for events.
    """

    connections: Sequence[ConnectionUse]
    is_available: bool
    outages: int
    log_unread_s: float | None
