"""A validation of OpenAPI 3.0 documents that takes hundredths of a second.

connexion's validator, written in Python, takes a second for a long document. Its JSON Schema is
compiled here; connexion validates only a document with an error, for its message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs
from connexion.spec import OpenAPISpecification

from server.document.connexion_seams import validate_as_connexion_does
from server.document.schemas import Schemas, is_3_0
from server.errors import DocumentError

_VALUES = frozenset(("example", "examples", "enum"))
"""Keys of a schema whose values are no part of the document's structure."""


def check_validity(document: Mapping[str, Any]) -> None:
    """Raise connexion's `InvalidSpecification` for a document of OpenAPI 3.0 with an error."""
    if is_3_0(document) and not is_certainly_valid(document):
        validate_as_connexion_does(document)


def is_certainly_valid(document: Mapping[str, Any]) -> bool:
    """Return whether a document fits the JSON Schema of OpenAPI 3.0, and each default its schema.

    False may also mean that a default could not be checked.
    """
    return _openapi_schema().is_valid(document) and _defaults_fit(document)


@cache
def _openapi_schema() -> jsonschema_rs.Draft4Validator:
    return jsonschema_rs.Draft4Validator(
        OpenAPISpecification.openapi_schema, validate_formats=False
    )


def _defaults_fit(document: Mapping[str, Any]) -> bool:
    """Return whether all defaults fit, checked at once as the properties of one object."""
    schemas = dict(enumerate(_with_default(document)))
    together = {"properties": {str(number): schema for number, schema in schemas.items()}}
    try:
        validate = Schemas(document, drop="").compile(together, "defaults")
    except DocumentError:
        return False
    return not validate({str(n): schema["default"] for n, schema in schemas.items()}, "")


def _with_default(node: Any, *, are_names: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield every object of the document that has a default; `are_names`: the keys of `node` are
    names of properties.
    """
    if isinstance(node, Mapping):
        if "default" in node and not are_names:
            yield node
        for key, part in node.items():
            if are_names or key not in _VALUES:
                yield from _with_default(part, are_names=key == "properties" and not are_names)
    elif isinstance(node, list):
        for part in node:
            yield from _with_default(part)
