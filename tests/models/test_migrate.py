"""Migrations build exactly the schema of the models, once, from any number of processes."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, inspect, text
from sqlalchemy.orm import Session

from models.chat.base import ChatBase
from models.payment.base import PaymentBase
from specd._db import migrate
from specd._db.revisions import is_usable, newest_migration
from specd.db import Database
from tests.live.running_demo import until
from tests.support.postgres import PostgresServer
from wsgi import project


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/new/folder/payment.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create()
    yield server.url_of(name)
    server.drop(name)


BESIDE_MODELS = {"alembic_version", "schema_compatibility"} | {
    f"message_search{part}" for part in ("", "_config", "_content", "_data", "_docsize", "_idx")
}
"""Tables that migrations create without a model, on one database or on both."""


MODELS = {"chat": ChatBase.metadata, "payment": PaymentBase.metadata}


@pytest.fixture(params=MODELS)
def migrated(request: pytest.FixtureRequest, empty_url: str) -> Iterator[tuple[Database, MetaData]]:
    """A migrated database of each service and dialect, with the metadata of its models."""
    migrate.upgrade(empty_url, request.param)
    with closing(Database(empty_url)) as database:
        yield database, MODELS[request.param]


LISTED = "ix_invoice_listed_by_address"


def half_built(database: Database) -> list[str]:
    query = "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = oid WHERE NOT indisvalid"
    with database.reading() as connection:
        return list(connection.execute(text(query)).scalars())


class TestUpgrade:
    @pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
    def test_schema_matches_the_models(self, migrated: tuple[Database, MetaData]) -> None:
        database, models = migrated
        options = {
            "compare_type": True,
            "include_name": lambda name, kind, _: kind != "table" or name not in BESIDE_MODELS,
        }
        with database.reading() as connection:
            context = MigrationContext.configure(connection, opts=options)
            assert compare_metadata(context, models) == []

    def test_constraints_have_the_names_of_the_models(
        self, migrated: tuple[Database, MetaData]
    ) -> None:
        database, models = migrated
        with database.reading() as connection:
            found = inspect(connection)
            for table in models.sorted_tables:
                names = {
                    found.get_pk_constraint(table.name)["name"],
                    *(it["name"] for it in found.get_check_constraints(table.name)),
                    *(it["name"] for it in found.get_foreign_keys(table.name)),
                    *(it["name"] for it in found.get_unique_constraints(table.name)),
                }
                assert names == {str(it.name) for it in table.constraints}

    def test_rows_are_numbered_as_in_the_models(self, tmp_path: Path) -> None:
        """On SQLite, which reuses numbers after a deletion unless a table forbids it."""
        for service, models in MODELS.items():
            path = tmp_path / f"{service}.db"
            migrate.upgrade(f"sqlite:///{path}", service)
            with closing(sqlite3.connect(path)) as connection:
                made = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
            for table in models.sorted_tables:
                options = table.dialect_options["sqlite"]
                assert ("AUTOINCREMENT" in made[table.name]) == options["autoincrement"]
                assert ("WITHOUT ROWID" in made[table.name]) != options["with_rowid"]

    def test_database_with_an_unknown_revision_is_rejected(self, empty_url: str) -> None:
        migrate.upgrade(empty_url, "payment")
        execute(empty_url, "UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(migrate.UnknownRevision):
            migrate.upgrade(empty_url, "payment")

    def test_table_lock_is_requested_in_short_attempts(
        self, empty_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A request queued behind a waiting migration waits for one attempt at most."""
        if empty_url.startswith("sqlite"):
            pytest.skip("SQLite has one writer, and readers that do not wait")
        migrate.upgrade(empty_url, "payment")
        monkeypatch.setattr(migrate, "TABLE_LOCK_WAIT_S", 0.1)
        tries = []

        def add_column(config: Config, _: str) -> None:
            tries.append(1)
            if len(tries) == 3:
                reader.rollback()
            added = "ALTER TABLE invoice ADD COLUMN of_a_test TEXT"
            config.attributes["connection"].execute(text(added))

        monkeypatch.setattr(command, "upgrade", add_column)
        with (
            closing(Database(empty_url)) as database,
            database._engine("writing").connect() as reader,
        ):
            reader.exec_driver_sql("BEGIN")
            reader.execute(text("SELECT count(*) FROM invoice"))
            migrate.upgrade(empty_url, "payment")
            assert len(tries) == 3
            assert "of_a_test" in {each["name"] for each in inspect(reader).get_columns("invoice")}

    def test_writers_continue_while_an_index_is_built(self, empty_url: str) -> None:
        if empty_url.startswith("sqlite"):
            pytest.skip("SQLite has one writer")
        migrate.upgrade(empty_url, "payment")
        execute(empty_url, f"DROP INDEX {LISTED}")
        building = threading.Thread(target=migrate.upgrade, args=(empty_url, "payment"))
        with closing(Database(empty_url)) as database:
            with database.snapshot() as reader:  # the index build waits for its end
                reader.execute(text("SELECT count(*) FROM invoice"))
                building.start()
                until(lambda: half_built(database) == [LISTED], 10, "the building of the index")
                execute(empty_url, "LOCK TABLE invoice IN ROW EXCLUSIVE MODE")  # as each write does
                assert building.is_alive()
            building.join()
            assert half_built(database) == []
            with database.reading() as reader:
                assert LISTED in {each["name"] for each in inspect(reader).get_indexes("invoice")}

    def test_half_built_index_is_rebuilt(self, empty_url: str) -> None:
        if empty_url.startswith("sqlite"):
            pytest.skip("SQLite builds a complete index or none")
        migrate.upgrade(empty_url, "payment")
        left = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{LISTED}'::regclass"
        execute(empty_url, left)
        with closing(Database(empty_url)) as database:
            assert half_built(database) == [LISTED]
            migrate.upgrade(empty_url, "payment")
            assert half_built(database) == []

    def test_four_concurrent_upgrades_migrate_once(self, empty_url: str) -> None:
        failures: list[Exception] = []

        def upgrade() -> None:
            try:
                migrate.upgrade(empty_url, "payment")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=upgrade) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert is_usable(empty_url, "payment")

    def test_upgrade_works_in_separate_processes(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/payment.db"
        code = f"from specd._db import migrate; migrate.upgrade({url!r}, 'payment')"
        running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
        assert [process.wait(60) for process in running] == [0, 0]
        assert is_usable(url, "payment")

    @pytest.mark.parametrize("service", project.names)
    def test_upgrade_prints_nothing(self, service: str, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/{service}.db"
        code = f"from specd._db import migrate; migrate.upgrade({url!r}, {service!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")

    def test_services_are_known(self) -> None:
        with pytest.raises(ValueError, match="nonsense"):
            migrate.upgrade("sqlite:///unused.db", "nonsense")


class TestIsUsable:
    @pytest.mark.parametrize("service", project.names)
    def test_last_number_is_the_end_of_the_history(self, service: str) -> None:
        history = migrate.open_history(service)
        assert history.get_heads() == [newest_migration(service)]

    @pytest.mark.parametrize("service", project.names)
    def test_each_migration_names_the_oldest_release_that_can_use_its_schema(
        self, service: str
    ) -> None:
        """A release that can use a schema can also use the previous one, so the oldest release
        never decreases.
        """
        history = migrate.open_history(service)
        chain = list(reversed(list(history.walk_revisions())))
        named = [each.module.oldest for each in chain]
        assert named == sorted(named)
        assert all(oldest <= each.revision for oldest, each in zip(named, chain, strict=True))

    def test_earlier_or_later_number_is_not_usable(self, empty_url: str) -> None:
        migrate.upgrade(empty_url, "payment")
        for number in ("0000", "9999"):
            execute(empty_url, f"UPDATE alembic_version SET version_num = '{number}'")
            assert not is_usable(empty_url, "payment")

    def test_later_schema_is_usable_if_its_migration_allows_it(self, empty_url: str) -> None:
        migrate.upgrade(empty_url, "payment")
        newest = newest_migration("payment")
        execute(empty_url, "UPDATE alembic_version SET version_num = '9999'")
        for oldest, usable in ((newest, True), ("0000", True), ("9998", False)):
            execute(
                empty_url,
                f"UPDATE schema_compatibility SET revision = '9999', oldest = '{oldest}'",
            )
            assert is_usable(empty_url, "payment") is usable
        execute(empty_url, "DROP TABLE schema_compatibility")
        assert not is_usable(empty_url, "payment")

    def test_database_is_usable_after_the_migration_only(self, empty_url: str) -> None:
        if empty_url.startswith("sqlite"):
            Path(empty_url.removeprefix("sqlite:///")).parent.mkdir(parents=True)
        assert not is_usable(empty_url, "payment")
        migrate.upgrade(empty_url, "payment")
        assert is_usable(empty_url, "payment")
        with closing(Database(empty_url)) as database:
            database.ping()


def execute(url: str, statement: str) -> None:
    with closing(Database(url)) as database:
        database.run(partial(Session.execute, statement=text(statement)))
