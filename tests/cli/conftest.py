"""Commands run in a clean environment over a data directory of their own."""

from pathlib import Path

import pytest

from settings import Settings
from tests.cli.runner import Specd


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings().describe({}):
        monkeypatch.delenv(name.variable, raising=False)
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path / "var"))


@pytest.fixture
def specd(capsys: pytest.CaptureFixture[str]) -> Specd:
    return Specd(capsys)
