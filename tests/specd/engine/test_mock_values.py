"""Values generated for schemas are valid, also for another implementation of JSON Schema."""

import re
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openapi_schema_validator import OAS30ReadValidator, OAS31Validator

from specd._engine.mocking.patterns import texts
from specd._engine.mocking.values import FORMATS, Impossible, Values

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "components": {
        "schemas": {
            "Tree": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
                    "parent": {"$ref": "#/components/schemas/Tree"},
                },
            },
            "Endless": {
                "type": "object",
                "required": ["next"],
                "properties": {"next": {"$ref": "#/components/schemas/Endless"}},
            },
            "Pair": {
                "oneOf": [
                    {"$ref": "#/components/schemas/Endless"},
                    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}]},
                ]
            },
            "Cat": {
                "type": "object",
                "required": ["kind", "lives"],
                "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}},
            },
            "Dog": {
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": {"type": "string"}, "barks": {"const": True}},
            },
        }
    },
}
SEVENTH = {"$ref": "#/components/schemas/Tree"}
HARD: list[Any] = [
    True,
    {},
    {"const": None},
    {"enum": [None, 3]},
    {"type": ["null", "string"], "minLength": 3},
    SEVENTH,
    {"type": "array", "items": SEVENTH, "minItems": 2, "uniqueItems": True},
    {"$ref": "#/components/schemas/Pair"},
    {"$ref": "#/components/schemas/Tree", "required": ["parent"]},
    {"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "integer", "minimum": 7}}}]},
    {"allOf": [{"type": "number", "minimum": 2}, {"type": "integer", "maximum": 2}]},
    {"allOf": [{"enum": [1, 2, 3]}, {"enum": [3, 4]}]},
    {"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 0}]},
    {"oneOf": [{"multipleOf": 3, "type": "integer"}, {"multipleOf": 5, "type": "integer"}]},
    {"anyOf": [False, {"type": "boolean"}]},
    {"not": {"type": "object"}, "type": ["object", "string"]},
    {"type": "string", "not": {"const": "string"}},
    {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"},
    {"type": "string", "pattern": "^(a|bc)+[^x]$", "minLength": 9, "maxLength": 9},
    {"type": "string", "pattern": "b", "minLength": 12},
    {"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]{8,}$"},
    {"type": "string", "pattern": "^\\p{Lu}\\p{L}*$"},
    {"type": "string", "pattern": "^(?<year>[0-9]{4})-\\k<year>$"},
    {"type": "string", "format": "email", "minLength": 40},
    {"type": "string", "minLength": 3, "maxLength": 3},
    {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "null"}},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    {"type": "integer", "minimum": -9, "maximum": -7, "multipleOf": 4},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001},
    {"type": "number", "multipleOf": 0.25, "minimum": 0.3},
    {"type": "number", "exclusiveMaximum": -3},
    {"type": "integer", "format": "int32", "minimum": 2147483647},
    {"type": "array", "contains": {"const": 5}, "minItems": 3},
    {"type": "array", "prefixItems": [{"const": 1}], "items": False, "minItems": 1},
    {"type": "array", "uniqueItems": True, "minItems": 3, "items": {"enum": [1, 2, 3]}},
    {"type": "array", "uniqueItems": True, "minItems": 2, "items": {"type": "boolean"}},
    {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
    {"type": "object", "maxProperties": 1, "properties": {"a": {}, "b": {}}, "required": ["b"]},
    {
        "type": "object",
        "patternProperties": {"^x-[a-z]+$": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    {"type": "object", "propertyNames": {"pattern": "^[a-f]{4}$"}, "minProperties": 2},
    {"dependentRequired": {"a": ["b"]}, "properties": {"a": {"const": 1}, "b": {"const": 2}}},
    {
        "properties": {"a": {"const": 1}},
        "required": ["a"],
        "dependentSchemas": {"a": {"required": ["z"], "properties": {"z": {"type": "null"}}}},
    },
    {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["of_a"]},
        "else": {"required": ["of_b"]},
    },
    {
        "allOf": [{"properties": {"a": {"type": "string"}}}],
        "properties": {"b": {"type": "string"}},
        "unevaluatedProperties": False,
    },
    {"type": "integer", "example": "no integer"},
    {"type": "integer", "default": 7, "maximum": 3},
]


def values(document: dict[str, Any] = DOCUMENT) -> Values:
    return Values(document, drop="writeOnly")


def is_valid(schema: Any, value: Any, document: dict[str, Any] = DOCUMENT) -> bool:
    """Return whether openapi-schema-validator, which the engine does not use, accepts a value."""
    judge = OAS31Validator if document["openapi"] > "3.1" else OAS30ReadValidator
    whole = {"allOf": [schema], "components": document["components"]}
    return bool(judge(whole).is_valid(value))


@pytest.mark.parametrize("schema", HARD, ids=str)
def test_value_is_valid(schema: Any) -> None:
    # The validator uses regular expressions of Python, which lack two notations of ECMA-262.
    ecma = re.search(r"\\\\[pk]", str(schema))
    made = values()
    one = made.example(schema)
    assert made.example(schema) == one, "must be deterministic"
    for value in (one, *(made.random(schema, Random(seed)) for seed in range(10))):
        assert made.fits(schema, value)
        assert ecma or is_valid(schema, value), value


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"$ref": "#/components/schemas/Endless"},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "boolean"}},
        {"type": "object", "required": ["a"], "additionalProperties": False},
    ],
    ids=str,
)
def test_schema_without_valid_values_is_impossible(schema: Any) -> None:
    with pytest.raises(Impossible):
        values().example(schema)
    with pytest.raises(Impossible):
        values().random(schema, Random(0))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "string", "example": "Ada"}}},
            {"a": "Ada"},
        ),
        ({"type": "integer", "examples": [5, 6]}, 5),
        ({"type": "integer", "default": 4}, 4),
        ({"type": "string", "enum": ["x", "y"]}, "x"),
        ({"type": "string", "example": 3}, "string"),
        ({"type": "array", "items": {"type": "string", "format": "date"}}, [FORMATS["date"]]),
        ({"properties": {"secret": {"writeOnly": True}}, "required": ["secret"]}, {}),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, {"property1": True}),
        ({"type": ["string", "null"]}, "string"),
    ],
)
def test_example_is_plausible(schema: Any, expected: Any) -> None:
    assert values().example(schema) == expected


def test_recursion_ends_if_possible() -> None:
    tree, depth = values().example(SEVENTH), 0
    while "parent" in tree:
        tree, depth = tree["parent"], depth + 1
    assert depth == 1


def test_value_stays_small() -> None:
    names = [f"S{number}" for number in range(40)]
    properties = {name: {"$ref": f"#/components/schemas/{name}"} for name in names}
    schemas = {name: {"type": "object", "properties": properties} for name in names}
    made = values({"openapi": "3.1.0", "components": {"schemas": schemas}})
    for value in (made.example({"$ref": "#/components/schemas/S0"}),
                  made.random({"$ref": "#/components/schemas/S0"}, Random(0))):  # fmt: skip
        assert len(value) > 20
        assert len(str(value)) < 100_000


def test_discriminator_names_the_branch() -> None:
    pets = [{"$ref": f"#/components/schemas/{name}"} for name in ("Cat", "Dog")]
    mapping = {"dog": "#/components/schemas/Dog"}
    schema = {"anyOf": pets, "discriminator": {"propertyName": "kind", "mapping": mapping}}
    assert values().example(schema) == {"kind": "Cat", "lives": 0}
    kinds = {values().random(schema, Random(seed))["kind"] for seed in range(20)}
    assert kinds == {"Cat", "dog"}


# The validator accepts only times without an offset, and JSON Schema only those with one.
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "time"])
def test_value_of_a_format_is_valid(name: str) -> None:
    schema = {"type": "string", "format": name}
    for value in (values().example(schema), values().random(schema, Random(1))):
        assert values().fits(schema, value)
        assert OAS31Validator(schema, format_checker=OAS31Validator.FORMAT_CHECKER).is_valid(value)


OLDER = {**DOCUMENT, "openapi": "3.0.3"}
LINKED = {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Linked"}]}


class TestOpenAPI30:
    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "integer", "minimum": 3, "exclusiveMinimum": True, "maximum": 4},
            {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            {"type": "string", "nullable": True, "enum": ["a", None]},
            {"type": "object", "nullable": True, "required": ["a"], "properties": {"a": {}}},
        ],
        ids=str,
    )
    def test_value_is_valid(self, schema: Any) -> None:
        made = values(OLDER)
        for value in (made.example(schema), made.random(schema, Random(3))):
            assert value is not None
            assert is_valid(schema, value, OLDER)

    def test_null_ends_otherwise_endless_values(self) -> None:
        linked = {"type": "object", "required": ["next"], "properties": {"next": LINKED}}
        made = values({"openapi": "3.0.3", "components": {"schemas": {"Linked": linked}}})
        assert str(made.example(LINKED)).count("None") == 1

    def test_sized_integer_stays_in_its_range(self) -> None:
        schema = {"type": "integer", "format": "uint8"}
        made = {values(OLDER).random(schema, Random(seed)) for seed in range(20)}
        assert all(0 <= number <= 255 for number in made)
        assert len(made) > 10


PATTERNS = st.from_regex(r"\A\^[a-c]{1,3}(\[a-z0-9\](\+|\{2,4\}|\*)|\(x\|yz\)\?|\\d\{3\}){1,3}\$\Z")


def _bounded(low: str, high: str, most: int) -> st.SearchStrategy[dict[str, Any]]:
    pairs = st.tuples(st.integers(0, most), st.integers(0, most)).map(sorted)
    return st.one_of(
        st.just({}),
        st.integers(0, most).map(lambda n: {low: n}),
        pairs.map(lambda pair: {low: pair[0], high: pair[1]}),
    )


def _numbers(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    step = {} if kind == "number" else {"multipleOf": 3}
    wide = st.integers(-1000, 1000).map(lambda n: {"minimum": n, "maximum": n + 10})
    return st.one_of(
        st.just({}), wide, wide.map(lambda bounds: {**bounds, **step}),
        st.integers(-50, 50).map(lambda n: {"exclusiveMinimum": n, "exclusiveMaximum": n + 2}),
    ).map(lambda bounds: {"type": kind, **bounds})  # fmt: skip


LEAVES = st.one_of(
    _bounded("minLength", "maxLength", 30).map(lambda bounds: {"type": "string", **bounds}),
    PATTERNS.map(lambda pattern: {"type": "string", "pattern": pattern}),
    st.sampled_from(sorted(FORMATS)).map(lambda name: {"type": "string", "format": name}),
    _numbers("integer"),
    _numbers("number"),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {}, True, SEVENTH]),
    st.lists(st.integers() | st.text(max_size=3), min_size=1, max_size=3).map(
        lambda e: {"enum": e}
    ),
)
NAMES = st.sampled_from(["a", "b", "c", "id", "x y"])


def _larger(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.tuples(st.dictionaries(NAMES, parts, max_size=4), st.booleans()).flatmap(
        lambda made: (
            st.lists(st.sampled_from(sorted(made[0])), unique=True).map(
                lambda required: {
                    "type": "object",
                    "properties": made[0],
                    "required": required,
                    **({"additionalProperties": False} if made[1] else {}),
                }
            )
            if made[0]
            else st.just({"type": "object"})
        )
    )
    arrays = st.tuples(parts, _bounded("minItems", "maxItems", 4)).map(
        lambda made: {"type": "array", "items": made[0], **made[1]}
    )
    several = st.lists(parts, min_size=1, max_size=3)
    return st.one_of(
        objects,
        arrays,
        several.map(lambda made: {"anyOf": made}),
        objects.map(lambda made: {"allOf": [made, {"type": "object"}]}),
        parts.map(lambda made: {"additionalProperties": made, "type": "object"}),
    )


@given(schema=st.recursive(LEAVES, _larger, max_leaves=12), seed=st.integers(0, 1000))
def test_generated_value_is_valid(schema: Any, seed: int) -> None:
    made = values()
    for value in (made.example(schema), made.random(schema, Random(seed))):
        assert made.fits(schema, value)
        assert is_valid(schema, value)


@given(pattern=PATTERNS, seed=st.integers(0, 100))
def test_text_matches_its_pattern(pattern: str, seed: int) -> None:
    found = list(texts(pattern, Random(seed), shortest=0, longest=20))
    assert found
    assert all(re.search(pattern, text) for text in found)


def test_pattern_that_python_cannot_read_has_no_text() -> None:
    assert list(texts(r"(?<a>x)|(?<a>y)", Random(0), shortest=0, longest=9)) == []
