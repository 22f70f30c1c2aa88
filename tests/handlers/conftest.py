"""Fixtures for tests that `specd new` generates: a client of the service named by their folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.calls import Calls


@pytest.fixture
def calls(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Calls]:
    calls = Calls(request.path.parent.name, tmp_path)
    yield calls
    calls.close()
