"""Reads OpenAPI documents without the engine, so that tests do not check it with itself."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

_SHORT_FORMATS = ("uuid", "date", "date-time", "binary")


def is_bounded_text(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema of texts limits their length. Bytes are limited by the body."""
    return bool(
        {"enum", "maxLength", "pattern"} & schema.keys() or schema.get("format") in _SHORT_FORMATS
    )


def resolved(document: Mapping[str, Any], node: Any) -> Any:
    """Return the target of a local `$ref`, through any number of them, or the node itself."""
    while isinstance(node, Mapping) and "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def schemas_in(document: Mapping[str, Any], node: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every object schema below a node once, through its `$ref`s, with its place."""
    yield from _schemas_in(document, node, "", set())


def _schemas_in(
    document: Mapping[str, Any], node: Any, place: str, seen: set[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(node, Mapping) and "$ref" in node:
        place = node["$ref"]
        if place in seen:
            return
        seen.add(place)
        node = resolved(document, node)
    if isinstance(node, Mapping):
        if node.get("type") == "object" and "properties" in node:
            yield place, node
        for key, value in node.items():
            if key not in ("example", "examples"):
                yield from _schemas_in(document, value, f"{place}/{key}", seen)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _schemas_in(document, value, f"{place}/{index}", seen)


def with_closed_answers(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document with `additionalProperties: false` in response objects that lack it.

    Responses are open for clients, which ignore unknown properties. A test of our service must not
    ignore them: an undocumented property is an error. Parts of an `allOf` cannot be closed
    separately.
    """
    strict = deepcopy(dict(document))
    parts = {
        id(resolved(strict, part))
        for _, schema in schemas_in(strict, strict)
        for part in schema.get("allOf", ())
    }
    for item in strict["paths"].values():
        for operation in item.values():
            if not isinstance(operation, Mapping):
                continue
            for _, schema in schemas_in(strict, operation.get("responses")):
                if id(schema) not in parts and "allOf" not in schema:
                    schema.setdefault("additionalProperties", False)  # type: ignore[attr-defined]
    return strict


def with_json_content(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document with `content: application/json` for each parameter with a schema for its
    text (`x-content-schema`), so that other validators check the JSON as well.
    """
    strict = deepcopy(dict(document))
    for _, node in list(walk(strict)):
        if isinstance(node, dict) and "in" in node and "x-content-schema" in node.get("schema", ()):
            content = {"schema": node.pop("schema")["x-content-schema"]}
            if "example" in node:
                content["example"] = json.loads(node.pop("example"))
            node["content"] = {"application/json": content}
    return strict


def walk(node: Any, place: str = "#") -> Iterator[tuple[str, Any]]:
    """Yield a node and every node below it, with its place."""
    yield place, node
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from walk(value, f"{place}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{place}/{index}")
