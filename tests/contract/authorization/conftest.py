"""The chat stage, prepared once for all tests of permissions."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.contract.authorization import hidden_stage as hiding
from tests.contract.authorization import payment_stage
from tests.contract.authorization.chat_stage import ChatStage, prepare
from tests.contract.authorization.hidden_stage import HiddenStage
from tests.contract.authorization.payment_stage import PaymentStage
from tests.support.chat.app import ChatApp, shared_app
from tests.support.chat.people import Cast
from tests.support.databases import Lent, directory_in_memory
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def stage_clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture(scope="session")
def chat_stage(
    chat_sqlite_template: tuple[str, Cast],
    chat_apps: list[ChatApp],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ChatStage]:
    directory, clock = tmp_path_factory.mktemp("authorization"), FrozenClock(NOW)
    with directory_in_memory() as memory:
        yield prepare(
            chat_sqlite_template,
            directory,
            memory,
            clock,
            lambda database: shared_app(chat_apps, database, clock, tmp_path_factory),
        )


@pytest.fixture
def shop(
    sqlite_url: str,
    lent: Lent,
    patience_s: float,
    payment_apps: list[PaymentApp],
    stage_clock: FrozenClock,
) -> Iterator[PaymentStage]:
    """The payment stage, on a separate database."""
    with lent.one(sqlite_url, patience_s) as database:
        chain = FakeGateway()
        if not payment_apps:
            payment_apps.append(PaymentApp(database, stage_clock, chain))
        (app,) = payment_apps
        app.play(database, stage_clock, chain)
        yield payment_stage.prepare(app, database, stage_clock)


@pytest.fixture(scope="session")
def hidden_stage(
    chat_stage: ChatStage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HiddenStage]:
    """The chat stage with objects hidden from some actors. Its first use resets earlier changes."""
    stage = hiding.prepare(chat_stage, tmp_path_factory.mktemp("hidden"))
    yield stage
    stage.forget()
