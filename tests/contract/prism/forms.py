"""Forms as JSON objects, which the service also accepts.

Prism reads every field of a form as text and ignores `encoding.contentType`. With JSON, it
validates the same values with the same schemas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from specd._engine.openapi.structure import lookup
from tests.contract.prism.routes import Routes

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Field:
    """A field with JSON text: whether it is an array, which may be repeated, and nullable."""

    is_list: bool
    is_nullable: bool


Marked = Mapping[str, Field]


class Forms:
    """The form fields of a document's operations."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document, self._routes = document, Routes(document)

    def as_json(self, method: str, path: str, body: bytes) -> bytes | None:
        """Return a form as a JSON object, or None if the document does not allow JSON instead."""
        operation = self._routes.find(method, path)
        asked = _resolve(self._document, operation.get("requestBody", {})) if operation else {}
        content = asked.get("content", {})
        if "application/json" not in content or FORM not in content:
            return None
        return json.dumps(_values(body, _marked(self._document, content[FORM]))).encode()


def _resolve(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        node = lookup(document, node["$ref"])
    return node


def _marked(document: Mapping[str, Any], media: Mapping[str, Any]) -> Marked:
    properties = _resolve(document, media["schema"]).get("properties", {})
    return {
        name: _field(document, properties.get(name, {}))
        for name, encoding in media.get("encoding", {}).items()
        if encoding.get("contentType") == "application/json"
    }


def _field(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Field:
    return Field(_is_list(document, schema), _resolve(document, schema).get("nullable") is True)


def _is_list(document: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Return whether the schema only allows arrays."""
    schema = _resolve(document, schema)
    branches = schema.get("anyOf") or schema.get("oneOf") or []
    return schema.get("type") == "array" or (
        bool(branches) and all(_is_list(document, branch) for branch in branches)
    )


def _values(body: bytes, marked: Marked) -> dict[str, Any]:
    """Return the last value of each field, like the service. Invalid JSON stays a text."""
    texts: dict[str, list[str]] = {}
    for name, text in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        texts.setdefault(name.removesuffix("[]"), []).append(text)
    values: dict[str, Any] = {}
    for name, several in texts.items():
        if name == "method":  # the meaning of the request, not a parameter
            continue
        field = marked.get(name)
        if field and (len(several) == 1 or not field.is_list):
            value = _json(several[-1])
            is_whole = isinstance(value, list) or (value is None and field.is_nullable)
            values[name] = value if is_whole or not field.is_list else [value]
        elif field:
            values[name] = [_json(text) for text in several]
        else:
            values[name] = several[-1]
    return values


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
