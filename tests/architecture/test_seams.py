"""The start fails if a third-party library lacks an internal part that we use."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from connexion.middleware.abstract import AbstractRoutingAPI
from sqlalchemy import Connection
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from specd._engine.serving.app import build_app
from specd._library_internals import LIBRARY_INTERNALS, LibraryInternalMissing
from specd.db import Database
from tests.architecture.imports import SHIPPED, sources


@pytest.mark.parametrize(
    ("owner", "name", "start"),
    [
        (AbstractRoutingAPI, "_add_operation_internal", lambda _: build_app([])),
        (HttpToolsProtocol, "_start_asgi_task", lambda _: build_app([])),
        (Connection, "_handle_dbapi_exception", lambda path: Database(f"sqlite:///{path}/a.db")),
    ],
)
def test_start_fails_if_a_part_is_missing(
    owner: type,
    name: str,
    start: Callable[[Path], object],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delattr(owner, name)
    with pytest.raises(LibraryInternalMissing, match=rf" has no \S+:{owner.__name__}\.{name}, "):
        start(tmp_path)


def test_each_part_is_used() -> None:
    used = set()
    for path in sources(*SHIPPED):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case (
                    ast.Attribute(attr=name)
                    | ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                    | ast.alias(name=name)
                ):
                    used.add(name)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    used.add(name)
    parts = {seam.replace(":", ".").rpartition(".")[2] for seam in LIBRARY_INTERNALS}
    assert parts <= used
