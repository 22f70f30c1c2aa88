"""Conversion of single texts in queries and forms to values if the document is ambiguous."""

from typing import Any

import pytest

from tests.specd.engine.client import Client
from tests.specd.engine.services import operation, serve

FORM = "application/x-www-form-urlencoded"
IDS = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"enum": ["all"]}]}
TEXTS = {"oneOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, {"enum": ["a"]}]}
ARRAY = {"type": "array", "items": {"type": "integer"}}


def _in_query(name: str, schema: Any, **facts: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **facts}


def _echo(ctx: Any, **given: Any) -> Any:
    return given


@pytest.fixture(scope="module")
def client() -> Client:
    empty = {"boolean": "flag", "integer": "n", "string": "s", "array": "l"}
    parameters = [
        _in_query(name, {**ARRAY, "type": kind} if kind == "array" else {"type": kind},
                  allowEmptyValue=True)
        for kind, name in empty.items()
    ]  # fmt: skip
    parameters += [
        _in_query("ids", IDS),
        _in_query("commas", IDS, explode=False),
        _in_query("reserved", IDS, allowReserved=True),
        _in_query("deep", {"type": "object"}, style="deepObject"),
        _in_query("strict", {"type": "integer"}),
    ]
    properties = {
        "n": {"type": "integer"},
        "on": {"type": "boolean"},
        "list": ARRAY,
        "ids": IDS,
        "texts": TEXTS,
    }
    schema = {"type": "object", "required": ["n"], "properties": properties}
    content = {FORM: {"schema": schema}, "multipart/form-data": {"schema": schema}}
    return serve(
        {
            "/q": {"get": operation("read", parameters=parameters)},
            "/f": {"post": operation("write", requestBody={"required": True, "content": content})},
        },
        {"read": _echo, "write": lambda ctx, **given: _echo(ctx, **given)},
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("flag", {"flag": None}),
        ("flag=", {"flag": None}),
        ("n=", {"n": None}),
        ("s=", {"s": ""}),
        ("l=", {"l": None}),
        ("n=x", "/query/n"),
        ("strict=", "/query/strict"),
        ("ids=1", {"ids": [1]}),
        ("ids=1&ids=2", {"ids": [1, 2]}),
        ("ids=all", {"ids": "all"}),
        ("ids=x", "/query/ids"),
        ("commas=1", {"commas": [1]}),
        ("commas=1,2", {"commas": [1, 2]}),
        ("commas=all", {"commas": "all"}),
        ("reserved=1", {"reserved": [1]}),
    ],
)
def test_text_of_a_query_is_converted(client: Client, query: str, expected: Any) -> None:
    answer = client.get(f"/q?{query}")
    if isinstance(expected, str):
        assert (answer.status, answer.paths) == (422, [expected])
    else:
        assert (answer.status, answer.json) == (200, expected)


INTEGER = "must be of type integer"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("n=1&ids=1", {"n": 1, "ids": [1]}),
        ("n=1&ids=all", {"n": 1, "ids": "all"}),
        ("n=1&texts=b", {"n": 1, "texts": ["b"]}),
        ("n=1x", [("/body/n", INTEGER)]),
        ("n=1&on=on", [("/body/on", "must be of type boolean")]),
        ("n=1&list=1x&list=2", [("/body/list/0", INTEGER)]),
        ("on=true", [("/body", "lacks the required property n")]),
        ("n=[", [("/body/n", "is not valid JSON")]),
    ],
)
def test_field_of_a_form_is_converted(client: Client, fields: str, expected: Any) -> None:
    answer = client.post("/f", body=fields.encode(), content_type=FORM)
    if isinstance(expected, dict):
        assert (answer.status, answer.json) == (200, expected)
    else:
        details = answer.json["details"]
        said = [(it["path"], it["message"].partition(":")[0]) for it in details]
        assert said == expected
