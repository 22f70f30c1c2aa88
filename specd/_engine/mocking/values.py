"""Generates values that fit a schema: its examples if it has any, otherwise values by its keywords.

A value is generated part by part and then validated by the engine's validator. If it does not fit,
it is generated in another way. Schemas of OpenAPI 3.0 and JSON Schema 2020-12 are treated in the
same way.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

from specd._engine.document.marks import Marks
from specd._engine.document.schemas import Schemas, Validate
from specd._engine.errors import DocumentError
from specd._engine.mocking.patterns import texts

DEEP = 4
"""The maximum depth of optional parts."""
DEEPEST = 100
"""The maximum depth of required parts."""
MAX_FAILURES = 200
"""The number of failed parts after which a value is given up, because this number may double with
each level.
"""
MAX_PARTS = 200
"""The number of parts below the second level after which optional parts are left out."""
TRIES = 24
LONGEST_LIST = 1_000
FORMATS = {
    "date-time": "2026-01-15T09:30:00Z",
    "date": "2026-01-15",
    "time": "09:30:00Z",
    "duration": "P1D",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "/items/1",
    "uri-template": "/items/{id}",
    "iri": "https://example.com/",
    "iri-reference": "/items/1",
    "url": "https://example.com/",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "json-pointer": "/items/0",
    "relative-json-pointer": "1/items",
    "regex": "^[a-z]+$",
    "byte": "c3RyaW5n",
    "base64url": "c3RyaW5n",
    "char": "a",
    "media-range": "application/json",
    "language": "en",
}
"""A value of each format: JSON Schema 2020-12 (Validation, section 7.3) and OpenAPI's registry."""
_DATE = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
_PATTERNS = {
    "date-time": f"{_DATE}T{_TIME}",
    "date": _DATE,
    "time": _TIME,
    "duration": "P[1-9]D",
    "email": "person[1-9][0-9]{3}@example[.]com",
    "idn-email": "person[1-9][0-9]{3}@example[.]com",
    "hostname": "host[1-9][0-9]{3}[.]example[.]com",
    "idn-hostname": "host[1-9][0-9]{3}[.]example[.]com",
    "ipv4": "192[.]0[.]2[.](1[0-9]{2}|[1-9])",
    "ipv6": "2001:db8::[1-9a-f][0-9a-f]{3}",
    "uri": "https://example[.]com/[1-9][0-9]{3}",
    "iri": "https://example[.]com/[1-9][0-9]{3}",
    "url": "https://example[.]com/[1-9][0-9]{3}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
    "byte": "[A-Za-z0-9]{8}",
    "base64url": "[A-Za-z0-9]{8}",
}
"""The patterns of random values by format. Other formats have only the value in `FORMATS`."""
_INTEGER = re.compile("(u?)int(8|16|32|64)")
_KEYWORDS = {
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties", "discriminator"),
        *("minProperties", "maxProperties", "propertyNames", "unevaluatedProperties"),
    ),
    "array": (
        *("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"),
        "unevaluatedItems",
    ),
    "string": ("pattern", "minLength", "maxLength", "format", "contentEncoding"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""The keywords that indicate the type of a schema without `type`."""
_EXAMPLES = frozenset(("example", "examples", "default"))
_CHOICES = "choices"
"""A key in a flattened schema: groups of schemas. A value must fit one schema of each group."""


class Impossible(Exception):
    """No value was found."""


class Values:
    """Generates values for the schemas of one document, for responses (`drop` is `writeOnly`) or
    requests (`readOnly`).
    """

    def __init__(self, document: Mapping[str, Any], *, drop: str) -> None:
        self.drop = drop
        self.schemas = Schemas(document, drop=drop)
        alone = {key: document[key] for key in ("openapi", "jsonSchemaDialect") if key in document}
        self._without_references = Schemas(alone, drop=drop)
        """Builds small validators, because those of the document contain all its schemas."""
        self._validators: dict[str, Validate] = {}

    def example(self, schema: Any) -> Any:
        """Return a value that is the same each time, from the examples of the schema and its parts
        if there are any.

        Raise `Impossible` if none is found.
        """
        ways = [_Maker(self, Random(0)), _Maker(self, Random(0), is_full=False)]
        ways += [_Maker(self, Random(seed), is_random=True) for seed in range(TRIES)]
        return self._first(schema, ways)

    def random(self, schema: Any, rng: Random) -> Any:
        """Return a different value each time. Raise `Impossible` if none is found."""
        return self._first(schema, [_Maker(self, rng, is_random=True) for _ in range(TRIES)])

    def fits(self, schema: Any, value: Any) -> bool:
        """Return whether a value fits. Every value fits a schema that cannot be compiled."""
        if schema is True:
            return True
        key = json.dumps(schema, sort_keys=True, default=str)
        if key not in self._validators:
            is_alone = '"$ref"' not in key and '"$dynamicRef"' not in key
            schemas = self._without_references if is_alone else self.schemas
            try:
                self._validators[key] = schemas.compile(schema, "mock")
                schemas.finish()
            except DocumentError:
                self._validators[key] = lambda value, pointer: ()
        return not self._validators[key](value, "")

    def _first(self, schema: Any, ways: Sequence[_Maker]) -> Any:
        for way in ways:
            with suppress(Impossible, RecursionError):
                value = way.make(schema)
                if self.fits(schema, value):
                    return value
        raise Impossible


class _Maker:
    """One way of generating values: with optional parts if `is_full`, without examples if
    `is_random`.
    """

    def __init__(
        self, values: Values, rng: Random, *, is_full: bool = True, is_random: bool = False
    ) -> None:
        self._values = values
        self._rng = rng
        self._is_full = is_full
        self._is_random = is_random
        self._left = MAX_PARTS
        self._failures = 0
        self._inside: list[str] = []
        """The references that contain the current part."""

    def make(self, schema: Any, depth: int = 0) -> Any:
        """Return a value for a schema. Raise `Impossible`."""
        reference = str(schema.get("$ref", "")) if isinstance(schema, Mapping) else ""
        is_too_deep = depth > DEEPEST or (reference and self._inside.count(reference) > 1)
        if is_too_deep or self._failures > MAX_FAILURES:
            self._failures += 1
            raise Impossible
        if depth > 1:
            self._left -= 1
        self._inside.append(reference)
        try:
            return self._make(self._flatten(schema), schema, depth)
        finally:
            self._inside.pop()

    def _make(self, flat: dict[str, Any], schema: Any, depth: int) -> Any:
        """Return a value for a flattened schema. `schema` is the original."""
        for value in () if self._is_random else _examples_of(flat):
            if self._values.fits(schema, value):
                return value
        if flat.get(_CHOICES):
            return self._choose(flat, schema, depth)
        if "enum" in flat:
            options = [value for value in flat["enum"] if value is not None] or flat["enum"]
            return self._pick(options)
        kinds = flat.get("type") or _kinds_of(flat)
        kind = self._pick([kind for kind in kinds if kind != "null"] or kinds)
        try:
            return self._of_kind(flat, kind, depth)
        except Impossible:
            if "null" in kinds or flat.get("nullable"):
                return None
            raise

    def _pick(self, options: Sequence[Any]) -> Any:
        if not options:
            raise Impossible
        return self._rng.choice(options) if self._is_random else options[0]

    def _of_kind(self, flat: Mapping[str, Any], kind: str, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(flat, depth)
            case "array":
                return self._array(flat, depth)
            case "string":
                return self._string(flat, depth)
            case "boolean":
                return self._pick([True, False])
            case "null":
                return None
        return self._number(flat, is_integer=kind == "integer")

    def _choose(self, flat: Mapping[str, Any], schema: Any, depth: int) -> Any:
        """Return the first fitting value of a branch of the first group."""
        branches, *others = flat[_CHOICES]
        base = {**flat, _CHOICES: others}
        order = self._rng.sample(branches, len(branches)) if self._is_random else branches
        for branch in order:
            for named in _named(branch, flat.get("discriminator")):
                with suppress(Impossible):
                    value = self._make(_merge(base, self._flatten(named)), schema, depth + 1)
                    if self._values.fits(schema, value):
                        return value
                self._failures += 1
        raise Impossible

    def _object(self, flat: Mapping[str, Any], depth: int) -> dict[str, Any]:
        fewest, most = int(flat.get("minProperties", 0)), flat.get("maxProperties", math.inf)
        properties: Mapping[str, Any] = flat.get("properties", {})
        value = {name: self._property(flat, name, depth) for name in flat.get("required", ())}
        for name in properties:
            if name not in value and len(value) < most and self._wants_more(depth):
                with suppress(Impossible):
                    value[name] = self._property(flat, name, depth)
        is_map = isinstance(flat.get("additionalProperties"), Mapping) and not properties
        wanted = fewest
        if is_map and len(value) < most and self._wants_more(depth):
            wanted = max(fewest, len(value) + 1)
        for name in islice(self._other_names(flat), fewest + TRIES):
            if len(value) >= wanted:
                break
            if name not in value:
                with suppress(Impossible):
                    value[name] = self._property(flat, name, depth)
        if len(value) < fewest:
            raise Impossible
        return {name: value[name] for name in (*properties, *value) if name in value}

    def _wants_more(self, depth: int) -> bool:
        """Return whether to generate an optional part."""
        if not self._is_full or depth >= DEEP or (depth > 1 and self._left < 0):
            return False
        return not (self._is_random and self._rng.random() < 0.2)

    def _property(self, flat: Mapping[str, Any], name: str, depth: int) -> Any:
        parts = [flat["properties"][name]] if name in flat.get("properties", {}) else []
        for pattern, schema in flat.get("patternProperties", {}).items():
            if self._values.fits({"type": "string", "pattern": pattern}, name):
                parts.append(schema)
        if not parts:
            parts = [flat.get("additionalProperties", True)]
        return self.make(parts[0] if len(parts) == 1 else {"allOf": parts}, depth + 1)

    def _other_names(self, flat: Mapping[str, Any]) -> Iterator[str]:
        """Yield names for additional properties."""
        yield from flat.get("properties", {})
        if "propertyNames" in flat:
            maker = _Maker(self._values, self._rng, is_random=True)
            for _ in range(TRIES):
                yield str(maker.make({"allOf": [{"type": "string"}, flat["propertyNames"]]}))
        for pattern in flat.get("patternProperties", {}):
            yield from texts(pattern, self._rng, shortest=1, longest=20)
        yield from (f"property{number}" for number in range(1, LONGEST_LIST))

    def _array(self, flat: Mapping[str, Any], depth: int) -> list[Any]:
        fewest, most = int(flat.get("minItems", 0)), int(flat.get("maxItems", LONGEST_LIST))
        first: Sequence[Any] = flat.get("prefixItems", ())
        wanted = fewest
        if self._wants_more(depth):
            wanted = max(fewest, len(first), self._pick([1, 2, 3]))
        wanted = min(wanted, most, LONGEST_LIST)
        contained = int(flat.get("minContains", 1)) if "contains" in flat else 0
        value: list[Any] = []
        maker = self
        for _ in range(max(wanted, contained) * TRIES):
            at = len(value)
            if at >= max(wanted, contained):
                break
            schema = first[at] if at < len(first) else flat.get("items", True)
            if at < contained:
                schema = {"allOf": [schema, flat["contains"]]}
            try:
                made = maker.make(schema, depth + 1)
            except Impossible:
                break
            if flat.get("uniqueItems") and made in value:
                maker = _Maker(self._values, self._rng, is_random=True)
            else:
                value.append(made)
        if len(value) < fewest:
            raise Impossible
        return value

    def _string(self, flat: Mapping[str, Any], depth: int) -> str:
        shortest = int(flat.get("minLength", 0))
        longest = int(flat.get("maxLength", shortest + 20))
        if longest < shortest:
            raise Impossible
        if "pattern" in flat:
            return self._matching(flat, shortest, longest)
        if "json" in flat.get("contentMediaType", ""):
            return json.dumps(self.make(flat.get("contentSchema", {}), depth + 1))
        name = "byte" if "contentEncoding" in flat else flat.get("format")
        if self._is_random and name in _PATTERNS:
            text = next(texts(_PATTERNS[name], self._rng, shortest=0, longest=0))
        elif name in FORMATS:
            text = FORMATS[name]
        elif self._is_random:
            length = self._rng.randint(max(shortest, min(1, longest)), min(longest, shortest + 20))
            text = "".join(self._rng.choices("abcdefghijklmnopqrstuvwxyz", k=length))
        else:
            text = "string"[:longest]
        return text.rjust(shortest, "a") if "@" in text else text.ljust(shortest, "a")

    def _matching(self, flat: Mapping[str, Any], shortest: int, longest: int) -> str:
        keywords = ("minLength", "maxLength", "pattern")
        schema = {"type": "string", **{key: flat[key] for key in keywords if key in flat}}
        for _ in range(4):
            for text in texts(flat["pattern"], self._rng, shortest=shortest, longest=longest):
                if self._values.fits(schema, text):
                    return text
        raise Impossible

    def _number(self, flat: Mapping[str, Any], *, is_integer: bool) -> int | float:
        """Return the number closest to zero with the fewest decimal places, or a random number."""
        if "multipleOf" in flat:
            step = _exact(flat["multipleOf"])
            steps = [Fraction(step.numerator) if is_integer else step]
        elif is_integer:
            steps = [Fraction(1)]
        else:
            steps = [Fraction(1, 10**places) for places in range(2 * self._is_random, 20)]
        low, high = _range_of(flat, max(Fraction(1000), steps[0]), is_integer=is_integer)
        for step in steps:
            first, last = math.ceil(low / step), math.floor(high / step)
            if "exclusiveMinimum" in flat and first * step == _exact(flat["exclusiveMinimum"]):
                first += 1
            if "exclusiveMaximum" in flat and last * step == _exact(flat["exclusiveMaximum"]):
                last -= 1
            if first <= last:
                near = min(max(first, 0), last)
                number = step * (self._rng.randint(first, last) if self._is_random else near)
                return number.numerator if number.denominator == 1 else float(number)
        raise Impossible

    def _flatten(self, schema: Any) -> dict[str, Any]:
        """Return a schema as one object, with references resolved, `allOf` merged, and choices
        under `_CHOICES`. Raise `Impossible`.
        """
        if schema in (False, {"not": {}}):
            raise Impossible
        if not isinstance(schema, Mapping):
            return {}
        flat = _normalized(schema, self._values.schemas.marks)
        reference = flat.pop("$ref", None) or flat.pop("$dynamicRef", None)
        if reference is not None:
            target = self._values.schemas.resolve({"$ref": reference})
            flat = _merge(self._flatten(target), flat)
        for part in flat.pop("allOf", ()):
            inner = self._flatten(part)
            flat = _merge(flat, {k: v for k, v in inner.items() if k not in _EXAMPLES})
        groups = [flat.pop(keyword) for keyword in ("oneOf", "anyOf") if keyword in flat]
        if "if" in flat:
            condition = flat.pop("if")
            holds = {"allOf": [condition, flat.pop("then", True)]}
            groups.append([holds, {"not": condition, "allOf": [flat.pop("else", True)]}])
        dependents = dict(flat.pop("dependentSchemas", {}))
        for name, needed in flat.pop("dependentRequired", {}).items():
            dependents[name] = {"allOf": [dependents.get(name, True)], "required": needed}
        for name, dependent in dependents.items():
            holds = {"allOf": [{"required": [name]}, dependent]}
            groups.append([holds, {"properties": {name: False}}])
        if groups:
            flat[_CHOICES] = [*flat.get(_CHOICES, ()), *groups]
        return flat


def _normalized(schema: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """Return a schema's own keywords, with `type` as a sequence, exclusive bounds as numbers,
    `const` as `enum`, and without the properties to drop.
    """
    flat = dict(schema)
    if isinstance(flat.get("type"), str):
        flat["type"] = (flat["type"],)
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(flat.get(exclusive), bool) and flat.pop(exclusive) and bound in flat:
            flat[exclusive] = flat.pop(bound)
    if hidden := marks.hidden(schema):
        flat["properties"] = {**flat.get("properties", {}), **dict.fromkeys(hidden, False)}
        flat[_HIDDEN] = hidden
        flat["required"] = [name for name in flat.get("required", ()) if name not in hidden]
    return flat


def _merge(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flattened schema that combines the requirements of both. Raise `Impossible`."""
    merged = dict(one)
    for key, value in other.items():
        if key not in merged or key in _EXAMPLES:
            merged[key] = value
        elif key in _MERGED:
            merged[key] = _MERGED[key](merged[key], value)
    if _HIDDEN in merged and "required" in merged:
        merged["required"] = [it for it in merged["required"] if it not in merged[_HIDDEN]]
    return merged


def _common(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    return [value for value in one if value in other]


def _common_types(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the types that both allow. An integer is also a number."""
    wide, other_wide = (
        [*kinds, "integer"] if "number" in kinds else kinds for kinds in (one, other)
    )
    common = list(dict.fromkeys(_common(wide, other_wide)))
    if not common:
        raise Impossible
    return common


def _both(one: Any, other: Any) -> dict[str, Any]:
    return {"allOf": [one, other]}


def _both_of_each(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    shared = {name: _both(one[name], other[name]) for name in one if name in other}
    return {**one, **other, **shared}


_HIDDEN = "x-hidden"
"""A key in a flattened schema: the properties that its values do not have in this direction."""
_MERGED: Mapping[str, Callable[[Any, Any], Any]] = {
    _HIDDEN: operator.or_,
    "type": _common_types,
    "enum": _common,
    "required": lambda one, other: list(dict.fromkeys((*one, *other))),
    "uniqueItems": operator.or_,
    _CHOICES: operator.add,
    **dict.fromkeys(("properties", "patternProperties"), _both_of_each),
    **dict.fromkeys(("items", "additionalProperties", "propertyNames", "contains"), _both),
    **dict.fromkeys(("minLength", "minItems", "minProperties", "minContains"), max),
    **dict.fromkeys(("minimum", "exclusiveMinimum"), max),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties", "maxContains"), min),
    **dict.fromkeys(("maximum", "exclusiveMaximum"), min),
}
"""Keyword -> the function that combines its values in two schemas. The first value of other
keywords counts.
"""


def _named(branch: Any, discriminator: Any) -> Iterator[Any]:
    """Yield a branch with the name that its discriminator gives it, then the branch itself."""
    reference = branch.get("$ref") if isinstance(branch, Mapping) else None
    if isinstance(discriminator, Mapping) and isinstance(reference, str):
        mapping = discriminator.get("mapping", {})
        own = reference.rpartition("/")[2]
        names = [name for name, target in mapping.items() if target in (reference, own)] or [own]
        name = discriminator["propertyName"]
        yield {"allOf": [branch, {"properties": {name: {"enum": names}}, "required": [name]}]}
    yield branch


def _examples_of(flat: Mapping[str, Any]) -> Iterator[Any]:
    if "example" in flat:
        yield flat["example"]
    if isinstance(flat.get("examples"), list):
        yield from flat["examples"]
    if "default" in flat:
        yield flat["default"]


def _kinds_of(flat: Mapping[str, Any]) -> list[str]:
    """Return the type that the keywords of a schema without `type` indicate."""
    kinds = [kind for kind, keywords in _KEYWORDS.items() if not flat.keys().isdisjoint(keywords)]
    return kinds[:1] or ["object"]


def _exact(number: float) -> Fraction:
    """Return the exact value of a number's decimal notation."""
    return Fraction(str(number))


def _range_of(
    flat: Mapping[str, Any], reach: Fraction, *, is_integer: bool
) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest number. A missing limit is `reach` away from the other
    limit or from zero.
    """
    lows = [_exact(flat[key]) for key in ("minimum", "exclusiveMinimum") if key in flat]
    highs = [_exact(flat[key]) for key in ("maximum", "exclusiveMaximum") if key in flat]
    low = max(lows) if lows else min([Fraction(0), *highs]) - reach
    high = min(highs) if highs else max([Fraction(0), *lows]) + reach
    sized = _INTEGER.fullmatch(flat.get("format", "")) if is_integer else None
    if sized:
        bits = int(sized[2])
        least = 0 if sized[1] else -(2 ** (bits - 1))
        low, high = max(low, Fraction(least)), min(high, Fraction(least + 2**bits - 1))
    return low, high
