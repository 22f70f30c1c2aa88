"""The unit of work: commits, rollbacks, retries, and failures."""

import sqlite3
import threading
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, bindparam, insert, make_url, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from specd._db import heartbeat
from specd._db.database import READ_ONLY, TIME_LIMITS
from specd.db import Database, Query
from specd.errors import DatabaseUnavailable
from tests.specd.db.lending import Loan


def add(session: Session, name: str, now: datetime) -> None:
    session.execute(insert(Loan).values(name=name, holder="test", expires_at=now))


def names(database: Database) -> list[str]:
    with database.reading() as connection:
        return list(connection.execute(select(Loan.name).order_by(Loan.name)).scalars())


class TestRun:
    def test_commits_a_unit_that_returns(self, database: Database, now: datetime) -> None:
        assert database.run(lambda session: add(session, "a", now) or "answer") == "answer"
        assert names(database) == ["a"]

    def test_rolls_back_a_unit_that_raises(self, database: Database, now: datetime) -> None:
        def work(session: Session) -> None:
            add(session, "a", now)
            raise LookupError("changed my mind")

        with pytest.raises(LookupError):
            database.run(work)
        assert names(database) == []

    def test_flushes_pending_objects(self, database: Database, now: datetime) -> None:
        database.run(lambda session: session.add(Loan(name="a", holder="b", expires_at=now)))
        assert names(database) == ["a"]

    def test_retries_after_a_lost_uniqueness_race(self, database: Database, now: datetime) -> None:
        database.run(lambda session: add(session, "taken", now))
        tries = []

        def work(session: Session) -> int:
            tries.append(len(tries))
            add(session, "taken" if len(tries) == 1 else "free", now)
            return len(tries)

        assert database.run(work) == 2
        assert names(database) == ["free", "taken"]

    def test_fails_after_the_second_try(self, database: Database, now: datetime) -> None:
        database.run(lambda session: add(session, "taken", now))
        tries = []

        def work(session: Session) -> None:
            tries.append(1)
            add(session, "taken", now)

        with pytest.raises(IntegrityError):
            database.run(work)
        assert len(tries) == 2

    def test_does_not_retry_other_failures(self, database: Database) -> None:
        tries = []

        def work(session: Session) -> None:
            tries.append(1)
            session.execute(text("INSERT INTO loan (name) VALUES ('no holder')"))

        with pytest.raises(IntegrityError):
            database.run(work)
        assert len(tries) == 1

    def test_concurrent_updates_of_eight_threads_are_all_kept(
        self, database: Database, now: datetime
    ) -> None:
        database.run(lambda session: add(session, "0", now))

        def work(session: Session) -> None:
            loan = session.scalars(select(Loan).with_for_update()).one()
            session.execute(text("UPDATE loan SET name = :n"), {"n": str(int(loan.name) + 1)})

        threads = [
            threading.Thread(target=lambda: [database.run(work) for _ in range(5)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert names(database) == ["40"]


class TestReading:
    def test_rejects_writes(self, database: Database, now: datetime) -> None:
        database.run(lambda session: add(session, "a", now))
        with pytest.raises(DBAPIError), database.reading() as connection:
            connection.execute(text("DELETE FROM loan"))
        assert names(database) == ["a"]

    def test_sees_commits_made_in_between(self, database: Database, now: datetime) -> None:
        with database.reading() as connection:
            query = select(Loan.name)
            assert connection.execute(query).all() == []
            database.run(lambda session: add(session, "a", now))
            assert connection.execute(query).scalar_one() == "a"


class TestUnavailable:
    @pytest.mark.parametrize(
        "url",
        [
            "postgresql+psycopg://nobody@127.0.0.1:1/nowhere",
            "sqlite:////nowhere/at/all/lending.db",
        ],
    )
    def test_missing_database_is_reported(self, url: str) -> None:
        with closing(Database(url, lock_timeout_s=0.1)) as database:
            with pytest.raises(DatabaseUnavailable):
                database.run(lambda session: session.connection())
            with pytest.raises(DatabaseUnavailable):
                database.ping()

    def test_reason_is_logged(self) -> None:
        with (
            closing(Database("sqlite:////nowhere/at/all/lending.db")) as database,
            capture_logs() as lines,
            pytest.raises(DatabaseUnavailable),
        ):
            database.ping()
        assert [(line["event"], line["cause"]) for line in lines] == [
            ("database_unavailable", "unable to open database file")
        ]

    def test_wrong_statement_is_a_bug_and_not_an_outage(self, database: Database) -> None:
        for statement in ("SELECT * FROM no_such_table", "SELEKT 1"):
            with pytest.raises(DBAPIError):
                database.run(lambda session, s=statement: session.execute(text(s)))  # type: ignore[misc]
            with pytest.raises(DBAPIError), database.reading() as connection:
                connection.execute(text(statement))

    def test_error_contains_the_statement_without_its_values(self, database: Database) -> None:
        wrong = text("UPDATE nothing_of_that_name SET content = :content")
        with pytest.raises(DBAPIError, match="nothing_of_that_name") as failed:
            database.run(lambda session: session.execute(wrong, {"content": "between us"}))
        assert "between us" not in str(failed.value)

    def test_lock_timeout_is_reported(self, sqlite_url: str) -> None:
        path = sqlite_url.removeprefix("sqlite:///")
        with (
            closing(Database(sqlite_url, lock_timeout_s=0.05)) as database,
            closing(sqlite3.connect(path, isolation_level=None)) as other,
        ):
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(DatabaseUnavailable):
                database.run(lambda session: session.connection())
            database.ping()
            other.execute("ROLLBACK")
            database.run(lambda session: session.connection())


class TestTimeLimitOfReads:
    ENDLESS = """
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000000000)
        SELECT count(*) FROM n
    """

    def test_slow_read_is_ended(self, database_url: str) -> None:
        with closing(Database(database_url, read_timeout_s=0.05)) as database:
            for _ in range(2):
                with pytest.raises(DatabaseUnavailable), database.reading() as reader:
                    reader.execute(text(self.ENDLESS))
            database.ping()

    def test_limit_is_longer_for_a_long_snapshot(self, sqlite_url: str) -> None:
        some = text(self.ENDLESS.replace("1000000000", "1000000"))
        with closing(Database(sqlite_url, read_timeout_s=0.0)) as database:
            with pytest.raises(DatabaseUnavailable), database.reading() as reader:
                reader.execute(some)
            with pytest.raises(DatabaseUnavailable), database.snapshot() as reader:
                reader.execute(some)
            with database.snapshot(may_take_long=True) as reader:
                assert reader.execute(some).scalar_one() == 1_000_000


class TestProfiles:
    def test_sqlite_is_durable_and_strict(self, sqlite_url: str) -> None:
        def ask(session: Session) -> list[object]:
            pragmas = ("journal_mode", "synchronous", "foreign_keys")
            return [session.execute(text(f"PRAGMA {name}")).scalar() for name in pragmas]

        with closing(Database(sqlite_url)) as database:
            assert database.run(ask) == ["wal", 2, 1]
            assert (database.reads_inline, database.write_threads) == (True, 1)

    @pytest.mark.parametrize("rewrites_tables", [False, True])
    def test_sqlite_keeps_statement_journals_in_memory(
        self, sqlite_url: str, rewrites_tables: bool
    ) -> None:
        def ask(session: Session) -> object:
            return session.execute(text("PRAGMA temp_store")).scalar()

        with closing(Database(sqlite_url, rewrites_tables=rewrites_tables)) as database:
            assert database.run(ask) == (1 if rewrites_tables else 2)

    def test_postgresql_has_time_limits(self, postgres_url: str) -> None:
        names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
        with closing(Database(postgres_url, lock_timeout_s=2.5, pool_size=3)) as database:
            with database.reading() as connection:
                values = [connection.execute(text(f"SHOW {name}")).scalar() for name in names]
            assert values == ["2500ms", "10s", "30s"]
            written = database.run(
                lambda s: [s.execute(text(f"SHOW {name}")).scalar() for name in names]
            )
            assert written == ["2500ms", "30s", "5s"]
            assert (database.reads_inline, database.write_threads) == (False, 3)

    def test_postgresql_does_not_prepare_repeated_reads(self, postgres_url: str) -> None:
        prepared = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%name%'")
        asked = select(Loan.name).where(Loan.name == bindparam("name"))

        def ask(db: Connection | Session) -> int:
            for _ in range(8):
                db.execute(asked, {"name": "a"}).all()
            return int(db.execute(prepared).scalar_one())

        with closing(Database(postgres_url)) as database:
            with database.reading() as connection:
                assert ask(connection) == 0
                assert connection.execute(text("SHOW jit")).scalar() == "off"
            assert database.run(ask) == 1

    def test_commit_that_waits_for_a_replica_ends_unacknowledged(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """PostgreSQL does not limit commits. Units of other requests continue meanwhile."""

        def work(session: Session) -> None:
            session.execute(text("SET LOCAL synchronous_commit = on"))
            session.execute(text("CREATE TABLE told (id int)"))

        def change(setting: str) -> None:
            with (
                closing(Database(postgres_url)) as operator,
                operator.outside_transactions() as connection,
            ):
                connection.exec_driver_sql(setting)
                connection.exec_driver_sql("SELECT pg_reload_conf()")

        seconds = 0.5
        monkeypatch.setattr(heartbeat, "COMMIT_S", seconds)
        with closing(Database(postgres_url)) as database:
            database.watch()
            change("ALTER SYSTEM SET synchronous_standby_names = 'away'")
            began = time.monotonic()
            try:
                with pytest.raises(DatabaseUnavailable):
                    database.run(work)
            finally:
                change("ALTER SYSTEM RESET synchronous_standby_names")
            assert time.monotonic() - began > seconds
            database.run(lambda session: session.execute(text("DROP TABLE told")))

    def test_no_limit_is_missing(self, database: Database) -> None:
        assert database.missing_limits() == []

    def test_limits_dropped_by_a_pooler_are_missing(self, postgres_url: str) -> None:
        with closing(Database(postgres_url)) as database:
            database._session_arguments = lambda read_only: {}  # type: ignore[method-assign]
            missing = database.missing_limits()
        read = [
            f"{n} of {use}"
            for use in ("reading", "reading_apart")
            for n in (*TIME_LIMITS, READ_ONLY)
        ]
        assert missing == [*read, *(f"{name} of writing" for name in TIME_LIMITS)]

    def test_session_behind_a_pooler_keeps_no_state(self, postgres_url: str, now: datetime) -> None:
        """Each transaction sets its limits, and none of them affects the next client."""
        prepared = text("SELECT count(*) FROM pg_prepared_statements")
        asked = Query(select(Loan.name).where(Loan.name == bindparam("name")))
        session = text("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'")

        def ask(db: Connection | Session) -> int:
            for _ in range(8):
                asked.all(db, {"name": "a"})
                db.execute(select(Loan.name)).all()
            return int(db.execute(prepared).scalar_one())

        url = make_url(postgres_url).update_query_dict({"pooling": "transaction"})
        with closing(Database(url.render_as_string(hide_password=False))) as database:
            assert database.missing_limits() == []
            with database.reading() as connection:
                assert ask(connection) == 0
                assert connection.execute(text("SHOW jit")).scalar() == "off"
                with pytest.raises(DBAPIError, match="read-only"):
                    connection.execute(text("DELETE FROM loan"))
            assert database.run(ask) == 0
            database.run(lambda session: add(session, "a", now))
            with database.snapshot(may_take_long=True) as connection:
                assert connection.execute(text("SHOW statement_timeout")).scalar() == "10min"
                shown = connection.execute(text("SHOW transaction_isolation")).scalar()
                assert shown == "repeatable read"
                assert connection.execute(select(Loan.name)).scalar() == "a"
            for engine in database._engines.values():
                with engine.connect() as connection:
                    assert connection.execute(session).scalar() == "0"

    @pytest.mark.parametrize("url", ["mysql://h/d", "sqlite://", "sqlite:///:memory:"])
    def test_rejects_other_databases(self, url: str) -> None:
        with pytest.raises(ValueError, match=r"SQLite|database URL"):
            Database(url)

    def test_opens_nothing_before_it_is_used(self, tmp_path: Path) -> None:
        Database(f"sqlite:///{tmp_path}/lending.db").dispose()
        assert list(tmp_path.iterdir()) == []
