"""Databases with the tables of the sample."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from specd.db import Database
from tests.specd.db.lending import Base
from tests.support.postgres import Copies, PostgresServer


def create_tables(url: str) -> None:
    with closing(Database(url, rewrites_tables=True)) as database:
        database.run(lambda session: Base.metadata.create_all(session.connection()))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with the tables. Tests use copies of the file."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    create_tables(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_copies(postgres: PostgresServer) -> Iterator[Copies]:
    """Empty databases with the tables."""
    name = postgres.create()
    create_tables(postgres.url_of(name))
    copies = Copies(postgres, name)
    yield copies
    copies.drop()
