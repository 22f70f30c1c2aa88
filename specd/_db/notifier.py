"""Notifies the processes that share a database when logs have grown.

A log is identified by a number, such as the id of an organization or a project. PostgreSQL passes
notifications between processes by NOTIFY, which a thread executes after the commit, because NOTIFY
within a transaction would make all commits of the database wait for each other. On SQLite each
process polls `data_version`, which takes microseconds. A notification can be lost if a process is
killed after its commit, so every follower reads the logs once a second even without one.
Notifications do not arrive through a pooler that changes connections, so followers then read the
logs more often.
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
"""PostgreSQL: the longest time between two reads of the logs, in case a notification is lost."""
POOLED_LOOK_S = 0.25
"""The time between two reads if notifications do not arrive."""
SQLITE_LOOK_S = 0.01
PAUSE_S = 1.0
"""The pause between two attempts to connect to an unavailable database."""
MAX_NAMED = 500
"""The maximum number of logs in one notification. If more have grown, the notification is empty,
and any log may have grown.
"""

Logs = frozenset[int] | None
"""The logs that have grown, or None if any of them may have grown."""
_log = structlog.get_logger("notifier")


class Notifier:
    """Sends and receives notifications, in threads that start on first use and therefore after a
    fork.
    """

    def __init__(self, url: URL, sockets: Sockets | None = None, *, listens: bool = True) -> None:
        """The sockets of the notifier's connections are added to `sockets`, so that they can be
        shut down. `listens` says that a connection to this address is always one PostgreSQL
        session.
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
        """The seconds since the followers were last called, or None if there are no followers."""
        return None if self._read_at is None else time.monotonic() - self._read_at

    def notify(self, logs: Iterable[int]) -> None:
        """Notify all processes that a commit has added to these logs. Return immediately."""
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
        """Call `call(logs)` in a separate thread whenever logs may have grown, until `close`.

        The first call is immediate. `call` must not raise. A second `follow` with the same `call`
        has no effect.
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
        """Stop both threads. Drop notifications that are not sent yet."""
        with self._guard:
            self._stopping.set()
            self._grown.set()
            self._outgoing.put(None)
            if self._listening is not None:
                with suppress(OSError):  # the other end has closed it
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
                    version = None  # locked for a moment: poll again
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
        """Within this context, `close` ends the connection instead of waiting for its next poll."""
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
        """Wait for an outgoing notification, and return all that are queued."""
        taken = [self._outgoing.get()]
        while not self._outgoing.empty():
            taken.append(self._outgoing.get())
        return taken


def _logs_of(payloads: Sequence[str]) -> Logs:
    """Return the logs of notifications that arrived together. Return None, so that all logs are
    read, if there is no notification or an empty one.
    """
    if not payloads or "" in payloads:
        return None
    return frozenset(map(int, ",".join(payloads).split(",")))
