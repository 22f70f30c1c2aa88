"""The places in a request that a client can fill: parameters, fields, and their contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.documents import is_bounded_text

Schema = Mapping[str, Any]
Wrap = Callable[[Any], Any]


@dataclass(frozen=True)
class Place:
    """A place in a request.

    `label` is for example `narrow[].operand`. `where` is path, query, header or body. `wrap`
    converts a value for this place to a value of the parameter `name`.
    """

    label: str
    where: str
    name: str
    schema: Schema
    wrap: Wrap

    @property
    def type(self) -> str:
        return str(self.schema.get("type", "object"))


class Document:
    """An OpenAPI document, read for the possible contents of requests."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def resolved(self, schema: Any) -> Any:
        """Return the target of a reference. A single `allOf` is replaced by its contents."""
        while True:
            if "$ref" in schema:
                found: Any = self._document
                for step in schema["$ref"].removeprefix("#/").split("/"):
                    found = found[step]
                schema = found
            elif "type" not in schema and "allOf" in schema:
                schema = schema["allOf"][0]
            else:
                return schema

    def places(self, operation_id: str) -> list[Place]:
        item, operation = self._find(operation_id)
        found: list[Place] = []
        for parameter in (*item.get("parameters", ()), *operation.get("parameters", ())):
            parameter = self.resolved(parameter)
            schema = parameter.get("schema")
            if schema is None:
                schema = next(iter(parameter["content"].values()))["schema"]
            found.extend(self._inside(schema, parameter["in"], parameter["name"]))
        for name, schema in self._fields(operation).items():
            found.extend(self._inside(schema, "body", name))
        return found

    def takes_json(self, operation_id: str) -> bool:
        content = self._content(self._find(operation_id)[1])
        return "application/json" in content

    def _find(self, operation_id: str) -> tuple[Any, Any]:
        for item in self._document["paths"].values():
            for operation in item.values():
                if isinstance(operation, Mapping) and operation.get("operationId") == operation_id:
                    return item, operation
        raise LookupError(operation_id)

    def _content(self, operation: Any) -> Mapping[str, Any]:
        content: Mapping[str, Any] = self.resolved(operation.get("requestBody", {})).get(
            "content", {}
        )
        return content

    def _fields(self, operation: Any) -> Mapping[str, Any]:
        content = self._content(operation)
        for media_type in ("application/x-www-form-urlencoded", "application/json"):
            if media_type in content:
                fields: Mapping[str, Any] = self.resolved(content[media_type]["schema"]).get(
                    "properties", {}
                )
                return fields
        return {}

    def _inside(self, schema: Any, where: str, name: str) -> Iterator[Place]:
        for label, leaf, wrap in self._leaves(schema):
            yield Place(name + label, where, name, leaf, wrap)

    def _leaves(self, schema: Any) -> Iterator[tuple[str, Schema, Wrap]]:
        schema = self.resolved(schema)
        for alternatives in ("oneOf", "anyOf"):
            if alternatives in schema:
                for one in schema[alternatives]:
                    yield from self._leaves(one)
                return
        if schema.get("type") == "array":
            yield "", schema, lambda value: value
            for label, leaf, wrap in self._leaves(schema["items"]):
                yield f"[]{label}", leaf, lambda value, wrap=wrap: [wrap(value)]
            return
        if schema.get("properties"):
            for key, inner in schema["properties"].items():
                others = {
                    other: self.typical(schema["properties"][other], 0)
                    for other in schema.get("required", ())
                    if other != key
                }
                for label, leaf, wrap in self._leaves(inner):
                    yield (
                        f".{key}{label}",
                        leaf,
                        lambda value, key=key, others=others, wrap=wrap: {
                            **others,
                            key: wrap(value),
                        },
                    )
            return
        yield "", schema, lambda value: value

    def typical(self, schema: Any, number: int, name: str = "") -> Any:
        """Return a small valid value. Values of different numbers differ if possible."""
        schema = self.resolved(schema)
        for alternatives in ("oneOf", "anyOf"):
            if alternatives in schema:
                return self.typical(schema[alternatives][0], number, name)
        if "enum" in schema:
            return schema["enum"][number % len(schema["enum"])]
        match schema.get("type"):
            case "integer":
                return min(1 + number, schema.get("maximum", 2**31 - 1))
            case "boolean":
                return number % 2 == 0
            case "array":
                least = max(schema.get("minItems", 0), 1)
                return [self.typical(schema["items"], number + n, name) for n in range(least)]
            case "string" if "pattern" in schema:
                return schema.get("example", "00000000")
            case "string":
                return f"{name}{number}"[: schema.get("maxLength", 100)]
        return {
            key: self.typical(inner, number, key)
            for key, inner in schema.get("properties", {}).items()
        }


def unbounded(document: Document, operation_id: str) -> Iterator[str]:
    """Yield the places without a limit in the document. There must be none."""
    for place in document.places(operation_id):
        schema = place.schema
        bounded = {
            "string": is_bounded_text(schema),
            "integer": "maximum" in schema or "enum" in schema,
            "number": "maximum" in schema,
            "array": "maxItems" in schema,
            "boolean": True,
        }.get(place.type, "maxProperties" in schema)
        if not bounded:
            yield f"{operation_id} {place.where} {place.label}"
