"""A JSON parameter accepts only its documented type, in each operation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import specs
from specd._engine.document.forms import Form
from specd._engine.document.kinds import item_kinds_of, kinds_of
from specd._engine.document.parameters import Parameters
from specd._engine.document.schemas import Schemas
from specd._engine.openapi.structure import CONTENT_SCHEMA
from specd.errors import InvalidRequest

DOCUMENT = specs.load("chat")
SCHEMAS = Schemas(DOCUMENT, drop="readOnly")
JSON = "application/json"
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
SAMPLES: dict[str, Any] = {
    "boolean": True,
    "integer": 7,
    "number": 7.5,
    "string": "zq",
    "array": [],
    "object": {},
}


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield f"{method.upper()} {path}", operation


def wrong_texts(schema: dict[str, Any]) -> Iterator[str]:
    """Yield JSON of every type that the schema does not accept, or nothing if any text is a
    string. One key may be the only item of an array.
    """
    kinds = kinds_of(schema, SCHEMAS)
    if "array" in kinds:
        kinds |= item_kinds_of(schema, SCHEMAS)
    if not kinds or "string" in kinds:
        return
    for kind, sample in SAMPLES.items():
        if kind not in kinds and not (kind == "integer" and "number" in kinds):
            yield json.dumps(sample)


def taken_by_forms() -> Iterator[str]:
    for place, operation in operations():
        for media_type, media in operation.get("requestBody", {}).get("content", {}).items():
            if media_type not in FORM_TYPES:
                continue
            form = Form(media_type, media, SCHEMAS, place)
            for name, encoding in media.get("encoding", {}).items():
                schema = SCHEMAS.resolve(SCHEMAS.resolve(media["schema"])["properties"][name])
                if encoding.get("contentType") != JSON or name not in form.fields:
                    continue
                for text in wrong_texts(schema):
                    if not refuses(form, name, text):
                        yield f"{place} ({media_type}): {name}={text}"


def refuses(form: Form, name: str, text: str) -> bool:
    try:
        form.decode({name: [text]}, {})
    except InvalidRequest as error:
        return any(each.path.startswith(f"/body/{name}") for each in error.violations)
    return False


def taken_in_queries() -> Iterator[str]:
    for place, operation in operations():
        declared = [SCHEMAS.resolve(each) for each in operation.get("parameters", ())]
        for parameter in declared:
            if parameter["in"] != "query" or CONTENT_SCHEMA not in parameter["schema"]:
                continue
            query = Parameters("query", [parameter], SCHEMAS, place)
            for text in wrong_texts(parameter["schema"][CONTENT_SCHEMA]):
                try:
                    query.arguments({parameter["name"]: [text]})
                except InvalidRequest:
                    continue
                yield f"{place}: {parameter['name']}={text}"


@pytest.mark.parametrize("taken", [taken_by_forms, taken_in_queries])
def test_json_of_another_type_is_rejected(taken: Any) -> None:
    assert list(taken()) == []


def test_cases_exist() -> None:
    forms = [
        name
        for _, operation in operations()
        for media in operation.get("requestBody", {}).get("content", {}).values()
        for name, encoding in media.get("encoding", {}).items()
        if encoding.get("contentType") == JSON
    ]
    assert len(forms) > 300
    queries = [
        parameter["name"]
        for _, operation in operations()
        for parameter in map(SCHEMAS.resolve, operation.get("parameters", ()))
        if CONTENT_SCHEMA in parameter["schema"]
    ]
    assert queries == [
        *("user_ids", "keys", "only_events", "exclude_events"),
        *("narrow", "message_ids", "msg_ids", "narrow"),
    ]
