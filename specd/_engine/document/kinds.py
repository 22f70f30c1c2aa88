"""Finds the JSON types that a schema may accept, through references and combined schemas.

Texts in a request have no type, so parameters and form fields are converted to one of these types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from specd._engine.document.schemas import Schemas

MISSING = object()
"""Stands for a value that was not sent."""
Kinds = frozenset[str]
COMPOSITE: Kinds = frozenset(("array", "object"))
NONE: Kinds = frozenset()
_COMBINED = ("oneOf", "anyOf", "allOf")
_KINDS: Mapping[type, Kinds] = {
    type(None): frozenset(("null",)),
    bool: frozenset(("boolean",)),
    int: frozenset(("integer", "number")),
    float: frozenset(("number",)),
    str: frozenset(("string",)),
    list: frozenset(("array",)),
    dict: frozenset(("object",)),
}


def branches(
    schema: Any, schemas: Schemas, keys: tuple[str, ...] = _COMBINED
) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and the schemas that it combines with one of these keywords, resolved, each
    once.
    """
    waiting, seen = [schema], dict[int, Any]()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, Mapping) or id(each) in seen:  # or true and false, since 3.1
            continue
        seen[id(each)] = each
        resolved = schemas.resolve(each)
        if resolved is not each and id(resolved) in seen:
            continue
        seen[id(resolved)] = resolved
        yield resolved
        waiting += reversed([branch for key in keys for branch in resolved.get(key, ())])


def kinds_of(schema: Any, schemas: Schemas) -> Kinds:
    """Return all JSON types that a schema may accept, through `$ref`, `oneOf`, `anyOf` and `allOf`.
    The result is empty if the schema does not specify types.
    """
    if not isinstance(schema, Mapping):
        return NONE
    own, *others = branches(schema, schemas)
    return _own_kinds(own) or NONE.union(*map(_own_kinds, others))


def _own_kinds(schema: Mapping[str, Any]) -> Kinds:
    """Return the types that a schema specifies itself, by `type` or by its other keywords."""
    if "type" in schema:
        named = schema["type"]
        return frozenset((named,) if isinstance(named, str) else named)
    if "const" in schema:
        return kinds_of_value(schema["const"])
    if "enum" in schema:
        return NONE.union(*map(kinds_of_value, schema["enum"]))
    if any(key in schema for key in _COMBINED):
        return NONE
    if "properties" in schema:
        return frozenset(("object",))
    return frozenset(("array",)) if "items" in schema or "prefixItems" in schema else NONE


def is_composite(kinds: Kinds) -> bool:
    """Return whether values of these types can only be arrays or objects."""
    return bool(kinds) and kinds <= COMPOSITE


def kinds_of_value(value: Any) -> Kinds:
    """Return the types of a JSON value."""
    return _KINDS.get(type(value), NONE)


def fits(value: Any, kinds: Kinds) -> bool:
    """Return whether a JSON value has one of these types. Every value fits if `kinds` is empty."""
    return not kinds or bool(_KINDS.get(type(value), kinds) & kinds)


def item_kinds_of(schema: Any, schemas: Schemas) -> Kinds:
    """Return all JSON types that items of arrays may have in a schema's branches."""
    found = [
        kinds_of(item, schemas)
        for each in branches(schema, schemas)
        for item in (each.get("items"), *each.get("prefixItems", ()))
        if item is not None
    ]
    return NONE.union(*found)


def properties_of(schema: Any, schemas: Schemas) -> dict[str, Any]:
    """Return name -> schema of all named properties that an object may have."""
    found: dict[str, Any] = {}
    for each in branches(schema, schemas):
        for name, item in each.get("properties", {}).items():
            found.setdefault(name, item)
    return found


def default_of(schema: Any, schemas: Schemas) -> Any:
    """Return the default of a schema or of a schema in its `allOf`, or else `MISSING`."""
    parts = branches(schema, schemas, ("allOf",))
    return next((part["default"] for part in parts if "default" in part), MISSING)


def fresh(default: Any) -> Any:
    """Return a copy of a default for one request, because its handler may change it."""
    return deepcopy(default) if isinstance(default, list | dict) else default


def required_of(schema: Any, schemas: Schemas) -> frozenset[str]:
    """Return the properties that an object must have, including those that `allOf` requires."""
    parts = branches(schema, schemas, ("allOf",))
    return frozenset(name for part in parts for name in part.get("required", ()))


def additional_of(schema: Any, schemas: Schemas) -> Any:
    """Return the schema of properties without a name in the document. It is True if the document
    has no rule for them, and False if they are not allowed.
    """
    for each in branches(schema, schemas):
        for key in ("additionalProperties", "unevaluatedProperties"):
            if key in each:
                return each[key]
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """The possible values of one parameter or field: a scalar, an array, an object."""

    scalars: Kinds
    is_array: bool
    items: Kinds
    is_object: bool
    properties: Mapping[str, Kinds]
    others: Kinds
    """The types of properties without a name in the document."""
    takes_others: bool
    """Whether an object whose properties are sent under their own names gets all remaining
    names.
    """
    part: Callable[[str | None], Shape]
    """The shape of a property, or of an item (None)."""

    @property
    def is_scalar(self) -> bool:
        return not (self.is_array or self.is_object)

    def kinds_of_property(self, name: str) -> Kinds:
        return self.properties.get(name, self.others)


def shape_of(schema: Any, schemas: Schemas) -> Shape:
    """Return the possible values of a schema's texts. Null is excluded, because it has no text."""
    kinds = kinds_of(schema, schemas) - {"null"}
    is_object = "object" in kinds
    named = properties_of(schema, schemas) if is_object else {}
    additional = additional_of(schema, schemas) if is_object else False
    is_said = any(
        key in each
        for each in branches(schema, schemas)
        for key in ("additionalProperties", "unevaluatedProperties")
    )
    items = next((each["items"] for each in branches(schema, schemas) if "items" in each), True)
    shapes: dict[int, Shape] = {}

    def part(name: str | None) -> Shape:
        found = items if name is None else named.get(name, additional)
        if id(found) not in shapes:  # schemas may be recursive
            shapes[id(found)] = shape_of(found, schemas)
        return shapes[id(found)]

    return Shape(
        scalars=kinds - COMPOSITE,
        is_array="array" in kinds,
        items=item_kinds_of(schema, schemas) - {"null"},
        is_object=is_object,
        properties={name: kinds_of(item, schemas) - {"null"} for name, item in named.items()},
        others=kinds_of(additional, schemas) - {"null"},
        takes_others=is_object and additional is not False and (is_said or not named),
        part=part,
    )
