"""Commands run in a clean environment with a temporary data directory."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from settings import Settings
from tests.cli.runner import XPUB, Specd


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings().describe({}):
        monkeypatch.delenv(name.variable, raising=False)
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path / "var"))


@pytest.fixture
def specd(capsys: pytest.CaptureFixture[str]) -> Specd:
    return Specd(capsys)


@pytest.fixture
def migrated(specd: Specd, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Specd:
    monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", database_url)
    return specd


@pytest.fixture
def project(migrated: Specd) -> str:
    created = migrated.json("payment", "create-project", "--name", "Shop", "--xpub", XPUB)
    assert list(created) == ["project_id"]
    return str(created["project_id"])


@pytest.fixture
def rows(database_url: str) -> Callable[[], dict[str, int]]:
    """Return a function that counts the rows of every table, to show that a failed command changed
    nothing.
    """
    engine = create_engine(database_url)

    def count() -> dict[str, int]:
        with engine.connect() as connection:
            return {
                name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()
                for name in inspect(connection).get_table_names()
            }

    return count
