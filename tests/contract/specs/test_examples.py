"""The examples of all documents match their schemas, errors are those of the services, and every
value that needs an example has one.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

import specs
from tests.contract.failures.page import SERVICES
from tests.contract.specs.examples import ExampleChecker, examples, operations, resolve
from wsgi import project

Node = Mapping[str, Any]
DOCUMENTS = {name: specs.load(name) for name in project.documents}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_example_is_valid(name: str) -> None:
    document = DOCUMENTS[name]
    checker = ExampleChecker(document)
    checked: set[tuple[int, str]] = set()
    wrong = []
    for example in examples(document):
        what = id(example.schema), json.dumps(example.value, sort_keys=True)
        if what not in checked:
            checked.add(what)
            found = checker.objections(example.schema, example.value, example.is_sent)
            wrong += [f"{example.place}: {text}" for text in found]
    assert len(checked) > 20
    assert wrong == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_property_has_an_example(name: str) -> None:
    document = DOCUMENTS[name]
    checker = ExampleChecker(document)
    for example in examples(document):
        checker.show(example)
    schemas = document["components"]["schemas"].items()
    assert [gap for place, schema in schemas for gap in checker.unshown(schema, place)] == []


def test_missing_example_is_detected() -> None:
    inner = {"type": "object", "properties": {"deep": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {
            "seen": {"type": "string"},
            "null": {"type": "integer", "nullable": True},
            "own": {"type": "string", "example": "x"},
            "flag": {"type": "boolean"},
            "kind": {"enum": ["a", "b"]},
            "list": {"type": "array", "items": inner},
        },
    }
    document = {
        "paths": {
            "/": {
                "get": {
                    "operationId": "look",
                    "responses": {
                        "200": {
                            "content": {
                                "application/json": {
                                    "schema": {"$ref": "#/components/schemas/S"},
                                    "examples": {"a": {"value": {"seen": "x", "null": None}}},
                                }
                            }
                        }
                    },
                }
            }
        },
        "components": {"schemas": {"S": schema}},
    }
    checker = ExampleChecker(document)
    for example in examples(document):
        checker.show(example)
    assert list(checker.unshown(schema, "S")) == ["S/null", "S/list", "S/list/items/deep"]


def errors(document: Node) -> list[tuple[str, int, Node]]:
    """Return (where, status, value) of every example of an error."""
    found = []
    for _, _, operation, _ in operations(document):
        for status, listed in operation["responses"].items():
            if status < "400":
                continue
            for kind, media in resolve(document, listed)["content"].items():
                if kind == "text/html":
                    continue  # a page has its own text
                shown = media.get("examples", {})
                assert shown, f"{operation['operationId']} {status} has no named example"
                for name, example in shown.items():
                    place = f"{operation['operationId']} {status} ({name})"
                    found.append((place, int(status), resolve(document, example)["value"]))
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_error_example_is_an_error_of_the_service(name: str) -> None:
    """By status, code and text, as in the classes from which docs/errors.md is generated."""
    known = [
        (failure.status, failure.code, pattern(failure.message))
        for failure in SERVICES[project.documents[name]]()
    ]
    unknown = []
    for place, status, value in errors(DOCUMENTS[name]):
        code, text = value.get("code"), value.get("msg", value.get("message"))
        if not any((status, code) == (s, c) and told.fullmatch(text) for s, c, told in known):
            unknown.append(f"{place}: {code}: {text}")
    assert unknown == []


def pattern(message: str) -> re.Pattern[str]:
    """Return a pattern for a text with `{placeholders}`."""
    pieces = re.split(r"\{[^}]*\}", message)
    return re.compile(".+".join(re.escape(piece) for piece in pieces), re.DOTALL)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_header_is_fully_documented(name: str) -> None:
    document = DOCUMENTS[name]
    gaps = set()
    for _, _, operation, _ in operations(document):
        for status, listed in operation["responses"].items():
            for name, header in resolve(document, listed).get("headers", {}).items():
                told = resolve(document, header)
                schema = told["schema"]
                place = f"{operation['operationId']} {status} {name}"
                if not told.get("description"):
                    gaps.add(f"{place}: description")
                if not {"example", "examples", "enum"} & {**schema, **told}.keys():
                    gaps.add(f"{place}: example")
                if not {"maxLength", "pattern", "enum", "maximum"} & schema.keys():
                    gaps.add(f"{place}: bounds")
    assert gaps == set()
