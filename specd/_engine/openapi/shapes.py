"""The structure of documents: the JSON Schemas of OpenAPI 3.0, 3.1 and 3.2, and messages about
violations.

Each object is validated alone, by its part of the schema, so that a mistake is reported at its
place and not in each object around it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs

from specd._engine.errors import DocumentError
from specd._engine.openapi.dialects import LATEST, dialect_named, not_served, with_dialects
from specd._engine.openapi.loading import has_no_reference
from specd._engine.openapi.structure import METHODS, OBJECTS, SECTIONS, Steps, steps_of
from specd._engine.openapi.wording import child, did_you_mean, listed, nearest, reach

Node = Mapping[str, Any]
_DEFINITIONS = ("definitions", "$defs")
_NAMES = {"media": "mediatype"}
"""Kinds of objects that have other names in the schemas of OpenAPI."""
_ARTICLES = {
    "document": "a document",
    "components": "the components",
    "pathItem": "a path",
    "operation": "an operation",
    "parameter": "a parameter",
    "header": "a header",
    "requestBody": "a request body",
    "response": "an answer",
    "media": "a media type",
    "encoding": "an encoding",
    "schema": "a schema",
    "securityScheme": "a security scheme",
    "link": "a link",
    "example": "an example",
    "callback": "a callback",
}
_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_BOOLEAN_IN_DRAFT_4 = ("additionalProperties", "additionalItems")
VERSIONS = ("3.0", "3.1", "3.2")


def a(kind: str) -> str:
    """Return a kind of object with its article, as in `an operation`."""
    return _ARTICLES[kind]


def version_of(content: Node) -> str:
    """Return the version of OpenAPI whose rules apply to a document. It is 3.1 for an unknown
    version.
    """
    version = str(content.get("openapi"))[:3]
    return version if version in VERSIONS else "3.1"


def find_faults(content: Node, objects: Iterable[tuple[Steps, Any, str]]) -> list[DocumentError]:
    """Return the violations of the structure in a document. `objects` are its objects as `walk`
    yields them.
    """
    version = version_of(content)
    found = list(_version_faults(content))
    for at, node, kind, dialect in with_dialects(content, objects):
        if kind in SECTIONS and isinstance(node, Mapping) and "$ref" in node:
            if not isinstance(node["$ref"], str):
                found.append(DocumentError('"$ref" must be text', at=(*at, "$ref")))
            if kind == "pathItem":
                node = {key: value for key, value in node.items() if key != "$ref"}
            elif kind != "schema" or version == "3.0":
                continue
        is_reference = isinstance(node, Mapping) and isinstance(node.get("$ref"), str)
        if is_reference and has_no_reference(kind, has_media_types=version == "3.2"):
            continue  # a fault of the references, reported once
        if kind == "schema" and _is_true_or_false(node, at, version, dialect):
            continue
        if kind == "schema" and version != "3.0":
            found += _dialect_faults(node, at)
            if not dialect:
                continue
        is_latest = dialect == LATEST
        if kind == "schema" and is_latest and isinstance(reach(node, ("items",)), list):
            words = '"items" is one schema, not a list' + (
                "" if version == "3.0" else ": write `prefixItems` for items that differ"
            )
            found.append(DocumentError(words, (*at, "items")))
        found += _rules(version, kind, dialect if kind == "schema" else LATEST).faults(node, at)
    return found


def _is_true_or_false(schema: Any, at: Steps, version: str, dialect: str) -> bool:
    """Return whether a schema is a boolean in a place where that is allowed."""
    is_anywhere = version != "3.0" and dialect != "4"
    return isinstance(schema, bool) and (is_anywhere or at[-1] in _BOOLEAN_IN_DRAFT_4)


def _dialect_faults(schema: Any, at: Steps) -> Iterator[DocumentError]:
    if isinstance(schema, Mapping) and "$schema" in schema:
        named = schema["$schema"]
        if isinstance(named, str) and dialect_named(named) is None:
            yield DocumentError(not_served(named), at=(*at, "$schema"))


def _version_faults(content: Node) -> Iterator[DocumentError]:
    version = content.get("openapi")
    if "swagger" in content:
        words = "this is Swagger 2.0, which is not served: convert the document to OpenAPI 3"
        yield DocumentError(words, at=("swagger",))
    elif "openapi" in content and str(version)[:3] not in VERSIONS:
        yield DocumentError(
            f'"{version}" is no version of OpenAPI that is served: write "3.0.4", "3.1.1" or '
            '"3.2.0"',
            at=("openapi",),
        )
    named = content.get("jsonSchemaDialect")
    if isinstance(named, str) and version_of(content) != "3.0" and dialect_named(named) is None:
        yield DocumentError(not_served(named), at=("jsonSchemaDialect",))


@cache
def _openapi(version: str) -> Any:
    return json.loads((_SCHEMAS / f"openapi-{version}.json").read_bytes())


@cache
def vocabulary(dialect: str = LATEST) -> dict[str, Any]:
    """Return the metaschema of a dialect of JSON Schema as one schema."""
    if dialect not in _VOCABULARIES:
        whole = json.loads(_specification(f"draft{dialect}/metaschema.json"))
        return {key: value for key, value in whole.items() if key not in (*_IDENTITY, "id")}
    parts = []
    for name in _VOCABULARIES[dialect]:
        part = json.loads(_specification(f"draft{dialect.replace('-', '')}/vocabularies/{name}"))
        parts.append({key: value for key, value in part.items() if key not in _IDENTITY})
    definitions = {name: rule for part in parts for name, rule in part.pop("$defs", {}).items()}
    return {"allOf": parts, "$defs": definitions}


_SCHEMAS = Path(__file__).parent / "schemas"
"""The JSON Schemas of the OpenAPI Specification; NOTICE has their origin."""
_VOCABULARIES = {
    LATEST: ("core", "applicator", "unevaluated", "validation", "meta-data", "content"),
    "2019-09": ("core", "applicator", "validation", "meta-data", "content"),
}
_IDENTITY = ("$id", "$schema", "$vocabulary", "$dynamicAnchor")


def _specification(name: str) -> bytes:
    """Return a file of `jsonschema_specifications` without importing it."""
    spec = find_spec("jsonschema_specifications")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "schemas" / name).read_bytes()


def _replaced(node: Any, replacement: Any) -> Any:
    """Return a JSON Schema, with parts replaced by the result of `replacement` unless it
    is None.
    """
    if isinstance(node, dict):
        new = replacement(node)
        if new is not None:
            return new
        return {key: _replaced(value, replacement) for key, value in node.items()}
    if isinstance(node, list):
        return [_replaced(item, replacement) for item in node]
    return node


def _is_schema(node: Node) -> bool:
    """Return whether a rule in a metaschema is the rule for a nested schema."""
    return (
        node.get("$dynamicRef") == "#meta"
        or node.get("$recursiveRef") == "#"
        or node.get("$ref") == "#"
    )


def _plain_name(reference: Any) -> str:
    return str(reference).rpartition("/")[2].replace("-", "").lower()


_KINDS = {_NAMES.get(kind, kind.lower()): kind for kind in OBJECTS}


def _without_objects(node: Node) -> Any:
    """Return `{}` for a rule about a kind in `OBJECTS`, which is validated separately, or else
    None.
    """
    name = _plain_name(node.get("$ref", ""))
    if name in _KINDS or name in ("callbacks", "reference") or name.endswith("orreference"):
        return {}
    branches = node.get("oneOf")
    if isinstance(branches, list):
        names = [_plain_name(branch.get("$ref")) for branch in branches]
        return {} if "reference" in names else None
    return {} if _is_schema(node) else None


@cache
def _rules(version: str, kind: str, dialect: str = LATEST) -> _Rules:
    """Return the rules for one object of a kind, without those for nested objects. The rules for a
    schema since OpenAPI 3.1 are those of its dialect.
    """
    own = _bare(version, kind, dialect)
    has_alternatives = version == "3.0" and kind in ("parameter", "securityScheme")
    return _Rules(kind, version, own, _bare("3.1", kind) if has_alternatives else own)


@cache
def _bare(version: str, kind: str, dialect: str = LATEST) -> tuple[Any, Node]:
    """Return the validator of an object of a kind, without nested objects, and its JSON Schema."""
    if kind == "schema" and version != "3.0":
        schema = _replaced(vocabulary(dialect), _without_objects)
    else:
        whole = _openapi(version)
        key = _DEFINITIONS[version != "3.0"]
        named = {_plain_name(name): rule for name, rule in whole[key].items()}
        name = _NAMES.get(kind, kind.lower())
        own = whole if kind == "document" else named.get(name) or named[f"{name}s"]
        own = {k: rule for k, rule in own.items() if k not in (*_IDENTITY, "id", key)}
        bare = {**whole[key], "reference": {}, "Reference": {}}
        schema = _replaced(own, _without_objects) | {key: _replaced(bare, _without_objects)}
    is_draft_4 = version == "3.0" or dialect == "4"
    draft = jsonschema_rs.Draft4Validator if is_draft_4 else jsonschema_rs.Draft202012Validator
    return draft(schema, validate_formats=False), schema


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One violated rule: the keyword with its facts, the steps to the value, and the steps to the
    rule.
    """

    rule: str
    facts: Mapping[str, Any]
    at: Steps
    to_rule: tuple[Any, ...]
    value: Any


class _Rules:
    """The rules for one object: those that decide, and those whose errors explain a
    mistake best.
    """

    def __init__(
        self, kind: str, version: str, own: tuple[Any, Node], plain: tuple[Any, Node]
    ) -> None:
        self._kind = kind
        self._version = version
        self._own, _ = own
        self._plain, self._schema = plain
        self.words = known_words(self._schema, self._schema)

    def faults(self, node: Any, at: Steps) -> list[DocumentError]:
        """Return the mistakes of an object, without those of nested objects."""
        if self._own.is_valid(node):
            return []
        errors = list(self._plain.iter_errors(node))
        if self._plain is not self._own:  # only it has the rules for keys that exclude each other
            errors += (error for error in self._own.iter_errors(node) if error.kind.name == "not")
        leaves = [leaf for error in errors for leaf in _leaves_of(error, node)]
        mistyped = {leaf.at for leaf in leaves if leaf.rule == "type"}
        leaves = [leaf for leaf in leaves if leaf.rule == "type" or leaf.at not in mistyped]
        typos = self._typos(leaves)
        leaves = [
            leaf
            for leaf in leaves
            if (leaf.at, leaf.facts.get("property")) not in typos
            # Another rule reports which one.
            and not (leaf.rule == "uniqueItems" and leaf.at[-1:] in (("parameters",), ("tags",)))
        ]
        if len(leaves) > 1:  # this one is missing only if there are no responses
            leaves = [leaf for leaf in leaves if leaf.facts.get("property") != "default"]
        faults = [
            DocumentError(self._sentence(leaf), at=at + leaf.at)
            for leaf in leaves
            if leaf.rule not in (*_CLOSED, *_VAGUE)
        ]
        for leaf in leaves:
            if leaf.rule in _CLOSED:
                faults += self._unknown(leaf, at, is_alone=not faults)
        if not faults:
            faults = [
                DocumentError(self._sentence(leaf), at=at + leaf.at)
                for leaf in leaves
                if leaf.rule in _VAGUE
            ]
        if not faults:
            faults = [DocumentError(f"has a form that OpenAPI {self._version} does not know", at)]
        return list({(fault.at, str(fault)): fault for fault in faults}.values())

    def _typos(self, leaves: list[_Leaf]) -> set[tuple[Steps, str]]:
        """Return the correct names of misspelled keys, each with the steps to its object."""
        closed = [leaf for leaf in leaves if leaf.rule in _CLOSED]
        return {
            (leaf.at, meant)
            for leaf in closed
            for name in leaf.facts.get("unexpected", ())
            if (meant := nearest(name, self._words_at(leaf))) is not None
        }

    def _words_at(self, leaf: _Leaf) -> frozenset[str]:
        return known_words(reach(self._schema, leaf.to_rule[:-1]), self._schema)

    def _unknown(self, leaf: _Leaf, at: Steps, *, is_alone: bool) -> Iterator[DocumentError]:
        """Yield an error for each key that an object must not have. A key that is only allowed with
        others is reported only if there are no other errors.
        """
        words = self._words_at(leaf)
        patterns = reach(self._schema, leaf.to_rule[:-1]).get("patternProperties", {})
        names = leaf.facts.get("unexpected", leaf.value if isinstance(leaf.value, Mapping) else ())
        for name in names:
            place = (*at, *leaf.at, name)
            if name not in words:
                yield DocumentError(self._unknown_sentence(name, words, patterns, leaf), at=place)
            elif is_alone:
                yield DocumentError(f'"{name}" does not go with the other keys here', at=place)

    def _unknown_sentence(
        self, name: str, words: frozenset[str], patterns: Node, leaf: _Leaf
    ) -> str:
        if any("1-5" in pattern for pattern in patterns):
            right = nearest(name, ("default",), very=True)
            return f'"{name}" is no status: write ' + (
                f'"{right}"' if right else 'a number such as 200, a range such as 2XX, or "default"'
            )
        if any(pattern in ("^/", "^\\/") for pattern in patterns):
            return f'"{name}" is no path: write "/{name.lstrip("/")}", with a slash first'
        if self._kind == "schema" and name in _SINCE_3_1:
            return (
                f'"{name}" is of OpenAPI 3.1, the document of {self._version}: {_SINCE_3_1[name]}'
            )
        for other in VERSIONS:
            if not leaf.at and name in _rules(other, self._kind).words:
                return f'"{name}" is of OpenAPI {other}, the document of {self._version}'
        if self._kind == "pathItem":
            words |= set(METHODS)
        right = did_you_mean(name, words)
        if not right and len(words) <= _FEW:
            right = f"; it may have {listed(sorted(words))}"
        return f'"{name}" is no key of {self._noun(leaf)}{right}'

    def _sentence(self, leaf: _Leaf) -> str:
        facts, value = leaf.facts, leaf.value
        match leaf.rule:
            case "required":
                needed = _needed(leaf)
                if needed == ["required"]:
                    return "a parameter of the path needs `required: true`"
                return f"{self._noun(leaf)} needs {listed(map(_quoted, needed))}"
            case "type":
                types = facts["types"]
                hint = self._hint(leaf, types) or f", not {_TYPES[_type_of(value)]}"
                return f"must be {listed(_TYPES[t] for t in types)}{hint}"
            case "enum":
                options = facts["options"]
                return self._choice(value, options)
            case "const":
                return f"must be {json.dumps(facts['expected_value'])}"
            case "not":
                names = facts["schema"].get("required", ())
                if len(names) > 1:
                    return f"{listed(map(_quoted, names), 'and')} exclude each other: keep one"
                if names:
                    return f'"{names[0]}" does not go with the other keys here'
            case "pattern" if leaf.at[-1:] == ("openapi",):
                return f'"{value}" is no version of OpenAPI: write "{self._version}.1"'
            case "pattern" | "propertyNames":
                return f'"{value}" does not match the pattern {facts["pattern"]}'
            case "minItems" | "minProperties":
                return "must not be empty"
            case "maxProperties":
                return f"must have no more than {facts['limit']}"
            case "oneOf":
                branches = reach(self._schema, leaf.to_rule)
                names = [name for branch in branches for name in branch.get("required", ())]
                if len(names) == len(branches):
                    return f"{listed(map(_quoted, names), 'and')} exclude each other: keep one"
            case "uniqueItems":
                return "has an item twice"
            case "minimum" | "exclusiveMinimum":
                more = "more than" if leaf.rule == "exclusiveMinimum" else "at least"
                return f"must be {more} {facts['limit']}"
        if leaf.at[-1:] == ("parameters",):
            return "a parameter `in: querystring` comes once, with no other parameter of a query"
        return f"has a form that OpenAPI {self._version} does not know"

    def _noun(self, leaf: _Leaf) -> str:
        if not leaf.at:
            return a(self._kind)
        return f'"{leaf.at[-1]}"' if isinstance(leaf.at[-1], str) else "this object"

    def _choice(self, value: Any, options: list[Any]) -> str:
        """Return the message about a value that is not one of the options."""
        if not isinstance(value, str):
            return f"must be {listed(map(_quoted, options))}"
        fault = "is no type" if set(options) <= _TYPES.keys() else "cannot stand here"
        right = did_you_mean(value, map(str, options))
        return f'"{value}" {fault}{right or f"; write {listed(map(_quoted, options))}"}'

    def _hint(self, leaf: _Leaf, types: list[str]) -> str:
        """Return a remedy for a value of a wrong type, or an empty text."""
        name, value = leaf.at[-1] if leaf.at else "", leaf.value
        if name in ("exclusiveMinimum", "exclusiveMaximum"):
            bound = str(name).replace("exclusiveM", "m")
            if types == ["boolean"]:
                where = "OpenAPI 3.0" if self._version == "3.0" else "draft 4"
                return f" in {where}: write `{bound}: {value}` and `{name}: true`"
            return f" since OpenAPI 3.1: write `{name}: ...` in place of `{bound}: ...`"
        if name == "type" and isinstance(value, list) and self._version == "3.0":
            return " in OpenAPI 3.0: write one type, and `nullable: true` if null is allowed"
        if name == "required" and self._kind == "schema":
            return ": name the required properties in the object around them, `required: [name]`"
        if types == ["string"] and isinstance(value, int | float) and not isinstance(value, bool):
            return f': write "{value}", in quotes'
        if types == ["array"] and isinstance(value, str):
            return f": write [{value}]"
        return ""


_CLOSED = ("additionalProperties", "unevaluatedProperties", "falseSchema")
_VAGUE = ("oneOf", "anyOf")
_FEW = 15
_SINCE_3_1 = {
    "const": "write `enum` with this one value",
    "examples": "write `example`",
    "$defs": "write the schemas into components/schemas",
    "definitions": "write the schemas into components/schemas",
    "prefixItems": "write `items`, with `oneOf` if items differ",
    "patternProperties": "write `additionalProperties`",
    "contentEncoding": "write `format: byte`",
    "contentMediaType": "write `format: binary`",
    **dict.fromkeys(
        (
            *("if", "then", "else", "contains", "minContains", "maxContains", "propertyNames"),
            *("dependentRequired", "dependentSchemas", "unevaluatedItems", "$comment", "$id"),
            *("unevaluatedProperties", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor"),
            "contentSchema",
        ),
        "leave it out, or write `openapi: 3.1.1`",
    ),
}
"""Keyword of schemas that OpenAPI 3.0 does not have -> its replacement there."""


def _quoted(word: Any) -> str:
    return json.dumps(word, ensure_ascii=False)


def _type_of(value: Any) -> str:
    """Return the JSON type of a value."""
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (Mapping, "object"),
        (list, "array"),
    ):
        if isinstance(value, kind):
            return name
    return "null"


def known_words(rule: Any, root: Node, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names of properties in a rule for an object, in all branches."""
    if not isinstance(rule, Mapping):
        return frozenset()
    found = frozenset(rule.get("properties", ()))
    reference = rule.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and reference not in seen:
        found |= known_words(reach(root, steps_of(reference)), root, seen | {reference})
    parts = [rule.get(key) for key in ("if", "then", "else")]
    parts += [part for key in ("allOf", "anyOf", "oneOf") for part in rule.get(key, ())]
    parts += rule.get("dependentSchemas", {}).values()
    return found.union(*(known_words(part, root, seen) for part in parts))


def _leaves_of(error: Any, node: Any) -> list[_Leaf]:
    """Return the violated rules. If there are several alternatives, return those of the nearest."""
    facts = error.kind.as_dict()
    at = _true_steps(error.instance_path, node)
    own = _Leaf(error.kind.name, facts, at, tuple(error.schema_path), error.instance)
    if own.rule == "propertyNames":
        inner = facts["error"]
        facts = inner.kind.as_dict()
        name = inner.instance
        return [_Leaf(own.rule, facts, (*at, name), own.to_rule, name)]
    branches = [
        [leaf for inner in branch for leaf in _leaves_of(inner, node)]
        for branch in facts.get("context", ())
    ]
    return _nearest_form(branches) if branches and all(branches) else [own]


def _nearest_form(branches: list[list[_Leaf]]) -> list[_Leaf]:
    """Return the violations of a value in the nearest alternative. An alternative with another type
    is furthest, and one whose violation is deepest is nearest. If each alternative lacks a key,
    return these keys as one violation.
    """
    leaves = [branch[0] for branch in branches]
    if all(leaf.rule == "required" for leaf in leaves):
        needed = [key for leaf in leaves for key in _needed(leaf)]
        return [replace(leaves[0], facts={"properties": list(dict.fromkeys(needed))})]
    return min(branches, key=lambda branch: (branch[0].rule == "type", -len(branch[0].at)))


def _needed(leaf: _Leaf) -> list[str]:
    return leaf.facts.get("properties") or [leaf.facts["property"]]


def _true_steps(path: Iterable[Any], node: Any) -> Steps:
    """Return a path with its keys as text, because jsonschema-rs reports names of digits as
    indexes.
    """
    steps: list[str | int] = []
    for step in path:
        step = step if isinstance(node, list) else str(step)
        node = child(node, step)
        steps.append(step)
    return tuple(steps)
