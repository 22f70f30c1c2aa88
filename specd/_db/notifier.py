"""Notifies the processes that share one database of logs that have grown.

A log has a number: an organization's, a project's. PostgreSQL passes notifications between the
processes by NOTIFY, which a thread executes after the commit: NOTIFY within a transaction would
make all commits of the database wait for each other. On SQLite each process polls `data_version`,
which costs microseconds. A notification can get lost (a process is killed after its commit), so
every follower reads the logs once a second without one. Through a pooler that changes connections
nothing arrives, so followers read the logs more often.
"""

from __future__ import annotations

import queue
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING

import structlog
from sqlalchemy import URL

from specd._db.sockets import Sockets, connect

if TYPE_CHECKING:
    import psycopg

CHANNEL = "specd_log"
LOOK_S = 1.0
"""PostgreSQL: the longest that a log is not read after a notification got lost."""
POOLED_LOOK_S = 0.25
"""The same where no notification arrives."""
SQLITE_LOOK_S = 0.01
PAUSE_S = 1.0
"""Between two tries to reach a database that is away."""
MAX_NAMED = 500
"""The most logs that one notification names. It names none where more have grown: any may have."""

Logs = frozenset[int] | None
"""The logs that have grown; None: any of them may have."""
_log = structlog.get_logger("notifier")


class Notifier:
    """Sends and receives notifications, in threads that start on first use, after a fork."""

    def __init__(self, url: URL, sockets: Sockets | None = None, *, listens: bool = True) -> None:
        """`sockets`: those of its connections are added, so that they can be shut. `listens`: a
        connection of this address stays one session of PostgreSQL.
        """
        self._url = url
        self._sockets = sockets or Sockets()
        self._is_sqlite = url.get_backend_name() == "sqlite"
        self._listens = listens
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._grown = threading.Event()
        self._was_notified = False
        self._outgoing: queue.SimpleQueue[Iterable[int] | None] = queue.SimpleQueue()
        self._sender: threading.Thread | None = None
        self._follower: threading.Thread | None = None
        self._listening: socket.socket | None = None
        self._calls: list[Callable[[Logs], None]] = []
        self._read_at: float | None = None

    @property
    def unread_s(self) -> float | None:
        """Return for how many seconds the logs have not been looked at; None where nobody follows
        them.
        """
        return None if self._read_at is None else time.monotonic() - self._read_at

    def notify(self, logs: Iterable[int]) -> None:
        """Notify all processes that a commit has added to these logs; return at once."""
        if self._is_sqlite:
            self._was_notified = True
            self._grown.set()
            return
        with self._guard:
            if self._sender is None and not self._stopping.is_set():
                self._sender = threading.Thread(target=self._send, name="notifier-out", daemon=True)
                self._sender.start()
        self._outgoing.put(tuple(logs))

    def follow(self, call: Callable[[Logs], None]) -> None:
        """Call `call(logs)` in a thread of its own whenever logs may have grown, until `close`.

        The first call comes at once. `call` must not raise. To follow twice changes nothing.
        """
        if call in self._calls:
            return
        with self._guard:
            self._calls = [*self._calls, call]
            if self._follower is None and not self._stopping.is_set():
                self._read_at = time.monotonic()
                follow = self._follow_postgresql if self._listens else self._poll
                if self._is_sqlite:
                    follow = self._follow_sqlite
                self._follower = threading.Thread(target=follow, name="notifier-in", daemon=True)
                self._follower.start()

    def close(self) -> None:
        """Stop both threads. Notifications that are not sent yet are dropped."""
        with self._guard:
            self._stopping.set()
            self._grown.set()
            self._outgoing.put(None)
            if self._listening is not None:
                with suppress(OSError):  # the other end was faster
                    self._listening.shutdown(socket.SHUT_RDWR)
            threads = [t for t in (self._sender, self._follower) if t is not None]
        for thread in threads:
            thread.join()
        with self._guard:
            self._stopping = threading.Event()
            self._outgoing = queue.SimpleQueue()
            self._sender = self._follower = self._read_at = None
            self._calls = []

    def _call_followers(self, logs: Logs) -> None:
        for call in self._calls:
            call(logs)
        self._read_at = time.monotonic()

    # --- SQLite -------------------------------------------------------------------------------

    def _follow_sqlite(self) -> None:
        stopping = self._stopping
        connection = sqlite3.connect(
            f"file:{self._url.database}?mode=ro", uri=True, isolation_level=None
        )
        seen: int | None = None
        try:
            while not stopping.is_set():
                try:
                    version = connection.execute("PRAGMA data_version").fetchone()[0]
                except sqlite3.OperationalError:
                    version = None  # locked for a moment: look again
                if version != seen or self._was_notified:
                    seen, self._was_notified = version, False
                    self._call_followers(None)
                self._read_at = time.monotonic()
                self._grown.wait(SQLITE_LOOK_S)
                self._grown.clear()
        finally:
            connection.close()

    # --- PostgreSQL ---------------------------------------------------------------------------

    @contextmanager
    def _connected(
        self,
    ) -> Iterator[tuple[psycopg.Connection[tuple[object, ...]], socket.socket]]:
        with closing(connect(self._url, "specd notifications")) as connection:
            added = self._sockets.add(connection.fileno())
            try:
                yield connection, added
            finally:
                self._sockets.remove(added)

    @contextmanager
    def _ended_by_close(self, listening: socket.socket) -> Iterator[None]:
        """While this lasts, `close` ends the connection instead of waiting for its next look."""
        with self._guard:
            self._listening = listening
        try:
            yield
        finally:
            with self._guard:
                self._listening = None

    def _follow_postgresql(self) -> None:
        import psycopg

        stopping = self._stopping
        is_listening = True
        while not stopping.is_set():
            try:
                with self._connected() as (connection, own), self._ended_by_close(own):
                    connection.execute(f"LISTEN {CHANNEL}")
                    is_listening = True
                    while not stopping.is_set():
                        payloads = [
                            notice.payload
                            for notice in connection.notifies(timeout=LOOK_S, stop_after=1)
                        ]
                        self._call_followers(_logs_of(payloads))
            except psycopg.Error as error:
                if is_listening and not stopping.is_set():
                    _log.warning("notifications_not_received", error=type(error).__name__)
                is_listening = False
                stopping.wait(PAUSE_S)

    def _poll(self) -> None:
        _log.info("notifications_polled", every_s=POOLED_LOOK_S)
        stopping = self._stopping
        while not stopping.is_set():
            self._call_followers(None)
            stopping.wait(POOLED_LOOK_S)

    def _send(self) -> None:
        import psycopg

        stopping = self._stopping
        connection: psycopg.Connection[tuple[object, ...]] | None = None
        is_sent = True
        with ExitStack() as stack:
            while not stopping.is_set():
                grown: set[int] = set()
                for logs in self._take_outgoing():
                    if logs is None:
                        break
                    grown.update(logs)
                if not grown:
                    continue
                payload = "" if len(grown) > MAX_NAMED else ",".join(map(str, sorted(grown)))
                try:
                    connection = connection or stack.enter_context(self._connected())[0]
                    connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, payload))
                    is_sent = True
                except psycopg.Error as error:
                    if is_sent:
                        _log.info("notification_not_sent", error=type(error).__name__)
                    is_sent, connection = False, None
                    stack.close()

    def _take_outgoing(self) -> list[Iterable[int] | None]:
        """Wait for the first outgoing notification, and take all that there are."""
        taken = [self._outgoing.get()]
        while not self._outgoing.empty():
            taken.append(self._outgoing.get())
        return taken


def _logs_of(payloads: Sequence[str]) -> Logs:
    """Return the logs of notifications that arrived together; without one, any may have grown."""
    if not payloads or "" in payloads:
        return None
    return frozenset(map(int, ",".join(payloads).split(",")))
