"""Presence objects: two times by user id, or the older form by API email."""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple, TypedDict

from models.chat.events.presence import ClientPresence, SlimPresence

OFFLINE_AFTER = timedelta(seconds=140)
PING_EVERY = timedelta(seconds=60)
ACTIVE_WITHIN = timedelta(seconds=70)
"""The older form has only one status: active if the last activity was at most this long before the
last report.
"""
CLIENT: Literal["website"] = "website"
"""The client name in the older form, which newer clients ignore."""


class Seen(NamedTuple):
    """The times when a user was last active (or joined) and when a client of the user last
    reported, in Unix seconds.
    """

    active_at: int
    connected_at: int


class LegacyPresence(TypedDict):
    """The older form of a presence."""

    aggregated: dict[str, str | int]
    website: ClientPresence


def slim_presence(seen: Seen) -> SlimPresence:
    return {"active_timestamp": seen.active_at, "idle_timestamp": seen.connected_at}


def client_presence(seen: Seen) -> ClientPresence:
    """Return the status in the last report, and its time."""
    is_active = seen.active_at + ACTIVE_WITHIN.total_seconds() >= seen.connected_at
    return {
        "client": CLIENT,
        "status": "active" if is_active else "idle",
        "timestamp": seen.active_at if is_active else seen.connected_at,
        "pushable": False,
    }


def legacy_presence(seen: Seen) -> LegacyPresence:
    """Return the status of all clients together, and of the single client in the older form."""
    last = client_presence(seen)
    together: dict[str, str | int] = {
        "client": last["client"],
        "status": last["status"],
        "timestamp": last["timestamp"],
    }
    return {"aggregated": together, "website": last}


def described_presence(seen: Seen, now: datetime) -> dict[str, dict[str, str | int]]:
    """Return the presence for a request for one user."""
    last = client_presence(seen)
    status, timestamp = last["status"], last["timestamp"]
    is_offline = int(now.timestamp()) - timestamp > OFFLINE_AFTER.total_seconds()
    return {
        "aggregated": {"status": "offline" if is_offline else status, "timestamp": timestamp},
        "website": {"status": status, "timestamp": timestamp},
    }
