"""What tests share: a migrated database of each kind, a frozen clock, a scripted chain, a client.

A test that asks for `database` (or for anything that needs it) runs twice, on SQLite and on
PostgreSQL; where there is no PostgreSQL its half is skipped with the reason.
"""

import os
import subprocess
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import httpx
import pytest
import structlog
from hypothesis import settings as hypothesis_settings

from adapters.images import pictures
from models.secret_shapes import SHAPES
from specd import _logs as logs
from specd._db import migrate
from specd._engine import threads
from specd._engine.document.checking import published
from specd.db import Database
from tests.support import warm
from tests.support.app import ServiceApp
from tests.support.contract import ContractClient
from tests.support.databases import Lent, Places, directory_in_memory
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import BEN_XPUB, Merchant, make_merchant
from tests.support.postgres import Copies, PostgresServer, running_server
from wsgi import project

pytest_plugins = [
    "tests.support.chat.fixtures",
    "tests.support.late_modules",
    "tests.support.leftovers",
    "tests.support.memory",
    "tests.support.postgresql_twins",
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


@pytest.fixture(scope="session", autouse=True)
def _pictures_are_shrunk_warm() -> Iterator[None]:
    """Pillow is imported once, not for each picture."""
    with warm.shrink_warm():
        yield


@pytest.fixture(scope="module")
def cold_pictures(_pictures_are_shrunk_warm: None) -> Iterator[None]:
    """Pictures are shrunk by a program that starts as it does for users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "subprocess", subprocess)
        yield


@pytest.fixture(scope="session", autouse=True)
def _unchanged_documents() -> Iterator[None]:
    """Fails if a test has changed a document, because all tests of a process share it."""
    yield
    for name in project.documents:
        file = project.document_file(name)
        shared, read = published(name, file), published.__wrapped__(name, file)
        is_edited = shared.text != read.text  # by somebody, while the suite ran
        assert is_edited or shared.content == read.content, f"a test has changed {name}"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def now(clock: FrozenClock) -> datetime:
    """The moment a test begins."""
    return clock.now()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty payment database; tests work on copies of the file."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate.upgrade(f"sqlite:///{path}", "payment")
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_copies(postgres: PostgresServer) -> Iterator[Copies]:
    """Migrated, empty payment databases."""
    name = postgres.create()
    migrate.upgrade(postgres.url_of(name), "payment")
    copies = Copies(postgres, name)
    yield copies
    copies.drop()


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


@pytest.fixture
def chain() -> FakeGateway:
    """A gateway to a healthy test chain 31337; tests switch its faults on."""
    return FakeGateway()


@pytest.fixture(scope="session")
def payment_apps() -> Iterator[list[PaymentApp]]:
    """The application, once it is compiled."""
    with Path(os.devnull).open("wb") as nowhere:
        logs.configure("info", secrets=SHAPES, stream=nowhere)
        # A cached logger keeps the processors of its first use: no test could catch its lines.
        structlog.configure(cache_logger_on_first_use=False)
        apps: list[PaymentApp] = []
        yield apps
        for app in apps:
            app.close()


@pytest.fixture
def payment_app(
    payment_apps: list[PaymentApp], database: Database, clock: FrozenClock, chain: FakeGateway
) -> PaymentApp:
    """The application over this test's database, clock and chain."""
    if not payment_apps:
        payment_apps.append(PaymentApp(database, clock, chain))
    (app,) = payment_apps
    app.play(database, clock, chain)
    return app


@pytest.fixture
def client(payment_app: PaymentApp) -> ContractClient:
    """Talks to the payment service; refuses every answer outside the document. Sends no key."""
    return ContractClient(payment_app, payment_app.document)


@pytest.fixture
def ada(database: Database, now: datetime) -> Merchant:
    """A merchant with one key and one method."""
    return database.run(lambda session: make_merchant(session, now=now))


@pytest.fixture
def ben(database: Database, now: datetime) -> Merchant:
    """Another merchant, who must never see what Ada has."""
    return database.run(
        lambda session: make_merchant(session, now=now, name="Ben's Records", xpub=BEN_XPUB)
    )


@pytest.fixture
def api(client: ContractClient, ada: Merchant) -> ContractClient:
    """The client with Ada's key."""
    return client.with_key(ada.key)
