"""Values that fit a schema: its examples where it has some, else made from what it demands.

A value is made part by part and then checked by the engine's own validator; what does not fit is
made again in another way. OpenAPI 3.0's schemas and JSON Schema 2020-12 are read alike.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from server.document.schemas import Schemas, Validate
from server.errors import DocumentError
from server.mocking.patterns import texts

Schema = Mapping[str, Any]

DEEP = 4
"""How deep optional parts are made."""
DEEPEST = 24
"""How deep parts are made that a schema demands."""
MOST_PARTS = 200
"""How many parts are made below the second level before optional ones are left out."""
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
_LENGTHENED = {"email", "idn-email", "uri", "iri", "uri-reference", "iri-reference", "url"}
_INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
_KIND_OF_KEYWORD = {
    **dict.fromkeys(
        (
            *("properties", "required", "additionalProperties", "patternProperties"),
            *("minProperties", "maxProperties", "propertyNames", "discriminator"),
            *("dependentRequired", "dependentSchemas", "unevaluatedProperties"),
        ),
        "object",
    ),
    **dict.fromkeys(
        (
            *("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"),
            "unevaluatedItems",
        ),
        "array",
    ),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format", "contentEncoding"), "string"),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"
    ),
}
_LOWER = frozenset(("minLength", "minItems", "minProperties", "minimum", "minContains"))
_UPPER = frozenset(("maxLength", "maxItems", "maxProperties", "maximum", "maxContains"))
_EXAMPLES = frozenset(("example", "examples", "default"))
_CHOICES = "choices"
"""In a flattened schema: groups of schemas, of each of which one has to hold."""


class Impossible(Exception):
    """No value was found."""


class Values:
    """Makes values for the schemas of one document, as its answers have them (`drop` is
    `writeOnly`) or its requests (`readOnly`).
    """

    def __init__(self, document: Mapping[str, Any], *, drop: str) -> None:
        self.drop = drop
        self.schemas = Schemas(document, drop=drop)
        alone = {key: document[key] for key in ("openapi", "jsonSchemaDialect") if key in document}
        self._without_references = Schemas(alone, drop=drop)
        """Builds small validators: those of the document hold all its schemas."""
        self._validators: dict[str, Validate] = {}

    def example(self, schema: Any) -> Any:
        """Return the same value each time, with the examples of the schema and its parts.

        Raise `Impossible` where none is found.
        """
        ways = [_Maker(self, Random(0)), _Maker(self, Random(0), is_full=False)]
        ways += [_Maker(self, Random(seed), is_random=True) for seed in range(TRIES)]
        return self._first(schema, ways)

    def random(self, schema: Any, rng: Random) -> Any:
        """Return another value each time. Raise `Impossible` where none is found."""
        return self._first(schema, [_Maker(self, rng, is_random=True) for _ in range(TRIES)])

    def fits(self, schema: Any, value: Any) -> bool:
        """Return whether a value fits; also where a schema cannot be compiled."""
        if schema is True:
            return True
        key = json.dumps(schema, sort_keys=True, default=str)
        if key not in self._validators:
            is_alone = '"$ref"' not in key and '"$dynamicRef"' not in key
            schemas = self._without_references if is_alone else self.schemas
            try:
                self._validators[key] = schemas.compile(schema, "mock")
                schemas.finish()
            except (DocumentError, LookupError, TypeError):
                self._validators[key] = lambda value, pointer: ()
        return not self._validators[key](value, "")

    def _first(self, schema: Any, ways: Sequence[_Maker]) -> Any:
        for way in ways:
            try:
                value = way.make(schema)
            except (Impossible, RecursionError):
                continue
            if self.fits(schema, value):
                return value
        raise Impossible


class _Maker:
    """One way to make values. `is_full`: with optional parts; `is_random`: without examples."""

    def __init__(
        self, values: Values, rng: Random, *, is_full: bool = True, is_random: bool = False
    ) -> None:
        self._values = values
        self._rng = rng
        self._is_full = is_full
        self._is_random = is_random
        self._left = MOST_PARTS
        self._inside: list[str] = []
        """The references that the parts being made are inside of."""

    def make(self, schema: Any, depth: int = 0) -> Any:
        """Return a value. Raise `Impossible`."""
        reference = str(schema.get("$ref", "")) if isinstance(schema, Mapping) else ""
        if depth > DEEPEST or (reference and self._inside.count(reference) > 1):
            raise Impossible
        if depth > 1:
            self._left -= 1
        self._inside.append(reference)
        try:
            return self._make(self._flatten(schema), schema, depth)
        finally:
            self._inside.pop()

    def _make(self, flat: dict[str, Any], schema: Any, depth: int) -> Any:
        """Return a value for a flattened schema; `schema` is what it was."""
        if not self._is_random:
            for value in _examples_of(flat):
                if self._values.fits(schema, value):
                    return value
        if groups := flat.get(_CHOICES):
            return self._choose(flat, groups, schema, depth)
        if "const" in flat:
            return flat["const"]
        if "enum" in flat:
            return self._one_of_enum(flat)
        return self._of_kind(flat, self._kind_of(flat), depth)

    def _one_of_enum(self, flat: Mapping[str, Any]) -> Any:
        kinds = flat.get("type")
        options = [value for value in flat["enum"] if not kinds or _is_of(value, kinds)]
        options = [value for value in options if value is not None] or options or flat["enum"]
        if not options:
            raise Impossible
        return self._rng.choice(options) if self._is_random else options[0]

    def _kind_of(self, flat: Mapping[str, Any]) -> str:
        kinds = flat.get("type")
        if kinds is None:
            found = [_KIND_OF_KEYWORD[key] for key in flat if key in _KIND_OF_KEYWORD]
            return found[0] if found else "object"
        known = [kind for kind in kinds if kind != "null"] or list(kinds)
        return str(self._rng.choice(known) if self._is_random else known[0])

    def _of_kind(self, flat: Mapping[str, Any], kind: str, depth: int) -> Any:
        makers: dict[str, Callable[[Mapping[str, Any], int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._number,
            "number": self._number,
            "boolean": lambda *_: self._rng.random() < 0.5 if self._is_random else True,
            "null": lambda *_: None,
        }
        try:
            return makers[kind](flat, depth)
        except Impossible:
            if flat.get("nullable") or "null" in flat.get("type", ()):
                return None
            raise

    def _choose(
        self, flat: Mapping[str, Any], groups: Sequence[Any], schema: Any, depth: int
    ) -> Any:
        """Return a value by the first branch of the first group that leads to one that fits."""
        branches, *others = groups
        base = {**flat, _CHOICES: others}
        order = list(branches)
        if self._is_random:
            self._rng.shuffle(order)
        for branch in order:
            for named in _named(branch, flat.get("discriminator")):
                try:
                    merged = _merge(base, self._flatten(named))
                    value = self._make(merged, schema, depth + 1)
                except Impossible:
                    continue
                if self._values.fits(schema, value):
                    return value
        raise Impossible

    def _object(self, flat: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties: Mapping[str, Any] = flat.get("properties", {})
        required: list[str] = list(flat.get("required", ()))
        most = flat.get("maxProperties", math.inf)
        value: dict[str, Any] = {}
        for name in required:
            value[name] = self._property(flat, name, depth)
            required += [
                other
                for other in flat.get("dependentRequired", {}).get(name, ())
                if other not in required
            ]
        for name in properties:
            if name in value or len(value) >= most or not self._wants_more(depth):
                continue
            needs = flat.get("dependentRequired", {}).get(name, ())
            if any(other not in value for other in needs) or name in flat.get(
                "dependentSchemas", {}
            ):
                continue
            try:
                value[name] = self._property(flat, name, depth)
            except Impossible:
                continue
        self._add_others(flat, value, depth)
        return {name: value[name] for name in (*properties, *value) if name in value}

    def _wants_more(self, depth: int) -> bool:
        """Return whether an optional part is made."""
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

    def _add_others(self, flat: Mapping[str, Any], value: dict[str, Any], depth: int) -> None:
        """Add properties that have no names of their own, as many as there have to be."""
        fewest = flat.get("minProperties", 0)
        others = flat.get("additionalProperties")
        is_map = isinstance(others, Mapping) and not flat.get("properties")
        if is_map and depth < DEEP and self._is_full and flat.get("maxProperties", 1) > len(value):
            fewest = max(fewest, len(value) + 1)
        names = self._other_names(flat, others)
        for _ in range(fewest + TRIES):
            if len(value) >= fewest:
                return
            name = next(names, None)
            if name is None:
                break
            if name not in value:
                try:
                    value[name] = self._property(flat, name, depth)
                except Impossible:
                    if len(value) < flat.get("minProperties", 0):
                        raise
                    return
        if len(value) < flat.get("minProperties", 0):
            raise Impossible

    def _other_names(self, flat: Mapping[str, Any], others: Any) -> Iterator[str]:
        yield from flat.get("properties", {})
        if "propertyNames" in flat:
            maker = _Maker(self._values, self._rng, is_random=True)
            for _ in range(TRIES):
                yield str(maker.make({"allOf": [{"type": "string"}, flat["propertyNames"]]}))
        if others is not False:
            yield from (f"property{number}" for number in range(1, LONGEST_LIST))
        for pattern in flat.get("patternProperties", {}):
            for _ in range(TRIES):
                yield from texts(pattern, self._rng, shortest=1, longest=20)

    def _array(self, flat: Mapping[str, Any], depth: int) -> list[Any]:
        fewest, most = flat.get("minItems", 0), flat.get("maxItems", math.inf)
        first: Sequence[Any] = flat.get("prefixItems", ())
        items = flat.get("items", True)
        value: list[Any] = []
        for number in range(int(flat.get("minContains", 1)) if "contains" in flat else 0):
            place = first[number] if number < len(first) else items
            value.append(self.make({"allOf": [place, flat["contains"]]}, depth + 1))
        wanted = max(fewest, len(first) if self._wants_more(depth) else 0)
        if self._wants_more(depth) and items is not False:
            wanted = max(wanted, self._rng.randint(1, 3) if self._is_random else 1)
        wanted = min(wanted, most, LONGEST_LIST)
        again = _Maker(self._values, self._rng, is_random=True)
        for _ in range(int(wanted) * (TRIES if flat.get("uniqueItems") else 1)):
            if len(value) >= wanted:
                break
            schema = first[len(value)] if len(value) < len(first) else items
            try:
                made = self.make(schema, depth + 1)
                if flat.get("uniqueItems") and made in value:
                    made = again.make(schema, depth + 1)
            except Impossible:
                break
            if not flat.get("uniqueItems") or made not in value:
                value.append(made)
        if len(value) < fewest:
            raise Impossible
        return value

    def _string(self, flat: Mapping[str, Any], depth: int) -> str:
        shortest = int(flat.get("minLength", 0))
        longest = int(min(flat.get("maxLength", shortest + 20), 1_000_000))
        if longest < shortest:
            raise Impossible
        if pattern := flat.get("pattern"):
            bounds = {k: flat[k] for k in ("minLength", "maxLength", "pattern") if k in flat}
            for _ in range(4):
                for text in texts(pattern, self._rng, shortest=shortest, longest=longest):
                    if self._values.fits({"type": "string", **bounds}, text):
                        return text
            raise Impossible
        if flat.get("contentEncoding", "").lower() in ("base64", "base64url"):
            return base64.b64encode(b"string").decode("ascii")
        if "json" in flat.get("contentMediaType", ""):
            return json.dumps(self.make(flat.get("contentSchema", {}), depth + 1))
        formatted = self._of_format(flat.get("format"))
        if formatted is None and self._is_random:
            most = min(longest, shortest + 20)
            length = self._rng.randint(max(shortest, min(1, longest)), most)
            return "".join(self._rng.choices("abcdefghijklmnopqrstuvwxyz", k=length))
        if formatted is None:
            return "string"[:longest].ljust(shortest, "a")
        if len(formatted) < shortest and flat.get("format") in _LENGTHENED:
            more = "a" * (shortest - len(formatted))
            return more + formatted if "@" in formatted else formatted + more
        return formatted

    def _of_format(self, name: str | None) -> str | None:
        if name is None or name not in FORMATS:
            return None
        if not self._is_random:
            return FORMATS[name]
        number = self._rng.randrange
        match name:
            case "uuid":
                hexed = f"{self._rng.getrandbits(128):032x}"
                parts = (hexed[:8], hexed[8:12], f"4{hexed[13:16]}", f"a{hexed[17:20]}", hexed[20:])
                return "-".join(parts)
            case "date":
                return f"20{number(100):02}-{number(1, 13):02}-{number(1, 29):02}"
            case "date-time":
                return f"{self._of_format('date')}T{self._of_format('time')}"
            case "time":
                return f"{number(24):02}:{number(60):02}:{number(60):02}Z"
            case "duration":
                return f"P{number(1, 30)}D"
            case "email" | "idn-email":
                return f"person{number(10_000)}@example.com"
            case "hostname" | "idn-hostname":
                return f"host{number(10_000)}.example.com"
            case "ipv4":
                return f"192.0.2.{number(256)}"
            case "ipv6":
                return f"2001:db8::{number(1, 65_536):x}"
            case "uri" | "iri" | "url":
                return f"https://example.com/{number(10_000)}"
            case "byte" | "base64url":
                return base64.b64encode(f"{number(10**6):06}".encode()).decode("ascii")
        return FORMATS[name]

    def _number(self, flat: Mapping[str, Any], depth: int) -> int | float:
        is_integer = "number" not in flat.get("type", ("number",))
        low, high = _bounds(flat, is_integer=is_integer)
        step = flat.get("multipleOf")
        if step is not None:
            exact = Decimal(str(step))
            first = math.ceil(low / exact) if low is not None else None
            last = math.floor(high / exact) if high is not None else None
            factor = self._between(first, last)
            while is_integer and (exact * factor) % 1:  # 2.5, 5
                factor += 1
            return _plain(exact * factor)
        if is_integer:
            first = math.ceil(low) if low is not None else None
            return self._between(first, math.floor(high) if high is not None else None)
        strictly_above = low is not None and _is_excluded(flat, "exclusiveMinimum", low)
        strictly_below = high is not None and _is_excluded(flat, "exclusiveMaximum", high)
        if low is not None and high is not None:
            if low > high or (low == high and (strictly_above or strictly_below)):
                raise Impossible
            zero_fits = low < 0 < high
            part = Decimal(repr(self._rng.uniform(0.01, 0.99))) if self._is_random else Decimal(2)
            if not self._is_random and not strictly_above:
                return _plain(Decimal(0) if zero_fits else low)
            return _plain(low + (high - low) * part if self._is_random else (low + high) / part)
        if low is not None:
            return _plain(max(Decimal(0), low) + 1 if strictly_above or self._is_random else low)
        if high is not None:
            return _plain(min(Decimal(0), high) - 1 if strictly_below or self._is_random else high)
        return round(self._rng.uniform(-1000, 1000), 2) if self._is_random else 0

    def _between(self, first: int | None, last: int | None) -> int:
        """Return a whole number; without bounds a small one."""
        if first is not None and last is not None and first > last:
            raise Impossible
        if self._is_random:
            least = first if first is not None else (last or 0) - 1000
            return self._rng.randint(least, last if last is not None else least + 1000)
        if first is not None and first > 0:
            return first
        return last if last is not None and last < 0 else 0

    def _flatten(self, schema: Any, followed: int = 0) -> dict[str, Any]:
        """Return a schema as one object: references followed, `allOf` merged, and what has to be
        chosen under `_CHOICES`. Raise `Impossible`.
        """
        if schema in (False, {"not": {}}) or followed > DEEPEST:
            raise Impossible
        if not isinstance(schema, Mapping):
            return {}
        flat = _normalized(schema, self._values.drop)
        reference = flat.pop("$ref", None) or flat.pop("$dynamicRef", None)
        if isinstance(reference, str):
            flat = _merge(self._flatten(self._lookup(reference), followed + 1), flat)
        for part in flat.pop("allOf", ()):
            inner = self._flatten(part, followed + 1)
            flat = _merge(flat, {k: v for k, v in inner.items() if k not in _EXAMPLES})
        groups = list(flat.get(_CHOICES, ()))
        for keyword in ("oneOf", "anyOf"):
            if keyword in flat:
                groups.append(flat.pop(keyword))
        if "if" in flat:
            condition = flat.pop("if")
            holds = {"allOf": [condition, flat.pop("then", True)]}
            groups.append([holds, {"not": condition, "allOf": [flat.pop("else", True)]}])
        for name, dependent in list(flat.get("dependentSchemas", {}).items()):
            if name in flat.get("required", ()):
                flat["dependentSchemas"] = {
                    k: v for k, v in flat["dependentSchemas"].items() if k != name
                }
                flat = _merge(flat, self._flatten(dependent, followed + 1))
        if groups:
            flat[_CHOICES] = groups
        return flat

    def _lookup(self, reference: str) -> Mapping[str, Any]:
        try:
            return self._values.schemas.resolve({"$ref": reference})
        except (DocumentError, LookupError, TypeError):
            raise Impossible from None


def _normalized(schema: Mapping[str, Any], drop: str) -> dict[str, Any]:
    """Return a schema's own keywords, with types and OpenAPI 3.0's exclusive bounds as JSON Schema
    2020-12 has them, and without the properties to drop.
    """
    flat = {key: value for key, value in schema.items() if not key.startswith("x-")}
    if isinstance(flat.get("type"), str):
        flat["type"] = (flat["type"],)
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if flat.get(exclusive) is True and bound in flat:
            flat[exclusive] = flat.pop(bound)
        elif isinstance(flat.get(exclusive), bool):
            del flat[exclusive]
    properties = flat.get("properties", {})
    hidden = [
        name for name, part in properties.items() if isinstance(part, Mapping) and part.get(drop)
    ]
    if hidden:
        flat["properties"] = {**properties, **dict.fromkeys(hidden, False)}
        flat["required"] = [name for name in flat.get("required", ()) if name not in hidden]
    return flat


def _merge(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flattened schema that demands what both do. Raise `Impossible`."""
    merged = dict(one)
    for key, value in other.items():
        if key not in merged or key in _EXAMPLES:
            merged[key] = value
        elif key == "type":
            merged[key] = _common_types(merged[key], value)
        elif key in ("enum", "const"):
            merged[key] = (
                [each for each in merged[key] if each in value] if key == "enum" else value
            )
        elif key in ("properties", "patternProperties"):
            merged[key] = {
                **merged[key],
                **{
                    name: {"allOf": [merged[key][name], part]} if name in merged[key] else part
                    for name, part in value.items()
                },
            }
        elif key == "required":
            merged[key] = [*merged[key], *(name for name in value if name not in merged[key])]
        elif key in _LOWER or key == "exclusiveMinimum":
            merged[key] = max(merged[key], value)
        elif key in _UPPER or key == "exclusiveMaximum":
            merged[key] = min(merged[key], value)
        elif key == _CHOICES:
            merged[key] = [*merged[key], *value]
        elif key in ("items", "additionalProperties", "propertyNames", "contains"):
            both = (merged[key], value)
            merged[key] = False if False in both else {"allOf": list(both)}
        elif key == "nullable":
            merged[key] = merged[key] and value
        elif key == "uniqueItems":
            merged[key] = merged[key] or value
    for closed, open_ in ((one, other), (other, one)):
        if closed.get("additionalProperties") is False and not closed.get("patternProperties"):
            names = closed.get("properties", {})
            if any(name not in names for name in open_.get("required", ())):
                raise Impossible
            merged["properties"] = {
                name: part for name, part in merged.get("properties", {}).items() if name in names
            }
    if "enum" in merged and not merged["enum"]:
        raise Impossible
    return merged


def _common_types(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    common = {kind for kind in one if kind in other}
    for kinds, others in ((one, other), (other, one)):
        if "integer" in kinds and "number" in others:
            common.add("integer")
    if not common:
        raise Impossible
    return tuple(kind for kind in (*one, *other) if kind in common)


def _named(branch: Any, discriminator: Any) -> Iterator[Any]:
    """Yield a branch with the name that its discriminator gives it, then as it is."""
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


def _is_of(value: Any, kinds: Sequence[str]) -> bool:
    names = {
        bool: ("boolean",),
        int: ("integer", "number"),
        float: ("number",),
        str: ("string",),
        list: ("array",),
        dict: ("object",),
        type(None): ("null",),
    }[type(value)]
    return any(name in kinds for name in names)


def _bounds(flat: Mapping[str, Any], *, is_integer: bool) -> tuple[Decimal | None, Decimal | None]:
    """Return the least and the greatest number; of a multiple or an integer, inclusive."""
    low = [Decimal(str(flat[key])) for key in ("minimum", "exclusiveMinimum") if key in flat]
    high = [Decimal(str(flat[key])) for key in ("maximum", "exclusiveMaximum") if key in flat]
    least, most = max(low, default=None), min(high, default=None)
    step = Decimal(1) if is_integer else Decimal(str(flat.get("multipleOf", 0)))
    if "multipleOf" in flat:
        step = Decimal(str(flat["multipleOf"]))
    if step:
        tiny = step / 2
        if least is not None and _is_excluded(flat, "exclusiveMinimum", least):
            least += tiny if least % step == 0 else 0
        if most is not None and _is_excluded(flat, "exclusiveMaximum", most):
            most -= tiny if most % step == 0 else 0
    first, last = _INTEGERS.get(flat.get("format", ""), (None, None))
    if first is not None and (least is None or least < first) and is_integer:
        least = Decimal(first) if least is not None else None
    if last is not None and (most is None or most > last) and is_integer:
        most = Decimal(last)
    return least, most


def _is_excluded(flat: Mapping[str, Any], key: str, bound: Decimal) -> bool:
    return key in flat and Decimal(str(flat[key])) == bound


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)
