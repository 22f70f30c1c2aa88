"""Values that are sent as JSON text, in a form or as a parameter with `x-content-schema`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from specd._engine.document.kinds import fits, item_kinds_of, kinds_of
from specd._engine.document.schemas import Schemas
from specd._engine.errors import InvalidRequest
from specd._engine.http.guard import load_json


class JsonTexts:
    """Converts the texts sent under one name to a value of a schema.

    A text is JSON. The items of an array may also be sent separately under the repeated name. A
    text that is not JSON is itself the value if the schema accepts strings.
    """

    def __init__(
        self, schema: Mapping[str, Any] | bool, schemas: Schemas, *, takes_bare_item: bool = False
    ) -> None:
        """With `takes_bare_item`, a single text that is not JSON becomes an array with
        this text.
        """
        self.kinds = kinds = kinds_of(schema, schemas)
        self.is_array = "array" in kinds
        self._may_be_text = "string" in kinds
        self._single = kinds - {"array", "null"}
        self._item_kinds = item_kinds = item_kinds_of(schema, schemas)
        self._text_items = "string" in item_kinds
        self._object_items = "object" in item_kinds
        self._is_plain = takes_bare_item
        self._takes_bare_item = takes_bare_item and self.is_array and self._text_items

    def decode(self, texts: list[str], pointer: str) -> Any:
        """Return the value, which may still not fit the schema. Raise `InvalidRequest` for a text
        that is not JSON.
        """
        if len(texts) > 1 and self.is_array:
            return [self._item(text, pointer) for text in texts]
        text = texts[-1]
        try:
            value = load_json(text.encode("utf-8"), pointer)
        except InvalidRequest:
            if _is_json_string(text):  # a string that no service accepts, such as one with NUL
                raise
            if self._may_be_text:
                return text
            if self._takes_bare_item:
                return [text]
            if self._is_plain and not self.kinds & {"object"} and not text.startswith(_COMPOSITE):
                return text  # validation reports what it must be
            raise
        if self._may_be_text and value is not None and not fits(value, self.kinds):
            return text
        if value is None:
            return None
        if self.is_array and not self._single and not isinstance(value, list):
            if isinstance(value, dict) and not self._object_items:
                return value  # meant as an object; validation reports what is expected
            return [self._item(text, pointer)]
        return value

    def _item(self, text: str, pointer: str) -> Any:
        if self._item_kinds == {"string"}:
            return text
        try:
            value = load_json(text.encode("utf-8"), pointer)
        except InvalidRequest:
            if self._text_items and not _is_json_string(text):
                return text
            if self._is_plain and self._item_kinds and not self._item_kinds & {"object", "array"}:
                return text
            raise
        return value if not self._text_items or fits(value, self._item_kinds) else text


_COMPOSITE = ("[", "{", '"')


def _is_json_string(text: str) -> bool:
    if not text.startswith('"'):
        return False
    try:
        return isinstance(json.loads(text), str)
    except ValueError:
        return False
