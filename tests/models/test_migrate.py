"""Migrations: they build just what the models say, once, however many processes try."""

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
    """A database without any table."""
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
"""Tables that migrations make without a model, on one of the databases or on both."""


MODELS = {"chat": ChatBase.metadata, "payment": PaymentBase.metadata}


@pytest.fixture(params=MODELS)
def migrated(request: pytest.FixtureRequest, empty_url: str) -> Iterator[tuple[Database, MetaData]]:
    """A migrated database of each service and kind, and what its models say."""
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
    def test_builds_what_the_models_say(self, migrated: tuple[Database, MetaData]) -> None:
        database, models = migrated
        options = {
            "compare_type": True,
            "include_name": lambda name, kind, _: kind != "table" or name not in BESIDE_MODELS,
        }
        with database.reading() as connection:
            context = MigrationContext.configure(connection, opts=options)
            assert compare_metadata(context, models) == []

    def test_names_every_constraint_as_the_models_do(
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

    def test_numbers_rows_as_the_models_do(self, tmp_path: Path) -> None:
        """On SQLite, whose numbers come again after a deletion unless a table says otherwise."""
        for service, models in MODELS.items():
            path = tmp_path / f"{service}.db"
            migrate.upgrade(f"sqlite:///{path}", service)
            with closing(sqlite3.connect(path)) as connection:
                made = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
            for table in models.sorted_tables:
                options = table.dialect_options["sqlite"]
                assert ("AUTOINCREMENT" in made[table.name]) == options["autoincrement"]
                assert ("WITHOUT ROWID" in made[table.name]) != options["with_rowid"]

    def test_refuses_a_database_of_another_history(self, empty_url: str) -> None:
        migrate.upgrade(empty_url, "payment")
        execute(empty_url, "UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(migrate.UnknownRevision):
            migrate.upgrade(empty_url, "payment")

    def test_waits_for_a_table_in_short_tries(
        self, empty_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A request that comes behind a waiting migration waits for one try at most."""
        if empty_url.startswith("sqlite"):
            pytest.skip("SQLite has one writer, and readers that wait for nobody")
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
            reader.execute(text("SELECT count(*) FROM invoice"))
            migrate.upgrade(empty_url, "payment")
            assert len(tries) == 3
            assert "of_a_test" in {each["name"] for each in inspect(reader).get_columns("invoice")}

    def test_writers_go_on_while_an_index_is_built(self, empty_url: str) -> None:
        if empty_url.startswith("sqlite"):
            pytest.skip("SQLite has one writer")
        migrate.upgrade(empty_url, "payment")
        execute(empty_url, f"DROP INDEX {LISTED}")
        building = threading.Thread(target=migrate.upgrade, args=(empty_url, "payment"))
        with closing(Database(empty_url)) as database:
            with database.snapshot() as reader:  # for whose end the index waits
                reader.execute(text("SELECT count(*) FROM invoice"))
                building.start()
                until(lambda: half_built(database) == [LISTED], 10, "the building of the index")
                execute(empty_url, "LOCK TABLE invoice IN ROW EXCLUSIVE MODE")  # as each write does
                assert building.is_alive()
            building.join()
            assert half_built(database) == []
            with database.reading() as reader:
                assert LISTED in {each["name"] for each in inspect(reader).get_indexes("invoice")}

    def test_an_index_that_was_left_half_built_is_built_again(self, empty_url: str) -> None:
        if empty_url.startswith("sqlite"):
            pytest.skip("SQLite builds a whole index or none")
        migrate.upgrade(empty_url, "payment")
        left = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{LISTED}'::regclass"
        execute(empty_url, left)
        with closing(Database(empty_url)) as database:
            assert half_built(database) == [LISTED]
            migrate.upgrade(empty_url, "payment")
            assert half_built(database) == []

    def test_four_at_once_migrate_once(self, empty_url: str) -> None:
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

    def test_works_in_processes_of_their_own(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/payment.db"
        code = f"from specd._db import migrate; migrate.upgrade({url!r}, 'payment')"
        running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
        assert [process.wait(60) for process in running] == [0, 0]
        assert is_usable(url, "payment")

    @pytest.mark.parametrize("service", project.names)
    def test_prints_nothing(self, service: str, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/{service}.db"
        code = f"from specd._db import migrate; migrate.upgrade({url!r}, {service!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")

    def test_knows_its_services(self) -> None:
        with pytest.raises(ValueError, match="nonsense"):
            migrate.upgrade("sqlite:///unused.db", "nonsense")


class TestIsUsable:
    @pytest.mark.parametrize("service", project.names)
    def test_the_last_number_is_the_end_of_the_history(self, service: str) -> None:
        history = migrate.open_history(service)
        assert history.get_heads() == [newest_migration(service)]

    @pytest.mark.parametrize("service", project.names)
    def test_each_migration_names_the_oldest_release_that_can_use_its_schema(
        self, service: str
    ) -> None:
        """Whoever can use a schema can use the one before: an older release never comes back."""
        history = migrate.open_history(service)
        chain = list(reversed(list(history.walk_revisions())))
        named = [each.module.oldest for each in chain]
        assert named == sorted(named)
        assert all(oldest <= each.revision for oldest, each in zip(named, chain, strict=True))

    def test_an_earlier_and_a_later_number_are_not(self, empty_url: str) -> None:
        migrate.upgrade(empty_url, "payment")
        for number in ("0000", "9999"):
            execute(empty_url, f"UPDATE alembic_version SET version_num = '{number}'")
            assert not is_usable(empty_url, "payment")

    def test_a_later_schema_is_where_its_migration_says_so(self, empty_url: str) -> None:
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

    def test_is_false_before_and_true_after(self, empty_url: str) -> None:
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
