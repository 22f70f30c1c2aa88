"""Each cell of the table of styles with a real server: the text of RFC 6570 is sent by a socket,
and the handler receives the value.
"""

import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from json import loads
from typing import Any

import pytest

from specd import Context
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving import development
from specd._engine.serving.app import build_app
from tests.specd.engine.services import document, module, operation, respond
from tests.specd.engine.test_styles import CELLS, target_and_headers


def _path_of(number: int) -> str:
    return f"/things/{{value}}/{number}" if CELLS[number][0] == "path" else f"/things/{number}"


def main() -> None:
    """Serve an operation for each cell, and print the port."""
    paths, functions = {}, {}
    for number, (where, style, explode, schema, _) in enumerate(CELLS):
        parameter: dict[str, Any] = {"name": "value", "in": where, "schema": schema}
        parameter |= {"style": style, "explode": explode, "required": where == "path"}
        paths[_path_of(number)] = {"get": operation(f"read_{number}", parameters=[parameter])}

        def read(ctx: Context, *, value: Any = "absent") -> dict[str, Any]:
            return {"value": value}

        functions[f"read_{number}"] = read
    service = Service(
        name="styles",
        documents=[Document("styles", document(paths))],
        handlers=module("things", **functions),
        base_path="/t",
        respond=respond,
    )
    listener = development.listen("127.0.0.1:0")
    port = listener.getsockname()[1]
    development.run(build_app([service]), listener, announce=lambda: print(port, flush=True))


@pytest.fixture(scope="module")
def connection() -> Iterator[HTTPConnection]:
    argv = [sys.executable, "-m", "tests.specd.engine.test_served_styles"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        connection = HTTPConnection("127.0.0.1", int(process.stdout.readline()), timeout=30)
        try:
            yield connection
        finally:
            connection.close()
            process.terminate()


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_value_is_received(connection: HTTPConnection, number: int) -> None:
    where, style, explode, _, value = CELLS[number]
    target, headers = target_and_headers(where, style, explode, value)
    before, _, query = target.partition("?")
    path = f"/t{before}/{number}" + (f"?{query}" if query else "")
    connection.request("GET", path, headers=dict(headers))
    answer = connection.getresponse()
    assert (answer.status, loads(answer.read())) == (200, {"value": value})


if __name__ == "__main__":
    main()
