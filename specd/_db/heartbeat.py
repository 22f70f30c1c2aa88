"""Queries PostgreSQL once a second, in its own thread and on its own connection.

A dead connection may report no error, and a thread that waits for a response on it would wait
forever. So if the heartbeat gets no response in time, all connections of the process are shut down.
Running statements then fail immediately, and new ones are refused until the heartbeat gets a
response on a new connection.
"""

from __future__ import annotations

import select
import threading
import time
from typing import TYPE_CHECKING

from sqlalchemy import URL

from specd._db.availability import Availability
from specd._db.sockets import Sockets, connect

if TYPE_CHECKING:
    import psycopg

BEAT_S = 1.0
ANSWER_S = 3.0
"""The time limit of one query. A request can hang for this time plus `BEAT_S`."""
COMMIT_S = 4.0
"""The time limit of a commit. It is checked every `BEAT_S`."""
PAUSE_S = 0.5
"""The pause between two attempts to connect to an unavailable database."""
_QUERY = b"SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
"""True on a replica, and if an operator or a host with a full disk has disabled writes."""


class Silent(Exception):
    """The database did not respond in time."""


class ReadOnly(Exception):
    """The database does not accept writes."""


class Heartbeat:
    """The heartbeat of one process, from `start` to `stop`."""

    def __init__(self, url: URL, availability: Availability, known: Sockets) -> None:
        """`known` are the sockets of the connections to the database."""
        self._url, self._availability, self._sockets = url, availability, known
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._availability.doubted.set()
        self._thread.join()

    def _run(self) -> None:
        import psycopg

        availability = self._availability
        connection: psycopg.Connection[tuple[object, ...]] | None = None
        while not self._stopping.is_set():
            try:
                connection = connection or connect(self._url, "specd heartbeat")
                ask(connection, ANSWER_S)
                if availability.is_doubtful:
                    raise ReadOnly("the database has refused to write")
            except (psycopg.Error, Silent, ReadOnly) as error:
                was_silent = availability.is_silent
                availability.note_silence(error)
                if connection is not None:
                    connection.close()
                    connection = None
                if was_silent:
                    self._stopping.wait(PAUSE_S)
                else:
                    self._sockets.shut()
                availability.is_doubtful = False
                continue
            if availability.is_silent:
                availability.note_answer()
            self._sockets.shut_late_commits(COMMIT_S)
            availability.doubted.clear()
            availability.doubted.wait(BEAT_S)
        if connection is not None:
            connection.close()


def ask(connection: psycopg.Connection[tuple[object, ...]], seconds: float) -> None:
    """Query the database and wait for the response. Raise `Silent`, `ReadOnly` or psycopg.Error.

    The driver itself would wait without a time limit.
    """
    import psycopg

    ends_at = time.monotonic() + seconds
    pgconn = connection.pgconn
    pgconn.send_query(_QUERY)
    waiting = select.poll()
    while True:
        leaves = select.POLLOUT if pgconn.flush() else 0
        waiting.register(pgconn.socket, select.POLLIN | leaves)
        left_s = ends_at - time.monotonic()
        if left_s <= 0 or not waiting.poll(left_s * 1000):
            raise Silent(f"the database has not answered for {seconds:.0f} s")
        pgconn.consume_input()
        if not pgconn.is_busy():
            break
    answer = pgconn.get_result()
    while pgconn.get_result() is not None:
        pass
    if answer is None or answer.status != psycopg.pq.ExecStatus.TUPLES_OK:
        raise psycopg.OperationalError(pgconn.get_error_message())
    if answer.get_value(0, 0) == b"t":
        raise ReadOnly("the database takes no writes")
