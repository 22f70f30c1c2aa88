"""openapi-core's validators of schemas with the same results in a fraction of the time.

`oneOf` validates only the subschemas that the value can match: an event has a type, and the other
77 kinds of event require another one. A reference is resolved once for each document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonschema.validators import extend  # type: ignore[import-untyped]
from openapi_core.validation.schemas.factories import SchemaValidatorsFactory

Fixed = Sequence[tuple[str, Sequence[Any]]]
"""Names of properties and their allowed values."""


def speed_up(factory: SchemaValidatorsFactory) -> SchemaValidatorsFactory:
    """Return such a factory for the validators of one document."""
    keywords = _Keywords(factory.schema_validator_cls.VALIDATORS["oneOf"])
    validator = extend(
        factory.schema_validator_cls, {"oneOf": keywords.one_of, "$ref": keywords.ref}
    )
    return SchemaValidatorsFactory(validator, factory.format_checker)


class _Keywords:
    def __init__(self, one_of: Any) -> None:
        self._one_of = one_of
        self._resolved: dict[tuple[str, str], Any] = {}
        self._fixed: dict[int, tuple[object, Fixed]] = {}
        """Fixed properties by the id of a schema, with the schema, which keeps the id."""

    def one_of(
        self,
        validator: Any,
        subschemas: Sequence[Mapping[str, Any]],
        value: Any,
        schema: Mapping[str, Any],
    ) -> Iterator[Any]:
        if isinstance(value, dict) and "discriminator" not in schema:
            possible = [each for each in subschemas if self._can_match(validator, each, value)]
            subschemas = possible or subschemas
        yield from self._one_of(validator, subschemas, value, schema)

    def ref(self, validator: Any, ref: str, value: Any, _: Mapping[str, Any]) -> Iterator[Any]:
        resolved = self._resolve(validator, ref)
        yield from validator.descend(value, resolved.contents, resolver=resolved.resolver)

    def _resolve(self, validator: Any, ref: str) -> Any:
        key = validator._resolver._base_uri, ref
        if key not in self._resolved:
            self._resolved[key] = validator._resolver.lookup(ref)
        return self._resolved[key]

    def _can_match(self, validator: Any, subschema: Any, value: Mapping[str, Any]) -> bool:
        if id(subschema) not in self._fixed:
            self._fixed[id(subschema)] = subschema, self._find_fixed(validator, subschema)
        fixed = self._fixed[id(subschema)][1]
        return all(name not in value or value[name] in allowed for name, allowed in fixed)

    def _find_fixed(self, validator: Any, subschema: Any) -> Fixed:
        properties = self._follow(validator, subschema).get("properties", {})
        found = ((name, self._follow(validator, each)) for name, each in properties.items())
        return [(name, each["enum"]) for name, each in found if "enum" in each]

    def _follow(self, validator: Any, schema: Any) -> Any:
        while "$ref" in schema:
            schema = self._resolve(validator, schema["$ref"]).contents
        return schema
