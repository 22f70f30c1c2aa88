"""Checks whether the defaults and examples of a document fit their schemas.

All are checked together, as the properties of one object. If they do not fit, each is checked
alone, to find the mistakes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from specd._engine.document.schemas import Schemas, Validate
from specd._engine.errors import DocumentError, Violation
from specd._engine.openapi.dialects import in_latest
from specd._engine.openapi.rules import Checked
from specd._engine.openapi.structure import CONTENT_SCHEMA, Steps, steps_of
from specd._engine.openapi.wording import child, did_you_mean

Node = Mapping[str, Any]
_REQUEST, _ANSWER, _EITHER = ("readOnly",), ("writeOnly",), ("", "readOnly", "writeOnly")
"""The marks that `Schemas` drops for a value of a request, of a response, or of either."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value in a document, and its schema."""

    noun: str
    at: Steps
    value: Any
    schema: Node
    drops: tuple[str, ...]


def find_faults(checked: Checked, *, has_examples: bool) -> Iterator[DocumentError]:
    """Yield the mistakes in defaults, and with `has_examples` also those in examples.

    OpenAPI 3.0 requires that a default has the schema's type (3.0.4, section 4.8.24.1). Other rules
    are recommendations, as in JSON Schema 2020-12, and are checked only with `has_examples`. A
    value whose schema has a mistake is skipped.
    """
    latest = in_latest(checked.content)
    if latest is not checked.content:
        checked = Checked(latest)
    values = list(_defaults(checked)) if has_examples or checked.version == "3.0" else []
    if not has_examples:
        values = [replace(value, schema=_type_of(value.schema)) for value in values]
    if has_examples:
        values += _examples(checked)
    compilers = _Compilers(checked.content)
    for drop in ("", *_REQUEST, *_ANSWER):
        chosen = [value for value in values if value.drops[0] == drop]
        if chosen and not compilers.fit_together(chosen, drop):
            for value in chosen:
                yield from compilers.faults(value)


def find_unfit_choices(checked: Checked) -> Iterator[DocumentError]:
    """Yield an error for each `enum` or `const` whose values all contradict the schema's other
    keywords.
    """
    latest = in_latest(checked.content)
    if latest is not checked.content:
        checked = Checked(latest)
    compilers = _Compilers(checked.content)
    lists = [
        (_Value("value", (*at, key), _whole(options[0]), schema, _drops_at(at)), options)
        for at, schema in checked.of("schema")
        if "$ref" not in schema
        for key, options in (("enum", schema.get("enum")), ("const", [schema.get("const")]))
        if key in schema and isinstance(options, list) and options
    ]
    if compilers.fit_together([value for value, _ in lists], ""):
        return
    for value, options in lists:
        faults = [compilers.faults(replace(value, value=_whole(option))) for option in options]
        if all(faults):
            reason = (
                f"none of the values fits the rest of the schema, so nothing fits: {faults[0][0]}"
            )
            yield DocumentError(reason, value.at)


def _whole(value: Any) -> Any:
    """Return a number without a fraction as an integer, because they are equal in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _type_of(schema: Node) -> Node:
    return {key: schema[key] for key in ("type", "nullable") if key in schema}


def _defaults(checked: Checked) -> Iterator[_Value]:
    for at, schema in checked.of("schema"):
        if "default" in schema and "$ref" not in schema:
            drops = _drops_at(at)
            yield _Value("default", (*at, "default"), schema["default"], schema, drops)


def _examples(checked: Checked) -> Iterator[_Value]:
    for at, schema in checked.of("schema"):
        if "$ref" in schema and checked.version == "3.0":
            continue
        drops = _drops_at(at)
        if "example" in schema:
            yield _Value("example", (*at, "example"), schema["example"], schema, drops)
        written = schema.get("examples")
        for number, value in enumerate(written if isinstance(written, list) else ()):
            yield _Value("example", (*at, "examples", number), value, schema, drops)
    for kind in ("media", "parameter", "header"):
        for at, node in checked.of(kind):
            own = node.get("schema")
            for place, value in _examples_of(checked, at, node):
                if not isinstance(own, Mapping):
                    break
                if kind != "media" or not _is_text_of(str(at[-1]), value):
                    yield _Value("example", place, value, own, _drops_at(at))
                if isinstance(value, str) and CONTENT_SCHEMA in own:
                    content = _json_of(value)
                    yield _Value("example", place, content, own[CONTENT_SCHEMA], _drops_at(at))


def _examples_of(checked: Checked, at: Steps, node: Node) -> Iterator[tuple[Steps, Any]]:
    if "example" in node:
        yield (*at, "example"), node["example"]
    examples = node.get("examples")
    for name, written in examples.items() if isinstance(examples, Mapping) else ():
        place: Steps = (*at, "examples", name)
        if isinstance(written, Mapping) and isinstance(written.get("$ref"), str):
            place = steps_of(written["$ref"])
        example: Node = checked.resolve(written)
        for key in ("value", "dataValue"):
            if key in example:
                yield (*place, key), example[key]


def _json_of(text: str) -> Any:
    """Return the value of a JSON text, or the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_text_of(media_type: str, value: Any) -> bool:
    """Return whether an example is the text of a body that is not JSON, such as XML."""
    return isinstance(value, str) and "json" not in media_type and not media_type.startswith("text")


def _drops_at(at: Steps) -> tuple[str, ...]:
    """Return the marks that are dropped for a value at a place: those of the other direction."""
    if at[0] == "components":
        where, start = at[1], 1
    else:
        where, start = (at[3] if len(at) > 3 else ""), 3
        if at[0] == "paths" and at[2:3] == ("parameters",):
            return _REQUEST
    if at[0] == "webhooks" or "callbacks" in at[start : start + 1]:
        return _EITHER
    if where in ("requestBody", "requestBodies", "parameters"):
        return _REQUEST
    return _ANSWER if where in ("responses", "headers") else _EITHER


class _Compilers:
    """Compiles the schemas of values, for each direction on first use."""

    def __init__(self, content: Node) -> None:
        self._content = content
        self._schemas: dict[str, Schemas] = {}

    @cached_property
    def _sound(self) -> Node:
        """The document without shared schemas that have mistakes."""
        components = self._content.get("components")
        shared = components.get("schemas") if isinstance(components, Mapping) else None
        sound = {}
        for name, schema in shared.items() if isinstance(shared, Mapping) else ():
            with suppress(*_FAILURES):
                Schemas({"components": {"schemas": {name: schema}}}, drop="readOnly")
                sound[name] = schema
        return {**self._content, "components": {"schemas": sound}}

    def _compile(self, schema: Any, drop: str) -> Validate | None:
        """Return the validator, or None for a schema that cannot be compiled."""
        with suppress(*_FAILURES):
            if drop not in self._schemas:
                self._schemas[drop] = self._all(drop)
            validate = self._schemas[drop].compile(schema, "")
            self._schemas[drop].finish()
            return validate
        return None

    def _all(self, drop: str) -> Schemas:
        with suppress(*_FAILURES):
            return Schemas(self._content, drop=drop)
        return Schemas(self._sound, drop=drop)

    def fit_together(self, values: list[_Value], drop: str) -> bool:
        schemas = {str(number): value.schema for number, value in enumerate(values)}
        validate = self._compile({"properties": schemas}, drop)
        together = {str(number): value.value for number, value in enumerate(values)}
        return validate is not None and not validate(together, "")

    def faults(self, value: _Value) -> list[DocumentError]:
        """Return the mistakes of one value, in the direction with the fewest."""
        least: list[DocumentError] | None = None
        for drop in value.drops:
            validate = self._compile(value.schema, drop)
            if validate is None:
                return []
            found = [_fault_of(value, violation) for violation in validate(value.value, "")]
            if least is None or len(found) < len(least):
                least = found
        return least or []


_FAILURES = (DocumentError, AttributeError, TypeError, ValueError, LookupError, RecursionError)
"""The exceptions that the compilation of a schema with a mistake may raise."""


def _fault_of(value: _Value, violation: Violation) -> DocumentError:
    violation = _nearest(violation)
    message, facts = violation.message, violation.facts
    if violation.rule == "not" and facts.get("schema") == {}:
        message = "a request has nothing readOnly, and an answer nothing writeOnly"
    node, at = value.value, value.at
    for step in steps_of(violation.path):
        at = (*at, int(step) if isinstance(node, list) else step)
        node = child(node, step)
    right = did_you_mean(node, map(str, facts["options"])) if "options" in facts else ""
    shown = f" {node!r}" if isinstance(node, str) and len(node) < 40 else ""
    return DocumentError(f"the {value.noun}{shown} does not fit its schema: {message}{right}", at)


def _nearest(violation: Violation) -> Violation:
    """Return the violation itself, or that of the branch that is nearest to the value. A branch
    with a different type is furthest, and a branch whose violation is deepest is nearest.
    """
    branches = [_nearest(branch) for branch in violation.facts.get("context", ())]
    depth = violation.path.count("/")
    return min(
        branches,
        key=lambda it: (it.rule == "type" and it.path.count("/") == depth, -it.path.count("/")),
        default=violation,
    )
