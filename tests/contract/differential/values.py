"""Values for a schema from a seeded generator: valid, borderline, and almost valid."""

import random
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Mapping
from typing import Any

from specd._engine.openapi.structure import lookup

Schema = Mapping[str, Any]
ODD_STRINGS = [
    "",
    " ",
    "a\n",
    "\u0661",
    "\uff11",
    "\U0001f600",
    "null",
    "true",
    "1",
    "-1",
    "1.0",
    "1e3",
    "a,b",
    "[1]",
    '{"a":1}',
    "é",
    "x" * 200,
    "\u2028",
    "%",
    "&=+;",
    "'\"\\",
]
ODD_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63,
    2**64,
    2**70,
    1.5,
    -0.0,
    1e300,
    [],
    [1],
    ["a"],
    [[]],
    {},
    {"a": 1},
    {"a": None},
    *ODD_STRINGS,
]

LONGEST, MOST = 20_000, 2_000
"""Maximum characters of a text and items of an array. Higher limits in documents are tested by the
limit of bodies, because values at them would need gigabytes."""


class Values:
    """Creates values for the schemas of a document."""

    def __init__(self, document: Mapping[str, Any], chance: random.Random) -> None:
        self.document = document
        self.chance = chance

    def resolve(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = lookup(self.document, schema["$ref"])
        return schema

    def valid(self, schema: Schema, depth: int = 0) -> Any:
        """Return a valid value, sometimes at a limit."""
        schema = self.resolve(schema)
        chance = self.chance
        if schema.get("nullable") and chance.random() < 0.2:
            return None
        if "enum" in schema:
            return chance.choice(schema["enum"])
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self.valid(chance.choice(schema[key]), depth + 1)
        if "allOf" in schema:
            return self.valid(schema["allOf"][0], depth + 1)
        kind = schema.get("type")
        if kind == "integer":
            return self._integer(schema)
        if kind == "number":
            low, high = schema.get("minimum", -100), schema.get("maximum", 100)
            return chance.choice([low, high, (low + high) / 2, low + (high - low) * 0.125])
        if kind == "boolean":
            return chance.random() < 0.5
        if kind == "string":
            return self._string(schema)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        return chance.choice(ODD_VALUES)

    def _integer(self, schema: Schema) -> int:
        low = schema.get("minimum", -(2**40))
        high = schema.get("maximum", 2**40)
        return self.chance.choice(
            [low, high, min(low + 1, high), max(high - 1, low), self.chance.randint(low, high)]
        )

    def _string(self, schema: Schema) -> str:
        low, high = schema.get("minLength", 0), min(schema.get("maxLength", 30), LONGEST)
        if schema.get("format") == "uuid":
            digits = f"{self.chance.getrandbits(128):032x}"
            text = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
            return text.upper() if self.chance.random() < 0.2 else text
        pattern = schema.get("pattern")
        for _ in range(50):
            if pattern is None:
                length = self.chance.choice([low, high, self.chance.randint(low, min(high, 20))])
                alphabet = self.chance.choice(["abc", "aé\U0001f600 ", 'a"\\/,:[]{}&=+%;'])
                return "".join(self.chance.choices(alphabet, k=length))
            text = matching(pattern, self.chance)
            if low <= len(text) <= schema.get("maxLength", 10_000) and re.search(pattern, text):
                return text
        raise AssertionError(f"found no text for {schema}")

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        low, high = schema.get("minItems", 0), schema.get("maxItems", 4)
        if depth > 4:
            high = low
        length = self.chance.choice([low, min(high, 5), self.chance.randint(low, min(high, 5))])
        return [self.valid(schema.get("items", {}), depth + 1) for _ in range(length)]

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        made = {}
        for name, item in schema.get("properties", {}).items():
            resolved = self.resolve(item)
            if item.get("readOnly") or resolved.get("readOnly"):
                continue
            wanted = name in schema.get("required", ())
            if wanted or self.chance.random() < (0.5 if depth < 3 else 0.1):
                made[name] = self.valid(item, depth + 1)
        return made

    def wrong(self, schema: Schema) -> Any:
        """Return a value that is usually invalid, with a minimal error."""
        schema = self.resolve(schema)
        chance = self.chance
        for key in ("oneOf", "anyOf", "allOf"):
            if key in schema:
                return self.wrong(chance.choice(schema[key]))
        edges: list[Any] = [chance.choice(ODD_VALUES)]
        if "minimum" in schema:
            edges.append(schema["minimum"] - 1)
        if "maximum" in schema:
            edges.append(schema["maximum"] + 1)
        kind = schema.get("type")
        if kind in ("integer", "number"):
            fitting = self.valid({**schema, "nullable": False})
            edges += [str(fitting), float(fitting), fitting + 0.5]
        elif kind == "string":
            fitting = self._string(schema) if "enum" not in schema else schema["enum"][0]
            edges += [
                f"{fitting}\n",
                f" {fitting}",
                f"{fitting}\u0661",
                str(fitting).upper(),
                "",
                str(fitting) + "x" * min(schema.get("maxLength", 50), LONGEST),
                [fitting],
            ]
        elif kind == "array":
            item = schema.get("items", {})
            edges += [
                [self.valid(item) for _ in range(min(schema.get("maxItems", 3) + 1, MOST))],
                [self.wrong(item)],
                [self.valid(item), self.wrong(item)],
                [],
            ]
        elif kind == "object" or "properties" in schema:
            edges += [self.spoilt(schema) for _ in range(4)]
        return chance.choice(edges)

    def spoilt(self, schema: Schema) -> Any:
        """Return a valid object with one error, possibly nested."""
        schema = self.resolve(schema)
        made = self._object(schema, 0)
        properties = schema.get("properties", {})
        how = self.chance.random()
        if how < 0.2 and made:
            del made[self.chance.choice(sorted(made))]
        elif how < 0.35:
            made[self.chance.choice(["surprise", "", "é", "__proto__"])] = 1
        elif how < 0.45:
            read_only = [n for n, item in properties.items() if item.get("readOnly")]
            if read_only:
                made[read_only[0]] = self.valid(properties[read_only[0]])
        elif properties:
            name = self.chance.choice(sorted(properties))
            made[name] = self.wrong(properties[name])
        return made


def matching(pattern: str, chance: random.Random) -> str:
    """Return a text that matches a (simple) regular expression."""
    return "".join(_text(node, chance) for node in sre_parser.parse(pattern))


def _text(node: Any, chance: random.Random) -> str:
    kind, value = node
    if kind is sre.LITERAL:
        return chr(value)
    if kind is sre.ANY:
        return chance.choice("ab1 é")
    if kind is sre.AT:
        return ""
    if kind is sre.IN:
        return _one_of(value, chance)
    if kind is sre.NOT_LITERAL:
        return chance.choice([c for c in "ab1" if ord(c) != value])
    if kind is sre.SUBPATTERN:
        return "".join(_text(inner, chance) for inner in value[3])
    if kind is sre.BRANCH:
        return "".join(_text(inner, chance) for inner in chance.choice(value[1]))
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        low, high, inner = value
        high = min(int(high), int(low) + 80)
        times = chance.choice([low, high, chance.randint(low, min(high, low + 6))])
        return "".join(_text(part, chance) for _ in range(times) for part in inner)
    raise AssertionError(f"no text for {kind}")


def _one_of(members: Any, chance: random.Random) -> str:
    if members[0][0] is sre.NEGATE:
        taken = {value for kind, value in members[1:] if kind is sre.LITERAL}
        return chance.choice([c for c in "ab1é" if ord(c) not in taken])
    kind, value = chance.choice(members)
    if kind is sre.LITERAL:
        return chr(value)
    if kind is sre.RANGE:
        return chr(chance.randint(*value))
    return chance.choice("0123456789")
