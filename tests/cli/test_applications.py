"""The application of a project as a server builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from specd import _applications as applications
from specd import _logs as logs
from tests.specd.engine.client import Client
from wsgi import project


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)


def test_middlewares_of_the_project_are_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "middlewares", ("tests.specd.engine.middlewares:Mark",))
    client = Client(applications.build(project, [project["payment"]]))
    for path in ("/v1/openapi.json", "/healthz", "/docs"):
        assert client.get(path).header("X-Mark") == "mark"
