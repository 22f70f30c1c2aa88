"""Connections to PostgreSQL that cannot hang: how they open, and how a waiting thread is freed.

The kernel ends a connection whose other end acknowledges nothing. It does not see a proxy that
acknowledges and forwards nothing, so a heartbeat does (specd/_db/heartbeat.py) and shuts the
sockets.
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
    # A node that was demoted to a replica is not used, not even for reads.
    "target_session_attrs": "primary",
    # psycopg gives bytes for the texts of a database without an encoding (SQL_ASCII), so that
    # nothing could read them, not even the check that refuses such a database.
    "client_encoding": "utf8",
}
"""Parameters of libpq for every connection of a server or a worker."""


class Sockets:
    """The sockets of the connections to one database. Each has a descriptor of our own, which no
    other file can get before it is shut.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._committing: dict[socket.socket, float] = {}
        """When each commit under way has begun."""

    def add(self, descriptor: int) -> socket.socket:
        """Add the socket of a connection that was opened, and return it for `remove`."""
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
        """Return whether the connection is neither closed nor shut."""
        return added in self._sockets

    @contextmanager
    def committing(self, by: socket.socket) -> Iterator[None]:
        """A commit, which `shut_late_commits` ends: PostgreSQL has no time limit for one, and it
        waits as long as no synchronous replica is there.
        """
        self._committing[by] = time.monotonic()
        try:
            yield
        finally:
            self._committing.pop(by, None)

    def shut_late_commits(self, seconds: float) -> None:
        """Have every commit fail that has taken so long. Whether it is done, nobody knows."""
        late = time.monotonic() - seconds
        with self._guard:
            for each, began in list(self._committing.items()):
                if began < late and each in self._sockets:
                    self._sockets.discard(each)
                    with suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)

    def shut(self) -> None:
        """Have every statement under way, and every later one, fail at once."""
        with self._guard:
            for each in self._sockets:
                with suppress(OSError):  # the other end has closed it
                    each.shutdown(socket.SHUT_RDWR)
            self._sockets.clear()


def connect(url: URL, name: str) -> psycopg.Connection[tuple[object, ...]]:
    """Return a connection in autocommit, past SQLAlchemy. Raise psycopg.Error."""
    import psycopg

    # Not the text of the URL, because libpq and SQLAlchemy escape passwords in other ways.
    _, options = url.get_dialect()().create_connect_args(url)
    given: dict[str, Any] = {**options, **PARAMETERS, "application_name": name}
    connection = psycopg.connect(**given, autocommit=True)
    connection.prepare_threshold = None  # a pooler may change what is behind it
    return connection
