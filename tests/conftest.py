"""Common fixtures: a migrated database of each kind, and a frozen clock.

The suite of the library (`tests/specd`) also runs in a tree without the services, whose fixtures
are in `tests/support/services.py`. A folder selects the tables of its databases by
`sqlite_template` and `postgres_copies`.

A test with `database` (or a fixture that needs it) runs twice, on SQLite and on PostgreSQL. Without
PostgreSQL the second run is skipped with the reason.
"""

import os
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import httpx
import pytest
from hypothesis import settings as hypothesis_settings

from specd._engine import threads
from specd.db import Database
from tests.support.app import ServiceApp
from tests.support.databases import Lent, Places, directory_in_memory
from tests.support.frozen_clock import FrozenClock
from tests.support.postgres import Copies, PostgresServer, running_server

HAS_SERVICES = (Path(__file__).parents[1] / "wsgi.py").exists()
if not HAS_SERVICES:
    os.environ.setdefault("SPECD_PROJECT", str(Path(__file__).parent / "specd/lending"))
pytest_plugins = [
    "tests.support.late_modules",
    "tests.support.leftovers",
    "tests.support.memory",
    "tests.support.postgresql_twins",
    *(("tests.support.services", "tests.support.chat.fixtures") if HAS_SERVICES else ()),
]

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PATIENCE_S = 20.0

# Machines differ, so a test fails because of its result, never because of its duration.
hypothesis_settings.register_profile("specd", deadline=None)
hypothesis_settings.load_profile("specd")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also run the tests marked exhaustive")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out exhaustive tests, unless `--all` is given."""
    if not config.getoption("--all"):
        exhaustive = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=exhaustive)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Fail a test that is marked to reach error codes if it did not receive them."""
    ServiceApp.failed_with.clear()
    result = yield
    wanted = {code for mark in pyfuncitem.iter_markers("reaches") for code in mark.args}
    assert wanted <= ServiceApp.failed_with, f"reached {ServiceApp.failed_with}, not {wanted}"
    return result


@pytest.fixture(scope="session", autouse=True)
def _patient_threads() -> Iterator[None]:
    """Let requests wait long for a thread, as for a lock, because the machine may be busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "MAX_QUEUED_S", PATIENCE_S)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Share the trusted certificates between clients of httpx, because reading them takes 26 ms of
    CPU time each.
    """
    with pytest.MonkeyPatch.context() as patch:
        shared = cache(httpx.create_ssl_context)
        patch.setattr("httpx._transports.default.create_ssl_context", shared)
        yield


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def now(clock: FrozenClock) -> datetime:
    """The time at the beginning of a test."""
    return clock.now()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def places() -> Iterator[Places]:
    with directory_in_memory() as directory:
        yield Places(directory)


@pytest.fixture(scope="session")
def lent() -> Iterator[Lent]:
    lent = Lent()
    yield lent
    lent.dispose()


@pytest.fixture
def sqlite_url(sqlite_template: Path, places: Places) -> Iterator[str]:
    """A migrated SQLite database that no other test uses."""
    with places.one(sqlite_template) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_copies: Copies) -> Iterator[str]:
    """A migrated, empty PostgreSQL database that no other test uses meanwhile."""
    with postgres_copies.one() as url:
        yield url


@pytest.fixture
def patience_s(request: pytest.FixtureRequest) -> float:
    """The seconds that databases wait for a lock.

    A long time, because the machine may be busy, and a moment in tests marked `impatient`, in which
    a lock is held.
    """
    return 0.5 if request.node.get_closest_marker("impatient") else PATIENCE_S


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database that no other test uses, once of each kind."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(name))


@pytest.fixture
def database(lent: Lent, database_url: str, patience_s: float) -> Iterator[Database]:
    with lent.one(database_url, patience_s) as database:
        yield database
