"""OpenAPI schemas, compiled once into jsonschema-rs validators.

Since OpenAPI 3.1, a schema is JSON Schema 2020-12, or the dialect that the document names. A schema
of OpenAPI 3.0 is JSON Schema draft 4 with `nullable`, and with no other keywords next to a `$ref`.
`translate` converts it. Validators are compiled from the raw document, in which schemas refer to
each other by `$ref`, so that recursive schemas can be compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import reduce
from itertools import islice
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from specd._engine.document import choices, cuts
from specd._engine.document.marks import IN_PLACE, LISTS_IN_PLACE, NONE, Marks
from specd._engine.errors import DocumentError, DocumentErrors, Violation
from specd._engine.http.guard import pointer_step
from specd._engine.openapi.dialects import LATEST, dialect_named, not_served
from specd._engine.openapi.patterns import OPTIONS, in_unicode_mode
from specd._engine.openapi.structure import OBJECTS, children, lookup, steps_of, walk

Validate = Callable[[Any, str], "tuple[Violation, ...]"]
MAX_VIOLATIONS = 20
MAX_FOLLOWED = 4
"""The maximum depth of nested choices that are explained by the intended branch."""
LARGE_WEIGHT = 1000
HUGE_WEIGHT = 8000
ERRORS = "x-errors"
_REFERENCES = ("$ref", "$dynamicRef")
SHARED = "#/components/schemas/"
DEFS = "#/$defs/"
WIDTH = 16

_ANNOTATIONS = frozenset(
    ("example", "examples", "xml", "externalDocs", "deprecated", "description")
)
_ALTERNATIVES = frozenset(("allOf", "anyOf", "oneOf"))
_NAMES_OF_RESOURCES = frozenset(("$id", "$anchor", "$dynamicAnchor"))
_VALIDATORS: Mapping[str, Any] = {
    LATEST: jsonschema_rs.Draft202012Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "7": jsonschema_rs.Draft7Validator,
    "6": jsonschema_rs.Draft6Validator,
    "4": jsonschema_rs.Draft4Validator,
}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")  # Python also accepts week dates
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
_INTEGERS = {
    f"{sign}int{size}": (0, 2**size - 1) if sign else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
    for sign in ("", "u")
    for size in (8, 16, 32, 64)
}
"""The bounds of the formats of integers (OpenAPI's Format Registry)."""


def is_3_0(document: Mapping[str, Any]) -> bool:
    """Return whether a document is OpenAPI 3.0, whose schemas are not JSON Schema."""
    return str(document.get("openapi", "3.0")).startswith("3.0")


def dialect_of(document: Mapping[str, Any], schema: Any = None) -> Any:
    """Return the validator class for a schema of a document. Raise `DocumentError` for a dialect
    that is not supported.
    """
    if is_3_0(document):
        return jsonschema_rs.Draft4Validator
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    uri = named or document.get("jsonSchemaDialect")
    dialect = dialect_named(uri) if uri else LATEST
    if dialect is None:
        raise DocumentError(not_served(uri))
    return _VALIDATORS[dialect]


def translate(
    schema: Any, *, drop: str, nullable: bool = True, document: Mapping[str, Any] | None = None
) -> Any:
    """Return an OpenAPI schema as JSON Schema. `drop` is `readOnly` (requests) or `writeOnly`
    (responses): properties with this mark are not required, and are rejected. `nullable` says that
    the schema is from OpenAPI 3.0. References refer to `document`.
    """
    marks = Marks(document or {}, drop, is_3_0=nullable)
    return _Translation(marks, nullable=nullable).of(schema)


class _Translation:
    """Converts OpenAPI schemas to JSON Schema, for one direction."""

    def __init__(self, marks: Marks, *, nullable: bool) -> None:
        self._marks = marks
        self._nullable = nullable

    def of(self, schema: Any, left_out: frozenset[str] = NONE) -> Any:
        """Return a schema as JSON Schema. `left_out` are the properties that another schema
        excludes from the same value.
        """
        if not isinstance(schema, Mapping):
            return schema
        if "$ref" in schema and self._nullable:
            if self._is_needed_behind(schema, left_out):
                return self.of(self._marks.target(schema["$ref"]), left_out)
            return {"$ref": _as_uri(schema["$ref"])}
        hidden = left_out | self._marks.hidden(schema)
        result: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _ANNOTATIONS or (key.startswith("x-") and key != ERRORS) or key == "$schema":
                continue
            if key == "nullable" and self._nullable:
                continue
            result[key] = self._keyword(key, value, hidden)
        size = schema.get("format")
        if isinstance(size, str) and size in _INTEGERS:
            _bound(result, *_INTEGERS[size])
        if "$ref" in schema and self._is_needed_behind(schema, hidden):
            target = self._marks.target(schema["$ref"])
            result["allOf"] = [self.of(target, hidden), *result.get("allOf", ())]
            del result["$ref"]
        for name, item in (schema.get("properties") or {}).items():
            if name in hidden and self._marks.is_marked(item):
                result["properties"][name] = {"not": {}}
        if hidden:
            _without_needs(result, hidden)
        return _with_null(result) if self._nullable and schema.get("nullable") else result

    def _is_needed_behind(self, schema: Mapping[str, Any], hidden: frozenset[str]) -> bool:
        """Return whether the target of a reference requires a property that the value does not
        have.
        """
        if not hidden:
            return False
        target = self._marks.target(schema["$ref"])
        return self._marks.are_needed(target, hidden - self._marks.hidden(target))

    def _keyword(self, key: str, value: Any, hidden: frozenset[str]) -> Any:
        child = OBJECTS["schema"].get(key, "")
        inner = hidden if key in (*LISTS_IN_PLACE, *IN_PLACE, "dependentSchemas") else NONE
        if child.startswith("{") and isinstance(value, Mapping):
            value = {name: self.of(item, inner) for name, item in value.items()}
        elif child and isinstance(value, list):
            value = [self.of(item, inner) for item in value]
        elif child == "schema":
            value = self.of(value, inner)
        elif key in _REFERENCES:
            value = _as_uri(value)
        elif key == "pattern" and isinstance(value, str):
            value = in_unicode_mode(value)
        if key == "patternProperties":
            value = {in_unicode_mode(name): item for name, item in value.items()}
        return value


def _bound(schema: dict[str, Any], lowest: int, highest: int) -> None:
    """Add the bounds of a format of integers to a schema, unless its own are narrower."""
    if schema.get("minimum", lowest - 1) < lowest:
        schema["minimum"] = lowest
        if schema.get("exclusiveMinimum") is True:
            del schema["exclusiveMinimum"]
    if schema.get("maximum", highest + 1) > highest:
        schema["maximum"] = highest
        if schema.get("exclusiveMaximum") is True:
            del schema["exclusiveMaximum"]


def _without_needs(schema: dict[str, Any], hidden: frozenset[str]) -> None:
    """Remove requirements for these properties from a schema's own keywords."""
    if isinstance(schema.get("required"), list):
        schema["required"] = [name for name in schema["required"] if name not in hidden]
        if not schema["required"]:
            del schema["required"]
    for key in ("dependentRequired", "dependencies"):
        if isinstance(schema.get(key), Mapping):
            schema[key] = {
                name: [it for it in needed if it not in hidden]
                if isinstance(needed, list)
                else needed
                for name, needed in schema[key].items()
            }


def _as_uri(reference: str) -> str:
    """Return a reference with characters that are not allowed in URIs percent-encoded, because
    authors write the braces of a path without encoding.
    """
    return quote(reference, safe="%/#:?@!$&'()*+,;=~")


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str) and not _ALTERNATIVES & schema.keys():
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


class Schemas:
    """Compiles the schemas of one document, for one direction."""

    def __init__(self, document: Mapping[str, Any], *, drop: str) -> None:
        self._document = document
        self.is_3_0 = is_3_0(document)
        self.marks = Marks(document, drop, is_3_0=self.is_3_0)
        self._translate = _Translation(self.marks, nullable=self.is_3_0).of
        shared = document.get("components", {}).get("schemas", {})
        self._shared = {name: self._translate(item) for name, item in shared.items()}
        self._has_resources = not self.is_3_0 and any(map(_names_a_resource, shared.values()))
        if self._has_resources:
            for schema in self._shared.values():
                _point_to_defs(schema)
        self._compiled: dict[Any, _Compiled] = {}
        self._unfinished: list[_Compiled] = []
        self._below: list[_Compiled] = []
        """The schemas that explain errors at cuts, by number."""

    def resolve(self, schema: Any) -> Mapping[str, Any]:
        """Return the target of a `$ref`, or else the schema itself. Since OpenAPI 3.1, add the
        keywords next to the `$ref`. Raise `DocumentError` for circular references.
        """
        followed = []
        while isinstance(schema, Mapping) and "$ref" in schema:
            reference = schema["$ref"]
            if reference in followed:
                raise DocumentError(f"{reference} refers to itself")
            followed.append(reference)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = self._lookup(reference)
            if beside and not self.is_3_0 and isinstance(schema, Mapping):
                schema = {**schema, **beside}
        if isinstance(schema, Mapping):
            return schema
        return {} if schema else {"not": {}}

    def _lookup(self, reference: str) -> Any:
        if reference.startswith("#/") or reference == "#":
            return lookup(self._document, reference)
        anchor = reference.removeprefix("#")
        for name, schema in self._document.get("components", {}).get("schemas", {}).items():
            for _, part, _ in walk(schema, "schema", (name,)):
                if isinstance(part, Mapping) and anchor in map(part.get, _NAMES_OF_RESOURCES):
                    return part
        raise DocumentError(f"{reference} points nowhere")

    def explaining(self, number: int) -> _Compiled:
        """Return the schema that explains errors at a cut."""
        return self._below[number]

    def compile(self, schema: Any, place: str) -> Validate:
        """Return a function that returns the violations of a value at a JSON pointer.

        A schema that consists only of a `$ref` is compiled once. `finish` builds the validators for
        the functions. Raise `DocumentError` with `place` for a dialect that is not supported.
        """
        is_reference = isinstance(schema, Mapping) and schema.keys() == {"$ref"}
        reference = schema["$ref"] if is_reference else None
        if reference in self._compiled:
            return self._compiled[reference].validate
        try:
            dialect = dialect_of(self._document, schema)
        except DocumentError as error:
            raise DocumentError(f"{place}: {error}") from error
        compiled = _Compiled(self, self._translate(schema), place, dialect)
        self._unfinished.append(compiled)
        if is_reference:
            self._compiled[reference] = compiled
        return compiled.validate

    def finish(self) -> None:
        """Build one validator for all schemas that were compiled since the last call. A separate
        validator for each would contain everything that it refers to: gigabytes for 1,500 schemas
        that refer to each other. Raise `DocumentError` with the places of all invalid schemas.
        """
        unfinished, self._unfinished = self._unfinished, []
        try:
            self._build_all(unfinished)
        except Exception:
            self._compiled = {key: it for key, it in self._compiled.items() if it.validator}
            raise

    def _build_all(self, unfinished: Sequence[_Compiled]) -> None:
        errors = []
        for dialect in {compiled.dialect for compiled in unfinished}:
            several = [compiled for compiled in unfinished if compiled.dialect is dialect]
            try:
                self._build(several)
            except DocumentError:
                for compiled in several:
                    try:
                        self._build([compiled])
                    except DocumentError as error:
                        errors.append(error)
        if errors:
            raise errors[0] if len(errors) == 1 else DocumentErrors(errors)

    def _build(self, several: Sequence[_Compiled]) -> None:
        for compiled in several:  # a failed build has changed them
            compiled.schema = compiled.uncut
        several, parts = self._cut(several, self._shared_parts(several))
        root = {**_as_properties(several, ()), **parts}
        try:
            validator = several[0].dialect(
                root,
                validate_formats=True,
                formats=_FORMATS,
                mask="the value",
                offline=True,
                **OPTIONS,
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            place, reason = several[0].place, str(error).split("\n", 1)[0]
            raise DocumentError(f"{place}: schema cannot be compiled: {reason}") from error
        for compiled in several:
            compiled.root, compiled.validator = root, validator

    def _cut(
        self, several: Sequence[_Compiled], parts: dict[str, Any]
    ) -> tuple[Sequence[_Compiled], dict[str, Any]]:
        """Return schemas, and the parts that they refer to, with cuts where the explanation of a
        wrong value would have no limit (`specd._engine.document.cuts`). The result includes the
        schemas that explain errors there.
        """
        schemas = {
            reference: lookup(parts, reference)
            for reference in _followed(parts, [compiled.schema for compiled in several])
        }
        depths = cuts.depths_of(schemas)
        deepest = [cuts.depth_of(compiled.schema, depths) for compiled in several]
        if max(deepest, default=0) <= cuts.MAX_CHOICES:
            return several, parts
        if self._has_resources or any(_is_a_resource(compiled) for compiled in several):
            for compiled, depth in zip(several, deepest, strict=True):
                compiled.is_explained = depth <= cuts.MAX_CHOICES
            return several, parts
        deep = {
            reference: f"#/{cuts.DEEP}/{number}"
            for number, reference in enumerate(schemas)
            if not reference.startswith(SHARED) or len(steps_of(reference)) > 3
        }
        depths |= {new: depths[old] for old, new in deep.items()}
        made: dict[Any, int] = {}
        all_of_them = list(several)

        def number_of(schema: Any) -> int:
            is_reference = isinstance(schema, Mapping) and schema.keys() == {"$ref"}
            key = schema["$ref"] if is_reference else id(schema)
            if key not in made:
                made[key] = len(self._below)
                self._below.append(_Compiled(self, schema, several[0].place, several[0].dialect))
                all_of_them.append(self._below[-1])
            return made[key]

        def change(schema: Any) -> Any:
            return cuts.cut(cuts.with_deep_references(schema, deep), depths, number_of)

        found: dict[str, Any] = {cuts.DEEP: {}, "components": {"schemas": {}}}
        for number, (reference, schema) in enumerate(schemas.items()):
            if reference in deep:
                found[cuts.DEEP][str(number)] = change(schema)
            else:
                found["components"]["schemas"][steps_of(reference)[2]] = change(schema)
        for compiled in several:
            compiled.schema = cuts.with_deep_references(compiled.schema, deep)
        for compiled in all_of_them:  # the list grows meanwhile
            compiled.schema = cuts.cut(compiled.schema, depths, number_of)
        return all_of_them, found

    def _shared_parts(self, several: Sequence[_Compiled]) -> dict[str, Any]:
        """Return the parts of the document that the schemas refer to, at their places."""
        shared: dict[str, Any] = {}
        parts: dict[str, Any] = {"components": {"schemas": shared}}
        if self._has_resources:
            for compiled in several:
                _point_to_defs(compiled.schema)
            parts["$defs"] = self._shared
        waiting = [compiled.schema for compiled in several]
        seen = set()
        holders: set[tuple[str, ...]] = set()
        while waiting:
            for reference in _references(waiting.pop()):
                if reference in seen or reference.startswith(DEFS):
                    continue
                seen.add(reference)
                name = steps_of(reference)[2] if reference.startswith(SHARED) else ""
                if name and name not in self._shared:
                    continue  # the validator reports it
                if name and name not in shared:
                    shared[name] = self._shared[name]
                    waiting.append(shared[name])
                if steps_of(reference) in holders or not _has(parts, reference):
                    waiting.append(self._add_elsewhere(parts, reference, holders))
        return parts

    def _add_elsewhere(
        self, root: dict[str, Any], reference: str, holders: set[tuple[str, ...]]
    ) -> Any:
        """Put a schema that is not a shared one, or that is below a part that `translate` rejects,
        at its place, and return it. `holders` are the places that exist only to contain such
        schemas.
        """
        try:
            found = self._translate(lookup(self._document, reference))
        except (LookupError, TypeError):
            raise DocumentError(f"{reference} points nowhere") from None
        node = root
        steps = steps_of(reference)
        for number, step in enumerate(steps[:-1], 1):
            if isinstance(node, list):  # part of a schema that was added before
                node = node[int(step)]
                continue
            if step not in node:
                node[step] = {}
                holders.add(steps[:number])
            node = node[step]
        last = int(steps[-1]) if isinstance(node, list) else steps[-1]
        if steps in holders:
            found = _merged(node[last], found)
            holders -= {each for each in holders if each[: len(steps)] == steps}
        node[last] = found
        return found


class _Compiled:
    """One schema of a document, and its place in the validator that is shared by many schemas."""

    __slots__ = (
        *("dialect", "is_explained", "keys", "place"),
        *("root", "schema", "schemas", "uncut", "validator"),
    )

    def __init__(self, schemas: Schemas, schema: Any, place: str, dialect: Any) -> None:
        self.schemas = schemas
        self.uncut = schema
        self.schema = schema
        """The schema with its cuts."""
        self.place = place
        self.dialect = dialect
        self.keys: tuple[str, ...] = ()
        """The properties on the path from the root to the schema, in reverse order."""
        self.root: Mapping[str, Any] = {}
        self.validator: Any = None
        self.is_explained = True
        """Whether the work of explaining a wrong value has a limit."""

    def validate(self, value: Any, pointer: str) -> tuple[Violation, ...]:
        if self.validator is None:
            self.schemas.finish()
        if self.validator is None:
            raise DocumentError(f"{self.place}: schema cannot be compiled")
        instance = value
        for key in self.keys:  # like `wrapped`, without a call for each request
            instance = {key: instance}
        if self.validator.is_valid(instance):
            return ()
        left = _weigh(value, 1, HUGE_WEIGHT)
        if left <= 0 or not self.is_explained:
            reason = "does not fit the document; it is too large to say where"
            return (Violation(pointer, reason, "schema"),)
        errors = _errors_of(self, value, pointer, is_large=left <= HUGE_WEIGHT - LARGE_WEIGHT)
        return tuple(islice(errors, MAX_VIOLATIONS))

    def wrapped(self, value: Any) -> Any:
        """Return a value wrapped in objects, at the place of the schema in the validator."""
        for key in self.keys:
            value = {key: value}
        return value


def _as_properties(several: Sequence[_Compiled], way: tuple[str, ...]) -> dict[str, Any]:
    """Return an object schema with all schemas as properties. It has enough levels that none has
    more than `WIDTH` properties, because a validator iterates over all properties of a level.
    """
    size = 1
    while size * WIDTH < len(several):
        size *= WIDTH
    properties = {}
    for start in range(0, len(several), size):
        key = str(start // size)
        part = several[start : start + size]
        if size > 1:
            properties[key] = _as_properties(part, (key, *way))
        else:
            part[0].keys = (key, *way)
            properties[key] = part[0].schema
    return {"properties": properties}


def _merged(held: Any, found: Any) -> Any:
    """Return a schema together with the schemas that were put below its place before."""
    if isinstance(held, Mapping) and isinstance(found, Mapping):
        only_held = {key: held[key] for key in held.keys() - found.keys()}
        return {key: _merged(held.get(key), it) for key, it in found.items()} | only_held
    return found


def _has(parts: Mapping[str, Any], reference: str) -> bool:
    try:
        lookup(parts, reference)
    except (LookupError, TypeError, ValueError):
        return False
    return True


def _is_a_resource(compiled: _Compiled) -> bool:
    """Return whether references in a schema may refer to names in it, which a cut would remove. In
    draft 4, `id` is such a name.
    """
    if compiled.schemas.is_3_0:
        return False
    is_draft_4 = compiled.dialect is jsonschema_rs.Draft4Validator
    return _names_a_resource(compiled.uncut) or (
        is_draft_4 and any("id" in part for part in _parts(compiled.uncut))
    )


def _names_a_resource(schema: Any) -> bool:
    """Return whether a schema or a part of it has a name (`$id`, `$anchor`)."""
    return any(
        isinstance(part, Mapping) and _NAMES_OF_RESOURCES & part.keys()
        for _, part, _ in walk(schema, "schema")
    )


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and its parts, except parts below an `$id`, whose references are relative to
    it.
    """
    if isinstance(schema, dict) and "$id" not in schema:
        yield schema
        for _, child, _ in children(schema, "schema"):
            yield from _parts(child)


def _point_to_defs(schema: Any) -> None:
    """Change references to shared schemas to references to `$defs`, because a validator finds named
    schemas only there.
    """
    for part in _parts(schema):
        for key in _REFERENCES:
            if str(part.get(key)).startswith(SHARED):
                part[key] = DEFS + part[key].removeprefix(SHARED)


def _followed(parts: Mapping[str, Any], schemas: Iterable[Any]) -> list[str]:
    """Return the references to parts in schemas, and in those that they refer to."""
    found: dict[str, None] = {}
    waiting = list(schemas)
    while waiting:
        for reference in _references(waiting.pop()):
            if reference not in found and _has(parts, reference):
                found[reference] = None
                waiting.append(lookup(parts, reference))
    return list(found)


def _references(schema: Any) -> Iterator[str]:
    """Yield the pointers by which a schema refers to others, without references to `$id` and
    `$anchor`.
    """
    for part in _parts(schema):
        for key in _REFERENCES:
            reference = part.get(key)
            if isinstance(reference, str) and reference.startswith("#/"):
                yield reference


def _errors_of(
    compiled: _Compiled, value: Any, pointer: str, *, is_large: bool, left: int = MAX_FOLLOWED
) -> Iterator[Violation]:
    """Yield the violations of a value that does not fit, or only the first of a large value.

    jsonschema-rs finds all errors before it returns one, each with a copy of its value, for every
    level above: seconds and gigabytes for a megabyte of hostile input. Errors below a cut are
    explained only when their violations are requested.
    """
    instance = compiled.wrapped(value)
    if is_large:
        errors: Iterable[Any] = _first_error(compiled.validator, instance)
    else:
        errors = compiled.validator.iter_errors(instance)
    yield from _explained(compiled, errors, pointer, is_large=is_large, left=left)


def _explained(
    compiled: _Compiled, errors: Iterable[Any], pointer: str, *, is_large: bool, left: int
) -> Iterator[Violation]:
    """Yield the violations of errors, and those of one branch for a choice. `left` is the number of
    nested choices to follow, because each takes as much work as a validation.
    """
    explained = set()
    for error in errors:
        below = _below(compiled, error)
        if below is None:
            chosen = choices.chosen(error, reduce(_part, error.schema_path[:-1], compiled.root))
            if chosen is None or (left <= 0 and not isinstance(chosen, choices.Wrong)):
                yield _violation_of(compiled, error, pointer)
            elif isinstance(chosen, choices.Wrong):
                place = "/".join([_place_of(compiled, error, pointer), *chosen.steps])
                sentence = _SENTENCES[chosen.rule].format_map(_Facts(chosen.facts))
                yield Violation(place, sentence, chosen.rule, chosen.facts)
            else:
                yield from _explained(compiled, chosen, pointer, is_large=is_large, left=left - 1)
            continue
        place = _place_of(compiled, error, pointer)
        if (place, below) not in explained:
            explained.add((place, below))
            yield from _errors_of(below, error.instance, place, is_large=is_large, left=left)


def _below(compiled: _Compiled, error: Any) -> _Compiled | None:
    """Return the schema that explains an error at a cut, or None for other errors."""
    if error.kind.name != "not":
        return None
    schema = reduce(_part, error.schema_path[:-1], compiled.root)
    number = schema.get(cuts.CUT) if isinstance(schema, Mapping) else None
    return None if number is None else compiled.schemas.explaining(number)


def _place_of(compiled: _Compiled, error: Any, pointer: str) -> str:
    path = error.instance_path[len(compiled.keys) :]
    return "/".join([pointer, *map(pointer_step, path)])


def _violation_of(compiled: _Compiled, error: Any, pointer: str) -> Violation:
    facts = error.kind.as_dict()
    if "context" in facts:
        facts["context"] = _branches_of(compiled, facts["context"], pointer)
    if error.kind.name == "enum" and isinstance(error.instance, str):
        facts["value"] = error.instance
    *place, rule = error.schema_path
    schema = reduce(_part, place, compiled.root)
    if isinstance(schema, Mapping) and (named := schema.get(ERRORS, {}).get(rule)):
        facts["error"] = named
    where = _place_of(compiled, error, pointer)
    return Violation(where, _sentence(error), error.kind.name, facts)


def _branches_of(
    compiled: _Compiled, branches: Sequence[Sequence[Any]], pointer: str
) -> list[Violation]:
    """Return the first violation of each branch of a choice that does not fit.

    A violation at a cut has only its place. `_below` finds the schema that explains it, but this
    takes as long as a validation of the value, so it could only be used for a fixed number of
    branches at each level.
    """
    return [_violation_of(compiled, branch[0], pointer) for branch in branches if branch]


def _part(schema: Any, step: Any) -> Any:
    """Return a part of a schema. jsonschema-rs reports names of digits as indexes."""
    if isinstance(schema, list):
        return schema[step] if isinstance(step, int) and step < len(schema) else {}
    return schema.get(str(step), {}) if isinstance(schema, Mapping) else {}


def _first_error(validator: Any, value: Any) -> tuple[jsonschema_rs.ValidationError, ...]:
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return (error,)
    return ()


def _weigh(value: Any, depth: int, left: int) -> int:
    """Return `left` minus the weight of a value, the sum of its parts weighted by depth
    and length.
    """
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
    """Return an error's message without the value, because it may be long or secret."""
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
    "const": "must be {expected_value}",
    "contains": "lacks an item of the form that the document asks for",
    "falseSchema": "is not allowed here",
    "propertyNames": "has a property with a name that does not fit the document",
    "unevaluatedProperties": "has properties the document does not know: {unexpected}",
    "unevaluatedItems": "has more items than the document allows",
}
