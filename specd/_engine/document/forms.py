"""Form fields: converts fields from urlencoded and multipart forms and JSON objects to values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from specd._engine.document.aliases import Aliases
from specd._engine.document.json_texts import JsonTexts
from specd._engine.document.kinds import (
    MISSING,
    Shape,
    additional_of,
    branches,
    default_of,
    fresh,
    item_kinds_of,
    kinds_of,
    properties_of,
    required_of,
    shape_of,
)
from specd._engine.document.media import MULTIPART, find_key, is_json, is_text
from specd._engine.document.parameters import Parameters
from specd._engine.document.schemas import ERRORS, Schemas
from specd._engine.document.styles import (
    RawTexts,
    Read,
    Text,
    check_style,
    compile_read,
    from_query,
    from_reserved,
    is_deep,
    names_of,
    one_or_list,
    style_of,
)
from specd._engine.errors import InvalidRequest, Violation
from specd._engine.files import File
from specd._engine.http.guard import decode_text, pointer_step
from specd._engine.http.multipart import Head, parse_parts
from specd._engine.http.queries import MAX_QUERY_FIELDS, parse_pairs, parse_raw_pairs

Sent = Mapping[str, "list[Any] | JsonValue"]
_STYLED = ("style", "explode", "allowReserved")
SECOND_FILE = "oneFile"
"""The rule that a field accepts only one file."""
_UNTYPED = "application/octet-stream"
"""The media type of a part whose client does not know its type (RFC 7578, section 4.4)."""


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A field's value from a JSON object, which is not parsed as text."""

    value: Any


class Form:
    """The form of one operation in one media type.

    A field whose schema is not a plain string, or whose `encoding` is JSON, is sent as JSON text.
    An array may also be sent as repeated keys, as generated clients do. A field whose `encoding`
    has a style is sent in that style. A binary field is a part of a multipart form. In a JSON
    object, every field is a JSON value.
    """

    def __init__(
        self,
        media_type: str,
        media: Mapping[str, Any],
        schemas: Schemas,
        place: str,
        *,
        in_query: bool = False,
    ) -> None:
        self.schema = schema = schemas.resolve(media.get("schema", {}))
        self._media_type = media_type
        is_multipart = media_type == MULTIPART
        encoding = media.get("encoding", {})
        self.in_query = in_query
        properties = properties_of(schema, schemas)
        required = required_of(schema, schemas)
        self._aliases = Aliases(
            {name: item for name, item in properties.items() if isinstance(item, Mapping)},
            "body",
            place,
            required=required,
        )
        self.fields = {
            name: Field(
                name,
                item,
                encoding.get(name, {}),
                schemas,
                f"{place} field {name}",
                is_multipart=is_multipart,
                is_foreign=self._is_foreign,
            )
            for name, item in properties.items()
            if name not in self._aliases.of
        }
        additional = additional_of(schema, schemas)
        self._other = Field("", additional, {}, schemas, place)
        self.takes_more = isinstance(additional, Mapping) and bool(additional)
        """Whether the document describes fields without a name, which cannot be arguments."""
        self._takes_other_files = is_multipart and self._other.binary
        self.names = frozenset(properties).union(*(f.names for f in self.fields.values()))
        self._deep = tuple(f"{name}[" for name, f in self.fields.items() if f.is_deep)
        self._takes_all = any(field.takes_others for field in self.fields.values())
        self.has_named_fields = any("properties" in each for each in branches(schema, schemas))
        """Whether the document has `properties` for the form, even if they are empty."""
        self.defaults = {
            name: field.default
            for name, field in self.fields.items()
            if field.default is not MISSING
        }
        """The default values of fields that were not sent."""
        self.optional = self.fields.keys() - required - self.defaults.keys()
        self._plain = tuple((n, field) for n, field in self.fields.items() if field.read is None)
        self._styled = tuple(f for f in self.fields.items() if f[1].read is not None)
        self.has_styles = bool(self._styled)
        """Whether any field has a style, like a parameter."""
        self.name_values({name: name for name in self.fields})
        self.binary = [name for name, field in self.fields.items() if field.binary]
        second = schema.get(ERRORS, {}).get(SECOND_FILE)
        self._facts_of_second = {} if second is None else {"error": second}
        self._has_part_rules = any(f.content_types or f.headers for f in self.fields.values())
        self.takes_files = bool(self.binary) or self._takes_other_files
        """Whether any field is binary."""
        self._closed = additional_of(schema, schemas) is False
        self._validate = schemas.compile(self._checked(schema, schemas), place)

    def _checked(self, schema: Mapping[str, Any], schemas: Schemas) -> dict[str, Any]:
        """Return the schema for the validation of values, without binary fields, which fit no
        schema, and without a rule for unknown fields, which `decode` reports.
        """
        checked = dict(schema)
        if not self.takes_more or self._other.binary:
            checked.pop("additionalProperties", None)
        bare = {n: f.bare_schema for n, f in self.fields.items() if f.bare_schema is not None}
        if bare and "properties" in checked:
            checked["properties"] = {**checked["properties"], **bare}
        return checked

    def _is_foreign(self, name: str) -> bool:
        """Return whether a name belongs to a field other than the one that gets all remaining
        names.
        """
        return name in self.names or is_deep(name, self._deep)

    def unknown_of(self, sent: Mapping[str, Any]) -> set[str]:
        """Return the sent names that no field has."""
        if self._takes_all:
            return set()
        return {name for name in sent.keys() - self.names if not is_deep(name, self._deep)}

    def read(self, raw: bytes, content_type: str) -> tuple[dict[str, list[Any]], RawTexts | None]:
        """Return the fields of a body by name, as bytes for binary fields, and the raw texts if any
        field has a style. Raise `InvalidRequest`.
        """
        if self._media_type == MULTIPART:
            return self._parts(raw, content_type), None
        pairs = parse_pairs(raw, "body")
        return pairs, parse_raw_pairs(raw, "body") if self._styled else None

    def _parts(self, raw: bytes, content_type: str) -> dict[str, list[Any]]:
        if not self.takes_files:
            decode_text(raw, "/body")
        sent: dict[str, list[Any]] = {}
        for name, content, head in parse_parts(raw, content_type, limit=MAX_QUERY_FIELDS):
            field = self.fields.get(name)
            is_binary = self._takes_other_files if field is None else field.binary
            if self._has_part_rules:
                self.check_part(head)
            value = content if is_binary else decode_text(content, f"/body/{pointer_step(name)}")
            sent.setdefault(name, []).append(value)
        return sent

    def check_part(self, head: Head) -> None:
        """Raise `InvalidRequest` if the `encoding` of a part does not allow its head."""
        field = self.fields.get(head.name)
        if field is not None:
            field.check_part(head)

    def file_field_of(self, head: Head) -> str | None:
        """Return the field that a part's file belongs to, or None if the part is not a file.

        Some clients name the field after the file, so if a form has one file field, every file
        belongs to it.
        """
        if head.name in self.binary:
            return head.name
        if self._takes_other_files and head.name not in self.names:
            return head.name
        if head.file_name is None:
            return None
        is_free = head.name not in self.names and len(self.binary) == 1
        return self.binary[0] if is_free else None

    def require_takes_many(self, name: str) -> None:
        """Raise `InvalidRequest` unless a field accepts several files."""
        if name not in self.fields or not self.fields[name].is_array:
            path, facts = f"/body/{name}", self._facts_of_second
            raise InvalidRequest((Violation(path, "must be one file", SECOND_FILE, facts),))

    def sent_as_json(self, value: Any) -> Sent:
        """Return the fields of a JSON object. Raise `InvalidRequest`."""
        if not isinstance(value, dict):
            raise InvalidRequest((Violation("/body", "must be an object", "type"),))
        return {name: JsonValue(item) for name, item in value.items()}

    def name_values(self, keys: Mapping[str, str]) -> None:
        """Set the keys by which `decode` returns the values of fields, instead of their names."""
        for name, field in self.fields.items():
            field.key = keys[name]
        defaults = {keys[name]: value for name, value in self.defaults.items()}
        are_fixed = not any(isinstance(each, list | dict) for each in defaults.values())
        self.key_defaults: Callable[[], dict[str, Any]] = (
            defaults.copy if are_fixed else partial(_all_fresh, defaults)
        )
        """Returns new default values by their keys, for one request."""

    def decode(
        self, sent: Sent, query: Mapping[str, list[str]] = {}, raw: RawTexts | None = None
    ) -> tuple[dict[str, Any], set[str]]:
        """Return the values of the sent fields, with missing fields from the query string if
        allowed, and the names of unknown fields. Raise `InvalidRequest`.
        """
        unknown = sent.keys() - self.names
        if unknown and (self._deep or self._takes_all):
            unknown = self.unknown_of(sent)
        return self._values(sent, query, raw, unknown), unknown

    def decode_whole(self, sent: Sent, raw: RawTexts | None = None) -> dict[str, Any]:
        """Return all values by name, including fields without a name in the document."""
        unknown = self.unknown_of(sent)
        others: dict[str, Any] = {}
        if not self._closed:
            for name in unknown:
                texts = sent[name]
                if isinstance(texts, JsonValue):
                    others[name] = texts.value
                else:
                    others[name] = self._free(name, texts)
        return self._values(sent, {}, raw, unknown, others)

    def _free(self, name: str, texts: list[Any]) -> Any:
        """Return the value of a field without a name in the document."""
        if len(texts) > 1 and not self._other.kinds:
            return texts
        field = copy(self._other)
        field.pointer = f"/body/{pointer_step(name)}"
        return field.decode(texts)

    def _values(
        self,
        sent: Sent,
        query: Mapping[str, list[str]],
        raw: RawTexts | None,
        unknown: set[str],
        others: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the values of all fields and `others`, validated together."""
        values: dict[str, Any] = {}
        found = self.key_defaults()
        if others:
            values.update(others)
            found.update(others)
        violations: list[Violation] = []
        if self.in_query and query:
            sent = {**query, **sent}
        if self._aliases.of:
            sent, violations = self._aliases.resolve(sent)
        for name, field in self._plain:
            texts = sent.get(name)
            if texts is None or (field.binary and not _is_file(texts)):
                continue
            try:
                value = texts.value if isinstance(texts, JsonValue) else field.decode(texts)
            except InvalidRequest as error:
                violations.extend(error.violations)
                continue
            values[name] = found[field.key] = value
        if self._styled:
            self._read_styled(sent, _as_raw(sent) if raw is None else raw, values, violations)
            found |= {field.key: values[name] for name, field in self._styled if name in values}
        texts_only = values
        if self.takes_files:  # the bytes of a file fit no schema
            texts_only = {name: _without_bytes(value) for name, value in values.items()}
        misfits = self._validate(texts_only, "/body")
        if misfits:
            failed = {violation.path for violation in violations}
            violations.extend(each for each in misfits if not _is_of_failed(each, failed))
        if self._closed and unknown:
            violations.extend(
                Violation(
                    "/body",
                    f"has a field the document does not know: {name[:100]}",
                    "additionalProperties",
                )
                for name in sorted(unknown)[:20]
            )
        if violations:
            raise InvalidRequest(violations)
        return found

    def _read_styled(
        self, sent: Sent, raw: RawTexts, values: dict[str, Any], violations: list[Violation]
    ) -> None:
        for name, field in self._styled:
            given = sent.get(name)
            try:
                value = given.value if isinstance(given, JsonValue) else field.read(raw)  # type: ignore[misc]
            except InvalidRequest as error:
                violations.extend(error.violations)
                continue
            if value is not MISSING:
                values[name] = value


class Field:
    """One form field. Converts the texts sent under its name to its value."""

    def __init__(
        self,
        name: str,
        schema: Any,
        encoding: Mapping[str, Any],
        schemas: Schemas,
        place: str,
        *,
        is_multipart: bool = False,
        is_foreign: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._name = self.key = name
        self.pointer = f"/body/{pointer_step(name)}"
        resolved = schemas.resolve(schema) if isinstance(schema, Mapping) else {}
        self.default = default_of(schema, schemas)
        self.kinds = kinds = kinds_of(schema, schemas)
        self.is_array = "array" in kinds
        item = schemas.resolve(resolved["items"]) if _is_schema(resolved, "items") else resolved
        said = [each.strip() for each in encoding.get("contentType", "").split(",") if each.strip()]
        is_json_text = any(map(is_json, said))
        is_other = is_multipart and not any(is_json(each) or is_text(each) for each in said)
        is_untyped = is_multipart and not schemas.is_3_0 and not kinds_of(item, schemas)
        self.binary = is_binary(item) or (is_other if said else is_untyped)
        self.bare_schema = self._bare_schema(resolved) if self.binary else None
        self._is_text = kinds <= {"string", "null"} and not is_json_text and not self.binary
        self._json = JsonTexts(schema, schemas, takes_bare_item=not is_json_text)
        self._decode = self._json.decode
        if self.is_array and kinds - {"array", "object", "null"} and not self.binary:
            validate = schemas.compile(schema, place)
            items = item_kinds_of(schema, schemas)
            self._decode = one_or_list(self._decode, items, lambda it: not validate(it, ""))
        self.names = frozenset((name,))
        self.read: Read | None = None
        """Replaces `decode` for a field with a style."""
        self.is_deep = self.takes_others = False
        ignores_style = is_multipart and schemas.is_3_0  # OpenAPI 3.0.4, "Encoding Object"
        if not ignores_style and any(key in encoding for key in _STYLED):
            shape = shape_of(schema, schemas)
            self._compile_style(encoding, shape, place, is_multipart, is_foreign)
        self.content_types = tuple(said) if self.binary else ()
        """The media types that a file may have, if the document limits them."""
        headers = [
            {**schemas.resolve(node), "name": header, "in": "header"}
            for header, node in encoding.get("headers", {}).items()
            if is_multipart and header.lower() != "content-type"
        ]
        self.headers = Parameters("header", headers, schemas, place) if headers else None

    def _compile_style(
        self,
        encoding: Mapping[str, Any],
        shape: Shape,
        place: str,
        is_multipart: bool,
        is_foreign: Callable[[str], bool],
    ) -> None:
        style = style_of(encoding, "query", place)
        check_style(style, shape, place)
        self.names = names_of(self._name, style, shape)
        text: Text = from_reserved if encoding.get("allowReserved") else from_query
        if is_multipart:  # no percent-encoding (OpenAPI 3.2.0, section 4.15)
            text = decode_text
        self.is_deep = style.name == "deepObject"
        self.takes_others = style.repeats and shape.takes_others
        self.read = compile_read(self._name, style, shape, text, "body", is_foreign)

    def _bare_schema(self, schema: Mapping[str, Any]) -> Any:
        """Return the part of the schema that does not apply to the bytes themselves."""
        return {**schema, "items": {}} if self.is_array else {}

    def check_part(self, head: Head) -> None:
        """Raise `InvalidRequest` if the media type or the headers of a part do not fit."""
        violations: list[Violation] = []
        sent = head.media_type
        is_named = bool(self.content_types and sent) and sent != _UNTYPED
        if is_named and find_key(sent, self.content_types) is None:
            message = f"must be of media type {', '.join(self.content_types)}"
            violations.append(Violation(self.pointer, message, "contentType"))
        if self.headers is not None:
            names = {p.name: p.raw_name for p in self.headers.declared}
            raw = {n: [head.headers[key]] for n, key in names.items() if key in head.headers}
            texts = {name: [value.decode("latin-1")] for name, (value,) in raw.items()}
            try:
                self.headers.arguments(texts, raw)
            except InvalidRequest as error:
                violations += [
                    replace(each, path=self.pointer + each.path.removeprefix("/header"))
                    for each in error.violations
                ]
        if violations:
            raise InvalidRequest(violations)

    def decode(self, texts: list[Any]) -> Any:
        if self._is_text:
            return texts[-1]
        if self.binary:
            return texts if self.is_array else texts[-1]
        return self._decode(texts, self.pointer)


def is_binary(schema: Any) -> bool:
    """Return whether a schema is binary: by `format: binary`, or since OpenAPI 3.1 by a
    `contentMediaType` that is neither text nor JSON, without a `contentEncoding`.
    """
    if not isinstance(schema, Mapping):
        return False
    if schema.get("format") == "binary":
        return True
    media_type = schema.get("contentMediaType")
    if media_type is None or "contentEncoding" in schema:
        return False
    return not (is_json(media_type) or is_text(media_type))


def _is_schema(schema: Mapping[str, Any], key: str) -> bool:
    return isinstance(schema.get(key), Mapping)


def _as_raw(sent: Sent) -> dict[str, Sequence[bytes]]:
    """Return the texts in the fields of a multipart form as bytes."""
    return {
        name: [text.encode("utf-8") for text in texts if isinstance(text, str)]
        for name, texts in sent.items()
        if not isinstance(texts, JsonValue)
    }


def _all_fresh(defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {key: fresh(value) for key, value in defaults.items()}


def _without_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_bytes(item) for item in value]
    return "" if isinstance(value, (bytes, File)) else value


def _is_of_failed(violation: Violation, failed: set[str]) -> bool:
    """Return whether a form lacks a field only because its sent value cannot be read."""
    if (violation.path, violation.rule) != ("/body", "required"):
        return False
    return f"/body/{pointer_step(str(violation.facts.get('property')))}" in failed


def _is_file(sent: list[Any] | JsonValue) -> bool:
    """Return whether a file was sent instead of a text, such as a text from the query."""
    return not isinstance(sent, JsonValue) and isinstance(sent[-1], (bytes, File))
