"""OpenAPI 3.0 schemas, compiled once into jsonschema-rs validators.

OpenAPI 3.0's dialect is JSON Schema draft 4 with `nullable` and a few annotations; `translate`
rewrites it. Validators are compiled from the raw document, where schemas still point at each other
by `$ref`, so that recursive schemas compile too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import reduce
from typing import Any

import jsonschema_rs

from server.errors import DocumentError, Violation
from server.wire.guard import pointer_step

Validate = Callable[[Any, str], "tuple[Violation, ...]"]
MAX_VIOLATIONS = 20
LARGE_WEIGHT = 1000
HUGE_WEIGHT = 8000
ERRORS = "x-errors"

_ANNOTATIONS = frozenset(
    ("example", "examples", "discriminator", "xml", "externalDocs", "deprecated", "description")
)
_SCHEMA_MAPS = frozenset(("properties", "patternProperties"))
_SCHEMA_LISTS = frozenset(("allOf", "anyOf", "oneOf"))
_SCHEMAS = frozenset(("not", "items", "additionalProperties"))
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")  # Python takes week dates too
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _is_date(value: str) -> bool:
    try:
        return _DATE.fullmatch(value) is not None and bool(date.fromisoformat(value))
    except ValueError:
        return False


_FORMATS: dict[str, Callable[[str], bool]] = {
    "uuid": lambda value: _UUID.fullmatch(value) is not None,
    "date": _is_date,
}


def translate(schema: Any, *, drop: str) -> Any:
    """Return an OpenAPI 3.0 schema as draft 4. `drop` is `readOnly` (requests) or `writeOnly`
    (responses): properties with this mark are not required, and refused.
    """
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ANNOTATIONS or (key.startswith("x-") and key != ERRORS) or key == "nullable":
            continue
        if key in _SCHEMA_MAPS:
            value = {name: translate(item, drop=drop) for name, item in value.items()}
        elif key in _SCHEMA_LISTS:
            value = [translate(item, drop=drop) for item in value]
        elif key in _SCHEMAS:
            value = translate(value, drop=drop)
        result[key] = value
    hidden = {
        name
        for name, item in schema.get("properties", {}).items()
        if isinstance(item, Mapping) and item.get(drop)
    }
    for name in hidden:
        result["properties"][name] = {"not": {}}
    if hidden and "required" in result:
        result["required"] = [name for name in result["required"] if name not in hidden]
        if not result["required"]:
            del result["required"]
    return _with_null(result) if schema.get("nullable") else result


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str) and not _SCHEMA_LISTS & schema.keys():
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


class Schemas:
    """Compiles the schemas of one document, for one direction."""

    def __init__(self, document: Mapping[str, Any], *, drop: str) -> None:
        self._drop = drop
        self._document = document
        shared = document.get("components", {}).get("schemas", {})
        self._shared = {name: translate(item, drop=drop) for name, item in shared.items()}
        self._named: dict[str, frozenset[str]] = {}
        self._compiled: dict[str, Validate] = {}

    def resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the schema a `$ref` points to, else the schema itself."""
        while "$ref" in schema:
            schema = lookup(self._document, schema["$ref"])
        return schema

    def properties(self, schema: Mapping[str, Any]) -> frozenset[str]:
        """Return the names that a schema and what it is `allOf` give to properties."""
        schema = self.resolve(schema)
        own = frozenset(schema.get("properties", ()))
        return own.union(*(self.properties(part) for part in schema.get("allOf", ())))

    def compile(self, schema: Mapping[str, Any], place: str) -> Validate:
        """Return a function from (value, JSON pointer) to what is wrong; empty when nothing is.

        A schema that is but a `$ref` is compiled once. Raise `DocumentError` naming `place` for a
        schema that cannot be compiled.
        """
        reference = schema.get("$ref")
        if reference is None:
            return self._compile(schema, place)
        if reference not in self._compiled:
            self._compiled[reference] = self._compile(schema, place)
        return self._compiled[reference]

    def _compile(self, schema: Mapping[str, Any], place: str) -> Validate:
        translated = translate(schema, drop=self._drop)
        root = {"allOf": [translated], "components": {"schemas": self._reachable(translated)}}
        try:
            validator = jsonschema_rs.Draft4Validator(
                root, validate_formats=True, formats=_FORMATS, mask="the value"
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise DocumentError(f"{place}: schema cannot be compiled: {error}") from error
        is_valid = validator.is_valid

        def validate(value: Any, pointer: str) -> tuple[Violation, ...]:
            if is_valid(value):
                return ()
            return _violations(validator, root, value, pointer)

        return validate

    def _reachable(self, schema: Any) -> dict[str, Any]:
        """Return the shared schemas that one schema refers to, because a document has hundreds of
        validators and schemas, and all schemas in each validator take a gigabyte.
        """
        found: dict[str, Any] = {}
        waiting = set(_names(schema))
        while waiting:
            name = waiting.pop()
            if name not in found and name in self._shared:
                found[name] = self._shared[name]
                if name not in self._named:
                    self._named[name] = frozenset(_names(found[name]))
                waiting |= self._named[name]
        return found


def _names(schema: Any) -> Iterator[str]:
    """Yield the names of the shared schemas that a translated schema refers to."""
    for reference in _references(schema):
        yield _unescape(reference.removeprefix("#/components/schemas/").partition("/")[0])


def _references(schema: Any) -> Iterator[str]:
    """Yield every `$ref` in a translated schema."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _violations(
    validator: Any, root: Mapping[str, Any], value: Any, pointer: str
) -> tuple[Violation, ...]:
    """Return the violations of `value`: up to a number of them, in a large value the first one, in
    a huge one a single violation without a place.

    jsonschema-rs finds all errors before it hands out one, each with a copy of what it is about and
    once more for every level above: seconds and gigabytes for a megabyte made to be wrong.
    """
    left = _weigh(value, 1, HUGE_WEIGHT)
    if left <= 0:
        return (
            Violation(pointer, "does not fit the document; it is too large to say where", "schema"),
        )
    if left > HUGE_WEIGHT - LARGE_WEIGHT:
        errors = validator.iter_errors(value)
    else:
        errors = _first_error(validator, value)
    found = []
    for error in errors:
        steps = [pointer, *map(pointer_step, error.instance_path)]
        facts = error.kind.as_dict()
        if error.kind.name == "enum" and isinstance(error.instance, str):
            facts["value"] = error.instance
        *place, rule = error.schema_path
        if named := reduce(_part, place, root).get(ERRORS, {}).get(rule):
            facts["error"] = named
        found.append(Violation("/".join(steps), _sentence(error), error.kind.name, facts))
        if len(found) == MAX_VIOLATIONS:
            break
    return tuple(found)


def _part(schema: Any, step: Any) -> Any:
    """Return a part of a schema; jsonschema-rs takes a name of digits for an index."""
    return schema[step] if isinstance(schema, list) else schema.get(str(step), {})


def _first_error(validator: Any, value: Any) -> tuple[jsonschema_rs.ValidationError, ...]:
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return (error,)
    return ()


def _weigh(value: Any, depth: int, left: int) -> int:
    """Return what remains of `left` after a value's parts, each weighed by depth and length."""
    left -= depth
    if isinstance(value, str):
        return left - depth * len(value) // 64
    if isinstance(value, list | dict):
        for part in value:
            if left <= 0:
                break
            if isinstance(value, dict):
                left -= depth * len(part) // 64
                part = value[part]
            left = _weigh(part, depth + 1, left)
    return left


def _sentence(error: Any) -> str:
    """Return an error's message without the value, which may be long or secret."""
    template = _SENTENCES.get(error.kind.name, "does not fit the document")
    return template.format_map(_Facts(error.kind.as_dict()))


class _Facts(dict[str, Any]):
    def __getitem__(self, key: str) -> str:
        value = self.get(key, "?")
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        return text if len(text) <= 200 else text[:200] + "..."


_SENTENCES = {
    "required": "lacks the required property {property}",
    "additionalProperties": "has properties the document does not know: {unexpected}",
    "type": "must be of type {types}",
    "pattern": "must match the pattern {pattern}",
    "enum": "must be one of: {options}",
    "minimum": "must be at least {limit}",
    "maximum": "must be at most {limit}",
    "exclusiveMinimum": "must be greater than {limit}",
    "exclusiveMaximum": "must be less than {limit}",
    "minLength": "must be at least {limit} characters long",
    "maxLength": "must be at most {limit} characters long",
    "minItems": "must have at least {limit} items",
    "maxItems": "must have at most {limit} items",
    "minProperties": "must have at least {limit} properties",
    "maxProperties": "must have at most {limit} properties",
    "uniqueItems": "must not hold the same item twice",
    "multipleOf": "must be a multiple of {multiple_of}",
    "format": "must be a valid {format}",
    "anyOf": "fits none of the allowed forms",
    "oneOf": "must fit exactly one of the allowed forms",
    "not": "has a form the document rules out",
}


def lookup(document: Mapping[str, Any], reference: str) -> Any:
    """Return what a local `$ref` such as `#/components/schemas/Invoice` points to."""
    node: Any = document
    for step in reference.removeprefix("#/").split("/"):
        node = node[_unescape(step)]
    return node


def _unescape(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def check_references(document: Mapping[str, Any], name: str) -> None:
    """Raise `DocumentError` naming the place of a local `$ref` that points nowhere."""

    def visit(node: Any, place: str) -> None:
        if isinstance(node, Mapping):
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith("#/"):
                try:
                    lookup(document, reference)
                except (LookupError, TypeError):
                    raise DocumentError(
                        f"{name}: invalid document at {place}: {reference} points nowhere"
                    ) from None
            for key, item in node.items():
                visit(item, f"{place}/{key}" if place else str(key))
        elif isinstance(node, list):
            for index, item in enumerate(node):
                visit(item, f"{place}/{index}")

    visit(document, "")
