"""Explaining an invalid value costs at most a constant times the validation of a valid value."""

import json
import random
import resource
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from specd._engine.document.schemas import MAX_VIOLATIONS, Schemas
from specd._engine.errors import DocumentError
from tests.support.cpu import slowness, spent

NODE = {"$ref": "#/components/schemas/Node"}


def document(version: str = "3.0.3", **schemas: Any) -> dict[str, Any]:
    return {"openapi": version, "components": {"schemas": schemas}}


def kinds(*names: str) -> dict[str, Any]:
    """Return an ordinary schema of rich text: a node of one of these kinds, or a text."""
    inner = [
        {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": [name]},
                "children": {"type": "array", "items": NODE},
            },
            "required": ["kind", "children"],
        }
        for name in names
    ]
    text = {
        "type": "object",
        "properties": {"kind": {"enum": ["text"]}, "text": {"type": "string"}},
        "required": ["kind", "text"],
    }
    return {"oneOf": [*inner, text]}


def nested(depth: int, leaf: dict[str, Any]) -> dict[str, Any]:
    for _ in range(depth):
        leaf = {"kind": "list", "children": [leaf]}
    return leaf


RECURSIVE: dict[str, tuple[dict[str, Any], Any, Callable[[Any], Any]]] = {
    "a list of kinds": (kinds("paragraph", "list"), {"kind": "text"}, lambda it: nested(1, it)),
    "operators": (
        {
            "anyOf": [
                {"type": "object", "properties": {name: NODE}, "required": [name]}
                for name in ("and", "or", "not")
            ]
            + [{"type": "integer"}]
        },
        "x",
        lambda it: {"and": it, "or": it, "not": it},
    ),
    "all of twice": (
        {"allOf": [{"properties": {"a": NODE}}] * 2 + [{"properties": {"n": {"type": "integer"}}}]},
        {"n": "x"},
        lambda it: {"a": it},
    ),
    "inline": (
        {
            "oneOf": [
                {"type": "array", "items": {"anyOf": [NODE, {"type": "boolean"}]}, "minItems": n}
                for n in (1, 2)
            ]
            + [{"type": "integer"}]
        },
        "x",
        lambda it: [it, it],
    ),
    "other properties": (
        {
            "oneOf": [
                {"type": "object", "additionalProperties": NODE, "minProperties": n} for n in (1, 2)
            ]
            + [{"type": "integer"}]
        },
        "x",
        lambda it: {"a": it},
    ),
    "a reference to a part": (
        {
            "properties": {
                "either": {
                    "oneOf": [
                        {
                            "type": "object",
                            "properties": {
                                "a": {"$ref": "#/components/schemas/Node/properties/either"},
                                "n": {"enum": [number]},
                            },
                        }
                        for number in (1, 2)
                    ]
                },
            },
        },
        {"either": {"n": 3}},
        lambda it: {"either": {"a": it["either"], "n": 1}},
    ),
}
"""Name -> schema of a node, an invalid leaf, and a function that wraps a node."""


def peak() -> int:
    """Return the peak memory of the process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize("name", RECURSIVE)
def test_deep_value_is_rejected_quickly(name: str, version: str) -> None:
    schema, value, wrap = RECURSIVE[name]
    validate = Schemas(document(version, Node=schema), drop="").compile(NODE, "here")
    before, allowed_s = peak(), 0.1 * slowness()
    for _ in range(60):
        assert validate(value, "/v")
        assert min(spent(partial(validate, value, "/v")) for _ in range(2)) < allowed_s
        value = wrap(value)
        if len(repr(value)) > 64 * 1024:
            break
    assert peak() - before < 64


def test_violations_below_a_cut_are_reported() -> None:
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "left": {"anyOf": [NODE, {"type": "null"}]},
            "children": {"type": "array", "items": NODE},
        },
        "additionalProperties": False,
    }
    validate = Schemas(document("3.1.0", Node=tree), drop="").compile(NODE, "here")
    wrong = {"name": 1, "children": [{"children": [{"name": 2, "other": 1}]}, {"name": "a"}, 3]}
    assert {(found.path, found.rule) for found in validate(wrong, "/v")} == {
        ("/v/name", "type"),
        ("/v/children/0/children/0/name", "type"),
        ("/v/children/0/children/0", "additionalProperties"),
        ("/v/children/2", "type"),
    }
    many = validate({"children": [{"name": 1, "children": [{"name": 1}] * 3}] * 12}, "/v")
    assert len(many) == len({(found.path, found.rule) for found in many}) == MAX_VIOLATIONS


def test_invalid_schema_next_to_a_recursive_one_is_named() -> None:
    """A failed build is repeated for each schema. The valid schemas then work."""
    schemas = Schemas(document(Node=kinds("list")), drop="")
    good = schemas.compile({"type": "array", "items": NODE}, "good")
    schemas.compile({"type": "nonsense"}, "the place")
    with pytest.raises(DocumentError, match="the place"):
        schemas.finish()
    assert good([nested(3, {"kind": "text", "text": "a"})], "/v") == ()
    assert good([nested(3, {"kind": "text"})], "/v")


class Grammar:
    """A random recursive document, and values that it accepts."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        names = [f"N{number}" for number in range(random.randint(1, 3))]
        self.names = names
        self.schemas = {name: self.choice(name) for name in names}

    def reference(self) -> dict[str, str]:
        return {"$ref": f"#/components/schemas/{self.random.choice(self.names)}"}

    def part(self) -> Any:
        form = self.random.randrange(5)
        if form == 0:
            return {"type": "array", "items": self.reference()}
        if form == 1:
            return {"anyOf": [self.reference(), {"type": "boolean"}]}
        if form == 2:
            return {"allOf": [self.reference(), self.reference()][: self.random.randint(1, 2)]}
        if form == 3:
            return {"type": "object", "additionalProperties": self.reference()}
        return self.reference()

    def choice(self, name: str) -> dict[str, Any]:
        shared = {f"p{number}": self.part() for number in range(self.random.randint(1, 3))}
        branches: list[Any] = []
        for kind in range(self.random.randint(1, 4)):
            own = {key: it for key, it in shared.items() if self.random.random() < 0.8}
            own |= {"kind": {"enum": [kind]}} if self.random.random() < 0.8 else {}
            branch = {"type": "object", "properties": own}
            if self.random.random() < 0.5:
                branch["required"] = ["kind"]
            branches.append(branch)
        branches.append({"type": "integer"})
        return {self.random.choice(["oneOf", "anyOf"]): branches}

    def value(self, schema: Any, size: int, depth: int = 0) -> Any:
        """Return a probably valid value of about `size` nodes."""
        size = size if depth < 50 else 0
        if "$ref" in schema:
            return self.value(self.schemas[schema["$ref"].rpartition("/")[2]], size, depth + 1)
        if "allOf" in schema:
            return self.value(schema["allOf"][0], size, depth)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                branches = schema[key] if size < 2 else schema[key][:-1]
                return self.value(
                    self.random.choice(branches if size > 1 else branches[-1:]), size, depth
                )
        if schema["type"] == "array":
            number = self.random.randint(1, 4)
            return [self.value(schema["items"], size // number, depth + 1) for _ in range(number)]
        if schema["type"] == "object":
            inner = schema.get("properties", {"a": schema.get("additionalProperties")})
            found = {}
            for key, it in inner.items():
                if key == "kind":
                    found[key] = it["enum"][0]
                elif size > 1:
                    found[key] = self.value(it, (size - 1) // len(inner), depth + 1)
            return found
        return schema["type"] == "boolean" or self.random.randrange(9)

    def spoiled(self, value: Any) -> Any:
        """Return a value with one of its leaves replaced by a text."""
        if isinstance(value, dict) and value:
            key = self.random.choice(list(value))
            return {**value, key: self.spoiled(value[key])}
        if isinstance(value, list) and value:
            at = self.random.randrange(len(value))
            return [*value[:at], self.spoiled(value[at]), *value[at + 1 :]]
        return "wrong"


def compare(seed: int) -> tuple[float, float, int] | None:
    """Return the processor seconds for a valid and an invalid value of equal size, and the increase
    of the peak by the invalid value in MiB. Return None if no such values were found.
    """
    chance = random.Random(seed)
    grammar = Grammar(chance)
    schemas = Schemas(document(**grammar.schemas), drop="")
    root = {"$ref": f"#/components/schemas/{grammar.names[0]}"}
    validate = schemas.compile(root, "here")
    validate(1, "/v")
    for _ in range(20):
        value = grammar.value(root, chance.choice([20, 200, 2000]))
        depth = chance.choice([0, 0, 8, 20])
        wraps = [
            key
            for branch in next(iter(grammar.schemas["N0"].values()))[:-1]
            for key, it in branch["properties"].items()
            if it == root
        ]
        for _ in range(depth if wraps else 0):
            value = {wraps[0]: value, "kind": chance.randrange(2)}
        wrong = grammar.spoiled(value)
        if len(json.dumps(wrong)) > 64 * 1024 or validate(value, "/v") or not validate(wrong, "/v"):
            continue
        before = peak()
        right_seconds = min(spent(partial(validate, value, "/v")) for _ in range(3))
        wrong_seconds = min(spent(partial(validate, wrong, "/v")) for _ in range(3))
        return right_seconds, wrong_seconds, peak() - before
    return None


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 3000), marks=pytest.mark.exhaustive)]
)
def test_rejecting_costs_a_constant_times_accepting(seeds: range) -> None:
    """Plus five milliseconds, because building the sentences needs up to two, even for a small
    value.
    """
    found = [(seed, figures) for seed in seeds if (figures := compare(seed))]
    assert len(found) > len(seeds) // 2
    for seed, (right, wrong, growth) in found:
        assert wrong < max(20 * right, 0.005), (seed, right, wrong)
        assert wrong < 0.25, (seed, wrong)
        assert growth < 64, (seed, growth)
