"""One headless Chromium for all browser tests, and the stage the pages play on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.pages.browser import Browser
from tests.pages.stage import Stage, serving


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def client(stage: Stage) -> FlaskClient:
    return stage.build().test_client()


@pytest.fixture
def address(stage: Stage) -> Iterator[str]:
    """The address of a running server on which `stage` plays."""
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
    """The browser with an empty log, usual window, light colours and JavaScript on."""
    chromium.reset()
    return chromium
