"""Connections for reads and units of work are pooled, never shared, and discarded when they die."""

import threading
import time
from contextlib import ExitStack, closing, nullcontext, suppress
from datetime import datetime
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, make_url, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from specd._cli.diagnosis import connections_of
from specd._db import database as database_module
from specd._db.sockets import connect
from specd._db.units import Unit
from specd.db import Database
from specd.errors import DatabaseUnavailable
from tests.specd.db.lending import Loan


def driver_of(connection: Connection) -> object:
    return connection.connection.driver_connection


def test_next_read_reuses_the_connection(database: Database) -> None:
    with database.reading() as connection:
        first = driver_of(connection)
        connection.execute(select(Loan.name)).all()

    def ask_and_raise() -> None:
        with database.reading() as connection:
            assert driver_of(connection) is first
            assert not connection.in_transaction()
            connection.execute(select(Loan.name)).all()
            raise LookupError("nothing of the database's")

    with pytest.raises(LookupError):
        ask_and_raise()
    with database.reading() as connection:
        assert driver_of(connection) is first
        assert not connection.in_transaction()


def test_concurrent_reads_have_different_connections(database: Database) -> None:
    with database.reading() as one, database.reading() as other:
        assert driver_of(one) is not driver_of(other)


def test_process_uses_at_most_the_connections_that_doctor_counts(postgres_url: str) -> None:
    pids = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    with (
        closing(connect(make_url(postgres_url), "count")) as other,
        closing(Database(postgres_url, pool_size=2)) as database,
        ExitStack() as stack,
    ):
        before = set(other.execute(pids).fetchall())  # of tests before, which are still ending
        database.watch()
        database.notifier.follow(lambda logs: None)
        database.notifier.notify([1])
        for _ in range(2):
            stack.enter_context(database.reading())
            stack.enter_context(database._engine("writing").connect())
        stack.enter_context(database.reading_apart())

        def counted() -> int:
            return len(set(other.execute(pids).fetchall()) - before)

        deadline = time.monotonic() + 20
        while counted() != connections_of(2) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert counted() == connections_of(2)


def test_read_waits_for_a_free_connection(database_url: str) -> None:
    with closing(Database(database_url, pool_size=1, lock_timeout_s=20)) as database:
        taken, free = threading.Event(), threading.Event()

        def hold() -> None:
            with database.reading():
                taken.set()
                free.wait(20)

        holder = threading.Thread(target=hold)
        holder.start()
        taken.wait(20)
        threading.Timer(0.05, free.set).start()
        with database.reading() as connection:
            assert free.is_set()
            assert connection.execute(text("SELECT 1")).scalar_one() == 1
        holder.join()


def test_wait_for_a_free_connection_times_out(database_url: str) -> None:
    with (
        closing(Database(database_url, pool_size=1, lock_timeout_s=0.05)) as database,
        database.reading(),
        pytest.raises(DatabaseUnavailable),
        database.reading(),
    ):
        pass


def test_failures_release_their_connections(database_url: str) -> None:
    with closing(Database(database_url, pool_size=2, lock_timeout_s=0.2)) as database:
        for _ in range(5):
            with pytest.raises(DBAPIError), database.reading() as connection:
                connection.execute(text("SELECT * FROM no_such_table"))
            with database.snapshot() as connection:
                connection.execute(text("SELECT 1"))
            with suppress(KeyboardInterrupt), database.reading():
                raise KeyboardInterrupt
        with database.reading(), database.reading():
            pass


def test_snapshot_does_not_affect_the_next_read(database_url: str) -> None:
    with closing(Database(database_url, pool_size=1)) as database:
        with database.snapshot() as connection:
            connection.execute(select(Loan.name)).all()
        with database.reading() as connection:
            assert not connection.in_transaction()
            if database.dialect == "postgresql":
                shown = connection.execute(text("SHOW transaction_isolation")).scalar_one()
                assert shown == "read committed"
                assert driver_of(connection).autocommit  # type: ignore[attr-defined]
            else:
                assert not driver_of(connection).in_transaction  # type: ignore[attr-defined]


def test_lost_connection_of_a_snapshot_is_an_outage(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:

        def read_on() -> None:
            with database.snapshot() as connection:
                number = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
                database.run(
                    lambda session: session.execute(
                        text("SELECT pg_terminate_backend(:number)"), {"number": number}
                    )
                )
                connection.execute(text("SELECT 1"))

        with pytest.raises(DatabaseUnavailable):
            read_on()
        with database.snapshot() as connection:
            assert connection.execute(text("SELECT 1")).scalar() == 1


def test_all_connections_are_discarded_with_a_dead_one(postgres_url: str) -> None:
    asked = text("SELECT pg_backend_pid()")
    with closing(Database(postgres_url)) as database:
        with database.reading() as one, database.reading() as other:
            pids = [it.execute(asked).scalar_one() for it in (one, other)]
        plain = postgres_url.replace("+psycopg", "")
        with psycopg.connect(plain, autocommit=True) as killer:
            for pid in pids:
                killer.execute("SELECT pg_terminate_backend(%s)", (pid,))
        with pytest.raises(DatabaseUnavailable), database.reading() as connection:
            connection.execute(asked)
        for _ in range(2):
            with database.reading() as one, database.reading() as other:
                assert {it.execute(asked).scalar_one() for it in (one, other)}.isdisjoint(pids)


def test_connection_with_mismatched_answers_is_discarded(postgres_url: str) -> None:
    """PgBouncer adds an error to the answer of a COMMIT when it loses the server."""

    def fail() -> None:
        raise psycopg.InternalError("received 2 results from command 'COMMIT'")

    with closing(Database(postgres_url)) as database:
        used: list[Any] = []

        def work(session: Session) -> None:
            driver: Any = session.connection().connection.driver_connection
            used.append(driver)
            if len(used) == 1:
                driver.commit = fail

        with pytest.raises(DatabaseUnavailable):
            database.run(work)
        database.run(work)
        assert used[0] is not used[1]
        assert used[0].closed


def test_closed_connections_are_replaced(database: Database) -> None:
    with database.reading() as connection:
        first = driver_of(connection)
    database.dispose()
    with database.reading() as connection:
        assert driver_of(connection) is not first
        assert connection.execute(text("SELECT 1")).scalar_one() == 1


def driver_of_unit(session: Session) -> object:
    return driver_of(session.connection())


def test_next_unit_reuses_the_connection(database: Database) -> None:
    first = database.run(driver_of_unit)

    def ask_and_raise(session: Session) -> None:
        assert driver_of_unit(session) is first
        raise LookupError("nothing of the database's")

    with pytest.raises(LookupError):
        database.run(ask_and_raise)
    assert database.run(driver_of_unit) is first


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM no_such_table",
        "INSERT INTO follower (leader) VALUES ('nobody')",  # which only the commit refuses
    ],
)
def test_failed_unit_does_not_affect_the_next_unit(database: Database, statement: str) -> None:
    reference = "leader TEXT REFERENCES loan (name) DEFERRABLE INITIALLY DEFERRED"
    count = text("SELECT count(*) FROM follower")

    def ask(session: Session) -> int:
        driver = driver_of_unit(session)
        if database.dialect == "postgresql":
            assert driver.info.transaction_status.name == "INTRANS"  # type: ignore[attr-defined]
        return int(session.execute(count).scalar_one())

    def fail(session: Session) -> None:
        session.execute(text("INSERT INTO follower (leader) VALUES (NULL)"))
        session.execute(text(statement))

    database.run(lambda session: session.execute(text(f"CREATE TABLE follower ({reference})")))
    try:
        for _ in range(3):
            with pytest.raises(DBAPIError):
                database.run(fail)
            assert database.run(ask) == 0
    finally:
        database.run(lambda session: session.execute(text("DROP TABLE follower")))


def end(url: str, *pids: int) -> None:
    """End connections, as a restart would."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as killer:
        for each in pids:
            killer.execute("SELECT pg_terminate_backend(%s)", (each,))


def pid(session: Session) -> int:
    return int(session.execute(text("SELECT pg_backend_pid()")).scalar_one())


@pytest.fixture(params=["direct", "pooled"])
def pooled_url(postgres_url: str, request: pytest.FixtureRequest) -> str:
    """The URL of a database, also with the parameter for a pooler."""
    if request.param == "direct":
        return postgres_url
    url = make_url(postgres_url).update_query_dict({"pooling": "transaction"})
    return url.render_as_string(hide_password=False)


class TestDeadConnection:
    """A connection that died between two units is replaced, and no work runs again."""

    def test_all_dead_connections_are_replaced(self, postgres_url: str, pooled_url: str) -> None:
        with closing(Database(pooled_url, pool_size=3)) as database:
            pids = database.run(
                lambda s: [pid(s), *database.run(lambda t: [pid(t), database.run(pid)])]
            )
            assert len(set(pids)) == 3
            end(postgres_url, *pids)
            assert database.run(pid) not in pids

    def test_work_runs_once(self, postgres_url: str, pooled_url: str) -> None:
        runs: list[int] = []

        def work(unit: Unit) -> int:
            runs.append(len(runs))  # done before the unit needs its connection
            return pid(unit.session)

        with closing(Database(pooled_url, pool_size=1)) as database, capture_logs() as lines:
            first = database.run_unit(work)
            end(postgres_url, first)
            assert database.run_unit(work) != first
        assert runs == [0, 1]
        assert [line for line in lines if line["log_level"] != "debug"] == []

    def test_transaction_of_a_new_connection_is_complete(
        self, postgres_url: str, pooled_url: str, now: datetime
    ) -> None:
        """The limits of the transaction are set, and its rows are committed or rolled back."""

        def work(session: Session, name: str) -> object:
            session.add(Loan(name=name, holder="test", expires_at=now))
            if name == "lost":
                session.flush()
                raise LookupError
            return session.execute(text("SHOW idle_in_transaction_session_timeout")).scalar()

        with closing(Database(pooled_url, pool_size=1)) as database:
            for name in ("lost", "kept"):
                end(postgres_url, database.run(pid))
                with pytest.raises(LookupError) if name == "lost" else nullcontext():
                    assert database.run(lambda s, name=name: work(s, name)) == "5s"  # type: ignore[misc]
            with database.reading() as connection:
                assert connection.execute(select(Loan.name)).scalars().all() == ["kept"]

    def test_snapshot_is_read_on_a_new_connection(self, postgres_url: str, pooled_url: str) -> None:
        with closing(Database(pooled_url, pool_size=1)) as database:
            for _ in range(2):
                with database.snapshot() as connection:
                    shown = connection.execute(text("SHOW transaction_isolation")).scalar()
                    assert shown == "repeatable read"
                    number = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
                end(postgres_url, number)

    def test_connection_that_dies_in_the_unit_is_an_outage(
        self, postgres_url: str, pooled_url: str
    ) -> None:
        runs = []

        def work(session: Session) -> None:
            runs.append(pid(session))
            end(postgres_url, runs[-1])
            pid(session)

        with closing(Database(pooled_url, pool_size=1)) as database:
            with pytest.raises(DatabaseUnavailable):
                database.run(work)
            assert len(runs) == 1
            assert database.run(pid) not in runs

    def test_second_dead_connection_is_an_outage(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The database is probably restarting."""
        begun = []
        with closing(Database(postgres_url, pool_size=1)) as database:
            database.run(pid)
            begin_once = database_module._begin_once

            def end_first(connection: Connection, sql: str) -> None:
                begun.append(sql)
                end(postgres_url, driver_of(connection).info.backend_pid)  # type: ignore[attr-defined]
                begin_once(connection, sql)

            monkeypatch.setattr(database_module, "_begin_once", end_first)
            with pytest.raises(DatabaseUnavailable):
                database.run(pid)
        assert begun == ["BEGIN", "BEGIN"]


def test_password_can_contain_any_character(postgres_url: str) -> None:
    """SQLAlchemy writes spaces into a URL without escaping them, which libpq rejects."""
    password = "a b%20c@d/e?f=g"
    url = make_url(postgres_url)
    with closing(Database(postgres_url)) as database:
        database.run(lambda s: s.execute(text(f"CREATE ROLE odd LOGIN PASSWORD '{password}'")))
        try:
            given = url.set(username="odd", password=password)
            with closing(connect(given, "a test")) as connection:
                assert connection.execute("SELECT current_user").fetchone() == ("odd",)
        finally:
            database.run(lambda session: session.execute(text("DROP ROLE odd")))
