"""Each request has its own copy of a default, regardless of its place in the document."""

from typing import Any

import pytest

from tests.specd.engine.client import Client
from tests.specd.engine.services import operation, serve

LIST = {"type": "array", "items": {"type": "string"}, "default": ["a"]}
NESTED = {"type": "object", "default": {"a": ["b"]}, "properties": {"a": LIST}}
REFERENCE = {"$ref": "#/components/schemas/List"}
FORM = "application/x-www-form-urlencoded"
SCHEMAS = {"plain": LIST, "reference": REFERENCE, "in_all_of": {"allOf": [REFERENCE]}}


def _in_query(name: str, schema: Any, **facts: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **facts}


def _change(ctx: Any, **given: Any) -> dict[str, Any]:
    for value in given.values():
        (value["a"] if isinstance(value, dict) else value).append("z")
    return given


@pytest.fixture(scope="module")
def client() -> Client:
    def body(required: bool) -> dict[str, Any]:
        schema = {"type": "object", "properties": {**SCHEMAS, "nested": NESTED}}
        return {"required": required, "content": {FORM: {"schema": schema}}}

    parameters = [_in_query(name, schema) for name, schema in SCHEMAS.items()]
    parameters += [
        _in_query("deep", NESTED, style="deepObject"),
        _in_query("reserved", LIST, allowReserved=True),
        {"name": "header", "in": "header", "schema": LIST},
        {"name": "cookie", "in": "cookie", "schema": LIST},
    ]
    names = ("read", "write", "may_write")
    functions = {name: lambda ctx, **given: _change(ctx, **given) for name in names}
    paths = {
        "/q": {"get": operation("read", parameters=parameters)},
        "/f": {"post": operation("write", requestBody=body(True))},
        "/o": {"post": operation("may_write", requestBody=body(False))},
    }
    return serve(paths, functions, components={"schemas": {"List": LIST}})


@pytest.mark.parametrize(
    ("method", "target", "form"),
    [("GET", "/q", None), ("POST", "/f", [("x", "y")]), ("POST", "/o", None)],
)
def test_default_is_not_changed_by_another_request(
    client: Client, method: str, target: str, form: Any
) -> None:
    first, second = (client.send(method, target, form=form).json for _ in range(2))
    assert first == second
    assert {"plain", "reference", "in_all_of"} <= first.keys()
    for value in first.values():
        assert value in (["a", "z"], {"a": ["b", "z"]})
