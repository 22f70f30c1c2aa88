"""A query string as a single value, available since OpenAPI 3.2."""

from typing import Any

import pytest

from specd import Context
from specd._engine.errors import DocumentError
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.specd.engine.client import Client
from tests.specd.engine.services import document, module, operation, respond

COUNT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["n"],
    "properties": {"n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}}},
}
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def served(media_type: str, schema: Any, *others: Any, **facts: Any) -> Client:
    def read_thing(ctx: Context, *, q: Any = "absent", **rest: Any) -> dict[str, Any]:
        return {"value": q, "unknown": ctx.unknown_parameters}

    node = {"name": "q", "in": "querystring", "content": {media_type: {"schema": schema}}, **facts}
    paths = {"/a": {"get": operation("read_thing", parameters=[node, *others])}}
    service = Service(
        name="made",
        documents=[Document("made", {**document(paths), "openapi": "3.2.0"})],
        handlers=module("things", read_thing=read_thing),
        base_path="/t",
        respond=respond,
        strict_queries=True,
    )
    return Client(build_app([service]), "/t")


@pytest.mark.parametrize(
    ("media_type", "schema", "query", "expected"),
    [
        (JSON, COUNT, "%7B%22n%22%3A1%7D", {"n": 1}),
        (JSON, COUNT, "%7B%22n%22%3A%221%22%7D", ["/query/n"]),
        (JSON, COUNT, "%7B", ["/query"]),
        ("text/plain", {"type": "string"}, "a%20b+c=d&e", "a b+c=d&e"),
        ("text/plain", {"type": "integer"}, "5", 5),
        ("text/plain", {"type": "integer"}, "x", ["/query"]),
        ("text/plain", {"type": "string"}, "%FF", ["/query"]),
        (FORM, COUNT, "n=1&l=a&l=b", {"n": 1, "l": ["a", "b"]}),
        (FORM, COUNT, "n=x", ["/query/n"]),
        (FORM, COUNT, "n=1&m=2", ["/query"]),
        (FORM, {}, "a=1&b=2", {"a": "1", "b": "2"}),
        (JSON, COUNT, "", "absent"),
        (JSON, {**COUNT, "default": {"n": 5}}, "", {"n": 5}),
    ],
)
def test_query_is_one_value(media_type: str, schema: Any, query: str, expected: Any) -> None:
    answer = served(media_type, schema).get(f"/a?{query}")
    if isinstance(expected, list):
        assert (answer.status, answer.paths) == (422, expected)
    else:
        assert (answer.status, answer.json) == (200, {"value": expected, "unknown": []})


def test_missing_required_value_is_rejected() -> None:
    assert served(JSON, COUNT, required=True).get("/a").paths == ["/query"]


@pytest.mark.parametrize(
    ("media_type", "others", "words"),
    [
        ("application/xml", (), "querystring parameter q: content application/xml is not served"),
        (JSON, ({"name": "b", "in": "query", "schema": {}},), "with no other parameter of a query"),
    ],
)
def test_invalid_values_are_rejected(media_type: str, others: Any, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        served(media_type, COUNT, *others)
