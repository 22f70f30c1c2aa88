"""Prevents connections to PostgreSQL from hanging: their parameters, and how waiting threads are
freed.

The kernel ends a connection whose other end stops acknowledging. It cannot detect a proxy that
acknowledges but does not forward, so a heartbeat (specd/_db/heartbeat.py) detects it and shuts down
the sockets.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
    # A node that was demoted to a replica must not be used, even for reads.
    "target_session_attrs": "primary",
    # Without this, psycopg returns bytes for texts of a database without an encoding (SQL_ASCII),
    # and even the check that refuses such a database would fail.
    "client_encoding": "utf8",
}
"""Parameters of libpq for every connection of a server or a worker."""


class Sockets:
    """The sockets of the connections to one database. Each has a duplicated descriptor, so that no
    other file can get its number before it is shut down.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._committing: dict[socket.socket, float] = {}
        """Socket -> the start time of its running commit."""

    def add(self, descriptor: int) -> socket.socket:
        """Add the socket of an open connection, and return it for `remove`."""
        added = socket.socket(fileno=os.dup(descriptor))
        with self._guard:
            self._sockets.add(added)
        return added

    def remove(self, closed: socket.socket) -> None:
        """Remove the socket of a connection that is closed."""
        with self._guard:
            self._sockets.discard(closed)
            closed.close()

    def __contains__(self, added: socket.socket) -> bool:
        """Return whether the connection is neither closed nor shut down."""
        return added in self._sockets

    @contextmanager
    def committing(self, by: socket.socket) -> Iterator[None]:
        """Mark a commit in progress, so that `shut_late_commits` can end it. PostgreSQL has no time
        limit for commits, and they wait while no synchronous replica is available.
        """
        self._committing[by] = time.monotonic()
        try:
            yield
        finally:
            self._committing.pop(by, None)

    def shut_late_commits(self, seconds: float) -> None:
        """Abort commits that have taken longer than `seconds`. Their outcome is unknown."""
        late = time.monotonic() - seconds
        with self._guard:
            for each, began in list(self._committing.items()):
                if began < late and each in self._sockets:
                    self._sockets.discard(each)
                    with suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)

    def shut(self) -> None:
        """Shut down all connections, so that running and later statements on them fail
        immediately.
        """
        with self._guard:
            for each in self._sockets:
                with suppress(OSError):  # the other end has closed it
                    each.shutdown(socket.SHUT_RDWR)
            self._sockets.clear()


def connect(url: URL, name: str) -> psycopg.Connection[tuple[object, ...]]:
    """Return a connection in autocommit, without SQLAlchemy. Raise psycopg.Error."""
    import psycopg

    # The text of the URL is not used, because libpq and SQLAlchemy escape passwords differently.
    _, options = url.get_dialect()().create_connect_args(url)
    given: dict[str, Any] = {**options, **PARAMETERS, "application_name": name}
    connection = psycopg.connect(**given, autocommit=True)
    connection.prepare_threshold = None  # a pooler may change the server connection
    return connection
