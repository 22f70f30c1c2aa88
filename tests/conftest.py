"""What tests share: a migrated database of each kind, and a frozen clock.

The suite of the library (`tests/specd`) also runs in a tree without the services, whose fixtures
are in `tests/support/services.py`. A folder decides which tables its databases have, by
`sqlite_template` and `postgres_copies`.

A test that asks for `database` (or for anything that needs it) runs twice, on SQLite and on
PostgreSQL; where there is no PostgreSQL its half is skipped with the reason.
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

# Machines differ: a test fails for what it found, never for how long it took.
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
    """A test that is marked to reach error codes fails when it did not get them."""
    ServiceApp.failed_with.clear()
    result = yield
    wanted = {code for mark in pyfuncitem.iter_markers("reaches") for code in mark.args}
    assert wanted <= ServiceApp.failed_with, f"reached {ServiceApp.failed_with}, not {wanted}"
    return result


@pytest.fixture(scope="session", autouse=True)
def _patient_threads() -> Iterator[None]:
    """Requests may wait long for a thread, as for a lock: the machine may be busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "MAX_QUEUED_S", PATIENCE_S)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Clients of httpx share what they trust: to read all certificates of the machine takes each of
    them 26 ms of the processor.
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
    """The moment a test begins."""
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
    """A migrated SQLite database of the test's own."""
    with places.one(sqlite_template) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_copies: Copies) -> Iterator[str]:
    """A migrated, empty PostgreSQL database, of nobody else during the test."""
    with postgres_copies.one() as url:
        yield url


@pytest.fixture
def patience_s(request: pytest.FixtureRequest) -> float:
    """How long databases wait for a lock: long, since the machine may be busy; a moment in tests
    marked `impatient`, in which somebody keeps it.
    """
    return 0.5 if request.node.get_closest_marker("impatient") else PATIENCE_S


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database of the test's own, once of each kind."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(name))


@pytest.fixture
def database(lent: Lent, database_url: str, patience_s: float) -> Iterator[Database]:
    with lent.one(database_url, patience_s) as database:
        yield database
