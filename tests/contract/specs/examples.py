"""The examples of a document: their places, the schemas that validate them, and the properties that
they show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from openapi_schema_validator import OAS30ReadValidator, OAS30WriteValidator

import specs
from specd._engine.openapi.structure import lookup

Node = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Example:
    """A value, with the schema that it must match. `is_sent` is true for requests."""

    place: str
    schema: Node
    value: Any
    is_sent: bool


def written_examples(name: str) -> dict[str, Any]:
    """Return the examples that a document defines once for several places."""
    text = (specs.HERE / f"{name}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)["components"]["examples"]
    return found


def resolve(document: Node, node: Node) -> Node:
    while "$ref" in node:
        node = lookup(document, node["$ref"])
    return node


def operations(document: Node) -> Iterator[tuple[str, str, Node, tuple[Node, ...]]]:
    """Yield (method, path, operation, its parameters) of each operation in the document's order,
    including the parameters of its path.
    """
    for path, item in document["paths"].items():
        for method in item:
            if method in METHODS:
                listed = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                parameters = tuple(resolve(document, parameter) for parameter in listed)
                yield method.upper(), path, item[method], parameters


def examples(document: Node) -> list[Example]:
    """Return every example of a document: of parameters, bodies, headers, and within schemas."""
    found = []
    for _, _, operation, parameters in operations(document):
        name = operation["operationId"]
        for parameter in parameters:
            found += of_parameter(document, parameter, f"{name} {parameter['name']}")
        body = resolve(document, operation.get("requestBody", {}))
        found += _of_content(document, body, f"{name} request", True)
        for status, listed in operation["responses"].items():
            response = resolve(document, listed)
            found += _of_content(document, response, f"{name} {status}", False)
            for header, node in response.get("headers", {}).items():
                where = f"{name} {status} {header}"
                found += _of_media(document, resolve(document, node), where, False)
    for name, schema in document["components"]["schemas"].items():
        found += _within(schema, name)
    return found


def of_parameter(document: Node, parameter: Node, place: str) -> list[Example]:
    if "content" in parameter:
        return list(_of_content(document, parameter, place, True))
    return list(_of_media(document, parameter, place, True))


def _of_content(document: Node, holder: Node, place: str, is_sent: bool) -> Iterator[Example]:
    for kind, media in holder.get("content", {}).items():
        yield from _of_media(document, media, f"{place} {kind}", is_sent)


def _of_media(document: Node, media: Node, place: str, is_sent: bool) -> Iterator[Example]:
    if "example" in media:
        yield Example(place, media["schema"], media["example"], is_sent)
    for name, example in media.get("examples", {}).items():
        value = resolve(document, example)["value"]
        yield Example(f"{place} ({name})", media["schema"], value, is_sent)
    yield from _within(media["schema"], place)


def _within(schema: Node, place: str) -> Iterator[Example]:
    if "example" in schema:
        yield Example(f"{place} (schema)", schema, schema["example"], False)
    for name, child in children(schema):
        yield from _within(child, f"{place}/{name}")


def children(schema: Node) -> Iterator[tuple[str, Node]]:
    """Yield the schemas defined inside a schema."""
    yield from schema.get("properties", {}).items()
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            yield key, schema[key]
    for key in ("oneOf", "anyOf", "allOf"):
        for at, branch in enumerate(schema.get(key, ())):
            yield f"{key}/{at}", branch


class ExampleChecker:
    """Validates values of a document's schemas with jsonschema, and records the properties that
    examples show.
    """

    def __init__(self, document: Node) -> None:
        self._document = document
        self._components = {"components": document["components"]}
        self.shown: set[int] = set()
        """The properties, by the identity of their schemas, for which a value other than null
        exists."""

    def objections(self, schema: Node, value: Any, is_sent: bool = False) -> list[str]:
        kind = OAS30WriteValidator if is_sent else OAS30ReadValidator
        return [e.message for e in kind({**schema, **self._components}).iter_errors(value)]

    def show(self, example: Example) -> None:
        if not example.place.endswith("(schema)"):
            self._show(example.schema, example.value, example.is_sent)

    def _show(self, schema: Node, value: Any, is_sent: bool) -> None:
        schema = resolve(self._document, schema)
        for branch in schema.get("allOf", ()):
            self._show(branch, value, is_sent)
        for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            if not self.objections(branch, value, is_sent):
                self._show(branch, value, is_sent)
        if isinstance(value, Mapping):
            known = schema.get("properties", {})
            other = schema.get("additionalProperties")
            for name, item in value.items():
                if name in known and item is not None:
                    self.shown.add(id(known[name]))
                    self._show(known[name], item, is_sent)
                elif name not in known and isinstance(other, Mapping):
                    self._show(other, item, is_sent)
        elif isinstance(value, list) and "items" in schema:
            for item in value:
                self._show(schema["items"], item, is_sent)

    def unshown(self, schema: Node, place: str) -> Iterator[str]:
        """Yield the properties defined here for which no example shows a value."""
        for name, item in schema.get("properties", {}).items():
            if id(item) not in self.shown and not self._is_plain(item):
                yield f"{place}/{name}"
        for name, child in children(schema):
            yield from self.unshown(child, f"{place}/{name}")

    def _is_plain(self, schema: Node) -> bool:
        """Return whether a schema defines its values itself: by an example, by an enumeration, or
        as a boolean.
        """
        meant = resolve(self._document, schema)
        return (
            "example" in {**meant, **schema}
            or "enum" in meant
            or meant.get("type") == "boolean"
            or any(self._is_plain(branch) for branch in meant.get("allOf", ()))
        )
