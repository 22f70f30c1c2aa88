"""Fixtures of the services: a migrated payment database, a scripted chain, a client.

The databases of tests outside of `tests/specd` have the tables of payment, unless a folder
overrides `sqlite_template` and `postgres_copies`.
"""

import os
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
import structlog

from adapters.images import pictures
from models.secret_shapes import SHAPES
from specd import _logs as logs
from specd._db import migrate
from specd._engine.document.checking import published
from specd.db import Database
from tests.support import warm
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import BEN_XPUB, Merchant, make_merchant
from tests.support.postgres import Copies, PostgresServer
from wsgi import project


@pytest.fixture(scope="session", autouse=True)
def _pictures_are_shrunk_warm() -> Iterator[None]:
    """Import Pillow once instead of for each image."""
    with warm.shrink_warm():
        yield


@pytest.fixture(scope="module")
def cold_pictures(_pictures_are_shrunk_warm: None) -> Iterator[None]:
    """Shrink images in a cold process, as in production."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "subprocess", subprocess)
        yield


@pytest.fixture(scope="session", autouse=True)
def _unchanged_documents() -> Iterator[None]:
    """Fail a test that changes a document, because all tests of a process share it."""
    yield
    for name in project.documents:
        file = project.document_file(name)
        shared, read = published(name, file), published.__wrapped__(name, file)
        is_edited = shared.text != read.text  # the file was edited during the run
        assert is_edited or shared.content == read.content, f"a test has changed {name}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a migrated, empty payment database. Tests use copies of the file."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate.upgrade(f"sqlite:///{path}", "payment")
    return path


@pytest.fixture(scope="session")
def postgres_copies(postgres: PostgresServer) -> Iterator[Copies]:
    """Yield copies of a migrated, empty payment database."""
    name = postgres.create()
    migrate.upgrade(postgres.url_of(name), "payment")
    copies = Copies(postgres, name)
    yield copies
    copies.drop()


@pytest.fixture
def chain() -> FakeGateway:
    """Return a gateway to a healthy test chain 31337, whose faults tests can enable."""
    return FakeGateway()


@pytest.fixture(scope="session")
def payment_apps() -> Iterator[list[PaymentApp]]:
    """Yield a list with the application, once it is compiled."""
    with Path(os.devnull).open("wb") as nowhere:
        logs.configure("info", secrets=SHAPES, stream=nowhere)
        # A cached logger keeps the processors of its first use, so tests could not capture its log.
        structlog.configure(cache_logger_on_first_use=False)
        apps: list[PaymentApp] = []
        yield apps
        for app in apps:
            app.close()


@pytest.fixture
def payment_app(
    payment_apps: list[PaymentApp], database: Database, clock: FrozenClock, chain: FakeGateway
) -> PaymentApp:
    """Return the application with this test's database, clock and chain."""
    if not payment_apps:
        payment_apps.append(PaymentApp(database, clock, chain))
    (app,) = payment_apps
    app.play(database, clock, chain)
    return app


@pytest.fixture
def client(payment_app: PaymentApp) -> ContractClient:
    """Return a client without a key that rejects every response outside the document."""
    return ContractClient(payment_app, payment_app.document)


@pytest.fixture
def ada(database: Database, now: datetime) -> Merchant:
    """Create a merchant with one key and one method."""
    return database.run(lambda session: make_merchant(session, now=now))


@pytest.fixture
def ben(database: Database, now: datetime) -> Merchant:
    """Create another merchant, who must never see Ada's data."""
    return database.run(
        lambda session: make_merchant(session, now=now, name="Ben's Records", xpub=BEN_XPUB)
    )


@pytest.fixture
def api(client: ContractClient, ada: Merchant) -> ContractClient:
    """Return the client with Ada's key."""
    return client.with_key(ada.key)
