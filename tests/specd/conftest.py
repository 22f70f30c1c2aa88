"""Fixtures of the library's tests."""

from pathlib import Path

import pytest

from tests.specd.sample import Sample


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    return Sample(tmp_path / "shop", monkeypatch)
