"""Fixtures for the engine's tests."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import orjson
import pytest
import structlog

import specd._engine.serving.app
import specd._engine.serving.engine
import specd._engine.serving.health
import specd._engine.serving.streams
from specd._engine.serving.request_log import RequestLog
from specd._logs import configure
from tests.specd.engine.client import Client
from tests.specd.engine.services import shop as make_shop


@pytest.fixture(scope="session")
def shop() -> Client:
    return make_shop()


@pytest.fixture(autouse=True)
def log_stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[BytesIO]:
    """The stream to which the engine logs during a test."""
    stream = BytesIO()
    before = structlog.get_config()
    configure("info", stream=stream)
    serving = specd._engine.serving
    for module in (serving.app, serving.engine, serving.health, serving.streams):
        monkeypatch.setattr(module, "log", structlog.get_logger())
    monkeypatch.setattr(specd._engine.serving.engine, "requests", RequestLog())
    yield stream
    structlog.configure(**before)


@pytest.fixture
def logs(log_stream: BytesIO) -> Callable[[], list[dict[str, Any]]]:
    """All lines logged since the beginning of the test, as objects."""
    return lambda: [orjson.loads(line) for line in log_stream.getvalue().splitlines()]
