"""The table of calls matches the documents and the servers, independently of generators."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.sdk.paths import parse, parse_values
from tests.contract.sdk.plain import Plain
from tests.contract.sdk.python.drive import Drive
from tests.contract.sdk.stage import DOCUMENTS, staged
from tests.contract.sdk.table import Call, read_calls

ANSWER = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}
BODY = {
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/B"},
            "examples": {"first": {"value": {"b": 1, "c": 2}}, "other": {"value": {"b": 3}}},
        }
    }
}


def operation(name: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "tags": ["t"], "responses": {**ANSWER, "401": {}}, **more}


DOCUMENT: dict[str, Any] = {
    "security": [{"basic": []}],
    "paths": {
        "/a": {"get": operation("read", security=[]), "post": operation("make", requestBody=BODY)},
        "/a/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "example": 7}],
            "delete": operation("drop"),
        },
    },
}


def table(*calls: Any) -> list[Call]:
    return read_calls(DOCUMENT, {"by": "ann", "unknown": {}, "calls": list(calls)})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_calls_succeed_over_plain_http(document: str, tmp_path: Path) -> None:
    with staged(document, tmp_path) as stage:
        facts = json.loads(stage.facts.read_text())
        drive = Drive(Plain(facts["base_url"]), facts)
        for call in json.loads(stage.calls.read_text()):
            drive.make(call)
        assert stage.undriven() == {}
        assert stage.unrefused() == {}


def test_operation_without_a_line_is_called_with_its_examples() -> None:
    made = table({"call": "read"}, "others", {"call": "read", "by": "ben"})
    assert [(call.operation, call.by, call.status) for call in made] == [
        ("read", "ann", 200),
        ("make", "stranger", 401),
        ("make", "ann", 200),
        ("drop", "stranger", 401),
        ("drop", "ann", 200),
        ("read", "ben", 200),
    ]
    assert made[2].body == {"b": 1, "c": 2}
    assert (made[2].body_schema, made[2].answer_schema) == ("B", "A")
    assert made[4].path_values == {"id": 7}


def test_line_completes_or_replaces_an_example() -> None:
    kept = table({"call": "make", "example": "other", "with": {"c": 5}})
    replaced = table({"call": "make", "with": {"c": 5}})
    assert kept[1].body == {"b": 3, "c": 5}
    assert replaced[1].body == {"c": 5}


@pytest.mark.parametrize(
    "line",
    [
        {"call": "unheard_of"},
        {"call": "drop", "with": {"name": "x"}},
        {"call": "make", "example": "third"},
        {"call": "read", "facts_": {}},
        {"call": "read", "status": 404},
        {"call": "read", "facts": {"a..b": 1}},
    ],
)
def test_line_that_does_not_match_the_document_is_an_error(line: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        table(line)


def test_paths_are_parsed() -> None:
    assert parse(".") == []
    assert parse("a[0].b[*].c[k=1]") == [
        ["member", "a"],
        ["item", 0],
        ["member", "b"],
        ["each"],
        ["member", "c"],
        ["only", "k", 1],
    ]
    assert parse("m[$x.y]") == [["member", "m"], ["entry", parse_values("$x.y")]]
    assert parse_values({"a": ["$b#ETag"]}) == {
        "a": [{"$ref": [["member", "b"], ["header", "ETag"]]}]
    }
