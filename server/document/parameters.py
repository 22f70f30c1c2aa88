"""Path, query and header parameters: from text to values, compiled once per operation.

A parameter is decoded by its style (OpenAPI 3.0.3 "Parameter Object") and its schema's type, then
all parameters of one place are validated together. What cannot be decoded is left as text, so that
the schema says what is wrong with it.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from server.document.aliases import Aliases
from server.document.schemas import Schemas, Validate
from server.errors import DocumentError, InvalidRequest, Violation
from server.wire.guard import load_json

Decode = Callable[[list[str], str], Any]
"""From the values sent under one name, and a JSON pointer, to one value."""

_INTEGER = re.compile(r"-?[0-9]{1,400}")
_NUMBER = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][-+]?[0-9]{1,3})?")
_SPACED_COMMA = re.compile(r"[ \t]*,[ \t]*")
_SEPARATORS = {"form": ",", "simple": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


def argument_name(name: str) -> str:
    """Return the keyword a handler takes a parameter as: `Idempotency-Key` -> `idempotency_key`,
    `id` -> `id_` (connexion's `pythonic_params`).
    """
    result = re.sub(r"[^0-9a-zA-Z_]", "_", name.replace("[]", "")).lower()
    if keyword.iskeyword(result) or hasattr(builtins, result):
        result += "_"
    return result


def _scalar(text: str, kinds: frozenset[str]) -> Any:
    """Return `text` as the first of integer, number and boolean that fits, else as text."""
    if "integer" in kinds and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in kinds and _NUMBER.fullmatch(text):
        number = float(text)
        if abs(number) != float("inf"):
            return int(text) if _INTEGER.fullmatch(text) else number
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    return text


def kinds_of(schema: Mapping[str, Any], schemas: Schemas) -> frozenset[str]:
    """Return every JSON type a schema may accept, through `$ref`, `oneOf`, `anyOf` and `allOf`."""
    schema = schemas.resolve(schema)
    if "type" in schema:
        types = schema["type"]
        return frozenset(types if isinstance(types, list) else (types,)) - {"null"}
    branches = [*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    return frozenset().union(*(kinds_of(branch, schemas) for branch in branches))


def items_of(schema: Mapping[str, Any], schemas: Schemas) -> Mapping[str, Any]:
    """Return the schema of an array's items, wherever among the branches the array stands."""
    schema = schemas.resolve(schema)
    if "items" in schema:
        return schemas.resolve(schema["items"])
    for key in ("oneOf", "anyOf", "allOf"):
        for branch in schema.get(key, ()):
            found = items_of(branch, schemas)
            if found:
                return found
    return {}


def item_kinds_of(schema: Mapping[str, Any], schemas: Schemas) -> frozenset[str]:
    """Return every JSON type that an item of the arrays among a schema's branches may have."""
    schema = schemas.resolve(schema)
    kinds = kinds_of(schema["items"], schemas) if "items" in schema else frozenset()
    for key in ("oneOf", "anyOf", "allOf"):
        for branch in schema.get(key, ()):
            kinds |= item_kinds_of(branch, schemas)
    return kinds


def compile_decode(parameter: Mapping[str, Any], schemas: Schemas, place: str) -> Decode:
    """Return the function from the values sent for one parameter to one value.

    Raise `DocumentError` for a style this engine does not serve.
    """
    if "content" in parameter:
        return _decode_json
    schema = schemas.resolve(parameter["schema"])
    kinds = kinds_of(schema, schemas)
    if "object" in kinds:
        raise DocumentError(f"{place}: an object needs `content: application/json`")
    style = parameter.get("style", "form" if parameter["in"] == "query" else "simple")
    if style not in _SEPARATORS:
        raise DocumentError(f"{place}: style {style} is not served")
    if "array" in kinds:
        item_kinds = kinds_of(items_of(schema, schemas), schemas)
        separator = None if _repeats(parameter, schemas) else _SEPARATORS[style]
        decode = _array(separator, item_kinds, kinds - {"array"})
        if parameter["in"] == "header":  # a list in a header has optional white space (RFC 9110)
            return lambda values, pointer: decode([_SPACED_COMMA.sub(",", values[-1])], pointer)
        return decode
    if kinds == {"string"} or not kinds:
        return _last
    if kinds == {"integer"}:
        return _integer
    return lambda values, pointer: _scalar(values[-1], kinds)


def _repeats(parameter: Mapping[str, Any], schemas: Schemas) -> bool:
    """Return whether each item of an array repeats the parameter's name (form, exploded)."""
    style = parameter.get("style", "form" if parameter["in"] == "query" else "simple")
    return (
        style == "form"
        and parameter.get("explode", True)
        and "array" in kinds_of(parameter.get("schema", {}), schemas)
    )


def _last(values: list[str], pointer: str) -> str:
    return values[-1]


def _integer(values: list[str], pointer: str) -> int | str:
    text = values[-1]
    return int(text) if _INTEGER.fullmatch(text) else text


def _decode_json(values: list[str], pointer: str) -> Any:
    return load_json(values[-1].encode("utf-8"), pointer)


def _array(separator: str | None, items: frozenset[str], scalars: frozenset[str]) -> Decode:
    def decode(values: list[str], pointer: str) -> Any:
        if separator is not None:
            values = values[-1].split(separator)
        elif scalars and len(values) == 1:
            return _scalar(values[0], scalars)
        return [_scalar(value, items) for value in values]

    return decode


@dataclass(frozen=True, slots=True)
class Parameter:
    """One documented parameter of one operation."""

    name: str
    where: str
    argument: str
    required: bool
    default: Any
    decode: Decode
    pointer: str
    raw_name: bytes

    @property
    def has_default(self) -> bool:
        return self.default is not _MISSING


_MISSING = object()


class Parameters:
    """All parameters of one operation in one place: `path`, `query` or `header`."""

    def __init__(
        self, where: str, declared: Sequence[Mapping[str, Any]], schemas: Schemas, place: str
    ) -> None:
        self.where = where
        required = [p["name"] for p in declared if p.get("required")]
        by_name = {p["name"]: p for p in declared}
        self._aliases = Aliases(by_name, where, place, required=required)
        self.names = frozenset(by_name)
        self.single = frozenset(name for name, p in by_name.items() if not _repeats(p, schemas))
        """The names that come once: each item of some arrays comes under the name again."""
        declared = [p for p in declared if p["name"] not in self._aliases.of]
        self.declared = tuple(
            _compile(parameter, schemas, f"{place} {where} parameter {parameter['name']}")
            for parameter in declared
        )
        self._validate = self._compile_validation(declared, schemas, place)

    def _compile_validation(
        self, declared: Sequence[Mapping[str, Any]], schemas: Schemas, place: str
    ) -> Validate:
        properties = {p["name"]: _schema_of(p) for p in declared}
        schema = {"type": "object", "properties": properties}
        return schemas.compile(schema, f"{place} {self.where} parameters")

    def arguments(self, sent: Mapping[str, list[str]]) -> dict[str, Any]:
        """Handler arguments from the texts sent. Raise `InvalidRequest`."""
        values: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        violations: list[Violation] = []
        if self._aliases.of:
            sent, violations = self._aliases.resolve(sent)
        for parameter in self.declared:
            texts = sent.get(parameter.name)
            if texts is None:
                if parameter.required:
                    violations.append(Violation(parameter.pointer, "is required", "required"))
                elif parameter.default is not _MISSING:
                    arguments[parameter.argument] = parameter.default
                continue
            try:
                value = parameter.decode(texts, parameter.pointer)
            except InvalidRequest as error:
                violations.extend(error.violations)
                continue
            values[parameter.name] = arguments[parameter.argument] = value
        for violation in self._validate(values, f"/{self.where}"):
            text = values.get(violation.path.split("/")[2]) if violation.rule == "type" else None
            if isinstance(text, str):  # could not be decoded: a service may want to say how
                facts = {**violation.facts, "text": text}
                violation = replace(violation, facts=facts)
            violations.append(violation)
        if violations:
            raise InvalidRequest(violations)
        return arguments


def _schema_of(parameter: Mapping[str, Any]) -> Mapping[str, Any]:
    if "content" in parameter:
        (media,) = parameter["content"].values()
        return media.get("schema", {})  # type: ignore[no-any-return]
    return parameter["schema"]  # type: ignore[no-any-return]


def _compile(parameter: Mapping[str, Any], schemas: Schemas, place: str) -> Parameter:
    schema = schemas.resolve(_schema_of(parameter))
    return Parameter(
        name=parameter["name"],
        where=parameter["in"],
        argument=argument_name(parameter["name"]),
        required=parameter.get("required", False),
        default=schema.get("default", _MISSING),
        decode=compile_decode(parameter, schemas, place),
        pointer=f"/{parameter['in']}/{parameter['name']}",
        raw_name=parameter["name"].lower().encode("latin-1"),
    )
