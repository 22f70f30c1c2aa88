"""The table of OpenAPI's objects and their places, by which documents are traversed.

The source is OpenAPI 3.2.0, section 4, which includes the fields of 3.0 and 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from specd._engine.errors import DocumentError

Steps = tuple[str | int, ...]
"""The place of a node: the keys and indexes from the root."""

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
EVERY = "*"
"""Stands for all fields of an object that is a map."""
CONTENT_SCHEMA = "x-content-schema"
"""A key in the schema of a text: the schema of the JSON in the text. It corresponds to JSON
Schema's `contentSchema`, which OpenAPI 3.0 does not have.
"""

_SCHEMA = {
    **dict.fromkeys(
        (
            *("properties", "patternProperties", "$defs", "dependentSchemas"),
            *("definitions", "dependencies"),  # of earlier drafts
        ),
        "{schema}",
    ),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "[schema]"),
    **dict.fromkeys(
        (
            *("items", "additionalProperties", "not", "if", "then", "else", "contains"),
            *("propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
            "additionalItems",  # of earlier drafts
            CONTENT_SCHEMA,
        ),
        "schema",
    ),
}
_WITH_VALUES = {"schema": "schema", "examples": "{example}"}
OBJECTS: Mapping[str, Mapping[str, str]] = {
    "document": {"paths": "{pathItem}", "webhooks": "{pathItem}", "components": "components"},
    "components": {
        "schemas": "{schema}",
        "responses": "{response}",
        "parameters": "{parameter}",
        "examples": "{example}",
        "requestBodies": "{requestBody}",
        "headers": "{header}",
        "securitySchemes": "{securityScheme}",
        "links": "{link}",
        "callbacks": "{callback}",
        "pathItems": "{pathItem}",
        "mediaTypes": "{media}",
    },
    "pathItem": {
        **dict.fromkeys(METHODS, "operation"),
        "additionalOperations": "{operation}",
        "parameters": "[parameter]",
    },
    "operation": {
        "parameters": "[parameter]",
        "requestBody": "requestBody",
        "responses": "{response}",
        "callbacks": "{callback}",
    },
    "callback": {EVERY: "pathItem"},
    "parameter": {**_WITH_VALUES, "content": "{media}"},
    "header": {**_WITH_VALUES, "content": "{media}"},
    "requestBody": {"content": "{media}"},
    "response": {"headers": "{header}", "content": "{media}", "links": "{link}"},
    "media": {
        **_WITH_VALUES,
        "itemSchema": "schema",
        "encoding": "{encoding}",
        "prefixEncoding": "[encoding]",
        "itemEncoding": "encoding",
    },
    "encoding": {
        "headers": "{header}",
        "encoding": "{encoding}",
        "prefixEncoding": "[encoding]",
        "itemEncoding": "encoding",
    },
    "schema": _SCHEMA,
    "securityScheme": {},
    "link": {},
    "example": {},
}
"""Kind of an object -> field -> the kind of its value: one object, a `[list]` or a `{map}`."""

SECTIONS = {kind[1:-1]: section for section, kind in OBJECTS["components"].items()}
"""Kind of an object -> the section of `components` that has such objects."""


def children(node: Any, kind: str) -> Iterator[tuple[Steps, Any, str]]:
    """Yield the objects in an object: the steps to each, the object, and its kind.

    Parts whose structure does not fit the specification are skipped.
    """
    if not isinstance(node, Mapping):
        return
    fields = OBJECTS[kind]
    for key, value in node.items():
        child = fields.get(key)
        if child is None and not str(key).startswith("x-"):
            child = fields.get(EVERY)
        if child is None:
            continue
        if child[0] == "[":
            if isinstance(value, list):
                yield from (((key, at), item, child[1:-1]) for at, item in enumerate(value))
        elif child[0] == "{":
            if isinstance(value, Mapping):
                for name, item in value.items():
                    if key == "dependencies" and isinstance(item, list):
                        continue  # names of properties
                    if kind == "schema" or not str(name).startswith("x-"):
                        yield (key, name), item, child[1:-1]
        elif key == "items" and isinstance(value, list):  # of earlier drafts
            yield from (((key, at), item, child) for at, item in enumerate(value))
        else:
            yield (key,), value, child


def walk(node: Any, kind: str = "document", at: Steps = ()) -> Iterator[tuple[Steps, Any, str]]:
    """Yield an object and all objects in it, each with the steps to it and its kind.

    References are not followed.
    """
    waiting = [(at, node, kind)]
    while waiting:
        yield (found := waiting.pop())
        at, node, kind = found
        inside = [(at + steps, child, kind) for steps, child, kind in children(node, kind)]
        waiting.extend(reversed(inside))


def steps_of(fragment: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer, or of a local reference such as `#/components/schemas/A`
    (RFC 6901).
    """
    pointer = unquote(fragment).split("/")[1:]
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer)


def lookup(document: Mapping[str, Any], reference: str) -> Any:
    """Return the target of a local `$ref` such as `#/components/schemas/Order`."""
    node: Any = document
    for step in steps_of(reference):
        node = node[int(step) if isinstance(node, list) else step]
    return node


def resolved(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the target of a local `$ref` with the keys next to the reference, or else the object
    itself.

    Raise `DocumentError` for circular references.
    """
    followed: set[str] = set()
    while "$ref" in node:
        reference = node["$ref"]
        if reference in followed:
            raise DocumentError(f"{reference} refers to itself")
        followed.add(reference)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        node = {**lookup(document, reference), **beside}
    return node
