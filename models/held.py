"""Connections kept ready: those for reads, and those for units of work.

SQLAlchemy's pool takes longer to hand a connection out and to take it back than the driver takes
for a small read. So a connection stays taken from the pool once it is, and the next one has it.
"""

import time
from queue import Empty, LifoQueue

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from models.availability import Availability
from models.outages import is_read_only, raise_outage
from models.sqlite import Deadline


class HeldConnections:
    """Up to `most` connections of an engine. The one given back last is taken first: it has most in
    its cache.
    """

    def __init__(
        self,
        engine: Engine,
        most: int,
        wait_s: float,
        availability: Availability,
        *,
        writes: bool = False,
    ) -> None:
        """`writes`: a refusal to write is the database's fault, and not the caller's."""
        self.availability, self.writes = availability, writes
        self._engine = engine
        self._wait_s = wait_s
        self._places: LifoQueue[Connection | None] = LifoQueue()
        for _ in range(most):
            self._places.put(None)

    def take(self) -> Connection:
        """A connection that is nobody else's. Raises what connecting raises, and `PoolTimeout`."""
        self._require_answers()
        try:
            held = self._places.get(timeout=self._wait_s)
        except Empty:
            raise PoolTimeout("no connection became free in time") from None
        if held is None and self.availability.is_silent:
            self._places.put(None)
            self._require_answers()
        if held is not None:
            return held
        try:
            return self._engine.connect()
        except BaseException:
            self._places.put(None)
            raise

    def _require_answers(self) -> None:
        if self.availability.is_silent:
            raise PoolTimeout("the database does not answer")

    def give_back(self, connection: Connection) -> None:
        """Keep it for whoever takes one next."""
        if connection.in_transaction():  # SQLAlchemy's word for having executed something
            try:
                connection.rollback()
            except SQLAlchemyError:
                self.let_go(connection)
                raise
        self._places.put(connection)

    def let_go(self, connection: Connection) -> None:
        """Give it back to the pool, which resets it, and throws it away if it is dead."""
        try:
            connection.close()
        finally:
            self._places.put(None)

    def let_all_go(self, *, dead: bool = False) -> None:
        """Give back to the pool what is not in use, or throw it away because it is `dead`."""
        idle = []
        try:
            while True:
                idle.append(self._places.get_nowait())
        except Empty:
            pass
        for connection in idle:
            if connection is None:
                self._places.put(None)
                continue
            if dead:
                connection.invalidate()
            self.let_go(connection)


class Taken:
    """A connection that is taken until the block ends. What goes wrong in the database and is an
    outage ends as `DatabaseUnavailable`.
    """

    __slots__ = ("_connection", "_ended", "_held", "_keeps")

    def __init__(self, held: HeldConnections, *, keeps: bool = True) -> None:
        self._held, self._keeps = held, keeps

    def __enter__(self) -> Connection:
        self._ended = self._held.availability.ended
        try:
            connection = self._connection = self._held.take()
        except SQLAlchemyError as error:
            raise_outage(error, self._held.availability, self._ended)
            raise
        return connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        held, connection = self._held, self._connection
        if self._keeps and not connection.invalidated and (error is None or not _shakes(error)):
            held.give_back(connection)
            if held.availability.is_failing:
                held.availability.note_success()
            return
        is_demoted = held.writes and is_read_only(error)
        if is_demoted:
            connection.invalidate()
            held.availability.doubt()
        is_dead = connection.invalidated or getattr(error, "connection_invalidated", False)
        held.let_go(connection)
        if is_dead:
            held.let_all_go(dead=is_demoted)  # as the pool does: the others are as old
        if isinstance(error, SQLAlchemyError) and (held.writes or not is_read_only(error)):
            raise_outage(error, held.availability, self._ended)


class Reading(Taken):
    """The same for a read, which SQLite gives up when its time is over."""

    __slots__ = ("_seconds",)

    def __init__(self, held: HeldConnections, seconds: float, *, keeps: bool = True) -> None:
        super().__init__(held, keeps=keeps)
        self._seconds = seconds

    def __enter__(self) -> Connection:
        connection = super().__enter__()
        deadline: Deadline | None = connection.info.get("deadline")
        if deadline is not None:
            deadline.ends_at = time.monotonic() + self._seconds
        return connection


def _shakes(error: BaseException) -> bool:
    """May the connection be in a state that only the pool knows how to end?"""
    return (
        not isinstance(error, Exception)
        or isinstance(error, SQLAlchemyError)
        or isinstance(error.__cause__, SQLAlchemyError)
    )
