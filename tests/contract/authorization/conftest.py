"""The chat stage, prepared once for every test of who may do what."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.contract.authorization import hidden_stage as hiding
from tests.contract.authorization.chat_stage import ChatStage, prepare
from tests.contract.authorization.hidden_stage import HiddenStage
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def stage_clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture(scope="session")
def chat_stage(
    chat_sqlite_template: tuple[str, Cast], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChatStage]:
    directory = tmp_path_factory.mktemp("authorization")
    stage = prepare(chat_sqlite_template, directory, FrozenClock(NOW))
    yield stage
    stage.app.close()


@pytest.fixture(scope="session")
def hidden_stage(
    chat_stage: ChatStage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HiddenStage]:
    """The chat stage with things that some may not know. Whoever plays on it first forgets what
    was played before.
    """
    stage = hiding.prepare(chat_stage, tmp_path_factory.mktemp("hidden"))
    yield stage
    stage.forget()
