"""The documents avoid errors of SDK generators and importers (docs/decisions/0027)."""

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
    """Yield the objects of a kind in all documents, each with its place."""
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


def test_integers_beyond_32_bits_have_a_format() -> None:
    """Go, Java, Kotlin and Rust generate 32-bit integers otherwise."""
    found = [(place, schema) for place, schema in SCHEMAS if is_beyond_32_bits(schema)]
    assert len(found) > 40
    assert [place for place, schema in found if schema.get("format") != "int64"] == []


def test_numbers_have_the_format_double() -> None:
    """Go generates 32-bit floats otherwise, which cannot represent a time."""
    found = [(place, schema) for place, schema in SCHEMAS if schema.get("type") == "number"]
    assert len(found) > 5
    assert [place for place, schema in found if schema.get("format") != "double"] == []


def test_patterns_have_no_escape_unsupported_by_pcre() -> None:
    patterns = {place: schema["pattern"] for place, schema in SCHEMAS if "pattern" in schema}
    assert any(r"\x00" in pattern for pattern in patterns.values())
    assert [place for place, pattern in patterns.items() if r"\u" in pattern] == []


def test_enumeration_values_without_letters_have_a_name() -> None:
    """Kotlin fails for an empty name, and Ruby for an asterisk."""
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


def test_defaults_are_in_plain_types() -> None:
    """Go and Java generate code that does not compile for a default of a union or of an `allOf`."""
    defaults = [(place, schema) for place, schema in SCHEMAS if "default" in schema]
    assert len(defaults) > 20
    assert [place for place, schema in defaults if COMBINED & schema.keys()] == []
    assert [place for place, schema in defaults if "type" not in schema] == []


def test_number_enumerations_with_a_default_have_a_name() -> None:
    """In a composed schema, Ruby and PHP use its default as a class that does not exist."""
    found = [
        (place, schema)
        for place, schema in SCHEMAS
        if schema.get("type") == "integer" and "enum" in schema
    ]
    assert len(found) > 10
    assert [place for place, schema in found if "default" in schema] == []


def test_query_parameters_have_one_type() -> None:
    """Go, Java and axios send the wrapper object of the choice."""
    document = DOCUMENTS["chat"]
    found = [
        (place, resolved(document, node["schema"]))
        for place, node in PARAMETERS
        if node["in"] == "query" and place.startswith("chat")
    ]
    assert len(found) > 20
    assert [place for place, schema in found if COMBINED & schema.keys()] == []


def test_boolean_query_parameters_have_no_default() -> None:
    """PHP always sends a default, and booleans as 0 or 1."""
    found = [
        (place, node["schema"])
        for place, node in PARAMETERS
        if node["in"] == "query" and node.get("schema", {}).get("type") == "boolean"
    ]
    assert len(found) > 20
    assert [place for place, schema in found if "default" in schema] == []


def test_discriminating_values_of_events_have_a_name() -> None:
    """Go's reader of a union compares only named enumerations, and otherwise matches several
    branches.
    """
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
    """All generators except one send `content: application/json` incorrectly, or fail."""
    assert len(PARAMETERS) > 80
    assert [place for place, node in PARAMETERS if "schema" not in node] == []


def test_path_parameter_has_one_example() -> None:
    """Dredd reads `example` and does not start without it."""
    found = [(place, node) for place, node in PARAMETERS if node["in"] == "path"]
    assert len(found) > 20
    assert [place for place, node in found if "examples" in node] == []


def test_links_name_parameters_with_their_place() -> None:
    """express-openapi-validator interprets `id` as the name of a schema. Bruno writes a pointer
    into a list as a script that cannot be parsed.
    """
    found = [(place, node.get("parameters", {})) for place, node in every("link")]
    assert len(found) > 10
    assert [place for place, parameters in found if "id" in parameters] == []
    values = [(place, value) for place, its in found for value in its.values()]
    assert [place for place, value in values if re.search("/[0-9]", str(value))] == []


def test_body_with_only_defaults_is_optional() -> None:
    """FastMCP requires a value for each required body."""
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


def test_form_fields_have_no_null_example() -> None:
    """Bruno cannot import a document with such an example."""
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


def test_uuid_has_no_pattern() -> None:
    """aiopenapi3 creates a UUID from the format and cannot apply a pattern to it."""
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
def test_width_of_an_integer_is_recognized(schema: Node, is_beyond: bool) -> None:
    assert is_beyond_32_bits(schema) is is_beyond


def referred(node: Any) -> Iterator[str]:
    """Yield the references in a part of a document, except those of forms."""
    if isinstance(node, Mapping):
        yield from (ref for ref in [node.get("$ref")] if isinstance(ref, str))
        for key, child in node.items():
            if key not in FORMS:
                yield from referred(child)
    elif isinstance(node, list):
        for child in node:
            yield from referred(child)


def forms_after_json(document: Node) -> Iterator[Any]:
    """Yield the schemas of forms in requests whose first media type is JSON."""
    for _, node, kind in walk(document):
        if kind == "requestBody" and "content" in node:
            first, *others = node["content"]
            if first == "application/json":
                yield from (node["content"][key]["schema"] for key in others if key in FORMS)


def test_fields_of_a_form_after_json_have_a_type() -> None:
    """Types used only in forms are not generated, but typescript-fetch imports them if they have
    properties.
    """
    for name, document in DOCUMENTS.items():
        elsewhere = set(referred(document))
        forms = list(forms_after_json(document))
        assert forms or name != "chat"
        alone = [form for form in forms if form.get("$ref") not in elsewhere]
        assert [form for form in alone if resolved(document, form).get("properties")] == [], name
