"""The documents avoid what generators of SDKs and importers get wrong (docs/decisions/0027)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import specs
from specd._engine.document.media import FORMS
from specd._engine.openapi.structure import resolved, walk
from wsgi import project

Node = Mapping[str, Any]
DOCUMENTS = {name: specs.load(name) for name in project.documents}
INT32_MAX = 2**31 - 1
COMBINED = {"$ref", "allOf", "anyOf", "oneOf"}


def every(kind: str) -> Iterator[tuple[str, Node]]:
    """The objects of a kind in all documents, each with its place."""
    for name, document in DOCUMENTS.items():
        for at, node, found in walk(document):
            if found == kind and isinstance(node, Mapping):
                yield f"{name}: {'/'.join(map(str, at))}", node


SCHEMAS = list(every("schema"))
PARAMETERS = [(place, node) for place, node in every("parameter") if "$ref" not in node]


def is_beyond_32_bits(schema: Node) -> bool:
    if schema.get("type") != "integer":
        return False
    values = [schema.get(key) for key in ("minimum", "maximum", "example", "default")]
    return any(isinstance(value, int) and not -INT32_MAX - 1 <= value <= INT32_MAX
               for value in values)  # fmt: skip


def test_integers_beyond_32_bits_say_so() -> None:
    """Go, Java, Kotlin and Rust take an integer for one of 32 bits."""
    found = [(place, schema) for place, schema in SCHEMAS if is_beyond_32_bits(schema)]
    assert len(found) > 40
    assert [place for place, schema in found if schema.get("format") != "int64"] == []


def test_numbers_say_that_they_are_doubles() -> None:
    """Go takes a number for a float of 32 bits, which cannot hold a time."""
    found = [(place, schema) for place, schema in SCHEMAS if schema.get("type") == "number"]
    assert len(found) > 5
    assert [place for place, schema in found if schema.get("format") != "double"] == []


def test_patterns_have_no_escape_that_pcre_does_not_know() -> None:
    patterns = {place: schema["pattern"] for place, schema in SCHEMAS if "pattern" in schema}
    assert any(r"\x00" in pattern for pattern in patterns.values())
    assert [place for place, pattern in patterns.items() if r"\u" in pattern] == []


def test_values_of_enumerations_that_make_no_name_have_one() -> None:
    """An empty name stops Kotlin, an asterisk Ruby."""
    named = {place: schema for place, schema in SCHEMAS if "x-enum-varnames" in schema}
    for place, schema in named.items():
        names = schema["x-enum-varnames"]
        assert len(names) == len(set(names)) == len(schema["enum"]), place
        assert all(re.fullmatch("[A-Z][A-Z0-9_]*", name) for name in names), place
    values = [(place, value) for place, schema in SCHEMAS for value in schema.get("enum", ())]
    odd = {place for place, value in values
           if isinstance(value, str) and not re.match("[A-Za-z0-9]", value)}  # fmt: skip
    assert len(odd) >= 3
    assert odd - named.keys() == set()


def test_no_schema_is_named_like_the_constructor_of_another() -> None:
    """Go's constructor of `Message` is `NewMessage` (OpenAPITools/openapi-generator#21857)."""
    for name, document in DOCUMENTS.items():
        names = document["components"]["schemas"].keys()
        assert [each for each in names if f"New{each}" in names] == [], name
        assert len({each.lower() for each in names}) == len(names), name


def test_defaults_stand_beside_plain_types() -> None:
    """Go and Java write a default of a union or of an `allOf` as code that does not compile."""
    defaults = [(place, schema) for place, schema in SCHEMAS if "default" in schema]
    assert len(defaults) > 20
    assert [place for place, schema in defaults if COMBINED & schema.keys()] == []
    assert [place for place, schema in defaults if "type" not in schema] == []


def test_enumerations_of_numbers_with_a_default_have_a_name() -> None:
    """In a composed schema, Ruby and PHP take its default for a class that is not there."""
    found = [
        (place, schema)
        for place, schema in SCHEMAS
        if schema.get("type") == "integer" and "enum" in schema
    ]
    assert len(found) > 10
    assert [place for place, schema in found if "default" in schema] == []


def test_a_query_has_no_choice_of_types() -> None:
    """Go, Java and axios send the object that holds the choice."""
    document = DOCUMENTS["chat"]
    found = [
        (place, resolved(document, node["schema"]))
        for place, node in PARAMETERS
        if node["in"] == "query" and place.startswith("chat")
    ]
    assert len(found) > 20
    assert [place for place, schema in found if COMBINED & schema.keys()] == []


def test_booleans_of_a_query_have_no_default() -> None:
    """PHP always sends a default, and a boolean as 0 or 1."""
    found = [
        (place, node["schema"])
        for place, node in PARAMETERS
        if node["in"] == "query" and node.get("schema", {}).get("type") == "boolean"
    ]
    assert len(found) > 20
    assert [place for place, schema in found if "default" in schema] == []


def test_what_tells_events_apart_has_a_name() -> None:
    """Go's reader of a union compares named enumerations only, and else fits several branches."""
    schemas = DOCUMENTS["chat"]["components"]["schemas"]
    branches = [resolved(DOCUMENTS["chat"], each) for each in schemas["Event"]["oneOf"]]
    told = [
        branch["properties"][key]
        for branch in branches
        for key in ("type", "op")
        if key in branch["properties"]
    ]
    assert len(told) > len(branches) > 70
    assert [schema for schema in told if "$ref" not in schema] == []


def test_parameters_have_a_schema() -> None:
    """Every generator but one sends `content: application/json` wrong, or does not compile it."""
    assert len(PARAMETERS) > 80
    assert [place for place, node in PARAMETERS if "schema" not in node] == []


def test_a_parameter_of_a_path_has_one_example() -> None:
    """Dredd reads `example` and does not start without it."""
    found = [(place, node) for place, node in PARAMETERS if node["in"] == "path"]
    assert len(found) > 20
    assert [place for place, node in found if "examples" in node] == []


def test_links_name_parameters_by_their_place() -> None:
    """express-openapi-validator takes `id` for the name of a schema. Bruno writes a pointer into a
    list as a script that does not parse.
    """
    found = [(place, node.get("parameters", {})) for place, node in every("link")]
    assert len(found) > 10
    assert [place for place, parameters in found if "id" in parameters] == []
    values = [(place, value) for place, its in found for value in its.values()]
    assert [place for place, value in values if re.search("/[0-9]", str(value))] == []


def test_a_body_whose_properties_have_defaults_may_be_absent() -> None:
    """FastMCP wants a value for each required body."""
    for name in ("payment", "payment-events"):
        document = DOCUMENTS[name]
        found = 0
        for item in document["paths"].values():
            for operation in item.values():
                if isinstance(operation, Mapping) and operation.get("requestBody"):
                    found += 1
                    body = operation["requestBody"]
                    schema = resolved(document, body["content"]["application/json"]["schema"])
                    has_defaults = all("default" in each for each in schema["properties"].values())
                    assert not (body.get("required") and has_defaults), operation
        assert found >= 1


def test_no_field_of_a_form_has_null_as_its_example() -> None:
    """Bruno does not import a document with one."""
    found = [
        (place, value)
        for place, media in every("media")
        for form in ("/application/x-www-form-urlencoded", "/multipart/form-data")
        if place.endswith(form) and "requestBody" in place
        for example in media.get("examples", {}).values()
        for value in example["value"].values()
    ]
    assert len(found) > 100
    assert [place for place, value in found if value is None] == []


def test_a_uuid_has_no_pattern_beside_its_format() -> None:
    """aiopenapi3 makes a UUID of the one and cannot apply the other to it."""
    found = [(place, schema) for place, schema in SCHEMAS if schema.get("format") == "uuid"]
    assert len(found) >= 4
    assert [place for place, schema in found if "pattern" in schema] == []


@pytest.mark.parametrize(
    ("schema", "is_beyond"),
    [
        ({"type": "integer", "maximum": 2**31 - 1}, False),
        ({"type": "integer", "minimum": -(2**31)}, False),
        ({"type": "integer", "maximum": 2**31}, True),
        ({"type": "integer", "example": 2**40}, True),
        ({"type": "number", "maximum": 2**40}, False),
    ],
)
def test_tells_how_wide_an_integer_is(schema: Node, is_beyond: bool) -> None:
    assert is_beyond_32_bits(schema) is is_beyond


def referred(node: Any) -> Iterator[str]:
    """The references in a part of a document, but for those of forms."""
    if isinstance(node, Mapping):
        yield from (ref for ref in [node.get("$ref")] if isinstance(ref, str))
        for key, child in node.items():
            if key not in FORMS:
                yield from referred(child)
    elif isinstance(node, list):
        for child in node:
            yield from referred(child)


def forms_after_json(document: Node) -> Iterator[Any]:
    """The schemas of forms in requests whose first media type is JSON."""
    for _, node, kind in walk(document):
        if kind == "requestBody" and "content" in node:
            first, *others = node["content"]
            if first == "application/json":
                yield from (node["content"][key]["schema"] for key in others if key in FORMS)


def test_fields_of_a_form_after_json_have_a_type() -> None:
    """The types of forms alone are not generated, but typescript-fetch imports them if they have
    properties.
    """
    for name, document in DOCUMENTS.items():
        elsewhere = set(referred(document))
        forms = list(forms_after_json(document))
        assert forms or name != "chat"
        alone = [form for form in forms if form.get("$ref") not in elsewhere]
        assert [form for form in alone if resolved(document, form).get("properties")] == [], name
