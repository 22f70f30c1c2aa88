"""The dialects of JSON Schema that a document or a schema may name, and their conversion to
2020-12.

A schema of an earlier dialect may be nested in a schema of a later dialect and refer to it, so a
document with several dialects is converted to 2020-12: keywords that its dialect does not have are
removed, and those that changed are rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from specd._engine.openapi.structure import Steps, children, steps_of, walk
from specd._engine.openapi.wording import NOTHING, reach

LATEST = "2020-12"
_LATEST = "https://json-schema.org/draft/2020-12/schema"
_NAMES: Mapping[str, str] = {
    _LATEST: LATEST,
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "http://json-schema.org/draft-07/schema": "7",
    "http://json-schema.org/draft-06/schema": "6",
    "http://json-schema.org/draft-04/schema": "4",
}
_OPENAPI = re.compile(r"https://spec\.openapis\.org/oas/3\.[12]/dialect/.*")
"""OpenAPI's own dialects: 2020-12 with annotations."""
_SINCE: Mapping[str, tuple[str, ...]] = {
    "6": ("const", "contains", "propertyNames"),
    "7": ("if", "then", "else"),
    "2019-09": (
        *("dependentRequired", "dependentSchemas", "minContains", "maxContains", "$anchor"),
        *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
    ),
    LATEST: ("prefixItems", "$dynamicRef", "$dynamicAnchor"),
}
"""Dialect -> the keywords that it added, which have no meaning in earlier dialects."""
_ORDER = ("4", *_SINCE)
_LATER = {
    dialect: frozenset(word for since in _ORDER[place + 1 :] for word in _SINCE[since])
    for place, dialect in enumerate(_ORDER)
}
_BESIDE_REFERENCES = ("$ref", "definitions", "$defs")
"""The keywords next to a `$ref` that are not ignored up to draft 7."""

Node = Mapping[str, Any]


def dialect_named(uri: Any) -> str | None:
    """Return the dialect that a URI names, such as "7", or None if it is not supported."""
    if not isinstance(uri, str):
        return None
    if _OPENAPI.fullmatch(uri):
        return LATEST
    return _NAMES.get(uri.removesuffix("#"))


def not_served(uri: Any) -> str:
    """Return the message about an unknown dialect."""
    return f"the dialect {str(uri)[:200]} is not served"


def with_dialects(
    content: Node, objects: Iterable[tuple[Steps, Any, str]]
) -> Iterator[tuple[Steps, Any, str, str]]:
    """Yield the objects of a document as `walk` does, each with the dialect that its own schema or
    a schema around it names. An unknown dialect is an empty text.
    """
    named = content.get("jsonSchemaDialect")
    around: list[tuple[Steps, str]] = [((), dialect_named(named) or "" if named else LATEST)]
    for at, node, kind in objects:
        while at[: len(around[-1][0])] != around[-1][0]:
            around.pop()
        if kind == "schema" and isinstance(node, Mapping) and "$schema" in node:
            around.append((at, dialect_named(node["$schema"]) or ""))
        yield at, node, kind, around[-1][1]


def in_latest(content: Node) -> Node:
    """Return a document with all schemas converted to JSON Schema 2020-12, if it has several
    dialects.

    Otherwise, or if it names an unsupported dialect, return the document itself.
    """
    if str(content.get("openapi")).startswith("3.0"):
        return content
    own = dialect_named(content.get("jsonSchemaDialect") or _LATEST)
    dialects = {own} | {
        dialect_named(node["$schema"])
        for _, node, kind in walk(content)
        if kind == "schema" and isinstance(node, Mapping) and "$schema" in node
    }
    if len(dialects) == 1 or None in dialects:
        return content
    found: dict[str, Any] = _rewritten(content, "document", str(own))
    found.pop("jsonSchemaDialect", None)
    _follow_moved(found, content)
    return found


def _rewritten(node: Any, kind: str, dialect: str) -> Any:
    """Return a copy of an object with its schemas in 2020-12. `dialect` is that of the surrounding
    schema.
    """
    if not isinstance(node, Mapping):
        return node
    if kind == "schema" and "$schema" in node:
        dialect = dialect_named(node["$schema"]) or LATEST
    found = dict(node)
    for steps, child, kind_of_child in children(node, kind):
        *way, last = steps
        holder = found
        for step in way:
            if holder[step] is node[step]:
                holder[step] = node[step].copy()
            holder = holder[step]
        holder[last] = _rewritten(child, kind_of_child, dialect)
    return _as_latest(found, dialect) if kind == "schema" else found


def _as_latest(schema: dict[str, Any], dialect: str) -> dict[str, Any]:
    """Return a schema converted to 2020-12. Its parts are already converted."""
    later = _LATER[dialect]
    found = {key: value for key, value in schema.items() if key not in later and key != "$schema"}
    if dialect == LATEST:
        return found
    has_lone_references = dialect != "2019-09"
    if has_lone_references and "$ref" in found:
        return {key: found[key] for key in _BESIDE_REFERENCES if key in found}
    others = found.pop("additionalItems", NOTHING)
    if isinstance(found.get("items"), list):
        items = found.pop("items")
        if items:
            found["prefixItems"] = items
        if others is not NOTHING:
            found["items"] = others
    dependencies = found.pop("dependencies", None) if has_lone_references else None
    for name, needed in dependencies.items() if isinstance(dependencies, Mapping) else ():
        key = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        found.setdefault(key, {})[name] = needed
    if dialect == "4":
        for bound in ("minimum", "maximum"):
            name = f"exclusiveM{bound[1:]}"
            is_exclusive = found.get(name)
            if isinstance(is_exclusive, bool):
                del found[name]
            if is_exclusive is True and bound in found:
                found[name] = found.pop(bound)
    return _with_names_of_latest(found, dialect)


def _with_names_of_latest(schema: dict[str, Any], dialect: str) -> dict[str, Any]:
    """Return a schema with its names and references in the syntax of 2020-12."""
    if dialect == "4" and isinstance(schema.get("id"), str):
        schema["$id"] = schema.pop("id")
    name = schema.get("$id")
    if dialect != "2019-09" and isinstance(name, str) and name.startswith("#"):
        schema["$anchor"] = schema.pop("$id")[1:]
    schema.pop("$recursiveAnchor", None)
    if "$recursiveRef" in schema:
        schema["$ref"] = schema.pop("$recursiveRef")
    return schema


_MOVES = (
    ("prefixItems", re.compile(r"/items(?=/[0-9]+(?:/|$))")),
    ("items", re.compile(r"/additionalItems(?=/|$)")),
    ("dependentSchemas", re.compile(r"/dependencies(?=/)")),
    ("dependentRequired", re.compile(r"/dependencies(?=/)")),
)


def _follow_moved(content: dict[str, Any], before: Node) -> None:
    """Update references to parts of schemas that were moved."""
    for _, node, _ in walk(content):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            continue
        if _leads(content, reference) or not _leads(before, reference):
            continue
        for name, pattern in _MOVES:
            moved = pattern.sub(f"/{name}", reference)
            if _leads(content, moved):
                node["$ref"] = moved
                break


def _leads(content: Node, reference: str) -> bool:
    return reach(content, steps_of(reference)) is not NOTHING
