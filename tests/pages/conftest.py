"""A headless Chromium for all browser tests, and the stage of the pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from handlers.chat.wire.context import ChatAdapters
from handlers.chat.wiring import build_service
from models.chat.organization.realms import create_realm
from settings import Settings
from specd._engine.service import Service
from specd.db import Clock, Database
from tests.pages.browser import Browser
from tests.pages.stage import EMAIL, Stage, serving
from tests.support.chat.fixtures import Template
from tests.support.chat.people import KEYS, VAULT


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def client(stage: Stage) -> FlaskClient:
    return stage.build().test_client()


@pytest.fixture
def address(stage: Stage) -> Iterator[str]:
    """The address of a running server that uses `stage`."""
    with serving(stage.build()) as base:
        yield base


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: chromium, chromium-driver)")
    browser = Browser(profile=Path(tmp_path_factory.mktemp("chromium")))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """The browser with an empty log, the usual window, light colors and JavaScript enabled."""
    chromium.reset()
    return chromium


@pytest.fixture(scope="module")
def place(chat_sqlite_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(chat_sqlite_template[0], tmp_path_factory.mktemp("docs") / "chat.db"))


@pytest.fixture(scope="module")
def key(place: Path) -> Iterator[str]:
    """The key of the owner of an organization at the address of this machine."""
    database = Database(f"sqlite:///{place}")
    _, _, api_key = database.run(
        lambda session: create_realm(
            session,
            KEYS,
            name="Local",
            host="127.0.0.1",
            owner_email=EMAIL,
            owner_name="Ada",
            now=Clock().now(),
        )
    )
    yield api_key
    database.dispose()


@pytest.fixture(scope="module")
def service(place: Path, key: str) -> Service:
    settings = Settings(
        database_urls={"chat": f"sqlite:///{place}"},
        data_dir=place.parent,
        rate_limits=False,
        validate_responses=True,
    )
    adapters = replace(ChatAdapters.from_settings(settings), keys=KEYS, vault=VAULT)
    return build_service(settings, clock=Clock(), adapters=adapters)
