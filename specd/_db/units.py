"""Units of work that begin when their connection or session is first used.

An operation that does not use the database needs no connection and begins no transaction.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, NoReturn, Self, cast

from sqlalchemy import Connection, event
from sqlalchemy.orm import Session

from specd._db.outages import is_refused_write

Connect = Callable[[], AbstractContextManager[Connection]]
ONLY_READS = (
    "this operation only reads: its method is GET, HEAD or QUERY, it is marked read_only, or this "
    "is ctx.read or the phase before the transaction. An async def handler of any method can write "
    "with ctx.write"
)


class UnitHasEnded(RuntimeError):
    """A connection or session was used after the end of its unit of work."""

    def __init__(self) -> None:
        super().__init__(
            "the unit of work has ended: read the database before the handler returns, or in a "
            "stream with ctx.read of an async def handler"
        )


class TransactionHasEnded(RuntimeError):
    """The transaction of a unit of work was ended before the unit."""

    def __init__(self) -> None:
        super().__init__(
            "the handler has committed or rolled back the transaction of its request, which is "
            "committed when the handler returns: use `with ctx.session.begin_nested()` for a part "
            "that may fail"
        )


class OperationOnlyReads(RuntimeError):
    """A session of an operation that only reads has pending changes."""

    def __init__(self) -> None:
        super().__init__(f"ctx.session has changes to write, but {ONLY_READS}")


class ReadOnlySession(Session):
    """A session that raises `OperationOnlyReads` instead of flushing changes."""


@event.listens_for(ReadOnlySession, "before_flush")
def _refuse_changes(*_: object) -> NoReturn:
    raise OperationOnlyReads


class Unit:
    """One unit of work. `connection` and `session` share a transaction, which begins when one of
    them is first used and ends with the `with` block.
    """

    __slots__ = ("_connect", "_connected", "_connection", "_has_ended", "_session")
    is_read_only = False

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connected: AbstractContextManager[Connection] | None = None
        self._connection: Connection | None = None
        self._session: Session | None = None
        self._has_ended = False

    @property
    def connection(self) -> Connection:
        """The connection. Raise `DatabaseUnavailable` or `UnitHasEnded`."""
        if self._connection is None:
            if self._has_ended:
                raise UnitHasEnded
            connected = self._connect()
            self._connection = connected.__enter__()
            self._connected = connected
        return self._connection

    @property
    def session(self) -> Session:
        """The session on the connection. Raise the errors of `connection`."""
        if self._session is None:
            self._session = self._create_session(self.connection)
        return self._session

    @property
    def used_connection(self) -> Connection | None:
        """The connection, or None if the unit was not used."""
        return self._connection

    @property
    def used_session(self) -> Session | None:
        """The session, or None if it was not used."""
        return self._session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._has_ended = True
        connected, session = self._connected, self._session
        self._connected = self._connection = self._session = None
        if connected is None:
            return
        try:
            if session is not None:
                self._end_session(session, is_error=error is not None)
        except BaseException as failure:
            connected.__exit__(type(failure), failure, failure.__traceback__)
            raise
        connected.__exit__(kind, error, trace)

    def _create_session(self, connection: Connection) -> Session:
        raise NotImplementedError

    def _end_session(self, session: Session, *, is_error: bool) -> None:
        if session.in_transaction():
            session.close()


class ReadingUnit(Unit):
    """A unit that only reads. It raises `OperationOnlyReads` if its session has changes at the end.
    It adds a note to the error of a statement that writes.
    """

    __slots__ = ()
    is_read_only = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and is_refused_write(error):
            error.add_note(ONLY_READS)
        super().__exit__(kind, error, trace)

    def _create_session(self, connection: Connection) -> Session:
        return ReadOnlySession(
            connection, expire_on_commit=False, join_transaction_mode="rollback_only"
        )

    def _end_session(self, session: Session, *, is_error: bool) -> None:
        try:
            if not is_error:
                session.flush()
        finally:
            super()._end_session(session, is_error=is_error)


class WritingUnit(Unit):
    """A unit that writes. `info` becomes `Session.info`. The session never commits the
    transaction.
    """

    __slots__ = ("_info",)

    def __init__(self, connect: Connect, info: dict[str, object]) -> None:
        super().__init__(connect)
        self._info = info

    def _create_session(self, connection: Connection) -> Session:
        return Session(
            connection,
            expire_on_commit=False,
            join_transaction_mode="rollback_only",
            info=cast("dict[Any, Any]", self._info),
        )
