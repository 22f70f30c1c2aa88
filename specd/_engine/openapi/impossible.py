"""Finds schemas that no value fits: their keywords contradict each other, or their values would be
infinite.

A schema is checked together with the schemas for the same value: the target of its reference, and
those in its `allOf`. A schema without `type` has the type that its keywords indicate, because
authors mean it so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from specd._engine.errors import DocumentError
from specd._engine.openapi.rules import Checked
from specd._engine.openapi.structure import Steps, steps_of
from specd._engine.openapi.wording import listed, nearest

Node = Mapping[str, Any]
_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_CHOICES = ("anyOf", "oneOf")
_OF_OBJECTS = ("properties", "required", "additionalProperties", "patternProperties")
_OF_ARRAYS = ("items", "prefixItems", "minItems", "contains")
_BOUNDS = (
    ("number", "minimum", "maximum"),
    ("string", "minLength", "maxLength"),
    ("array", "minItems", "maxItems"),
    ("object", "minProperties", "maxProperties"),
)
MAX_PARTS = 30
"""The maximum number of schemas for one value that are compared."""
MAX_LEVELS = 3
"""The maximum number of levels of properties that are compared."""


def find_faults(checked: Checked) -> Iterator[DocumentError]:
    """Yield an error for each schema that no value fits, at the schema that causes it."""
    yield from _excluding(checked)
    yield from _endless(checked)


def _excluding(checked: Checked) -> Iterator[DocumentError]:
    """Keywords for the same value must not contradict each other."""
    for at, schema in checked.of("schema"):
        whole = _parts(checked, schema)
        fault = _conflict(checked, whole, MAX_LEVELS)
        if fault is None or any(
            part is not schema and _conflict(checked, _parts(checked, part), MAX_LEVELS)
            for part in whole
        ):
            continue  # no fault, or a fault of that part
        yield DocumentError(f"{fault.reason}, so nothing fits{fault.remedy}", at=(*at, *fault.at))


def _parts(checked: Checked, schema: Any) -> list[Node]:
    """Return a schema and all other schemas that its values must fit, at most `MAX_PARTS`."""
    found: list[Node] = []
    passed: set[int] = set()
    waiting = [schema]
    while waiting and len(found) < MAX_PARTS:
        part = waiting.pop()
        if not isinstance(part, Mapping) or id(part) in passed:
            continue
        passed.add(id(part))
        reference = part.get("$ref")
        if isinstance(reference, str):
            waiting.append(_target(checked, reference))
            if checked.version == "3.0":
                continue
        found.append(part)
        parts = part.get("allOf")
        waiting += reversed(parts) if isinstance(parts, list) else ()
    return found


def _target(checked: Checked, reference: str) -> Any:
    return checked.reach(reference) if reference.startswith("#") else None


@dataclass(frozen=True, slots=True)
class _Conflict:
    reason: str
    remedy: str = ""
    at: Steps = ()
    """The steps from the schema to the keyword, if it is in the schema itself."""


def _conflict(checked: Checked, parts: list[Node], levels: int) -> _Conflict | None:
    """Return the reason why no value fits all these schemas, or None if none is found."""
    types = _types_of(parts)
    if not types:
        named = dict.fromkeys(str(part["type"]) for part in parts if "type" in part)
        return _Conflict(f"no value has the types {listed(named, 'and')}")
    found = _bound(parts, types) or _enum(parts, types)
    if found is None and types == {"object"}:
        found = _names(parts) or _properties(checked, parts, levels)
    if found is None and types == {"array"}:
        found = _items(parts)
    return found or _choice(checked, parts, types)


def _types_of(parts: Iterable[Node]) -> frozenset[str]:
    """Return the types that all these schemas allow. If none has a `type`, return those that their
    keywords indicate.
    """
    parts = list(parts)
    types = frozenset.intersection(_TYPES, *map(_types, parts))
    if types == _TYPES:
        types = frozenset.intersection(_TYPES, *map(_meant, parts)) or _TYPES
    return types


def _types(part: Node) -> frozenset[str]:
    """Return the types that a schema allows by `type` and `nullable`."""
    named = part.get("type")
    names = {named} if isinstance(named, str) else set(map(str, _list(named)))
    if not names or not names <= _TYPES:  # another rule reports a wrong type
        return _TYPES
    if "number" in names:
        names.add("integer")
    if part.get("nullable") is True:
        names.add("null")
    return frozenset(names)


def _meant(part: Node) -> frozenset[str]:
    """Return the types that the keywords of a schema without `type` indicate."""
    if part.get("nullable") is True:
        return _TYPES
    if any(key in part for key in _OF_OBJECTS):
        return frozenset(("object",))
    return frozenset(("array",)) if any(key in part for key in _OF_ARRAYS) else _TYPES


def _bound(parts: list[Node], types: frozenset[str]) -> _Conflict | None:
    """Return the conflict of contradictory bounds, or None. Another rule reports a pair in one
    schema.
    """
    for kind, low, high in _BOUNDS:
        if not types <= ({"number", "integer"} if kind == "number" else {kind}):
            continue
        least = max((each for part in parts for each in _limits(part, low)), default=None)
        most = min((each for part in parts for each in _limits(part, high, -1)), default=None)
        if least is None or most is None or any(_is_wrong_pair(p, low, high) for p in parts):
            continue
        if least[0] > most[0]:
            return _Conflict(f"the lower bound {least[0]} is above the upper bound {most[0]}")
        if least[0] == most[0] and (least[1] or most[1]):
            return _Conflict(f"the bounds are {least[0]}, which is excluded")
        if types == {"integer"} and ceil(least[0]) > floor(most[0]):
            return _Conflict(f"no integer is between {least[0]} and {most[0]}")
    return None


def _is_wrong_pair(part: Node, low: str, high: str) -> bool:
    for names in ((low, high), (_exclusive(low), _exclusive(high))):
        least, most = (_number(part.get(name)) for name in names)
        if least is not None and most is not None and least > most:
            return True
    return False


def _exclusive(name: str) -> str:
    return f"exclusive{name[0].upper()}{name[1:]}"


def _limits(part: Node, name: str, sign: int = 1) -> Iterator[tuple[float, int]]:
    """Yield the bounds of a schema. Each has `sign` if it is exclusive, or else 0."""
    value, other = _number(part.get(name)), part.get(_exclusive(name))
    if value is not None:
        yield value, sign if other is True else 0
    number = _number(other)
    if number is not None:
        yield number, sign


def _enum(parts: list[Node], types: frozenset[str]) -> _Conflict | None:
    """Return the conflict of lists that have no value in common, or no value of an allowed type or
    length, or None.
    """
    lists = [(part, options) for part in parts if (options := _options(part))]
    if not lists:
        return None
    part, first = lists[0]
    common = [value for value in first if all(_is_in(value, other) for _, other in lists[1:])]
    keyword = "enum" if "enum" in part else "const"
    at: Steps = (keyword,) if part is parts[0] else ()
    if not common:
        return _Conflict("the lists of values have none in common")
    if not any(_is_of(value, types) for value in common):
        names = listed(sorted(types - {"integer"} if "number" in types else types))
        remedy = ": write them in quotes" if types == {"string"} else ""
        return _Conflict(f"none of the values is of type {names}", remedy, at)
    least = max((each for p in parts if (each := _number(p.get("minLength")))), default=0)
    most = [each for p in parts if (each := _number(p.get("maxLength"))) is not None]
    if all(
        isinstance(value, str) and not least <= len(value) <= min(most, default=len(value))
        for value in common
    ):
        return _Conflict("none of the values has an allowed length", "", at)
    return None


def _options(part: Node) -> list[Any]:
    """Return the values that a schema lists. The result is empty if it does not list values."""
    if "const" in part:
        return [part["const"]]
    options = _list(part.get("enum"))
    return [*options, None] if options and part.get("nullable") is True else options


def _is_in(value: Any, options: list[Any]) -> bool:
    """Return whether a value is in a list. As in JSON, true is not equal to 1."""
    return any(value == it and isinstance(value, bool) == isinstance(it, bool) for it in options)


def _is_of(value: Any, types: frozenset[str]) -> bool:
    match value:
        case None:
            return "null" in types
        case bool():
            return "boolean" in types
        case int() | float():
            return "number" in types or ("integer" in types and value == int(value))
        case str():
            return "string" in types
        case list():
            return "array" in types
    return "object" in types


def _names(parts: list[Node]) -> _Conflict | None:
    """Return the conflict of properties that are required but not allowed, or None."""
    for part in parts:
        for number, name in enumerate(_list(part.get("required"))):
            for closed in parts:
                known = _known_properties(closed)
                if known is None or str(name) in known:
                    continue
                if closed is part and nearest(name, known, very=True):
                    continue  # another rule reports it
                at: Steps = ("required", number) if part is closed is parts[0] else ()
                return _Conflict(f'"{name}" is required and not allowed', "", at)
    needed = {str(name) for part in parts for name in _list(part.get("required"))}
    most = [each for part in parts if (each := _number(part.get("maxProperties"))) is not None]
    if most and len(needed) > min(most):
        return _Conflict(f"{len(needed)} properties are required, at most {min(most)} are allowed")
    return None


def _known_properties(part: Node) -> frozenset[str] | None:
    """Return the properties that a closed object may have, or None if it is not closed."""
    is_closed = part.get("additionalProperties") is False
    if part.get("unevaluatedProperties") is False and not any(
        key in part for key in ("allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas")
    ):
        is_closed = True
    if not is_closed or "patternProperties" in part:
        return None
    properties = part.get("properties")
    return frozenset(map(str, properties)) if isinstance(properties, Mapping) else frozenset()


def _properties(checked: Checked, parts: list[Node], levels: int) -> _Conflict | None:
    """Return the conflict of a required property that no value fits according to several schemas,
    or None.
    """
    if not levels:
        return None
    needed = dict.fromkeys(str(n) for part in parts for n in _list(part.get("required")))
    for name in needed:
        own = [
            part["properties"][name]
            for part in parts
            if isinstance(part.get("properties"), Mapping) and name in part["properties"]
        ]
        if False in own:
            return _Conflict(f'"{name}" is required and not allowed')
        if len(own) > 1:
            both = [each for one in own for each in _parts(checked, one)]
            fault = _conflict(checked, both[:MAX_PARTS], levels - 1)
            if fault is not None:
                return _Conflict(f'"{name}" is required and fits nothing: {fault.reason}')
    return None


def _items(parts: list[Node]) -> _Conflict | None:
    """Return the conflict of items that are required but not allowed, or None."""
    least = max((each for p in parts if (each := _number(p.get("minItems")))), default=0)
    for part in parts:
        first = _list(part.get("prefixItems"))
        if part.get("items") is False and least > len(first):
            return _Conflict(f"{least} items are required, at most {len(first)} are allowed")
    return None


def _choice(checked: Checked, parts: list[Node], types: frozenset[str]) -> _Conflict | None:
    """Return the conflict of a choice whose branches all contradict the schemas around it,
    or None.
    """
    for part in parts:
        for key in _CHOICES:
            branches = _list(part.get(key))
            if branches and not any(types & _types_of(_parts(checked, it)) for it in branches):
                at: Steps = (key,) if part is parts[0] else ()
                words = f"no branch of {key} is of the type {listed(sorted(types))}"
                return _Conflict(words, "", at)
    return None


def _endless(checked: Checked) -> Iterator[DocumentError]:
    """A value must not require an infinite chain of values of the same schema."""
    found = _Ends(checked)
    reported: set[str] = set()
    for reference in found.endless:
        circle = found.circle(reference)
        if not circle or reported.intersection(circle):
            continue
        reported.update(circle)
        names = [str(steps_of(each)[-1]) for each in circle]
        if len(names) == 1:
            words = f'each "{names[0]}" has to have another one in it without end'
        else:
            way = listed([*(f'"{each}"' for each in names[1:]), f'"{names[0]}"'], "and then")
            words = f'each "{names[0]}" has to have {way} in it without end'
        yield DocumentError(
            f"{words}, so nothing fits: make a property on the way optional",
            at=tuple(checked.way(reference)[0]),
        )


class _Ends:
    """Finds the referenced schemas that have finite values."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._ends: set[str] = set()
        references = {
            str(node["$ref"])
            for _, node in checked.of("schema")
            if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#/")
        }
        needs = {each: self._needs(checked.reach(each)) for each in sorted(references)}
        self._needed = needs
        referring: dict[str, list[str]] = {}
        for reference, several in needs.items():
            for way in several:
                for other in way:
                    referring.setdefault(other, []).append(reference)
        waiting = list(needs)
        while waiting:
            reference = waiting.pop()
            if reference in self._ends or reference not in needs:
                continue
            if any(way <= self._ends for way in needs[reference]):
                self._ends.add(reference)
                waiting += referring.get(reference, ())
        self.endless = [reference for reference in needs if reference not in self._ends]

    def circle(self, reference: str) -> list[str]:
        """Return the references of a cycle that starts at one. The result is empty if there is no
        cycle.
        """
        ways: dict[str, list[str]] = {reference: [reference]}
        waiting = [reference]
        for at in waiting:
            for other in sorted({each for way in self._needed.get(at, ()) for each in way}):
                if other == reference:
                    return ways[at]
                if other not in ways and other not in self._ends:
                    ways[other] = [*ways[at], other]
                    waiting.append(other)
        return []

    def _needs(self, schema: Any) -> list[frozenset[str]]:
        """Return the ways to construct a value. Each is the set of references whose values it
        contains. The result is empty if nothing fits for another reason.
        """
        if not isinstance(schema, Mapping) or _options(schema) or schema.get("nullable") is True:
            return [_NOTHING]
        ways = [_NOTHING]
        reference = schema.get("$ref")
        if isinstance(reference, str):
            ways = [frozenset((reference,))] if reference.startswith("#/") else [_NOTHING]
            if self._checked.version == "3.0":
                return ways
        types = _types_of([schema])
        if types <= {"object"}:
            properties = schema.get("properties")
            named = properties if isinstance(properties, Mapping) else {}
            for name in map(str, _list(schema.get("required"))):
                ways = _both(ways, self._needs(named.get(name)))
        elif types <= {"array"}:
            least = int(_number(schema.get("minItems")) or 0)
            first = _list(schema.get("prefixItems"))
            for item in [*first[:least], *([schema.get("items")] if least > len(first) else [])]:
                ways = _both(ways, self._needs(item))
        for part in _list(schema.get("allOf")):
            ways = _both(ways, self._needs(part))
        for key in _CHOICES:
            branches = _list(schema.get(key))
            if branches:
                ways = _both(ways, [way for it in branches for way in self._needs(it)])
        return ways


_NOTHING: frozenset[str] = frozenset()
MAX_WAYS = 100


def _both(ones: Iterable[frozenset[str]], others: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return all combinations of one of the first ways with one of the second. If there are too
    many, assume that one is finite.
    """
    found = {one | other for one in ones for other in others}
    return [_NOTHING] if len(found) > MAX_WAYS else list(found)


def _list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else []


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
