"""Schemas of earlier dialects of JSON Schema in a document of a later dialect."""

from typing import Any

import jsonschema_rs
import pytest

from specd._engine.document.checking import find_faults
from specd._engine.document.schemas import Schemas
from specd._engine.mocking.service import build_mock
from specd._engine.openapi.dialects import in_latest
from specd._engine.openapi.union import Document
from tests.specd.engine.client import Client

DIALECTS = {
    "http://json-schema.org/draft-04/schema#": jsonschema_rs.Draft4Validator,
    "http://json-schema.org/draft-06/schema#": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
SHARED = "#/components/schemas/"
SCHEMAS: list[tuple[dict[str, Any], list[Any]]] = [
    ({"items": [{"type": "integer"}]}, [[1, "a"], ["a"]]),
    ({"items": [{"type": "integer"}], "additionalItems": False}, [[1], [1, 1]]),
    ({"items": [{"type": "integer"}], "additionalItems": {"type": "string"}}, [[1, "a"], [1, 2]]),
    ({"items": {"type": "integer"}, "additionalItems": False}, [[1, 2], ["a"]]),
    ({"prefixItems": [{"type": "integer"}]}, [[1], ["a"]]),
    ({"additionalItems": False}, [[1]]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 1}]),
    ({"minimum": 1, "exclusiveMinimum": True}, [1, 2]),
    ({"maximum": 1, "exclusiveMaximum": False}, [1, 2]),
    ({"minimum": 1, "exclusiveMinimum": 2}, [2, 3]),
    ({"const": 1}, [1, 2]),
    ({"contains": {"type": "integer"}}, [["a"], [1]]),
    ({"contains": {"type": "integer"}, "maxContains": 1}, [[1], [1, 1]]),
    ({"propertyNames": {"maxLength": 1}}, [{"a": 1}, {"aa": 1}]),
    ({"if": {"type": "string"}, "then": {"maxLength": 1}}, ["a", "aa"]),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, [{"a": 1}, {"b": 1}]),
    (
        {"properties": {"a": {"$ref": f"{SHARED}Text", "maxLength": 1}}},
        [{"a": "a"}, {"a": "aa"}, {"a": 1}],
    ),
]
DEPENDENCIES = {"a": ["b"], "c": {"required": ["d"]}}
EARLIER = ({"dependencies": DEPENDENCIES}, [{"a": 1}, {"c": 1}, {"a": 1, "b": 1}])
"""Schemas that only dialects up to draft 7 support."""
OF_DRAFT_4 = ("exclusiveMinimum", "exclusiveMaximum")


def is_of(named: str, schema: dict[str, Any]) -> bool:
    """Return whether a schema is valid in a dialect. Keywords can have other types in others."""
    if isinstance(schema.get("items"), list) and "2020" in named:
        return False
    bounds = [schema[key] for key in OF_DRAFT_4 if key in schema]
    return all(isinstance(bound, bool) == ("draft-04" in named) for bound in bounds)


CASES = [
    (named, schema, values)
    for named in DIALECTS
    for schema, values in [*SCHEMAS, *([EARLIER] if "draft-0" in named else [])]
    if is_of(named, schema)
]


def document_of(named: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a document of 2020-12 with a schema of a dialect, at the top and inside another
    schema.
    """
    shared = {
        "Named": {"$schema": named, **schema},
        "Text": {"type": "string"},
        "Whole": {"prefixItems": [{"$ref": f"{SHARED}Named"}, {"$schema": named, **schema}]},
    }
    return {"openapi": "3.1.1", "components": {"schemas": shared}}


def verdicts(document: dict[str, Any], schema: Any, values: list[Any]) -> list[bool]:
    validate = Schemas(in_latest(document), drop="").compile(schema, "here")
    return [not validate(value, "") for value in values]


@pytest.mark.parametrize(("named", "schema", "values"), CASES)
def test_schema_is_validated_by_the_dialect_that_it_names(
    named: str, schema: dict[str, Any], values: list[Any]
) -> None:
    shared = {"components": {"schemas": {"Text": {"type": "string"}}}}
    alone = DIALECTS[named]({**shared, **schema})
    expected = [alone.is_valid(value) for value in values]
    document = document_of(named, schema)
    several = [[value, value] for value in values]
    assert verdicts(document, {"$ref": f"{SHARED}Named"}, values) == expected
    assert verdicts(document, {"$ref": f"{SHARED}Whole"}, several) == expected
    inline = in_latest(document)["components"]["schemas"]["Whole"]
    assert verdicts(document, inline, several) == expected


def test_schema_of_a_later_dialect_inside_an_earlier_one_is_recognized() -> None:
    tuple_of = {"prefixItems": [{"type": "integer"}]}
    latest = {"$schema": "https://json-schema.org/draft/2020-12/schema", **tuple_of}
    document = {
        "openapi": "3.1.1",
        "jsonSchemaDialect": DRAFT_7,
        "components": {"schemas": {"Latest": latest, "Own": tuple_of}},
    }
    assert verdicts(document, {"$ref": f"{SHARED}Latest"}, [[1], ["a"]]) == [True, False]
    assert verdicts(document, {"$ref": f"{SHARED}Own"}, [[1], ["a"]]) == [True, True]


@pytest.mark.parametrize(
    ("part", "schema"),
    [
        ("items/1", {"items": [{}, {"type": "integer"}]}),
        ("additionalItems", {"items": [{}], "additionalItems": {"type": "integer"}}),
        ("dependencies/a", {"dependencies": {"a": {"type": "integer"}}}),
        ("definitions/a", {"definitions": {"a": {"type": "integer"}}}),
    ],
)
def test_reference_into_a_schema_of_an_earlier_dialect(part: str, schema: dict[str, Any]) -> None:
    document = document_of(DRAFT_7, schema)
    document["components"]["schemas"]["Part"] = {"$ref": f"{SHARED}Named/{part}"}
    assert verdicts(document, {"$ref": f"{SHARED}Part"}, [1, "a"]) == [True, False]


def served(schema: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"{SHARED}Named"}}}
    operation = {
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "ok", "content": content}},
    }
    about = {"info": {"title": "t", "version": "1"}, "paths": {"/a": {"post": operation}}}
    return {**document_of(DRAFT_7, schema), **about}


def test_earlier_dialect_is_checked_served_and_mocked() -> None:
    document = served({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]})
    assert not find_faults(document, is_thorough=True)
    client = Client(build_mock([Document("t", document)]))
    assert client.post("/a", value=["a", 1]).json == ["string", 0]
    refused = client.post("/a", value=["a", "b"])
    assert refused.status == 400
    assert refused.json["detail"] == "/body/1: must be of type integer"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"items": [{"type": "strin"}]}, '"strin" is no type; did you mean "string"?'),
        ({"dependencies": {"a": 5}}, "must be true or false or an object, not an integer"),
        ({"required": "a"}, "must be a list"),
        ({"$schema": "https://example.com/mine"}, "the dialect https://example.com/mine is not"),
    ],
)
def test_error_in_an_earlier_dialect_is_named(schema: dict[str, Any], expected: str) -> None:
    faults = {str(fault) for fault in find_faults(served(schema), is_thorough=True)}
    assert any(expected in fault for fault in faults), faults


def test_example_is_validated_by_the_dialect_of_its_schema() -> None:
    right = served({"items": [{"type": "string"}], "example": ["a"]})
    assert not find_faults(right, is_thorough=True)
    wrong = served({"items": [{"type": "string"}], "example": [1]})
    places = [fault.at for fault in find_faults(wrong, is_thorough=True)]
    assert ("components", "schemas", "Named", "example", 0) in places
