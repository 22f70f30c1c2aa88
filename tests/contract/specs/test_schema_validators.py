"""The accelerated validators of `tests/support/schema_validators.py` and those of openapi-core give
the same results.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from jsonschema_path import SchemaPath
from openapi_core.validation.schemas import oas30_read_schema_validators_factory as plain
from openapi_core.validation.schemas.exceptions import InvalidSchemaValue
from openapi_core.validation.schemas.validators import SchemaValidator

import specs
from tests.support.documents import with_closed_answers
from tests.support.schema_validators import speed_up

CHAT = with_closed_answers(specs.load("chat"))
EVENTS = [
    each["$ref"].rpartition("/")[2] for each in CHAT["components"]["schemas"]["Event"]["oneOf"]
]
NAMED = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}
ANIMALS = {
    "Kinds": {"type": "string", "enum": ["cat", "lion"]},
    "Cat": {**NAMED, "properties": {"kind": {"$ref": "#/components/schemas/Kinds"}}},
    "Dog": {**NAMED, "properties": {"kind": {"type": "string", "enum": ["dog", "lion"]}}},
    "Loose": {"type": "object", "properties": {"kind": {"type": "string", "enum": ["stray"]}}},
    "Animal": {
        "oneOf": [
            {"$ref": "#/components/schemas/Cat"},
            {"$ref": "#/components/schemas/Dog"},
            {"$ref": "#/components/schemas/Loose"},
            {"type": "integer"},
        ]
    },
}


def both(schemas: dict[str, Any], name: str) -> tuple[SchemaValidator, SchemaValidator]:
    """Return the accelerated and the original validator of a schema."""
    spec = SchemaPath.from_dict({"components": {"schemas": schemas}})
    schema = spec / "components" / "schemas" / name
    return speed_up(plain).create(spec, schema), plain.create(spec, schema)


def accepts(validator: SchemaValidator, value: Any) -> bool:
    try:
        validator.validate(value)
    except InvalidSchemaValue:
        return False
    return True


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ({"kind": "cat"}, True),
        ({"kind": "dog"}, True),
        ({"kind": "lion"}, False),  # matches two
        ({"kind": "stray"}, True),
        ({}, True),
        ({"kind": "horse"}, False),
        ({"kind": None}, False),
        (7, True),
        ("cat", False),
        (None, False),
    ],
)
def test_one_of(value: Any, is_valid: bool) -> None:
    fast, original = both(ANIMALS, "Animal")
    assert accepts(original, value) == is_valid
    assert accepts(fast, value) == is_valid


def changed(example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield example
    yield {**example, "surplus": 1}
    yield {**example, "id": "7"}
    yield {**example, "type": "unknown"}
    yield {**example, "op": "unknown"}
    yield {name: value for name, value in example.items() if name != "type"}
    yield {name: value for name, value in example.items() if name != "id"}


def test_events() -> None:
    """Each kind of event with one of the changes."""
    fast, original = both(CHAT["components"]["schemas"], "Event")
    results = set()
    for name, number in zip(EVENTS, cycle(range(7))):
        value = list(changed(CHAT["components"]["schemas"][name]["example"]))[number]
        results.add(result := (number, accepts(original, value)))
        assert accepts(fast, value) == result[1], (name, value)
    assert {(0, True), (1, False), (2, False), (3, False), (5, False), (6, False)} <= results
