"""Cuts schemas at places where the explanation of a wrong value stops and resumes, to limit its
work.

To explain an error in a `oneOf` or `anyOf`, a validator collects the errors of every branch, and of
every branch of nested choices. In a recursive schema, this work doubles with each level of the
value. By contrast, the time to check whether a value fits only grows with its size, because a
validator caches its results. So the schema of a property or an item is cut if it is recursive or
has more than `MAX_CHOICES` nested choices: it becomes `{"not": {"not": schema}}`, which accepts the
same values without collecting errors. An error at a cut is explained in a second step, by a
validator that starts there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from specd._engine.openapi.structure import children

CUT = "x-cut"
"""A key in a cut schema: the number of the schema that explains errors there."""
DEEP = "x-deep"
"""A key in the root of a validator: the schemas that are the targets of references to parts of
other schemas.
"""
MAX_CHOICES = 2
_CHOICES = frozenset(("anyOf", "oneOf"))
_OF_PARTS = frozenset(
    (
        *("properties", "patternProperties", "additionalProperties", "items", "additionalItems"),
        *("prefixItems", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties"),
    )
)
"""The keywords whose schemas apply to a part of the value."""


def depths_of(schemas: Mapping[str, Any]) -> dict[str, float]:
    """Return reference -> the depth of nested choices in its schema, which is infinite if the
    schema is recursive. `schemas` must contain everything that they refer to.
    """
    referring: dict[str, set[str]] = {reference: set() for reference in schemas}
    missing: dict[str, int] = {}
    for reference, schema in schemas.items():
        inside = set(references_in(schema))
        missing[reference] = len(inside)
        for other in inside:
            referring.setdefault(other, set()).add(reference)
    depths: dict[str, float] = {}
    ready = [reference for reference, count in missing.items() if not count]
    while ready:
        reference = ready.pop()
        depths[reference] = depth_of(schemas[reference], depths)
        for other in referring[reference]:
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return {reference: depths.get(reference, inf) for reference in schemas}


def references_in(schema: Any) -> Iterable[str]:
    """Yield all references in a schema and its parts."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            for key in ("$ref", "$dynamicRef", "$recursiveRef"):
                if isinstance(part.get(key), str):
                    yield part[key]
            waiting += [child for _, child, _ in children(part, "schema")]


def depth_of(schema: Any, depths: Mapping[str, float]) -> float:
    """Return the depth of nested choices in a schema, given the depths of the schemas that it
    refers to.
    """
    if not isinstance(schema, Mapping):
        return 0
    found = [depths.get(reference, inf) for reference in _own_references(schema)]
    found += [
        depth_of(child, depths) + (at[0] in _CHOICES) for at, child, _ in children(schema, "schema")
    ]
    return max(found, default=0)


def _own_references(schema: Mapping[str, Any]) -> Iterable[str]:
    keys = ("$ref", "$dynamicRef", "$recursiveRef")
    return [schema[key] for key in keys if isinstance(schema.get(key), str)]


def cut(schema: Any, depths: Mapping[str, float], number_of: Callable[[Any], int]) -> Any:
    """Return a schema in which the schemas of parts that are too deep are cut. `number_of` returns
    the number of the schema that explains errors.
    """

    def inside(child: Any, key: str) -> Any:
        if key not in _OF_PARTS:
            return cut(child, depths, number_of)
        if depth_of(child, depths) <= MAX_CHOICES:
            return child
        return {CUT: number_of(child), "not": {"not": child}}

    return _changed(schema, inside)


def with_deep_references(schema: Any, deep: Mapping[str, str]) -> Any:
    """Return a schema with references to parts of other schemas replaced by those in `deep`."""
    found = _changed(schema, lambda child, _: with_deep_references(child, deep))
    if isinstance(found, Mapping) and found.get("$ref") in deep:
        return {**found, "$ref": deep[found["$ref"]]}
    return found


def _changed(schema: Any, change: Callable[[Any, str], Any]) -> Any:
    """Return a schema with each child replaced by `change(child, keyword)`."""
    if not isinstance(schema, Mapping):
        return schema
    found = dict(schema)
    for at, child, _ in children(schema, "schema"):
        key = str(at[0])
        if len(at) == 1:
            found[key] = change(child, key)
            continue
        if found[key] is schema[key]:
            found[key] = schema[key].copy()
        found[key][at[1]] = change(child, key)
    return found
