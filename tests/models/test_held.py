"""Connections for reads: kept between them, shared by nobody, thrown away when they die."""

import threading
from contextlib import closing, suppress

import psycopg
import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError

from models.database import Database
from models.errors import DatabaseUnavailable
from models.payment.tables import Lease


def driver_of(connection: Connection) -> object:
    return connection.connection.driver_connection


def test_the_next_read_has_the_connection_of_the_last(database: Database) -> None:
    with database.reading() as connection:
        first = driver_of(connection)
        connection.execute(select(Lease.name)).all()

    def ask_and_raise() -> None:
        with database.reading() as connection:
            assert driver_of(connection) is first
            assert not connection.in_transaction()
            connection.execute(select(Lease.name)).all()
            raise LookupError("nothing of the database's")

    with pytest.raises(LookupError):
        ask_and_raise()
    with database.reading() as connection:
        assert driver_of(connection) is first
        assert not connection.in_transaction()


def test_two_reads_at_once_have_two(database: Database) -> None:
    with database.reading() as one, database.reading() as other:
        assert driver_of(one) is not driver_of(other)


def test_waits_for_one_where_all_are_taken(database_url: str) -> None:
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


def test_says_so_where_none_becomes_free(database_url: str) -> None:
    with (
        closing(Database(database_url, pool_size=1, lock_timeout_s=0.05)) as database,
        database.reading(),
        pytest.raises(DatabaseUnavailable),
        database.reading(),
    ):
        pass


def test_every_place_is_free_again_after_failures(database_url: str) -> None:
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


def test_a_snapshot_leaves_nothing_to_the_next(database_url: str) -> None:
    with closing(Database(database_url, pool_size=1)) as database:
        with database.snapshot() as connection:
            connection.execute(select(Lease.name)).all()
        with database.reading() as connection:
            assert not connection.in_transaction()
            if database.dialect == "postgresql":
                shown = connection.execute(text("SHOW transaction_isolation")).scalar_one()
                assert shown == "read committed"
                assert driver_of(connection).autocommit  # type: ignore[attr-defined]
            else:
                assert not driver_of(connection).in_transaction  # type: ignore[attr-defined]


def test_all_are_thrown_away_with_one_that_died(postgres_url: str) -> None:
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


def test_those_that_are_closed_are_opened_anew(database: Database) -> None:
    with database.reading() as connection:
        first = driver_of(connection)
    database.dispose()
    with database.reading() as connection:
        assert driver_of(connection) is not first
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
