"""The parameters that name objects: every leaf of every request, and named-objects.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.support.contract import operations_of
from tests.support.documents import resolved
from tests.support.yaml_files import read_yaml

NAMED_OBJECTS = Path(__file__).with_name("named-objects.yaml")
NOTHING = "nothing"


def load_names() -> dict[str, Any]:
    """Return the contents of the file: service -> `names` (kind -> patterns of leaves) and `stays`
    (differences).
    """
    named: dict[str, Any] = read_yaml(NAMED_OBJECTS)
    return named


def leaves_of(document: Mapping[str, Any], operation_id: str) -> set[str]:
    """Return the paths of texts and numbers in a request, except enumerations.

    For example, `narrow/#/operand` is the property `operand` of an item of the parameter `narrow`.
    """
    method, path = operations_of(document)[operation_id]
    item = document["paths"][path]
    operation = item[method.lower()]
    found: set[str] = set()
    for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]:
        known = resolved(document, parameter)
        schema = known.get("schema") or known["content"]["application/json"]["schema"]
        found |= set(_leaves(document, schema, known["name"]))
    body = resolved(document, operation.get("requestBody", {})).get("content", {})
    for media in ("application/json", "application/x-www-form-urlencoded"):
        properties = resolved(document, body.get(media, {}).get("schema", {})).get("properties")
        for name, schema in (properties or {}).items():
            found |= set(_leaves(document, schema, name))
    return found


def _leaves(document: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    schema = resolved(document, schema)
    for branch in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(branch, ()):
            yield from _leaves(document, part, path)
    if schema.get("type") == "array":
        yield from _leaves(document, schema["items"], f"{path}/#")
    elif schema.get("type") == "object":
        for name, part in schema.get("properties", {}).items():
            yield from _leaves(document, part, f"{path}/{name}")
    elif schema.get("type") in ("integer", "string") and "enum" not in schema:
        yield path


def kinds_of(names: Mapping[str, list[str]], operation_id: str, leaf: str) -> list[str]:
    """Return the kinds of objects that the leaf names. Patterns with an operation's name before a
    colon take precedence.
    """
    own = _matching(names, f"{operation_id}:{leaf}", ":")
    return own or _matching(names, leaf, "")


def _matching(names: Mapping[str, list[str]], text: str, sign: str) -> list[str]:
    return [
        kind
        for kind, patterns in names.items()
        if any((":" in p) == (sign == ":") and fnmatchcase(text, p) for p in patterns)
    ]
