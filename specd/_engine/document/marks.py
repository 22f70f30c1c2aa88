"""`readOnly` and `writeOnly`: finds the properties that a value does not have in one direction.

A mark counts wherever a property has it: in its own schema, behind a `$ref`, or in an `allOf`. A
property that is left out is not required anywhere in the same value (OpenAPI 3.0.4, section
4.8.24.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from specd._engine.openapi.structure import lookup

NONE: frozenset[str] = frozenset()
LISTS_IN_PLACE = ("allOf", "anyOf", "oneOf")
IN_PLACE = ("if", "then", "else", "not")
"""Keywords whose schemas apply to the same value."""
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
        if not isinstance(schema, Mapping):
            return NONE
        if id(schema) not in self._known:
            self._find_hidden(schema)
        return self._known[id(schema)][1]

    def _find_hidden(self, schema: Mapping[str, Any]) -> None:
        """Find the hidden properties of a schema, and of all schemas that it depends on. They are
        added until nothing changes, because schemas may refer to each other in circles.
        """
        new = list(_reachable(schema, self._unknown_beside))
        own = {id(each): self._own_hidden(each) for each in new}
        self._known |= {id(each): (each, own[id(each)]) for each in new}
        is_changed = True
        while is_changed:
            is_changed = False
            for each in reversed(new):  # the schemas that others depend on are first
                found = own[id(each)].union(*map(self._hidden_so_far, self._parts(each)))
                for branches in _choices(each):
                    found |= frozenset.intersection(*map(self._hidden_so_far, branches))
                if found != self._known[id(each)][1]:
                    self._known[id(each)] = each, found
                    is_changed = True

    def _own_hidden(self, schema: Mapping[str, Any]) -> frozenset[str]:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or self._hides_its_own(schema):
            return NONE
        return frozenset(str(name) for name, item in properties.items() if self.is_marked(item))

    def _hidden_so_far(self, schema: Any) -> frozenset[str]:
        return self._known[id(schema)][1] if isinstance(schema, Mapping) else NONE

    def _unknown_beside(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the schemas on which the hidden properties of a schema depend, without those whose
        hidden properties are known.
        """
        for each in (*self._parts(schema), *chain(*_choices(schema))):
            if id(each) not in self._known:
                yield each

    def _hides_its_own(self, schema: Mapping[str, Any]) -> bool:
        return self._is_3_0 and "$ref" in schema

    def is_marked(self, schema: Any) -> bool:
        """Return whether a property with this schema has the mark."""
        return any(
            each.get(self._mark) is True and not self._hides_its_own(each)
            for each in _reachable(schema, self._parts)
        )

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

    def are_needed(self, schema: Any, names: frozenset[str]) -> bool:
        """Return whether a schema, or another for the same value that it contains or refers to,
        requires one of these properties. Schemas with an `$id` are not read.
        """
        return any(
            not names.isdisjoint(map(str, each["required"]))
            for each in _reachable(schema, self._in_place)
            if isinstance(each.get("required"), list)
            and "$id" not in each
            and not self._hides_its_own(each)
        )

    def _in_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        if "$id" in schema:
            return
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


def _choices(schema: Mapping[str, Any]) -> Iterator[list[Any]]:
    for key in _CHOICES:
        branches = schema.get(key)
        if isinstance(branches, list) and branches:
            yield branches


def _reachable(
    schema: Any, beside: Callable[[Mapping[str, Any]], Iterable[Any]]
) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and all that are reached from it through `beside`, each once."""
    waiting, seen = [schema], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping) and id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += beside(each)
