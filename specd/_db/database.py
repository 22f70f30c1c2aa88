"""Units of work: connections, transactions and their single retry. Only this module commits.

A unit is tried again only after it has lost a race, because its work may have done something
outside of the database. A connection that died in the pool is found by the BEGIN, before the work
uses it, so only the BEGIN is sent again, on a new connection.

SQLite uses WAL with synchronous=FULL, and one writer per process, which begins with IMMEDIATE.
PostgreSQL uses READ COMMITTED with explicit row locks, and time limits on statements, locks and
idle transactions.

A pooler that changes connections between transactions, such as PgBouncer, does not keep the state
of a session. With `pooling=transaction` in the URL, each transaction sets its own limits, in the
same message as its BEGIN. Reads are transactions too, and no statement is prepared.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from specd._db import sockets, sqlite
from specd._db.availability import Availability
from specd._db.driver import run_plain
from specd._db.errors import DatabaseUnavailable
from specd._db.heartbeat import Heartbeat
from specd._db.notifier import Notifier
from specd._db.outages import is_conflict, is_out_of_step, is_read_only, raise_outage
from specd._db.units import ReadingUnit, TransactionHasEnded, Unit, WritingUnit
from specd._db.usage import ConnectionUse, DatabaseState
from specd._library_internals import check_library_internals
from specd._settings import MissingExtra, Settings

T = TypeVar("T")

STATEMENT_TIMEOUT_S = 30
READ_TIMEOUT_S = 10
"""The time limit of a statement that reads (PostgreSQL) or of a reading unit (SQLite)."""
SNAPSHOT_TIMEOUT_S = 600
WRITER_IDLE_S = 5
"""The longest time between two statements of a unit that writes. It limits how long others wait for
the unit's locks if its process hangs or its connection is lost without an error.
"""
READER_IDLE_S = 30
POOLING = "pooling"
"""The key in the URL. Its only value is `transaction`."""
NEVER_BY_ITSELF = 10**9
"""A number of repetitions that no statement reaches, so that none becomes a prepared statement."""
_PREPARE_THRESHOLD = "prepare_threshold"
TIME_LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
READ_ONLY = "transaction_read_only"
_AFTER_COMMIT = "after_commit"
BEFORE_COMMIT = "before_commit"
"""The key of `Session.info` with the calls of `before_commit` so far."""
APPLIED = "alembic_version"
"""The table with the number of the last migration."""
_HAS_BEGUN = "specd_has_begun"
_NOTIFIER = "notifier"
_SOCKET = "socket"


class Database:
    """The database of a service, with a connection pool for reads and one for units of work.

    Engines are created on first use, so a forked worker never shares a socket with its parent.
    """

    def __init__(
        self,
        url: str,
        *,
        lock_timeout_s: float = 5.0,
        read_timeout_s: float = READ_TIMEOUT_S,
        pool_size: int = 8,
        rewrites_tables: bool = False,
        direct_url: str = "",
    ) -> None:
        """`rewrites_tables` says that a statement may change more data than fits in memory.
        `direct_url` is the address without the pooler, for notifications.
        """
        check_library_internals("sqlalchemy")
        given = make_url(url)
        self._url = given.difference_update_query([POOLING])
        self.is_pooled = POOLING in given.query
        self.dialect = self._url.get_backend_name()
        if self.dialect not in ("sqlite", "postgresql"):
            raise ValueError("a database URL starts with sqlite:/// or postgresql+psycopg://")
        if self.dialect == "sqlite" and self._url.database in (None, "", ":memory:"):
            raise ValueError("an SQLite database needs a file: several connections share it")
        if self.dialect == "postgresql":
            _require_driver()
        self.reads_inline = self.dialect == "sqlite"
        self.write_threads = 1 if self.dialect == "sqlite" else pool_size
        self._lock_timeout_s = lock_timeout_s
        self._read_timeout_s = read_timeout_s
        self._pool_sizes = {
            "reading": pool_size,
            "reading_apart": 1,
            "writing": self.write_threads,
        }
        self._rewrites_tables = rewrites_tables
        self._begin_reading = ""
        self._begin_writing = "BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN"
        if self.is_pooled:
            self._begin_reading = self._beginning("READ ONLY", read_timeout_s)
            self._begin_writing = self._beginning("READ WRITE", STATEMENT_TIMEOUT_S)
        self.availability = Availability()
        self._sockets = sockets.Sockets()
        self._heartbeat: Heartbeat | None = None
        self.notifier = Notifier(
            make_url(direct_url) if direct_url else self._url,
            self._sockets,
            listens=bool(direct_url) or not self.is_pooled,
        )
        self._making = threading.Lock()
        self._engines: dict[str, Engine] = {}
        self._waiting: dict[Engine, set[int]] = {}
        """Engine -> the threads that are waiting for one of its connections."""

    @classmethod
    def for_service(cls, service: str, settings: Settings) -> "Database":
        """Return the database of a service, configured by the settings."""
        return cls(
            settings.database_urls[service],
            lock_timeout_s=settings.lock_timeout_s,
            pool_size=settings.database_pool_size,
            direct_url=settings.database_direct_urls[service],
        )

    def reading(self) -> AbstractContextManager[Connection]:
        """Return a Core connection in AUTOCOMMIT, for reads. Each statement sees the latest state.

        Raise `DatabaseUnavailable` for a read that exceeds its time limit.
        """
        return self._connected(self._engine("reading"), self._read_timeout_s, self._begin_reading)

    def snapshot(self, *, may_take_long: bool = False) -> AbstractContextManager[Connection]:
        """Return a read-only Core connection on which all statements see the same state.

        The limit is the time limit of reads, or ten minutes if it `may_take_long`. To read in
        batches, execute with `yield_per`.
        """
        seconds = SNAPSHOT_TIMEOUT_S if may_take_long else self._read_timeout_s
        begin = "BEGIN"
        if self.dialect == "postgresql":
            begin = self._beginning("ISOLATION LEVEL REPEATABLE READ, READ ONLY", seconds)
        return self._connected(self._engine("reading"), seconds, begin)

    def reading_unit(self, *, is_snapshot: bool = False) -> AbstractContextManager[Unit]:
        """Return a unit that only reads. When it is first used, it gets a connection from
        `reading`, or from `snapshot` if `is_snapshot`.
        """
        return ReadingUnit(self.snapshot if is_snapshot else self.reading)

    def run(self, work: Callable[[Session], T]) -> T:
        """Run `work` as one transaction. It is committed when `work` returns, and rolled back if it
        raises.

        `work` must be safe to run again: after a lost uniqueness race, a serialization failure or a
        deadlock it is tried exactly once more. It is not tried again after a lost connection. A
        dead connection of the pool is replaced before `work` can use it. Raise
        `DatabaseUnavailable` if a connection, a lock or the result of a statement is not available
        in time.
        """
        return self.run_unit(lambda unit: work(unit.session))

    def run_unit(self, work: Callable[[Unit], T]) -> T:
        """Run `work` as `run` does, but begin the transaction when `work` first uses its unit. If
        it does not use it, no connection is needed.
        """
        try:
            return self._attempt(work)
        except _TryAgain:
            pass
        try:
            return self._attempt(work)
        except _TryAgain as lost:
            raise_outage(lost.error, self.availability, self.availability.ended)
            raise lost.error from None

    @staticmethod
    def after_commit(session: Session, call: Callable[[], None]) -> None:
        """Call `call()` after the unit of work is committed, but not if it is rolled back.

        `call` must be short, because the caller of `run` waits for it.
        """
        session.info.setdefault(_AFTER_COMMIT, []).append(call)

    @staticmethod
    def before_commit(
        session: Session, write: Callable[[Session, list[T]], None], items: Iterable[T]
    ) -> None:
        """Collect the items of all calls with the same function `write`, and call `write(session,
        items)` once, immediately before the commit.
        """
        session.info.setdefault(BEFORE_COMMIT, {}).setdefault(write, []).extend(items)

    @staticmethod
    def notify_logs(session: Session, logs: Iterable[int]) -> None:
        """Notify all processes that these logs have grown, after the unit of work is committed."""
        notifier: Notifier | None = session.info.get(_NOTIFIER)
        if notifier is not None:
            named = tuple(logs)
            Database.after_commit(session, lambda: notifier.notify(named))

    @staticmethod
    @contextmanager
    def savepoint(session: Session) -> Iterator[None]:
        """Begin a part of a unit of work. An exception rolls back only this part, including its
        calls of `before_commit` and `after_commit`.
        """
        calls = len(session.info.get(_AFTER_COMMIT, ()))
        lengths = {w: len(items) for w, items in session.info.get(BEFORE_COMMIT, {}).items()}
        try:
            with session.begin_nested():
                yield
        except BaseException:
            del session.info.get(_AFTER_COMMIT, [])[calls:]
            for write, items in session.info.get(BEFORE_COMMIT, {}).items():
                del items[lengths.get(write, 0) :]
            raise

    def find_revision(self) -> str:
        """Return the number of the last migration that was applied to the database."""
        with self.reading_apart() as connection:
            return str(connection.execute(text(f"SELECT version_num FROM {APPLIED}")).scalar_one())

    def watch(self) -> None:
        """Check every second, in a thread, whether the database responds, until `dispose`, so that
        no request waits forever on a dead connection. SQLite does not need this.
        """
        if self.dialect == "postgresql" and self._heartbeat is None:
            self._heartbeat = Heartbeat(self._url, self.availability, self._sockets)
            self._heartbeat.start()

    def reading_apart(self) -> AbstractContextManager[Connection]:
        """Return a connection like that of `reading`, from a pool that no request uses."""
        return self._connected(
            self._engine("reading_apart"), self._read_timeout_s, self._begin_reading
        )

    @contextmanager
    def outside_transactions(self) -> Iterator[Connection]:
        """Yield a connection to PostgreSQL for statements that cannot run in a transaction, without
        time limits. It is closed afterwards.
        """
        with self._connected(self._engine("writing"), None) as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            for limit in ("statement_timeout", "lock_timeout"):
                connection.exec_driver_sql(f"SET {limit} = 0")
            try:
                yield connection
            finally:
                connection.invalidate()

    def ping(self) -> None:
        """Execute one trivial statement, on a connection that no request uses. Raise
        `DatabaseUnavailable`, also if a request has just failed.
        """
        if self.availability.has_just_failed:
            raise DatabaseUnavailable()
        with self.reading_apart() as connection:
            connection.execute(text("SELECT 1"))

    def missing_limits(self) -> list[str]:
        """Return the limits that are not in effect on a kind of PostgreSQL connections, such as
        `lock_timeout of writing`, because a pooler may drop the settings of a session. Raise
        `DatabaseUnavailable`.
        """
        if self.dialect == "sqlite":
            return []
        found = []
        for use, connected in (
            ("reading", self.reading()),
            ("reading_apart", self.reading_apart()),
            ("snapshot", self.snapshot()),
        ):
            with connected as connection:
                lacks = _missing_limits(connection, (*TIME_LIMITS, READ_ONLY))
            found += [f"{limit} of {use}" for limit in lacks]
        lacks = self.run(lambda session: _missing_limits(session.connection(), TIME_LIMITS))
        return found + [f"{limit} of writing" for limit in lacks]

    def late(self) -> Exception:
        """Return the error for a request that waited too long for a thread."""
        return DatabaseUnavailable()

    def state(self) -> DatabaseState:
        """Return the state of this process's connections, without a query."""
        uses = []
        for kind, engine in list(self._engines.items()):
            pool = engine.pool
            assert isinstance(pool, QueuePool)
            waiting = len(self._waiting[engine])
            uses.append(ConnectionUse(kind, pool.size(), pool.checkedout(), waiting))
        availability = self.availability
        return DatabaseState(
            uses, not availability.is_failing, availability.begun, self.notifier.unread_s
        )

    def dispose(self) -> None:
        """Close every connection. The next use opens new ones."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
            self._heartbeat = None
        self.notifier.close()
        for engine in list(self._engines.values()):
            engine.dispose()

    close = dispose

    @contextmanager
    def _connected(
        self, engine: Engine, read_s: float | None, begin: str = ""
    ) -> Iterator[Connection]:
        """Yield a connection from the pool of an engine. Raise `DatabaseUnavailable` for an outage.

        `read_s` is the time limit of reads, or None for a unit of work, in which a read-only
        database is an outage instead of an error of the caller. `begin` begins a transaction.
        """
        availability, writes = self.availability, read_s is None
        ended = availability.ended
        try:
            _require_answers(availability)
            waiting, thread = self._waiting[engine], threading.get_ident()
            waiting.add(thread)
            try:
                connected = engine.connect()
            finally:
                waiting.discard(thread)
            with connected as connection:
                if read_s is not None and self.dialect == "sqlite":
                    sqlite.limit_reading(connection, read_s)
                if begin:
                    _begin(connection, begin)
                try:
                    yield connection
                except DBAPIError as error:
                    if writes and is_read_only(error):
                        connection.invalidate()
                        availability.doubt()
                    elif is_out_of_step(error):
                        connection.invalidate()
                    raise
        except SQLAlchemyError as error:
            if writes or not is_read_only(error):
                raise_outage(error, availability, ended)
            raise
        if availability.is_failing:
            availability.note_success()

    def _attempt(self, work: Callable[[Unit], T]) -> T:
        with WritingUnit(self._writing, {_NOTIFIER: self.notifier}) as unit:
            with _conflicts_tried_again():
                result = work(unit)
                _write_pending(unit)
            session = unit.used_session
            if unit.used_connection is not None:
                self._commit(unit.used_connection)
        if session is not None:
            for call in session.info.get(_AFTER_COMMIT, ()):
                call()
        return result

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Yield a connection with a transaction, which is rolled back unless it was committed."""
        begun = self._connected(self._engine("writing"), None, self._begin_writing)
        with begun as connection:
            transaction = connection.get_transaction()
            assert transaction is not None
            info = connection.info  # of the pool's record, which outlives a dead connection
            info[_HAS_BEGUN] = True
            try:
                yield connection
            finally:
                info.pop(_HAS_BEGUN, None)
                transaction.close()

    def _commit(self, connection: Connection) -> None:
        transaction = connection.get_transaction()
        if transaction is None:  # another one is refused when it begins
            raise TransactionHasEnded
        try:
            with self._committing(connection):
                transaction.commit()
        except DBAPIError as error:
            if is_conflict(error):
                raise _TryAgain(error) from error
            raise

    def _committing(self, connection: Connection) -> AbstractContextManager[None]:
        if self.dialect == "sqlite":
            return nullcontext()
        return self._sockets.committing(connection.info[_SOCKET])

    def _engine(self, use: str) -> Engine:
        """Return the engine for "reading", "reading_apart" or "writing"."""
        engine = self._engines.get(use)
        if engine is None:
            with self._making:
                engine = self._engines.get(use) or self._create_engine(use)
                self._waiting[engine] = set()
                self._engines[use] = engine
        return engine

    def _session_arguments(self, *, read_only: bool) -> dict[str, Any]:
        """Return the arguments that set a PostgreSQL connection's limits for all its
        transactions.
        """
        if self.is_pooled:
            return {_PREPARE_THRESHOLD: None}
        seconds = self._read_timeout_s if read_only else STATEMENT_TIMEOUT_S
        limits = {
            **self._limits(seconds, writes=not read_only),
            "default_transaction_read_only": "on" if read_only else "off",
        }
        arguments: dict[str, Any] = {
            "options": " ".join(f"-c {name}={value}" for name, value in limits.items())
        }
        if read_only:
            # If data are uneven, such as rare and common words, a generic plan can be thousands of
            # times slower than a plan for the given values. So repeated reads do not become
            # prepared statements. Statements for which one plan is good for all values are marked
            # (specd/_db/prepared.py). Writers may prepare statements, because otherwise each check
            # of a foreign key would be planned again.
            arguments[_PREPARE_THRESHOLD] = NEVER_BY_ITSELF
        return arguments

    def _beginning(self, mode: str, seconds: float) -> str:
        """Return the SQL that begins a PostgreSQL transaction with its limits."""
        limits = self._limits(seconds, writes=mode == "READ WRITE").items()
        settings = (f"SET LOCAL {name} = '{value}'" for name, value in limits)
        return "; ".join((f"BEGIN {mode}", *settings))

    def _limits(self, seconds: float, *, writes: bool) -> dict[str, str]:
        """Return PostgreSQL's settings for statements with a time limit of `seconds`."""
        idle_s = WRITER_IDLE_S if writes and not self._rewrites_tables else READER_IDLE_S
        return {
            "statement_timeout": f"{seconds * 1000:.0f}ms",
            "lock_timeout": f"{self._lock_timeout_s * 1000:.0f}ms",
            "idle_in_transaction_session_timeout": f"{idle_s}s",
            "jit": "off",
            # Assume that pages are in memory or on a flash disk, so an index is worth it for a few
            # rows.
            "random_page_cost": "1.1",
        }

    def _create_engine(self, use: str) -> Engine:
        read_only = use != "writing"
        options: dict[str, Any] = {}
        if read_only or self.dialect == "postgresql":
            # The driver begins no transaction. With psycopg's own BEGIN, which it sends with the
            # first statement, a dead connection would be found too late to replace it.
            options["isolation_level"] = "AUTOCOMMIT"
        if self.dialect == "sqlite":
            arguments: dict[str, Any] = {
                "check_same_thread": False,
                "timeout": self._lock_timeout_s,
                "isolation_level": None,  # pysqlite begins no transaction; see specd/_db/sqlite.py
            }
        else:
            arguments = {**sockets.PARAMETERS, **self._session_arguments(read_only=read_only)}
        engine = create_engine(
            _driver(self._url),
            connect_args=arguments,
            pool_size=self._pool_sizes[use],
            max_overflow=0,
            pool_timeout=self._lock_timeout_s,
            pool_use_lifo=True,  # the most recently used connection has the warmest caches
            # Values come from users, and errors that contain them would be logged.
            hide_parameters=True,
            **options,
        )
        if not read_only:
            event.listen(engine, "begin", _refuse_another_transaction)
        if self.dialect == "postgresql":
            _follow_outages(engine, self._sockets, self.availability)
        elif read_only:
            sqlite.prepare_reader(engine)
        else:
            sqlite.prepare_writer(
                engine,
                lock_timeout_s=self._lock_timeout_s,
                rewrites_tables=self._rewrites_tables,
            )
        return engine


def _missing_limits(connection: Connection, limits: Iterable[str]) -> list[str]:
    shown = {name: connection.execute(text(f"SHOW {name}")).scalar() for name in limits}
    return [name for name, value in shown.items() if value in ("0", "off", None)]


class _TryAgain(Exception):
    def __init__(self, error: DBAPIError) -> None:
        self.error = error


@contextmanager
def _conflicts_tried_again() -> Iterator[None]:
    """Raise `_TryAgain` for an error after which the same unit may succeed."""
    try:
        yield
    except DBAPIError as error:
        if is_conflict(error):
            raise _TryAgain(error) from error
        raise


def _begin(connection: Connection, sql: str) -> None:
    """Begin a transaction with a statement. If the connection from the pool is dead, begin it on a
    new connection.
    """
    try:
        _begin_once(connection, sql)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        _begin_once(connection, sql)


def _begin_once(connection: Connection, sql: str) -> None:
    transaction = connection.begin()
    try:
        run_plain(connection, sql)
    except BaseException:
        transaction.close()
        raise


def _write_pending(unit: Unit) -> None:
    """Flush the session of a unit, and run the calls of `before_commit`."""
    session = unit.used_session
    if session is None:
        return
    session.flush()
    for write, items in session.info.pop(BEFORE_COMMIT, {}).items():
        if items:
            write(session, items)


def _refuse_another_transaction(connection: Connection) -> None:
    """Raise `TransactionHasEnded` if the unit has begun a transaction before: the statements of a
    second one would be committed without the first.
    """
    if connection.info.get(_HAS_BEGUN):
        raise TransactionHasEnded


def _follow_outages(engine: Engine, known: sockets.Sockets, availability: Availability) -> None:
    """Stop an engine from opening connections while the database is silent, and from using
    connections that were shut down.

    SQLAlchemy itself replaces all connections of a pool after it finds a dead one.
    """

    @event.listens_for(engine, "do_connect")
    def on_opening(*_: object) -> None:
        _require_answers(availability)  # again, because waiting for a place can take long

    @event.listens_for(engine, "connect")
    def on_connect(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        record.info[_SOCKET] = known.add(connection.fileno())

    @event.listens_for(engine, "checkout")
    def on_checkout(_: object, record: ConnectionPoolEntry, proxy: object) -> None:
        if record.info[_SOCKET] not in known:
            raise DisconnectionError("the connection was cut")

    @event.listens_for(engine, "close")
    def on_close(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        known.remove(record.info.pop(_SOCKET))


def _require_answers(availability: Availability) -> None:
    if availability.is_silent:
        raise PoolTimeout("the database does not answer")


def _require_driver() -> None:
    """Raise `MissingExtra` without psycopg. This imports psycopg before a server forks its
    workers.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingExtra("A PostgreSQL database", "postgresql") from error


def _driver(url: URL) -> URL:
    """Return the URL with psycopg 3 as the driver of `postgresql://`. An explicit driver
    is kept.
    """
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url
