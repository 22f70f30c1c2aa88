"""`readOnly` and `writeOnly`: finds the properties that a value does not have in one direction.

A mark counts wherever a property has it: in its own schema, behind a `$ref`, or in an `allOf`. A
property that is left out is not required anywhere in the same value (OpenAPI 3.0.4, section
4.8.24.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specd._engine.openapi.structure import lookup

NONE: frozenset[str] = frozenset()
LISTS_IN_PLACE = ("allOf", "anyOf", "oneOf")
IN_PLACE = ("if", "then", "else", "not")
"""Keywords whose schemas apply to the same value."""
DEEPEST = 200
"""The maximum number of schemas on the path from one schema to another for the same value."""
_CHOICES = ("anyOf", "oneOf")


class Marks:
    """Finds the properties with a mark, `readOnly` or `writeOnly`, in a document's schemas."""

    def __init__(self, document: Mapping[str, Any], mark: str, *, is_3_0: bool) -> None:
        self._document = document
        self._mark = mark
        self._is_3_0 = is_3_0
        self._known: dict[int, tuple[Any, frozenset[str]]] = {}

    def hidden(self, schema: Any) -> frozenset[str]:
        """Return the properties that a value of a schema does not have in this direction."""
        return self._hidden(schema, ())

    def _hidden(self, schema: Any, passed: tuple[int, ...]) -> frozenset[str]:
        if not isinstance(schema, Mapping) or id(schema) in passed:
            return NONE
        if id(schema) in self._known:
            return self._known[id(schema)][1]
        passed = _passing(schema, passed)
        properties = schema.get("properties")
        found = {
            str(name)
            for name, item in (properties.items() if isinstance(properties, Mapping) else ())
            if not self._hides_its_own(schema) and self.is_marked(item)
        }
        for part in self._parts(schema):
            found |= self._hidden(part, passed)
        for key in _CHOICES:
            branches = schema.get(key)
            if isinstance(branches, list) and branches:
                found |= frozenset.intersection(*(self._hidden(it, passed) for it in branches))
        if len(passed) == 1:  # otherwise a cycle may have hidden some of them
            self._known[id(schema)] = schema, frozenset(found)
        return frozenset(found)

    def _hides_its_own(self, schema: Mapping[str, Any]) -> bool:
        return self._is_3_0 and "$ref" in schema

    def is_marked(self, schema: Any, passed: tuple[int, ...] = ()) -> bool:
        """Return whether a property with this schema has the mark."""
        if not isinstance(schema, Mapping) or id(schema) in passed:
            return False
        if schema.get(self._mark) is True and not self._hides_its_own(schema):
            return True
        passed = _passing(schema, passed)
        return any(self.is_marked(it, passed) for it in self._parts(schema))

    def _parts(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas that a value of a schema must also fit."""
        if "$ref" in schema:
            yield self.target(schema["$ref"])
            if self._is_3_0:
                return
        parts = schema.get("allOf")
        yield from parts if isinstance(parts, list) else ()

    def target(self, reference: Any) -> Any:
        """Return the target of a pointer in the document, or None for other references."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        try:
            return lookup(self._document, reference)
        except (LookupError, TypeError, ValueError):
            return None

    def are_needed(self, schema: Any, names: frozenset[str], passed: tuple[int, ...] = ()) -> bool:
        """Return whether a schema, or another for the same value that it contains or refers to,
        requires one of these properties. Schemas with an `$id`, and cycles, are not followed.
        """
        if not isinstance(schema, Mapping) or id(schema) in passed or "$id" in schema:
            return False
        passed = _passing(schema, passed)
        if not (self._is_3_0 and "$ref" in schema):
            needed = schema.get("required")
            if isinstance(needed, list) and not names.isdisjoint(map(str, needed)):
                return True
        return any(self.are_needed(it, names, passed) for it in self._in_place(schema))

    def _in_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        if "$ref" in schema:
            yield self.target(schema["$ref"])
            if self._is_3_0:
                return
        for key in LISTS_IN_PLACE:
            parts = schema.get(key)
            yield from parts if isinstance(parts, list) else ()
        for key in IN_PLACE:
            yield schema.get(key)
        dependents = schema.get("dependentSchemas")
        yield from dependents.values() if isinstance(dependents, Mapping) else ()


def _passing(schema: Any, passed: tuple[int, ...]) -> tuple[int, ...]:
    """Return the passed schemas with one more. Raise `RecursionError` if there are too many,
    independent of Python's own limit, because the work is their number times the number of all
    schemas.
    """
    if len(passed) >= DEEPEST:
        raise RecursionError
    return (*passed, id(schema))
