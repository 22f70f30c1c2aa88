"""A path has all its methods, even if the types of its parameters differ between them."""

from typing import Any

import pytest

from specd._engine.openapi import rules
from tests.specd.engine.client import Client
from tests.specd.engine.services import document, operation, serve

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
ENUM = {"type": "string", "enum": ["a", "b"]}


def _handler(name: str) -> Any:
    def handler(ctx: Any, *, id_: Any) -> Any:
        return [name, id_]

    return handler


def _in_path(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": "id", "in": "path", "required": True, "schema": schema}]


PATHS = {
    "/things/{id}": {
        "get": operation("get_a", parameters=_in_path(TEXT)),
        "delete": operation("delete_a", parameters=_in_path(INTEGER)),
    },
    "/overridden/{id}/x": {
        "parameters": _in_path(INTEGER),
        "get": operation("get_b"),
        "delete": operation("delete_b", parameters=_in_path(ENUM)),
    },
    "/mixed/{id}.json": {
        "get": operation("get_c", parameters=_in_path(INTEGER)),
        "delete": operation("delete_c", parameters=_in_path({"type": "number"})),
    },
}


@pytest.fixture(scope="module")
def client() -> Client:
    names = [f"{verb}_{letter}" for letter in "abc" for verb in ("get", "delete")]
    return serve(PATHS, {name: _handler(name) for name in names})


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        ("GET", "/things/3", ["get_a", "3"]),
        ("GET", "/things/x", ["get_a", "x"]),
        ("DELETE", "/things/3", ["delete_a", 3]),
        ("DELETE", "/things/abc", "/path/id"),
        ("GET", "/overridden/3/x", ["get_b", 3]),
        ("GET", "/overridden/a/x", "/path/id"),
        ("DELETE", "/overridden/a/x", ["delete_b", "a"]),
        ("DELETE", "/overridden/3/x", "/path/id"),
        ("GET", "/mixed/3.json", ["get_c", 3]),
        ("DELETE", "/mixed/3.5.json", ["delete_c", 3.5]),
    ],
)
def test_method_responds_by_its_own_type(
    client: Client, method: str, target: str, expected: list[Any] | str
) -> None:
    answer = client.send(method, target)
    if isinstance(expected, str):
        assert (answer.status, answer.paths) == (422, [expected])
    else:
        assert (answer.status, answer.json) == (200, expected)


@pytest.mark.parametrize("target", ["/things/3", "/things/x", "/overridden/a/x", "/mixed/3.json"])
def test_path_has_one_list_of_methods(client: Client, target: str) -> None:
    assert client.send("OPTIONS", target).header("Allow") == "DELETE, GET, HEAD, OPTIONS"
    assert client.send("PUT", target).header("Allow") == "DELETE, GET, HEAD, OPTIONS"


def test_path_without_text_parameters_is_distinguished() -> None:
    paths = dict(PATHS)
    name = [{**_in_path(TEXT)[0], "name": "name"}]
    paths["/things/{name}"] = {"put": operation("put_a", parameters=name)}
    found = rules.find_faults(rules.Checked(document(paths)), rules.MUST)
    assert [fault.at for fault in found] == [("paths", "/things/{name}")]
