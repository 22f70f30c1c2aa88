"""Form fields, urlencoded, multipart or a JSON object: from what was sent to handler arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.document.aliases import Aliases
from server.document.kinds import item_kinds_of, kinds_of
from server.document.parameters import argument_name
from server.document.schemas import Schemas
from server.errors import InvalidRequest, Violation
from server.files import File
from server.wire.guard import decode_text, load_json, pointer_step
from server.wire.multipart import Head, parse_parts
from server.wire.queries import MAX_QUERY_FIELDS

JSON = "application/json"
_MISSING = object()


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A field's value from a JSON object, which is not parsed as text."""

    value: Any


class Form:
    """Form fields of one operation, which may come in three notations.

    urlencoded and multipart: a field whose schema is not a plain string, or whose `encoding` says
    `application/json`, comes as JSON text; an array also as repeated keys, which is what generated
    clients send. As a JSON object: every field as it is.
    """

    def __init__(
        self, media: Mapping[str, Any], schemas: Schemas, place: str, *, in_query: bool
    ) -> None:
        self.schema = schema = schemas.resolve(media.get("schema", {}))
        encoding = media.get("encoding", {})
        self.in_query = in_query
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        self._aliases = Aliases(properties, "body", place, required=required)
        self.names = frozenset(properties)
        self.fields = {
            name: Field(name, schemas.resolve(item), encoding.get(name, {}), schemas)
            for name, item in properties.items()
            if name not in self._aliases.of
        }
        self.arguments = {field.argument for field in self.fields.values()}
        self.defaults = {
            field.argument: field.default
            for field in self.fields.values()
            if field.default is not _MISSING
        }
        """The arguments that are there when nothing was sent."""
        self.without_default = self.arguments - self.defaults.keys()
        self.optional = self.without_default - {
            field.argument for name, field in self.fields.items() if name in required
        }
        self.binary = [name for name, field in self.fields.items() if field.binary]
        self._closed = schema.get("additionalProperties") is False
        self._validate = schemas.compile(
            {key: value for key, value in schema.items() if key != "additionalProperties"}, place
        )

    def parts(self, raw: bytes, content_type: str) -> dict[str, list[Any]]:
        """Return the values of a `multipart/form-data` body by name, bytes for binary fields."""
        if not self.binary:
            decode_text(raw, "/body")
        sent: dict[str, list[Any]] = {}
        for name, content, _ in parse_parts(raw, content_type, limit=MAX_QUERY_FIELDS):
            field = self.fields.get(name)
            is_binary = field is not None and field.binary
            value = content if is_binary else decode_text(content, f"/body/{pointer_step(name)}")
            sent.setdefault(name, []).append(value)
        return sent

    def file_field_of(self, head: Head) -> str | None:
        """Return the field that a part's file belongs to; None for a part that is no file.

        Some clients name the field after the file: where a form takes one file, every file is it.
        """
        if head.name in self.binary:
            return head.name
        if head.file_name is None:
            return None
        is_free = head.name not in self.names and len(self.binary) == 1
        return self.binary[0] if is_free else None

    def decode_json(
        self, value: Any, query: Mapping[str, list[str]]
    ) -> tuple[dict[str, Any], set[str]]:
        """Return what `decode` does for a JSON object of the fields."""
        if not isinstance(value, dict):
            raise InvalidRequest((Violation("/body", "must be an object", "type"),))
        return self.decode({name: JsonValue(item) for name, item in value.items()}, query)

    def decode(
        self, sent: Mapping[str, list[Any] | JsonValue], query: Mapping[str, list[str]]
    ) -> tuple[dict[str, Any], set[str]]:
        """Handler arguments from fields sent, the query string's filling in where allowed, and the
        names of unknown fields. Raise `InvalidRequest`.
        """
        values: dict[str, Any] = {}
        arguments = dict(self.defaults)
        violations: list[Violation] = []
        unknown = sent.keys() - self.names
        if self.in_query and query:
            sent = {**query, **sent}
        if self._aliases.of:
            sent, violations = self._aliases.resolve(sent)
        for name, field in self.fields.items():
            texts = sent.get(name)
            if texts is None or (field.binary and not _is_file(texts)):
                continue
            try:
                value = texts.value if isinstance(texts, JsonValue) else field.decode(texts)
            except InvalidRequest as error:
                violations.extend(error.violations)
                continue
            values[name] = arguments[field.argument] = value
        if self._closed and unknown:
            violations.extend(
                Violation(
                    "/body",
                    f"has a field the document does not know: {name[:100]}",
                    "additionalProperties",
                )
                for name in sorted(unknown)[:20]
            )
        texts_only = values
        if self.binary:  # the bytes of a file fit no schema
            texts_only = {k: "" if isinstance(v, (bytes, File)) else v for k, v in values.items()}
        violations.extend(self._validate(texts_only, "/body"))
        if violations:
            raise InvalidRequest(violations)
        return arguments, unknown


class Field:
    """One form field: how the texts sent under its name become its value."""

    def __init__(
        self,
        name: str,
        schema: Mapping[str, Any],
        encoding: Mapping[str, Any],
        schemas: Schemas,
    ) -> None:
        self.argument = argument_name(name)
        self.pointer = f"/body/{name}"
        self.default = schema.get("default", _MISSING)
        self.binary = schema.get("format") == "binary"
        self._nullable = bool(schema.get("nullable"))
        self._kinds = kinds = kinds_of(schema, schemas)
        self._is_text = kinds <= {"string"} and encoding.get("contentType") != JSON
        self._may_be_text = "string" in kinds
        self._array = "array" in kinds
        self._single = kinds - {"array"}
        self._item_kinds = item_kinds = item_kinds_of(schema, schemas)
        self._text_items = "string" in item_kinds
        self._object_items = "object" in item_kinds
        self._exploded = self._array and encoding.get("contentType") != JSON

    def decode(self, texts: list[Any]) -> Any:
        if self._is_text:
            return texts[-1]
        if len(texts) > 1 and self._array:
            return [self._item(text) for text in texts]
        text = texts[-1]
        try:
            value = load_json(text.encode("utf-8"), self.pointer)
        except InvalidRequest:
            if _is_json_string(text):  # one that no service takes, such as one with NUL
                raise
            if self._may_be_text:
                return text
            if self._exploded and self._text_items:
                return [text]
            raise
        if self._may_be_text and value is not None and not _fits(value, self._kinds):
            return text
        if value is None and self._nullable:
            return None
        if self._array and not self._single and not isinstance(value, list):
            if isinstance(value, dict) and not self._object_items:
                return value  # an object was meant; the schema says what is expected
            return [self._item(text)]
        return value

    def _item(self, text: str) -> Any:
        if self._item_kinds == {"string"}:
            return text
        try:
            value = load_json(text.encode("utf-8"), self.pointer)
        except InvalidRequest:
            if self._text_items and not _is_json_string(text):
                return text
            raise
        return value if not self._text_items or _fits(value, self._item_kinds) else text


_KINDS: dict[type, frozenset[str]] = {
    bool: frozenset(("boolean",)),
    int: frozenset(("integer", "number")),
    float: frozenset(("number",)),
    str: frozenset(("string",)),
    list: frozenset(("array",)),
    dict: frozenset(("object",)),
}


def _is_file(sent: list[Any] | JsonValue) -> bool:
    """Return whether a file was sent, and not a text, such as one of the query."""
    return not isinstance(sent, JsonValue) and isinstance(sent[-1], (bytes, File))


def _is_json_string(text: str) -> bool:
    if not text.startswith('"'):
        return False
    try:
        return isinstance(json.loads(text), str)
    except ValueError:
        return False


def _fits(value: Any, kinds: frozenset[str]) -> bool:
    """Return whether a JSON value has one of these types. Where text is allowed, a text that by
    chance is JSON of another type stays text.
    """
    return not kinds or bool(_KINDS.get(type(value), kinds) & kinds)
