"""Connections to PostgreSQL that cannot hang: how they open, and how a waiting thread is freed.

The kernel ends a connection whose other end acknowledges nothing. It does not see a proxy that
acknowledges and forwards nothing, so a heartbeat does (models/heartbeat.py) and shuts the sockets.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL

if TYPE_CHECKING:
    import psycopg

CONNECT_TIMEOUT_S = 3
PARAMETERS: Mapping[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives": 1,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
    # A demoted node that is a replica now is no database to us, not even for reads.
    "target_session_attrs": "primary",
}
"""Parameters of libpq for every connection of a server or a worker."""


class Sockets:
    """The sockets of the connections to one database, each held by a descriptor of our own, so that
    no other file can have come to its number when it is shut.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sockets: set[socket.socket] = set()

    def hold(self, descriptor: int) -> socket.socket:
        """Hold the socket of a connection that was opened; `release` what this returns."""
        held = socket.socket(fileno=os.dup(descriptor))
        with self._guard:
            self._sockets.add(held)
        return held

    def release(self, held: socket.socket) -> None:
        """The connection is closed."""
        with self._guard:
            self._sockets.discard(held)
            held.close()

    def holds(self, held: socket.socket) -> bool:
        """Return whether the connection is neither closed nor shut."""
        return held in self._sockets

    def shut(self) -> None:
        """Have every statement under way, and every later one, fail at once."""
        with self._guard:
            for held in self._sockets:
                with suppress(OSError):  # the other end has closed it
                    held.shutdown(socket.SHUT_RDWR)
            self._sockets.clear()


def connect(url: URL, name: str) -> psycopg.Connection[tuple[object, ...]]:
    """A connection in autocommit, past SQLAlchemy. Raises psycopg.Error."""
    import psycopg

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(address, autocommit=True, application_name=name, **PARAMETERS)
