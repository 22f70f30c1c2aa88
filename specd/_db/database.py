"""The unit of work: connections, transactions and their one retry. Only this module commits.

SQLite runs in WAL with synchronous=FULL and one writer per process that begins IMMEDIATE;
PostgreSQL runs READ COMMITTED with explicit row locks and time limits on statements, locks and
idle transactions.

A pooler that changes connections between transactions, such as PgBouncer, keeps no state of a
session. With `pooling=transaction` in the URL each transaction brings its own limits, in the same
message as its BEGIN; reads are transactions too, and no statement is prepared.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from specd._db import sockets, sqlite
from specd._db.availability import Availability
from specd._db.errors import DatabaseUnavailable
from specd._db.heartbeat import Heartbeat
from specd._db.notifier import Notifier
from specd._db.outages import is_conflict, is_out_of_step, is_read_only, raise_outage
from specd._db.units import ReadingUnit, Unit, WritingUnit
from specd._db.usage import ConnectionUse, DatabaseState
from specd._library_internals import check_library_internals
from specd._settings import MissingExtra, Settings

T = TypeVar("T")

STATEMENT_TIMEOUT_S = 30
READ_TIMEOUT_S = 10
"""Of a statement that only reads (PostgreSQL), or of a whole reading unit (SQLite)."""
SNAPSHOT_TIMEOUT_S = 600
WRITER_IDLE_S = 5
"""Between two statements of a unit that writes. Nobody waits longer for its locks when its process
hangs, or the network has lost its connection without a word.
"""
READER_IDLE_S = 30
POOLING = "pooling"
"""Key in the URL. Its only value is `transaction`."""
NEVER_BY_ITSELF = 10**9
"""So many repetitions make a statement a prepared one."""
_PREPARE_THRESHOLD = "prepare_threshold"
TIME_LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
READ_ONLY = "transaction_read_only"
_AFTER_COMMIT = "after_commit"
BEFORE_COMMIT = "before_commit"
"""Key of `Session.info`: the calls of `before_commit` so far."""
APPLIED = "alembic_version"
"""The table with the number of the last migration."""
_NOTIFIER = "notifier"
_SOCKET = "socket"


class Database:
    """One service's database: a pool for reads and one for units of work.

    Engines are made on first use, so a forked worker never shares a socket with its parent.
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
        """`rewrites_tables`: a statement may change more than there is room for in memory.
        `direct_url`: the address past a pooler, for notifications.
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
        self._begin_reading = self._begin_writing = ""
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
        """Engine -> the threads that wait for one of its connections."""

    @classmethod
    def for_service(cls, service: str, settings: Settings) -> "Database":
        """Return the database of a service, as the settings name it."""
        return cls(
            settings.database_urls[service],
            lock_timeout_s=settings.lock_timeout_s,
            pool_size=settings.database_pool_size,
            direct_url=settings.database_direct_urls[service],
        )

    def reading(self) -> AbstractContextManager[Connection]:
        """A Core connection in AUTOCOMMIT, for reads: each statement sees the latest state.

        What takes longer than the time limit of reads ends as `DatabaseUnavailable`.
        """
        return self._connected(self._engine("reading"), self._read_timeout_s, self._begin_reading)

    def snapshot(self, *, may_take_long: bool = False) -> AbstractContextManager[Connection]:
        """A read-only Core connection on which every statement sees the same moment.

        The time limit of reads holds, or ten minutes where it `may_take_long`; execute with
        `yield_per` to read in batches.
        """
        seconds = SNAPSHOT_TIMEOUT_S if may_take_long else self._read_timeout_s
        begin = "BEGIN"
        if self.dialect == "postgresql":
            begin = self._beginning("ISOLATION LEVEL REPEATABLE READ, READ ONLY", seconds)
        return self._connected(self._engine("reading"), seconds, begin)

    def reading_unit(self, *, is_snapshot: bool = False) -> AbstractContextManager[Unit]:
        """Return a unit that reads. It takes a connection of `reading`, or of `snapshot` if
        `is_snapshot`, when it is first used.
        """
        return ReadingUnit(self.snapshot if is_snapshot else self.reading)

    def run(self, work: Callable[[Session], T]) -> T:
        """Run `work` as one transaction: returning commits, raising rolls back.

        `work` must be safe to run again: a lost uniqueness race, a serialization failure or a
        connection found dead before the end is answered by exactly one more try. No connection,
        no lock in time, no statement in time: `DatabaseUnavailable`.
        """
        return self.run_unit(lambda unit: work(unit.session))

    def run_unit(self, work: Callable[[Unit], T]) -> T:
        """Do the same, but begin the transaction when `work` first uses its unit. If it does not,
        no connection is taken.
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
        """Call `call()` once the unit of work is committed, and never if it is rolled back.

        It must be short, because the caller of `run` waits for it.
        """
        session.info.setdefault(_AFTER_COMMIT, []).append(call)

    @staticmethod
    def before_commit(
        session: Session, write: Callable[[Session, list[T]], None], items: Iterable[T]
    ) -> None:
        """Call `write(session, items)` once for the items of all calls with this function, as the
        last statements before the commit.
        """
        session.info.setdefault(BEFORE_COMMIT, {}).setdefault(write, []).extend(items)

    @staticmethod
    def notify_logs(session: Session, logs: Iterable[int]) -> None:
        """Notify all processes that these logs have grown, once the unit of work is committed."""
        notifier: Notifier | None = session.info.get(_NOTIFIER)
        if notifier is not None:
            named = tuple(logs)
            Database.after_commit(session, lambda: notifier.notify(named))

    @staticmethod
    @contextmanager
    def savepoint(session: Session) -> Iterator[None]:
        """Begin a part of a unit of work. An exception rolls back this part alone, with its calls
        of `before_commit` and `after_commit`.
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
        """Return the number of the last migration that the database has had."""
        with self.reading_apart() as connection:
            return str(connection.execute(text(f"SELECT version_num FROM {APPLIED}")).scalar_one())

    def watch(self) -> None:
        """Check every second in a thread that the database answers, until `dispose`, so that no
        request waits on a dead connection without end. SQLite needs no such check.
        """
        if self.dialect == "postgresql" and self._heartbeat is None:
            self._heartbeat = Heartbeat(self._url, self.availability, self._sockets)
            self._heartbeat.start()

    def reading_apart(self) -> AbstractContextManager[Connection]:
        """The same as `reading` on a connection that no request uses."""
        return self._connected(
            self._engine("reading_apart"), self._read_timeout_s, self._begin_reading
        )

    @contextmanager
    def outside_transactions(self) -> Iterator[Connection]:
        """A connection to PostgreSQL for statements that no transaction may hold and that may take
        as long as they want. It is closed afterwards.
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
        `DatabaseUnavailable`, also while the requests of others fail.
        """
        if self.availability.has_just_failed:
            raise DatabaseUnavailable()
        with self.reading_apart() as connection:
            connection.execute(text("SELECT 1"))

    def missing_limits(self) -> list[str]:
        """Return which limits PostgreSQL does not keep on connections of a kind, such as
        `lock_timeout of writing`: a pooler may drop what a session brings. Raise
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
        """Return the error for a request that has waited too long for a thread."""
        return DatabaseUnavailable()

    def state(self) -> DatabaseState:
        """Return the present state of this process; waits for nothing."""
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
        """A connection of the pool of an engine. Raise `DatabaseUnavailable` for an outage.

        `read_s` is the time limit of reads; None: a unit of work, in which a refusal to write is an
        outage, and no error of the caller. `begin` is executed first.
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
                    connection.exec_driver_sql(begin)
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
        """A connection with a transaction, which is rolled back unless it was committed."""
        with self._connected(self._engine("writing"), None) as connection:
            transaction = connection.begin()
            try:
                with _conflicts_tried_again():
                    if self.dialect == "sqlite":
                        sqlite.begin_writing(connection)
                    elif self.is_pooled:
                        connection.exec_driver_sql(self._begin_writing)
                yield connection
            finally:
                transaction.close()

    def _commit(self, connection: Connection) -> None:
        transaction = connection.get_transaction()
        assert transaction is not None
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
        """Return what a connection to PostgreSQL keeps for all its transactions."""
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
            # A plan for any values is thousands of times slower than one for those at hand where
            # the data are uneven: rare and common words, small and large channels. So no read
            # becomes a prepared statement by being repeated. Those with one plan for all values are
            # marked (specd/_db/prepared.py).
            # Writers are not kept from it: each check of a foreign key would be planned anew.
            arguments[_PREPARE_THRESHOLD] = NEVER_BY_ITSELF
        return arguments

    def _beginning(self, mode: str, seconds: float) -> str:
        """Return the text that begins a transaction of PostgreSQL with its limits."""
        limits = self._limits(seconds, writes=mode == "READ WRITE").items()
        settings = (f"SET LOCAL {name} = '{value}'" for name, value in limits)
        return "; ".join((f"BEGIN {mode}", *settings))

    def _limits(self, seconds: float, *, writes: bool) -> dict[str, str]:
        """Return PostgreSQL's settings for statements that may take so long."""
        idle_s = WRITER_IDLE_S if writes and not self._rewrites_tables else READER_IDLE_S
        return {
            "statement_timeout": f"{seconds * 1000:.0f}ms",
            "lock_timeout": f"{self._lock_timeout_s * 1000:.0f}ms",
            "idle_in_transaction_session_timeout": f"{idle_s}s",
            "jit": "off",
            # Pages count as in memory or on a flash disk: an index is worth it for a few rows.
            "random_page_cost": "1.1",
        }

    def _create_engine(self, use: str) -> Engine:
        read_only = use != "writing"
        begins_by_itself = read_only or self.is_pooled
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if begins_by_itself else {}
        if self.dialect == "sqlite":
            arguments: dict[str, Any] = {
                "check_same_thread": False,
                "timeout": self._lock_timeout_s,
                "isolation_level": None,  # pysqlite begins nothing; see specd/_db/sqlite.py
            }
        else:
            arguments = {**sockets.PARAMETERS, **self._session_arguments(read_only=read_only)}
        engine = create_engine(
            _driver(self._url),
            connect_args=arguments,
            pool_size=self._pool_sizes[use],
            max_overflow=0,
            pool_timeout=self._lock_timeout_s,
            pool_use_lifo=True,  # the connection that was used last has the warmest caches
            # Values are what users wrote, and an error with them in it would end in a log.
            hide_parameters=True,
            **options,
        )
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
        if is_conflict(error) or error.connection_invalidated:
            raise _TryAgain(error) from error
        raise


def _write_pending(unit: Unit) -> None:
    """Write what the session of a unit contains, and what waits for the commit."""
    session = unit.used_session
    if session is None:
        return
    session.flush()
    for write, items in session.info.pop(BEFORE_COMMIT, {}).items():
        if items:
            write(session, items)


def _follow_outages(engine: Engine, known: sockets.Sockets, availability: Availability) -> None:
    """Have an engine open no connections while the database is silent, and use none that was shut.

    SQLAlchemy itself replaces all connections of a pool after one of them was found dead.
    """

    @event.listens_for(engine, "do_connect")
    def on_opening(*_: object) -> None:
        _require_answers(availability)  # again: who waits for a place may wait for long

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
    """Raise `MissingExtra` without psycopg. It is imported before a server forks its workers."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingExtra("A PostgreSQL database", "postgresql") from error


def _driver(url: URL) -> URL:
    """`postgresql://` means psycopg 3 here; a driver that is named stays."""
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url
