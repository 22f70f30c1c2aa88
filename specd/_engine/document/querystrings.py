"""The whole query as one value: `in: querystring` (OpenAPI 3.2.0, section 4.12.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specd._engine.document.forms import Form
from specd._engine.document.kinds import default_of, fresh, kinds_of
from specd._engine.document.media import URLENCODED, essence, family_of
from specd._engine.document.parameters import ArgumentNames, Parameter
from specd._engine.document.schemas import Schemas
from specd._engine.document.styles import from_reserved, scalar
from specd._engine.errors import DocumentError, InvalidRequest, Violation
from specd._engine.http.guard import load_json

_POINTER = "/query"


class Querystring:
    """The single parameter of an operation whose value is the whole query."""

    def __init__(
        self, node: Mapping[str, Any], schemas: Schemas, place: str, names: ArgumentNames
    ) -> None:
        """Raise `DocumentError` for an unsupported media type."""
        name = node["name"]
        place = f"{place} querystring parameter {name}"
        ((media_type, media),) = node["content"].items()
        media = schemas.resolve(media)
        schema = media.get("schema", {})
        self._family = family_of(essence(media_type))
        if self._family not in ("json", "text", URLENCODED):
            raise DocumentError(f"{place}: content {media_type} is not served in a query")
        self._form = Form(URLENCODED, media, schemas, place)
        self._validate = schemas.compile(schema, place)
        self._kinds = kinds_of(schema, schemas)
        self.parameter = Parameter(
            name=name,
            where="querystring",
            argument=names.take(name, "query"),
            required=node.get("required", False),
            default=default_of(schema, schemas),
            decode=None,
            read=None,
            pointer=_POINTER,
            raw_name=b"",
        )

    def arguments(self, query: bytes) -> dict[str, Any]:
        """Return the handler's argument from a query. Raise `InvalidRequest`."""
        parameter = self.parameter
        if not query:
            if parameter.required:
                raise InvalidRequest((Violation(_POINTER, "is required", "required"),))
            return {parameter.argument: fresh(parameter.default)} if parameter.has_default else {}
        if self._family == URLENCODED:
            return {parameter.argument: self._fields(query)}
        text = from_reserved(query, _POINTER)
        if self._family == "json":
            value = load_json(text.encode("utf-8"), _POINTER)
        else:
            value = scalar(text, self._kinds)
        violations = self._validate(value, _POINTER)
        if violations:
            raise InvalidRequest(violations)
        return {parameter.argument: value}

    def _fields(self, query: bytes) -> dict[str, Any]:
        try:
            return self._form.decode_whole(*self._form.read(query, URLENCODED))
        except InvalidRequest as error:
            raise InvalidRequest(
                [
                    replace(each, path=_POINTER + each.path.removeprefix("/body"))
                    for each in error.violations
                ]
            ) from None
