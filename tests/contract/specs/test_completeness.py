"""The documents contain all information for readers and generators: descriptions, limits and
examples.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import specs
from specd._engine.openapi.structure import lookup
from tests.support.documents import is_bounded_text
from wsgi import project

Node = Mapping[str, Any]
Gap = tuple[str, str]
"""A missing part and its place."""

DOCUMENTS = {name: specs.load(name) for name in project.documents}
BOUNDS = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("maxItems",),
}
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(params=DOCUMENTS)
def document(request: pytest.FixtureRequest) -> Node:
    return DOCUMENTS[request.param]


def resolve(document: Node, node: Node) -> Node:
    while "$ref" in node:
        node = lookup(document, node["$ref"])
    return node


def schema_gaps(document: Node, schema: Node, place: str) -> Iterator[Gap]:
    """Yield the omissions of a schema defined here, without referenced schemas."""
    if "$ref" in schema:
        return
    if "enum" not in schema:
        for bound in BOUNDS.get(schema.get("type", ""), ()):
            if bound not in schema:
                yield bound, place
    if schema.get("type") == "string" and not is_bounded_text(schema):
        yield "maxLength", place
    if "default" in schema and "x-enum-varnames" in schema:  # Python SDKs could not be imported
        yield "a component for the enumeration", place
    for name, item in schema.get("properties", {}).items():
        if not (item.get("description") or resolve(document, item).get("description")):
            yield "description", f"{place}/{name}"
        yield from schema_gaps(document, item, f"{place}/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            yield from schema_gaps(document, schema[key], f"{place}/{key}")
    for key in ("oneOf", "anyOf", "allOf"):
        for at, branch in enumerate(schema.get(key, ())):
            yield from schema_gaps(document, branch, f"{place}/{key}/{at}")


def content_gaps(document: Node, content: Node, place: str) -> Iterator[Gap]:
    for media_type, media in content.items():
        where = f"{place} {media_type}"
        yield from schema_gaps(document, media["schema"], where)
        if "example" not in media and not media.get("examples"):
            yield "example", where


FROM_ANSWERS = ("cursor", "link")
"""Parameters whose values must come from a response, so that no example works."""


def parameter_gaps(document: Node, parameter: Node, place: str) -> Iterator[Gap]:
    if "$ref" in parameter:
        return
    where = f"{place} {parameter['name']}"
    if not parameter.get("description"):
        yield "description", where
    media = parameter.get("content", {}).get("application/json", parameter)
    yield from schema_gaps(document, media["schema"], where)
    yield from schema_gaps(document, media["schema"].get("x-content-schema", {}), f"{where} JSON")
    schema = resolve(document, media["schema"])
    if not {"example", "examples"} & {**parameter, **media, **schema}.keys() and not (
        schema.get("type") == "boolean" or "enum" in schema or parameter["name"] in FROM_ANSWERS
    ):
        yield "example", where


def operations(document: Node) -> Iterator[tuple[str, Node]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method]


def test_components_are_complete(document: Node) -> None:
    components = document["components"]
    gaps: list[Gap] = []
    for name, schema in components["schemas"].items():
        if not schema.get("description"):
            gaps.append(("description", name))
        gaps += schema_gaps(document, schema, name)
    for name, header in components["headers"].items():
        if not header.get("description"):
            gaps.append(("description", name))
        gaps += schema_gaps(document, header["schema"], f"header {name}")
    for parameter in components.get("parameters", {}).values():
        gaps += parameter_gaps(document, parameter, "parameter")
    for name, response in components["responses"].items():
        gaps += content_gaps(document, response.get("content", {}), f"response {name}")
    assert gaps == []


def test_operations_are_complete(document: Node) -> None:
    gaps: list[Gap] = []
    for place, operation in operations(document):
        for key in ("tags", "operationId", "summary", "description"):
            if not operation.get(key):
                gaps.append((key, place))
        for parameter in operation.get("parameters", ()):
            gaps += parameter_gaps(document, parameter, place)
        body = resolve(document, operation.get("requestBody", {}))
        gaps += content_gaps(document, body.get("content", {}), f"{place} body")
        for status, response in operation["responses"].items():
            if "$ref" not in response:
                gaps += content_gaps(document, response.get("content", {}), f"{place} {status}")
    assert gaps == []


def test_operations_have_different_names(document: Node) -> None:
    found = [operation for _, operation in operations(document)]
    for key in ("operationId", "summary"):
        values = [operation[key] for operation in found]
        assert len(set(values)) == len(values)


def test_omissions_are_detected() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert list(schema_gaps({}, schema, "S")) == [
        ("description", "S/a"),
        ("maxItems", "S/a"),
        ("maxLength", "S/a/items"),
    ]


def test_form_fields_that_are_not_text_are_json() -> None:
    """Clients read from `encoding` which fields are JSON text. The default is plain text."""
    document = DOCUMENTS["chat"]
    unmarked = []
    for place, operation in operations(document):
        content = resolve(document, operation.get("requestBody", {})).get("content", {})
        for media_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
            media = content.get(media_type, {"schema": {}})
            marked = {
                name
                for name, encoding in media.get("encoding", {}).items()
                if encoding.get("contentType") == "application/json"
            }
            for name, field in resolve(document, media["schema"]).get("properties", {}).items():
                field = resolve(document, field)
                if len(field.get("allOf", ())) == 1:
                    field = resolve(document, field["allOf"][0])
                if field.get("type") != "string" and name not in marked:
                    unmarked.append(f"{place} {media_type} {name}")
    assert unmarked == []
