"""OpenAPI 3.0 schemas as compiled validators."""

from itertools import permutations
from typing import Any

import jsonschema_rs
import pytest

from specd._engine.document.schemas import MAX_VIOLATIONS, Schemas, translate
from specd._engine.errors import DocumentError
from specd._engine.openapi.structure import lookup

SHARED = {
    "Small": {"type": "integer", "maximum": 5},
    "MaybeSmall": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Small"}]},
    "Tree": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "maxLength": 3},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "parent": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Tree"}]},
        },
    },
    "Account": {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "password", "name"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "password": {"type": "string", "writeOnly": True},
            "name": {"type": "string"},
        },
    },
    "Odd~Name/Here": {"type": "boolean"},
}
DOCUMENT = {"components": {"schemas": SHARED}}
REQUESTS = Schemas(DOCUMENT, drop="readOnly")
ANSWERS = Schemas(DOCUMENT, drop="writeOnly")


def is_valid(schema: dict[str, Any], value: Any, schemas: Schemas = REQUESTS) -> bool:
    return schemas.compile(schema, "here")(value, "/v") == ()


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


TAKES: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "string", "nullable": True}, ["a", None], [1]),
    ({"type": "string", "nullable": False}, ["a"], [None]),
    ({"type": "string", "nullable": True, "enum": ["a"]}, ["a", None], ["b"]),
    ({"type": "string", "nullable": True, "enum": ["a", None]}, ["a", None], ["b"]),
    ({"type": "string", "nullable": True, "maxLength": 1}, ["a", None], ["ab"]),
    ({"nullable": True, "oneOf": [ref("Small"), {"type": "string"}]}, [1, "a", None], [6, []]),
    ({"nullable": True, "anyOf": [ref("Small")]}, [1, None], [6]),
    (ref("MaybeSmall"), [1, None], [6]),
    ({"type": "array", "items": {"type": "integer", "nullable": True}}, [[1, None]], [["a"]]),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, [1.5], [1]),
    ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, [1.5, 1], ["1"]),
    ({"allOf": [{"type": "integer"}, {"maximum": 5}]}, [5], [6, "a"]),
    ({"not": {"type": "string", "nullable": True}}, [1], ["a", None]),
    ({"type": "integer"}, [1, -1, 2**70], [1.0, "1", True, None]),
    ({"type": "number"}, [1, 1.5], ["1", True]),
    ({"type": "boolean"}, [True, False], [0, 1, "true"]),
    ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, [1], [0]),
    ({"type": "integer", "maximum": 5, "exclusiveMaximum": True}, [4], [5]),
    ({"type": "integer", "maximum": 2**256 - 1}, [2**256 - 1], [2**256]),
    ({"type": "integer", "format": "int64"}, [2**63 - 1, -(2**63)], [2**63, -(2**63) - 1]),
    ({"type": "integer", "format": "int32"}, [2**31 - 1, -(2**31)], [2**31, -(2**31) - 1]),
    ({"type": "integer", "format": "uint8"}, [0, 255], [-1, 256]),
    ({"format": "int8", "minimum": 1, "maximum": 5}, [1, 5, "a"], [0, 6]),
    ({"format": "int8", "minimum": -999, "exclusiveMinimum": True}, [-128], [-129]),
    ({"format": "int8", "maximum": 999, "exclusiveMaximum": True}, [127], [128]),
    ({"type": "object", "properties": {"format": {"type": "string"}}}, [{"format": "int8"}], [1]),
    ({"type": "string", "format": "int64"}, ["99999999999999999999"], [1]),
    ({"type": "number", "multipleOf": 0.01}, [1.13, 2], [1.131]),
    ({"type": "string", "pattern": "^a$"}, ["a"], ["a\n", "ba"]),
    ({"type": "string", "pattern": "^[0-9]+$"}, ["1"], ["\u0661", "1\n"]),
    ({"type": "string", "pattern": "b"}, ["abc"], ["ac"]),
    ({"type": "string", "pattern": "^(?=.*[0-9]).{2,}$"}, ["a1"], ["aa"]),
    ({"type": "string", "maxLength": 1}, ["\U0001f600", "\u00e9"], ["ab"]),
    (
        {"type": "string", "format": "uuid"},
        ["5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90", "5F0C2E84-6B1D-4C7A-9A35-2D8E1F4B7C90"],
        [
            "nope",
            "5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c9",
            "{5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90}",
            "5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90\n",
        ],
    ),
    (
        {"type": "string", "format": "date"},
        ["2024-02-29"],
        ["2023-02-29", "20240229", "2024-2-9", "2024-W01-1", "2024-02-29\n"],
    ),
    ({"type": "string", "format": "date-time"}, ["2024-01-01T00:00:00Z"], ["2024-01-01", "x"]),
    ({"type": "string", "format": "email"}, ["a@example.com"], ["a", "@"]),
    ({"type": "string", "format": "own-invention"}, ["anything"], [1]),
    ({"type": "integer", "format": "int32", "maximum": 2147483647}, [1], [2147483648]),
    ({"type": "array", "uniqueItems": True}, [[1, 2], [1, True]], [[1, 1], [{"a": 1}, {"a": 1}]]),
    ({"type": "array", "minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]]),
    (
        {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
        [{}, {"a": 1}],
        [{"b": 1}],
    ),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{"x": 1}], [{"x": "1"}]),
    (
        {"type": "object", "minProperties": 1, "maxProperties": 1},
        [{"a": 1}],
        [{}, {"a": 1, "b": 2}],
    ),
    (
        {"type": "object", "properties": {"nullable": {"type": "integer"}}},
        [{"nullable": 1}],
        [{"nullable": None}, {"nullable": "x"}],
    ),
    (
        {"type": "object", "properties": {"example": {"type": "integer"}}},
        [{"example": 1}],
        [{"example": "x"}],
    ),
    ({"enum": [1, "a"]}, [1, "a"], ["b", 2]),
    ({}, [None, 1, "a", [], {}], []),
    (
        ref("Tree"),
        [
            {"name": "a"},
            {"name": "a", "children": [{"name": "b", "children": []}]},
            {"name": "a", "parent": {"name": "b", "parent": None}},
        ],
        [
            {"name": "abcd"},
            {"name": "a", "children": [{"name": "abcd"}]},
            {"name": "a", "x": 1},
            {"name": "a", "parent": {"name": "b", "parent": 1}},
        ],
    ),
    (ref("Odd~0Name~1Here"), [True], [1]),
    ({"$ref": "#/components/schemas/Tree/properties/name"}, ["abc"], ["abcd"]),
]


@pytest.mark.parametrize(("schema", "good", "bad"), TAKES, ids=lambda value: str(value)[:50])
def test_accepts_and_rejects_values(
    schema: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    assert [value for value in good if not is_valid(schema, value)] == []
    assert [value for value in bad if is_valid(schema, value)] == []


class TestDirections:
    def test_read_only_property_is_neither_required_nor_accepted_in_requests(self) -> None:
        assert is_valid(ref("Account"), {"password": "p", "name": "n"})
        assert not is_valid(ref("Account"), {"password": "p"})
        assert not is_valid(ref("Account"), {"id": 1, "password": "p", "name": "n"})

    def test_write_only_property_is_neither_required_nor_allowed_in_responses(self) -> None:
        assert is_valid(ref("Account"), {"id": 1, "name": "n"}, ANSWERS)
        assert not is_valid(ref("Account"), {"name": "n"}, ANSWERS)
        assert not is_valid(ref("Account"), {"id": 1, "password": "p", "name": "n"}, ANSWERS)

    def test_document_is_not_changed(self) -> None:
        translate(SHARED["Account"], drop="readOnly")
        assert SHARED["Account"]["required"] == ["id", "password", "name"]
        assert SHARED["Account"]["properties"]["id"] == {"type": "integer", "readOnly": True}


class TestViolations:
    def test_huge_value_is_only_reported_as_invalid(self) -> None:
        schema = {"type": "array", "items": {"type": "integer"}}
        (violation,) = REQUESTS.compile(schema, "here")(["x"] * 20_000, "/body")
        assert (violation.path, violation.rule) == ("/body", "schema")
        assert REQUESTS.compile(schema, "here")([1] * 20_000, "/body") == ()

    def test_contain_path_and_reason(self) -> None:
        validate = REQUESTS.compile(ref("Tree"), "here")
        found = validate({"name": "abcd", "a/b": 1, "children": [{}, 5]}, "/body")
        assert sorted((violation.path, violation.message) for violation in found) == [
            ("/body", "has properties the document does not know: a/b"),
            ("/body/children/0", "lacks the required property name"),
            ("/body/children/1", "must be of type object"),
            ("/body/name", "must be at most 3 characters long"),
        ]

    def test_never_repeat_the_value(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                name: {"type": "string", **rule}
                for name, rule in {
                    "a": {"pattern": "^x$"},
                    "b": {"enum": ["x"]},
                    "c": {"maxLength": 1},
                    "d": {"format": "uuid"},
                    "e": {"not": {}},
                }.items()
            },
        }
        value = dict.fromkeys("abcde", "secret-value")
        found = REQUESTS.compile(schema, "here")(value, "/body")
        assert len(found) == 5
        assert "secret" not in repr([(v.path, v.message) for v in found])

    def test_are_limited_in_number_and_length(self) -> None:
        schema = {"type": "array", "items": {"type": "object", "additionalProperties": False}}
        found = REQUESTS.compile(schema, "here")([{"k" * 3000: 1}] * 15 + [1] * 30, "/body")
        assert len(found) == 1, "only the first violation of a large value is reported"
        found = REQUESTS.compile(schema, "here")([1] * 50, "/body")
        assert len(found) == MAX_VIOLATIONS
        for violation in REQUESTS.compile(schema, "here")([{"k" * 3000: 1}], "/body"):
            assert len(violation.path) + len(violation.message) < 400

    def test_paths_follow_rfc_6901(self) -> None:
        schema = {"type": "object", "additionalProperties": {"type": "integer"}}
        (violation,) = REQUESTS.compile(schema, "here")({"a/b~c": "x"}, "/body")
        assert violation.path == "/body/a~1b~0c"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "["},
        {"type": "string", "pattern": "(?<a"},
        {"type": "nonsense"},
        ref("Nowhere"),
        {"minimum": "x"},
        {"required": "name"},
    ],
)
def test_schema_that_cannot_be_compiled_is_named(schema: dict[str, Any]) -> None:
    schemas = Schemas(DOCUMENT, drop="readOnly")
    schemas.compile({"type": "string"}, "another place")
    schemas.compile(schema, "the place")
    with pytest.raises(DocumentError, match="the place"):
        schemas.finish()


def test_lookup_decodes_escapes() -> None:
    assert lookup(DOCUMENT, "#/components/schemas/Odd~0Name~1Here") == {"type": "boolean"}


def test_many_schemas_share_one_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    compiled = jsonschema_rs.Draft4Validator
    monkeypatch.setattr(
        jsonschema_rs,
        "Draft4Validator",
        lambda *args, **kw: made.append(compiled(*args, **kw)) or made[-1],
    )
    schemas = Schemas(DOCUMENT, drop="readOnly")
    several = [schemas.compile({"type": "integer", "maximum": n}, "here") for n in range(300)]
    assert schemas.compile(ref("Tree"), "here") == schemas.compile(ref("Tree"), "there")
    assert [n for n in range(300) if several[n](n, "/v") or not several[n](n + 1, "/v")] == []
    assert len(made) == 1
    (violation,) = several[299]({"a": 1}, "/v")
    assert (violation.path, violation.rule) == ("/v", "type")
    (violation,) = schemas.compile(ref("Tree"), "here")({"name": "abcd"}, "/v")
    assert violation.path == "/v/name"
    (violation,) = schemas.compile({"items": ref("Tree")}, "later")([{"name": "abcd"}], "/v")
    assert violation.path == "/v/0/name"
    assert len(made) == 2


# --- OpenAPI 3.1 and 3.2: JSON Schema 2020-12 ---------------------------------------------------

NEWER = {
    "openapi": "3.1.1",
    "components": {
        "schemas": {
            "Small": {"type": "integer", "maximum": 5},
            "Node": {
                "$id": "https://example.com/node",
                "type": "object",
                "properties": {"next": {"$ref": "#"}, "size": {"$ref": "#/$defs/size"}},
                "$defs": {"size": {"type": "integer"}},
                "unevaluatedProperties": False,
            },
            "Named": {"$anchor": "named", "type": "string", "x-of": "an anchor"},
            "List": {
                "$dynamicAnchor": "item",
                "type": ["array", "string"],
                "items": {"$dynamicRef": "#item"},
            },
            "Account": SHARED["Account"],
        }
    },
    "paths": {"/a": {"get": {"parameters": [{"schema": {"type": ["integer", "null"]}}]}}},
}
TAKES_OF_3_1: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": ["string", "null"]}, ["a", None], [1]),
    ({"type": "string", "nullable": True}, ["a"], [None]),
    ({**ref("Small"), "minimum": 3}, [3, 5], [2, 6]),
    ({"const": None}, [None], [0, False]),
    ({"exclusiveMinimum": 3}, [4], [3]),
    ({"prefixItems": [ref("Small")], "items": False}, [[5]], [[6], [5, 5]]),
    ({"contains": ref("Small"), "minContains": 2}, [[1, 9, 2]], [[1, 9]]),
    ({"allOf": [{"required": ["a"]}], "unevaluatedProperties": False}, [1], [{"a": 1}]),
    ({"if": {"type": "string"}, "then": {"maxLength": 1}}, ["a", 11], ["aa"]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}], [{"a": 1}]),
    ({"propertyNames": {"maxLength": 1}}, [{"a": 1}], [{"aa": 1}]),
    ({"example": {"$ref": "#/no"}, "enum": [{"$ref": "#/no"}]}, [{"$ref": "#/no"}], [1]),
    ({"$ref": "#/paths/~1a/get/parameters/0/schema"}, [1, None], ["a"]),
    (ref("Node"), [{"next": {"next": {}, "size": 1}}], [{"next": {"size": "a"}}, {"other": 1}]),
    ({"$ref": "https://example.com/node"}, [{"size": 1}], [{"size": "a"}]),
    ({"$ref": "#named"}, ["a"], [1]),
    (ref("List"), [["a", ["b"]], "a"], [[1]]),
    ({"format": "uuid"}, ["9b7d9f0e-3b8b-4c53-8d0f-2f6f0e1f6f1a", 1], ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), TAKES_OF_3_1)
def test_values_in_3_1(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    schemas = Schemas(NEWER, drop="readOnly")
    assert [value for value in good if not is_valid(schema, value, schemas)] == []
    assert [value for value in bad if is_valid(schema, value, schemas)] == []


def test_schemas_of_3_1_can_be_true_or_false() -> None:
    schemas = Schemas(NEWER, drop="readOnly")
    assert schemas.compile(True, "here")(1, "") == ()
    (violation,) = schemas.compile(False, "here")(1, "/v")
    assert (violation.path, violation.message) == ("/v", "is not allowed here")
    assert schemas.resolve(True) == {}


def test_directions_in_3_1() -> None:
    requests, answers = (Schemas(NEWER, drop=drop) for drop in ("readOnly", "writeOnly"))
    assert is_valid(ref("Account"), {"password": "x", "name": "Ada"}, requests)
    assert is_valid(ref("Account"), {"id": 1, "name": "Ada"}, answers)
    assert not is_valid(ref("Account"), {"id": 1, "name": "Ada", "password": "x"}, answers)


def test_keywords_next_to_a_reference_apply_since_3_1() -> None:
    schema = {**ref("Small"), "default": 3}
    assert Schemas(NEWER, drop="").resolve(schema)["default"] == 3
    assert "default" not in REQUESTS.resolve(schema)
    assert Schemas(NEWER, drop="").resolve({"$ref": "#named"})["x-of"] == "an anchor"


@pytest.mark.parametrize("order", list(permutations(["", "/oneOf/1", "/oneOf/0/properties/a"])))
def test_references_to_a_schema_and_a_part_of_it_in_any_order(order: tuple[str, ...]) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    path = {"get": {"parameters": [{"schema": {"oneOf": [inner, {"enum": ["b"]}]}}]}}
    place = "#/paths/~1a/get/parameters/0/schema"
    schema = {"properties": {part: {"$ref": place + part} for part in order}}
    for version in ("3.0.3", "3.1.0"):
        schemas = Schemas({"openapi": version, "paths": {"/a": path}}, drop="")
        right, wrong = {"a": 1}, {"a": "x"}
        for part, good, bad in (("", right, wrong), ("", "b", 1), ("/oneOf/1", "b", right),
                                ("/oneOf/0/properties/a", 1, "x")):  # fmt: skip
            assert is_valid(schema, {part: good}, schemas), (part, version)
            assert not is_valid(schema, {part: bad}, schemas), (part, version)


def test_references_to_a_schema_and_a_part_of_it() -> None:
    whole = {"oneOf": [{"type": "integer"}, {"enum": ["a"]}]}
    path = {"get": {"responses": {"200": {"content": {"a/b": {"schema": whole}}}}}}
    place = "#/paths/~1things~1{id}/get/responses/200/content/a~1b/schema"
    both = {"properties": {"x": {"$ref": place}, "y": {"$ref": f"{place}/oneOf/1"}}}
    for version in ("3.0.3", "3.1.0"):
        schemas = Schemas({"openapi": version, "paths": {"/things/{id}": path}}, drop="")
        validate = schemas.compile(both, "x")
        assert not validate({"x": 1, "y": "a"}, "")
        assert {each.path for each in validate({"x": "b", "y": 1}, "")} == {"/x", "/y"}


def test_references_below_rejected_values() -> None:
    hidden = {"readOnly": True, "properties": {"x": {"type": "integer"}}}
    shared = {"A": {"properties": {"hidden": hidden}}}
    schemas = Schemas({"components": {"schemas": shared}}, drop="readOnly")
    reference = "#/components/schemas/A/properties/hidden/properties/x"
    validate = schemas.compile({"properties": {"y": {"$ref": reference}}}, "x")
    assert not validate({"y": 1}, "")
    assert validate({"y": "a"}, "")


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (
            {
                "$id": "http://localhost/tree",
                "properties": {"nodes": {"items": {"$ref": "node"}}},
                "$defs": {
                    "node": {
                        "$id": "http://localhost/node",
                        "properties": {"value": {"type": "number"}, "tree": {"$ref": "tree"}},
                    }
                },
            },
            {"nodes": [{"value": 1, "tree": {"nodes": [{"value": 2}]}}]},
            {"nodes": [{"value": 1, "tree": {"nodes": [{"value": "a"}]}}]},
        ),
        (
            {"items": {"$ref": "#entry"}, "$defs": {"e": {"$anchor": "entry", "type": "string"}}},
            ["a"],
            [1],
        ),
        (
            {
                "$dynamicAnchor": "node",
                "properties": {"next": {"$dynamicRef": "#node"}, "name": {"type": "string"}},
            },
            {"next": {"next": {"name": "a"}}},
            {"next": {"next": {"name": 1}}},
        ),
    ],
)
def test_references_to_names_in_the_schema_itself(schema: Any, right: Any, wrong: Any) -> None:
    schemas = Schemas({"openapi": "3.1.1"}, drop="")
    assert is_valid(schema, right, schemas)
    assert not is_valid(schema, wrong, schemas)


def test_references_in_a_cycle() -> None:
    circle = {"components": {"schemas": {"A": ref("B"), "B": ref("A")}}}
    with pytest.raises(DocumentError, match="#/components/schemas/A refers to itself"):
        Schemas(circle, drop="").resolve(ref("A"))


@pytest.mark.parametrize(
    ("named", "value", "expected"),
    [
        ("http://json-schema.org/draft-07/schema#", [1, "a"], True),
        ("https://json-schema.org/draft/2020-12/schema", [1, "a"], False),
        ("https://spec.openapis.org/oas/3.1/dialect/base", [1, "a"], False),
        (None, [1, "a"], False),
    ],
)
def test_document_can_name_its_dialect(named: str | None, value: Any, expected: bool) -> None:
    """In draft 7, a list of `items` has the meaning of the later `prefixItems`, and `prefixItems`
    has none.
    """
    document = {"openapi": "3.1.0", **({"jsonSchemaDialect": named} if named else {})}
    schemas = Schemas(document, drop="")
    assert is_valid({"prefixItems": [{"type": "string"}]}, value, schemas) is expected


def test_other_dialect_is_rejected_by_name() -> None:
    document = {"openapi": "3.1.0", "jsonSchemaDialect": "https://example.com/mine"}
    with pytest.raises(DocumentError, match=r"the dialect https://example\.com/mine is not"):
        Schemas(document, drop="").compile({"type": "string"}, "here")
