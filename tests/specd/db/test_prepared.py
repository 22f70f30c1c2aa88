"""Prepared statements have the results of SQLAlchemy, on both databases."""

from contextlib import closing
from datetime import datetime, timedelta

import psycopg
import pytest
from sqlalchemy import (
    Integer,
    bindparam,
    column,
    event,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from specd._db.driver import MAX_KEPT
from specd.db import Change, Database, Query, UtcMs, upsert
from specd.errors import DatabaseUnavailable
from tests.specd.db.lending import Book, Loan

ADD = Change(insert(Loan.__table__))
ALL = Query(select(Loan.name, Loan.expires_at, literal(7)).order_by(Loan.name))
NAMED = Query(select(Loan.holder).where(Loan.name == bindparam("its_name")))
RENEW = Change(update(Loan.__table__).where(Loan.__table__.c.name == bindparam("its_name")))
_PUT = upsert(Loan)
REPLACE = Change(
    _PUT.on_conflict_do_update(index_elements=["name"], set_={"holder": _PUT.excluded.holder})
)
LATER = timedelta(minutes=1)


def row(name: str, now: datetime) -> dict[str, object]:
    return {"name": name, "holder": "test", "expires_at": now}


@pytest.fixture
def kept(database: Database, now: datetime) -> Database:
    database.run(lambda session: ADD.run_all(session, [row("b", now), row("a", now)]))
    return database


def test_values_and_rows_are_converted_by_their_types(kept: Database, now: datetime) -> None:
    with kept.reading() as connection:
        assert ALL.all(connection) == connection.execute(ALL._statement).all()
        assert ALL.all(connection) == [("a", now, 7), ("b", now, 7)]


def test_first_is_none_if_there_are_no_rows(kept: Database) -> None:
    with kept.reading() as connection:
        assert NAMED.first(connection, {"its_name": "a"}) == ("test",)
        assert NAMED.one(connection, {"its_name": "a"}) == ("test",)
        assert NAMED.first(connection, {"its_name": "c"}) is None
        with pytest.raises(ValueError, match="not enough"):
            NAMED.one(connection, {"its_name": "c"})


def test_postgresql_keeps_a_plan_that_is_used_for_all_values(postgres_url: str) -> None:
    by_name = select(Loan.holder).where(Loan.name == bindparam("its_name"))
    steady, uneven = Query(by_name), Query(by_name.limit(7), one_plan=False)
    asked = text(
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
        " WHERE statement LIKE '%loan%' AND statement NOT LIKE '%generic_plans%'"
    )
    with closing(Database(postgres_url)) as database, database.reading() as connection:
        for _ in range(12):
            steady.all(connection, {"its_name": "a"})
            uneven.all(connection, {"its_name": "a"})
        assert connection.execute(asked).all() == [(7, 5)]


SERIES = Query(text("SELECT n FROM generate_series(1, :most) AS n").columns(column("n", Integer)))


def test_connection_to_postgresql_keeps_its_cursor(postgres_url: str) -> None:
    asked = {"its_name": "a"}
    with closing(Database(postgres_url)) as database, database.reading() as connection:
        NAMED.all(connection, asked)
        kept = connection.info["driver"].cursor
        assert kept is not None
        assert SERIES.all(connection, {"most": 2}) == [(1,), (2,)]
        assert connection.info["driver"].cursor is kept
        chunks = SERIES.chunks(connection, 2, {"most": 5})
        assert next(chunks) == [(1,), (2,)]
        assert SERIES.all(connection, {"most": 1}) == [(1,)]
        assert list(chunks) == [[(3,), (4,)], [(5,)]], "the results must be independent"
        assert len(SERIES.all(connection, {"most": MAX_KEPT + 1})) == MAX_KEPT + 1
        assert connection.info["driver"].cursor is None, "large results must not be kept"
        with pytest.raises(DBAPIError):
            SERIES.all(connection, {"most": "many"})
        assert NAMED.all(connection, asked) == []


def test_change_returns_the_row_count_and_writes_the_given_columns(
    kept: Database, now: datetime
) -> None:
    def work(session: Session) -> None:
        assert RENEW.run(session, {"its_name": "a", "holder": "other"}) == 1
        assert RENEW.run(session, {"its_name": "b", "expires_at": now + LATER}) == 1
        assert RENEW.run(session, {"its_name": "c", "holder": "other"}) == 0
        assert NAMED.all(session, {"its_name": "a"}) == [("other",)]

    kept.run(work)
    with kept.reading() as connection:
        assert ALL.all(connection) == [("a", now, 7), ("b", now + LATER, 7)]


def test_change_expires_loaded_objects_of_the_session(kept: Database, now: datetime) -> None:
    def work(session: Session) -> list[str]:
        session.add(Book(title="x", copies=1))
        session.flush()
        book, loan = session.get_one(Book, "x"), session.get_one(Loan, "a")
        holders = [loan.holder]
        RENEW.run(session, {"its_name": "a", "holder": "first"})
        holders.append(loan.holder)
        loan.holder = "second"
        upserted = [row("a", now) | {"holder": "third"}, row("b", now) | {"holder": "third"}]
        REPLACE.run_all(session, upserted)
        holders.append(loan.holder)
        assert not inspect(book).expired_attributes
        return holders

    assert kept.run(work) == ["test", "first", "third"]


def test_rolled_back_unit_has_no_effect(kept: Database) -> None:
    def work(session: Session) -> None:
        RENEW.run(session, {"its_name": "a", "holder": "other"})
        raise LookupError("changed my mind")

    with pytest.raises(LookupError):
        kept.run(work)
    with kept.reading() as connection:
        assert NAMED.one(connection, {"its_name": "a"}) == ("test",)


def test_savepoint_rolls_back_only_its_part(database: Database, now: datetime) -> None:
    def add_and_raise(session: Session) -> None:
        with Database.savepoint(session):
            ADD.run(session, row("b", now))
            raise LookupError("changed my mind")

    def work(session: Session) -> None:
        ADD.run(session, row("a", now))
        with pytest.raises(LookupError):
            add_and_raise(session)
        with Database.savepoint(session):
            ADD.run(session, row("c", now))

    database.run(work)
    with database.reading() as connection:
        assert ALL.all(connection) == [("a", now, 7), ("c", now, 7)]


def test_pending_objects_are_flushed_first(database: Database, now: datetime) -> None:
    def work(session: Session) -> list[tuple[str, datetime, int]]:
        session.add(Loan(**row("a", now)))
        return ALL.all(session)

    assert database.run(work) == [("a", now, 7)]


def test_rows_are_read_in_chunks(kept: Database, now: datetime) -> None:
    expected = [[("a", now, 7)], [("b", now, 7)]]
    with kept.reading() as connection:
        assert list(ALL.chunks(connection, 1)) == expected
        assert list(ALL.chunks(connection, 3)) == [[*expected[0], *expected[1]]]
        with closing(ALL.chunks(connection, 1)) as chunks:
            assert next(chunks) == expected[0]
        event.listen(connection.engine, "before_cursor_execute", lambda *_: None)
        assert list(ALL.chunks(connection, 1)) == expected
    assert kept.run(lambda session: list(ALL.chunks(session, 1))) == expected


def test_unconverted_column_has_the_value_of_the_driver(kept: Database, now: datetime) -> None:
    moments = Query(select(Query.unconverted(Loan.expires_at)))
    with kept.reading() as connection:
        assert moments.all(connection) == [(UtcMs.to_ms(now),)] * 2


@pytest.mark.parametrize(
    "statement",
    [
        insert(Book.__table__),
        select(Loan.name).where(Loan.name.in_(bindparam("names", expanding=True))),
    ],
)
def test_rejects_values_that_only_sqlalchemy_can_provide(
    database: Database, statement: object
) -> None:
    def work(session: Session) -> None:
        Change(statement).run(session, {"title": "x", "names": ["a"]})  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="no defaults and no expanding"):
        database.run(work)


def test_listener_of_statements_is_notified(kept: Database) -> None:
    heard: list[tuple[str, bool]] = []

    def note(*about: object) -> None:
        heard.append((str(about[2]).split()[0], bool(about[5])))

    def work(session: Session) -> list[int]:
        engine = session.get_bind()
        event.listen(engine, "before_cursor_execute", note)
        try:
            rows = ALL.all(session)
            counts = [RENEW.run(session, {"its_name": n, "holder": "x"}) for n in ("a", "c")]
            ADD.run_all(session, [row("d", rows[0][1]), row("e", rows[0][1])])
        finally:
            event.remove(engine, "before_cursor_execute", note)
        assert rows == ALL.all(session)[:2]
        return counts

    assert kept.run(work) == [1, 0]
    heard = [each for each in heard if each != ("BEGIN", False)]
    assert heard == [("SELECT", False), ("UPDATE", False), ("UPDATE", False), ("INSERT", True)]


def test_lost_race_is_retried(kept: Database, now: datetime) -> None:
    tries: list[int] = []

    def work(session: Session) -> None:
        tries.append(1)
        ADD.run(session, row("a", now))

    with pytest.raises(IntegrityError) as raised:
        kept.run(work)
    assert len(tries) == 2
    assert "test" not in str(raised.value)


PID = Query(select(func.pg_backend_pid()))


def test_dead_connection_is_discarded(postgres_url: str, now: datetime) -> None:
    with closing(Database(postgres_url)) as database:

        def work(session: Session, name: str) -> None:
            ADD.run(session, row(name, now))
            if name == "loan 1":
                end(postgres_url, *PID.one(session))
            ALL.all(session)

        with pytest.raises(DatabaseUnavailable):
            database.run(lambda session: work(session, "loan 1"))
        database.run(lambda session: work(session, "loan 2"))
        with database.reading() as connection:
            assert [name for name, _, _ in ALL.all(connection)] == ["loan 2"]
            end(postgres_url, *PID.one(connection))
        with pytest.raises(DatabaseUnavailable) as raised, database.reading() as connection:
            ALL.all(connection)
        assert isinstance(raised.value.__cause__, DBAPIError)
        assert raised.value.__cause__.connection_invalidated
        with database.reading() as connection:
            assert len(ALL.all(connection)) == 1


def end(url: str, pid: int) -> None:
    """End a connection, like a restart of the server."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", (pid,))


def test_time_limit_of_reads_applies(database_url: str) -> None:
    endless = {
        "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "postgresql": "SELECT 1 FROM pg_sleep(60)",
    }
    with (
        closing(Database(database_url, read_timeout_s=0.1)) as database,
        pytest.raises(DatabaseUnavailable),
        database.reading() as connection,
    ):
        Query(text(endless[database.dialect]).columns()).all(connection)
