"""Schemas without valid values: reports are correct, and frequent mistakes are reported."""

from random import Random
from typing import Any

import pytest

from specd._engine.document.checking import find_faults
from specd._engine.document.schemas import Schemas
from specd._engine.mocking.values import Impossible, Values
from tests.specd.engine.corpus import CORPUS

CLOSED = {"type": "object", "additionalProperties": False}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def needing(name: str, **more: Any) -> dict[str, Any]:
    """Return an object that requires a value of another schema."""
    return {"type": "object", "required": ["a"], "properties": {"a": ref(name)}, **more}


def document_of(schemas: dict[str, Any], version: str = "3.1.1") -> dict[str, Any]:
    about = {"openapi": version, "info": {"title": "t", "version": "1"}, "paths": {}}
    return {**about, "components": {"schemas": schemas}}


def reported(schemas: dict[str, Any], version: str = "3.1.1") -> list[str]:
    """Return the schemas that are reported as having no valid value."""
    faults = find_faults(document_of(schemas, version), is_thorough=True)
    assert all("nothing fits" in str(fault) for fault in faults), faults
    return [str(fault.at[2]) for fault in faults]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [ref("Closed"), {**CLOSED, "required": ["b"], "properties": {"b": TEXT}}]},
        {"allOf": [ref("Closed"), {"type": "object", "required": ["b"]}]},
        {"allOf": [ref("Open"), {**CLOSED, "properties": {"b": TEXT}}]},
        {"allOf": [ref("Open"), {"properties": {"b": {}}, "unevaluatedProperties": False}]},
        {"allOf": [ref("Open"), {"type": "string"}]},
        {"allOf": [ref("Open")], "type": "array"},
        {"allOf": [{"type": "string", "enum": ["a"]}, {"enum": ["b"]}]},
        {"allOf": [{"type": "integer", "minimum": 5}, {"maximum": 4}]},
        {"allOf": [{"type": "string", "minLength": 5}, {"maxLength": 4}]},
        {"type": "number", "minimum": 5, "exclusiveMaximum": 5},
        {"type": "integer", "minimum": 1.2, "maximum": 1.8},
        {"allOf": [needing("Text"), {"properties": {"a": NUMBER}}]},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {"type": "array", "items": False, "minItems": 1},
        {"type": "string", "oneOf": [NUMBER, {"type": "boolean"}]},
        {"type": "string", "const": 1},
        {"type": "string", "pattern": "^[0-9]+$", "enum": ["a", "b"]},
        {"type": "string", "format": "date", "const": "today"},
        {"type": "integer", "maximum": 3, "enum": [4, 5]},
        needing("It"),
        {"type": "array", "minItems": 1, "items": ref("It")},
        {"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [ref("It")]}}},
        {"allOf": [{"type": "object", "minProperties": 1}, needing("It")]},
    ],
)
def test_schema_without_valid_values_is_reported_once(schema: dict[str, Any]) -> None:
    shared = {
        "Closed": {**CLOSED, "required": ["a"], "properties": {"a": TEXT}},
        "Open": {"type": "object", "required": ["a"], "properties": {"a": TEXT}},
        "Text": TEXT,
    }
    assert reported({**shared, "It": schema}) == ["It"]
    assert reported({**shared, "It": schema, "Other": needing("It")}) == ["It"]


@pytest.mark.parametrize(
    ("names", "schemas"),
    [
        (["A"], {"A": needing("B"), "B": needing("C"), "C": needing("A")}),
        (["A"], {"A": {"allOf": [ref("B")]}, "B": needing("A")}),
        (["A"], {"A": needing("A"), "B": needing("A"), "C": {"allOf": [ref("B")]}}),
        (["A", "B"], {"A": needing("A"), "B": needing("B")}),
    ],
)
def test_endless_schemas_are_reported_once_for_each_cycle(
    names: list[str], schemas: dict[str, Any]
) -> None:
    assert reported(schemas, "3.0.4") == names


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": ref("It")}},
        {"type": "array", "items": ref("It")},
        {"type": ["object", "null"], "required": ["a"], "properties": {"a": ref("It")}},
        {"oneOf": [needing("It"), TEXT]},
        {"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [ref("It"), TEXT]}}},
        {"allOf": [{**CLOSED, "properties": {"a": TEXT}}, {"required": ["a"]}]},
        {"allOf": [{"type": ["string", "integer"]}, {"maxLength": 1}, {"minimum": 5}]},
        {"allOf": [{"type": "number"}, {"type": "integer"}]},
        {"type": "string", "pattern": "^[0-9]+$", "enum": ["a", "1"]},
        {"type": "number", "minimum": 5, "maximum": 5},
    ],
)
def test_schema_with_valid_values_is_not_reported(schema: dict[str, Any]) -> None:
    assert reported({"It": schema}) == []


def test_nullable_schema_of_3_0_terminates() -> None:
    assert reported({"A": needing("A", nullable=True)}, "3.0.4") == []
    inner = {"type": "object", "required": ["a"], "properties": {"a": {"nullable": True}}}
    inner["properties"]["a"]["allOf"] = [ref("A")]
    assert reported({"A": inner}, "3.0.4") == []


VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 3, 1.5, "", "a", "ab", "abc"),
    *([], [0], ["a"], [0, 1], [0, "a"], {}, {"a": 0}, {"a": "a"}, {"b": 0}, {"b": "a"}),
    *({"a": x, "b": y} for x in (0, 2, "a", "ab", None) for y in (0, "a")),
]


def random_schema(rng: Random, depth: int = 0) -> dict[str, Any]:
    """Return a schema with a type and a few keywords, sometimes in an `allOf`."""
    kind = rng.choice(["object", "object", "string", "integer", "array"])
    schema: dict[str, Any] = {"type": rng.choice([kind, kind, [kind, "null"]])}
    some = {
        "object": {
            "required": rng.sample(["a", "b"], rng.randint(0, 2)),
            "additionalProperties": rng.choice([True, False]),
            "properties": {
                name: rng.choice([{}, {"type": "string"}, {"minimum": 1, "type": "integer"}])
                for name in rng.sample(["a", "b"], rng.randint(0, 2))
            },
            "maxProperties": rng.randint(0, 2),
        },
        "string": {
            rng.choice(["minLength", "maxLength"]): rng.randint(0, 3),
            "enum": rng.sample(["a", "ab", 1, None], 2),
        },
        "integer": {
            "minimum": rng.randint(0, 3),
            "exclusiveMaximum": rng.randint(0, 3),
            "enum": rng.sample([0, 1, 2.0, "a"], 2),
        },
        "array": {
            "minItems": rng.randint(0, 2),
            "items": rng.choice([True, False, {"type": "string"}]),
            "prefixItems": [rng.choice([{}, {"type": "string"}])],
        },
    }[kind]
    schema |= dict(rng.sample(sorted(some.items()), rng.randint(0, len(some))))
    if depth < 2 and rng.random() < 0.6:
        parts = [random_schema(rng, depth + 1) for _ in range(rng.randint(1, 2))]
        schema = {"allOf": [schema, *parts]}
    return schema


def test_reported_schemas_reject_many_values() -> None:
    rng = Random(7)
    schemas = {f"S{number}": random_schema(rng) for number in range(200)}
    document = document_of(schemas)
    faults = find_faults(document, is_thorough=True)
    names = {str(fault.at[2]) for fault in faults if "nothing fits" in str(fault)}
    compiled = Schemas(document, drop="")
    fitting = {}
    for name in schemas:
        validate = compiled.compile(ref(name), name)
        fitting[name] = [value for value in VALUES if not validate(value, "")]
    # A part of an `allOf` can have no valid value itself. Then the part is named.
    assert not {name: fitting[name] for name in names if fitting[name]}
    missed = [name for name in schemas if not fitting[name] and name not in names]
    assert len(names) > 50
    assert len(missed) < len(names) / 4, [schemas[name] for name in missed[:5]]


def test_no_schema_of_the_corpus_is_reported() -> None:
    for name, document in CORPUS.items():
        faults = [str(fault) for fault in find_faults(document, is_thorough=True)]
        assert not any("nothing fits" in fault for fault in faults), name


def test_mock_creates_a_value_of_a_long_chain_of_schemas() -> None:
    chain = {f"S{number}": needing(f"S{number + 1}") for number in range(60)}
    schemas = {**chain, "S60": TEXT}
    assert reported(schemas) == []
    value = Values(document_of(schemas), drop="").example(ref("S0"))
    for _ in range(60):
        value = value["a"]
    assert value == "string"


def test_mock_gives_up_early_if_many_choices_fail() -> None:
    """Each of 30 schemas is a choice of two that require the next schema, and the last is
    impossible.
    """
    schemas: dict[str, Any] = {
        f"S{number}": {"oneOf": [needing(f"S{number + 1}"), needing(f"S{number + 1}", title="b")]}
        for number in range(30)
    }
    schemas["S30"] = {"type": "string", "enum": [1]}
    with pytest.raises(Impossible):
        Values(document_of(schemas), drop="").example(ref("S0"))
