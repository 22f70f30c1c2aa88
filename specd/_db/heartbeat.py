"""Queries PostgreSQL once a second, on a connection and in a thread of its own.

A dead connection may report no error, and a thread that waits for an answer on it would wait for
ever. So when the heartbeat is not answered in time, all connections of the process are shut:
statements under way fail at once, and new ones are refused until the heartbeat is answered on a new
connection.
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
"""The longest that the heartbeat may take. With `BEAT_S` it is how long a request can hang."""
COMMIT_S = 4.0
"""The longest that a commit may take, and a beat."""
PAUSE_S = 0.5
"""Between two attempts to connect to an unavailable database."""
_QUERY = b"SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
"""True at a replica, and where an operator or a host with a full disk allows no writes."""


class Silent(Exception):
    """The database has not answered in time."""


class ReadOnly(Exception):
    """The database takes no writes."""


class Heartbeat:
    """The heartbeat of one process, from `start` to `stop`."""

    def __init__(self, url: URL, availability: Availability, known: Sockets) -> None:
        """`known`: the sockets of the connections to the database."""
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
    """Return when the database has answered. Raise `Silent`, `ReadOnly` and psycopg.Error.

    The driver itself waits for an answer as long as it takes.
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
