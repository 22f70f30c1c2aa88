"""A server builds the application of a project."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from gunicorn.util import import_app

from specd import _applications as applications
from specd import _logs as logs
from specd._cli import serve
from tests.specd.engine.client import Client
from wsgi import project

PAYMENT, CHAT = "/v1/openapi.json", "/api/v1/openapi.json"


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)
    built = dict(project._applications)
    project._applications.clear()
    yield
    project._applications.clear()
    project._applications.update(built)


def gunicorn_application(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Return the application that gunicorn serves for `specd serve WORDS`."""
    ran: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["specd"])
    monkeypatch.setattr(serve, "require_databases", lambda *_: None)
    monkeypatch.setattr(serve, "_build", lambda _: None)
    monkeypatch.setattr(serve.wsgiapp, "run", lambda **_: ran.append(sys.argv))
    command: click.Command = serve.serve
    command.main(list(words), standalone_mode=False)
    ((*_, application),) = ran
    return application


def test_middlewares_of_the_project_wrap_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "middlewares", ("tests.specd.engine.middlewares:Mark",))
    client = Client(applications.build(project, [project["payment"]]))
    for path in ("/v1/openapi.json", "/healthz", "/docs"):
        assert client.get(path).header("X-Mark") == "mark"


@pytest.mark.parametrize(
    ("words", "statuses"),
    [
        ((), [200, 200]),
        (("--only", "chat"), [404, 200]),
        (("--only", "payment"), [200, 404]),
        (("--only", "chat", "--only", "payment"), [200, 200]),
    ],
)
def test_servers_serve_the_named_services(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], statuses: list[int]
) -> None:
    app = import_app(gunicorn_application(monkeypatch, *words))
    client = Client(app)
    assert [client.get(path).status for path in (PAYMENT, CHAT)] == statuses
    assert client.get("/docs").status == 200
    pages = ("/docs/payment", "/docs/chat")
    assert [client.get(path).status for path in pages] == statuses


def test_each_application_is_built_once() -> None:
    assert project.application("app") is project.application_of(*project.names)
    assert project.application("chat") is project.application_of("chat")
    with pytest.raises(AttributeError):
        project.application("lunch")
