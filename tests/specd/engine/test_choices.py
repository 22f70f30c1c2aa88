"""Errors in a value of a `oneOf` or `anyOf` are explained for the intended branch."""

from typing import Any

import pytest

from specd._engine.document.schemas import Schemas

REF = "#/components/schemas/"
SHARED: dict[str, Any] = {
    "Cat": {
        "type": "object",
        "required": ["petType", "lives"],
        "properties": {
            "petType": {"type": "string", "enum": ["cat"]},
            "lives": {"type": "integer", "maximum": 9},
        },
    },
    "Dog": {
        "type": "object",
        "required": ["petType", "bark"],
        "properties": {"petType": {"enum": ["dog"]}, "bark": {"type": "boolean"}},
    },
    "Named": {"allOf": [{"$ref": f"{REF}Name"}], "nullable": True},
    "Name": {"type": "string", "minLength": 3},
    "Tree": {
        "oneOf": [
            {"type": "integer"},
            {
                "type": "object",
                "required": ["kind", "below"],
                "properties": {
                    "kind": {"enum": ["tree"]},
                    "below": {"type": "array", "items": {"$ref": f"{REF}Tree"}},
                },
            },
        ]
    },
}
PETS = [{"$ref": f"{REF}Cat"}, {"$ref": f"{REF}Dog"}]
MAPPED = {"propertyName": "petType", "mapping": {"cat": f"{REF}Cat", "dog": "Dog"}}
CLOSED = [
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["object", *needed],
        "properties": {"object": {"enum": [tag]}, **{n: {"type": "string"} for n in needed}},
    }
    for tag, needed in (("card", ("number", "cvc")), ("account", ("iban",)))
]
FORMS: dict[str, dict[str, Any]] = {
    "mapped": {"oneOf": PETS, "discriminator": MAPPED},
    "implied": {"anyOf": PETS, "discriminator": {"propertyName": "petType"}},
    "plain": {"oneOf": PETS},
    "closed": {"anyOf": CLOSED},
    "nullable": {"$ref": f"{REF}Named"},
    "tree": {"$ref": f"{REF}Tree"},
    "both": {"anyOf": [{"type": "string"}, {"type": "array"}]},
    "two": {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
}
CAT = {"petType": "cat", "lives": "x"}


@pytest.fixture(scope="module")
def checks() -> dict[str, Any]:
    document = {"openapi": "3.0.3", "components": {"schemas": SHARED}}
    schemas = Schemas(document, drop="readOnly")
    return {name: schemas.compile(schema, name) for name, schema in FORMS.items()}


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        ("mapped", CAT, [("/body/lives", "must be of type integer")]),
        ("mapped", {"petType": "bird"}, [("/body/petType", "must be one of: cat, dog")]),
        ("mapped", {"petType": 1}, [("/body/petType", "must be one of: cat, dog")]),
        ("mapped", {"lives": 1}, [("/body", "lacks the required property petType")]),
        ("mapped", {"petType": "dog"}, [("/body", "lacks the required property bark")]),
        ("mapped", 1, [("/body", "must fit exactly one of the allowed forms")]),
        ("implied", {"petType": "cat"}, [("/body/petType", "must be one of: Cat, Dog")]),
        ("plain", CAT, [("/body/lives", "must be of type integer")]),
        ("plain", {"petType": "dog", "bark": 1}, [("/body/bark", "must be of type boolean")]),
        (
            "closed",
            {"object": "card", "number": 4, "cvc": "1"},
            [("/body/number", "must be of type string")],
        ),
        ("nullable", "ab", [("/body", "must be at least 3 characters long")]),
        ("tree", {"kind": "tree", "below": [1, {"kind": "tree", "below": "x"}]},
         [("/body/below/1/below", "must be of type array")]),
        ("both", 1, [("/body", "fits none of the allowed forms")]),
        ("two", 3, [("/body", "must fit exactly one of the allowed forms")]),
    ],
)  # fmt: skip
def test_intended_branch_is_explained(
    checks: dict[str, Any], form: str, value: Any, expected: list[tuple[str, str]]
) -> None:
    assert [(each.path, each.message) for each in checks[form](value, "/body")] == expected
