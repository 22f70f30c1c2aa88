"""The documents compared with the last released ones, and tests of the comparison."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import yaml

import specs
from tests.contract.released.documents import allows_breaks, breaking_changes
from tests.contract.released.release import RELEASED, released, written_down

DOCUMENT = yaml.safe_load(
    """
openapi: 3.0.3
info: {title: Shop, version: 0.3.1}
servers: [{url: /}]
security: [{key: []}]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer, maximum: 99}}]
    get:
      operationId: get_order
      tags: [orders]
      parameters:
        - {name: fields, in: query, schema: {type: array, maxItems: 9, items: {type: string}}}
        - {name: lang, in: query, schema: {type: string, enum: [en, de], default: en}}
      responses:
        "200":
          description: The order.
          headers: {ETag: {required: true, schema: {type: string}}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}
        "404": {description: No such order.}
    post:
      operationId: change_order
      tags: [orders]
      requestBody:
        content:
          application/json: {schema: {$ref: "#/components/schemas/Change"}}
          text/csv: {schema: {type: string}}
      responses: {"204": {description: Done.}}
components:
  securitySchemes: {key: {type: http, scheme: bearer}}
  schemas:
    Change:
      type: object
      additionalProperties: false
      required: [amount]
      properties:
        amount: {type: number, minimum: 1, maximum: 10, nullable: true}
        note: {type: string, minLength: 1, maxLength: 10}
        kind: {oneOf: [{type: string}, {type: integer}]}
        parent: {$ref: "#/components/schemas/Change"}
    Order:
      type: object
      additionalProperties: false
      required: [id, state]
      properties:
        id: {type: integer, minimum: 1, maximum: 99}
        state: {type: string, enum: [open, closed]}
        mood: {type: string, enum: [good], x-may-grow: true}
        lines: {type: array, maxItems: 5, items: {type: string, pattern: "^a"}}
        text: {type: string, pattern: '^[^\\u0000]*$'}
        key: {type: string, format: uuid, pattern: "^[0-9a-f-]*$"}
    Unused: {type: string}
"""
)

PATH = DOCUMENT["paths"]["/orders/{id}"]


def at(*steps: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that finds the place of a change in a document."""

    def find(document: dict[str, Any]) -> dict[str, Any]:
        for step in steps:
            document = document[step]
        return document

    return find


get = partial(at, "paths", "/orders/{id}", "get")
post = partial(at, "paths", "/orders/{id}", "post")
sent = partial(at, "components", "schemas", "Change", "properties")
answered = partial(at, "components", "schemas", "Order", "properties")
GET, POST, SENT, ANSWERED = get(), post(), sent(), answered()
CHANGE = at("components", "schemas", "Change")
ORDER = at("components", "schemas", "Order")


def one_of(*values: str) -> dict[str, Any]:
    """Return a property that describes the meaning of its enumeration."""
    return {"description": "x", "allOf": [{"type": "string", "enum": list(values)}]}


# Place, new value (None: removed), expected message (empty: compatible).
CHANGES_MADE: list[tuple[Any, dict[str, Any], str]] = [
    (at("paths"), {"/orders/{id}": None}, "GET /orders/{id}: is gone"),
    (at("paths", "/orders/{id}"), {"post": None}, "POST /orders/{id}: is gone"),
    (at("paths", "/orders/{id}"), {"put": PATH["post"]}, ""),
    (at(), {"servers": [{"url": "/v2"}]}, "servers: are others"),
    (at("components", "schemas"), {"Unused": None}, "schemas Unused: is gone"),
    (at("components", "schemas"), {"More": {"type": "string"}}, ""),
    (GET, {"operationId": "read_order"}, "operationId was get_order and is read_order"),
    (GET, {"tags": ["shop"]}, "tags was ['orders'] and is ['shop']"),
    (GET, {"summary": "Read"}, ""),
    (GET, {"security": [{"key": [], "other": []}]}, "key no longer suffices"),
    (GET, {"security": [{"other": []}, {"key": []}]}, ""),
    (GET, {"security": []}, ""),
    (GET, {"parameters": PATH["get"]["parameters"][:1]}, "lang: is gone"),
    (get("parameters", 0), {"required": True}, "fields: is required"),
    (get("parameters", 0), {"explode": False}, "written another way"),
    (get("parameters", 0, "schema"), {"maxItems": 8}, "maxItems was 9"),
    (get("parameters", 0, "schema"), {"maxItems": None}, ""),
    (get("parameters", 0, "schema", "items"), {"maxLength": 3}, "[]"),
    (get("parameters", 1, "schema"), {"enum": ["en"]}, "no more de"),
    (get("parameters", 1, "schema"), {"enum": ["en", "de", "fr"]}, ""),
    (get("parameters", 1, "schema"), {"default": "de"}, "default was"),
    (at("paths", "/orders/{id}", "parameters", 0, "schema"), {"maximum": 98}, "id: maximum was 99"),
    (GET, {"parameters": [*PATH["get"]["parameters"], {"name": "n", "in": "query"}]}, ""),
    (get("responses"), {"404": None}, "404: is gone"),
    (get("responses"), {"410": {"description": "Gone."}}, ""),
    (get("responses", "200"), {"headers": None}, "ETag: is gone"),
    (get("responses", "200", "headers", "ETag"), {"required": None},
     "ETag: is no longer always present"),
    (get("responses", "200"), {"content": None}, "no longer application/json"),
    (POST, {"requestBody": None}, "body: is gone"),
    (post("requestBody"), {"required": True}, "body: is required"),
    (post("requestBody", "content"), {"text/csv": None}, "no longer text/csv"),
    (CHANGE, {"required": ["amount", "note"]}, "Change.note: is required"),
    (CHANGE, {"required": []}, ""),
    (CHANGE, {"additionalProperties": True}, ""),
    (SENT, {"note": None}, "Change.note: is gone"),
    (SENT, {"hint": {"type": "string"}}, ""),
    (sent("amount"), {"type": "integer"}, "type was"),
    (sent("amount"), {"nullable": None}, "null"),
    (sent("amount"), {"minimum": 2}, "minimum was 1"),
    (sent("amount"), {"minimum": 0}, ""),
    (sent("amount"), {"multipleOf": 2}, "multipleOf"),
    (sent("note"), {"maxLength": 9}, "maxLength was 10"),
    (sent("note"), {"maxLength": 11}, ""),
    (sent("note"), {"pattern": "a"}, "pattern was None"),
    (sent("note"), {"enum": ["a"]}, "anything else"),
    (SENT, {"kind": {"oneOf": [{"type": "integer"}]}}, "oneOf branch 0 is refused"),
    (SENT, {"kind": {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "array"}]}}, ""),
    (SENT, {"parent": {"$ref": "#/components/schemas/Order"}}, "was a Change and is a Order"),
    (ORDER, {"required": ["id"]}, "Order.state: is no longer always present"),
    (ORDER, {"required": ["id", "state", "mood"]}, ""),
    (ORDER, {"additionalProperties": None}, ""),
    (ANSWERED, {"lines": None}, "Order.lines: is gone"),
    (ANSWERED, {"more": {"type": "string"}}, ""),
    (CHANGE, {"required": ["amount", "more"]}, "Change.more: is required"),
    (answered("id"), {"type": "number"}, "type was integer"),
    (answered("id"), {"maximum": 100}, "maximum was 99"),
    (answered("id"), {"maximum": 98}, ""),
    (answered("id"), {"nullable": True}, "may be null"),
    (answered("state"), {"enum": ["open"]}, ""),
    (answered("state"), {"enum": ["open", "closed", "x"]},
     "may now be x"),
    (answered("mood"), {"enum": ["good", "bad"]}, ""),
    (ANSWERED, {"state": one_of("open", "closed")}, ""),
    (ANSWERED, {"state": one_of("open", "x")}, "may now be x"),
    (SENT, {"note": {**one_of("a"), "maxLength": 10}}, "no more anything else"),
    (SENT, {"note": {"allOf": [{"type": "string", "maxLength": 10}], "minLength": 1}}, ""),
    (SENT, {"note": {"allOf": [{"type": "string", "maxLength": 9}], "minLength": 1}},
     "maxLength was 10"),
    (SENT, {"note": {"allOf": [{"type": "string", "maxLength": 9}], "maxLength": 10}},
     "allOf was there or is there, not both"),
    (answered("lines", "items"), {"pattern": "^b"},
     "pattern was ^a"),
    (answered("lines"), {"maxItems": None}, "maxItems was 5"),
    (answered("text"), {"pattern": r"^[^\x00]*$"}, ""),
    (answered("text"), {"pattern": r"^[^\x01]*$"}, "pattern was"),
    (answered("key"), {"pattern": None}, ""),
    (answered("key"), {"format": None}, "format was uuid"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "change", "message"), CHANGES_MADE, ids=range(len(CHANGES_MADE)))
def test_breaking_changes_are_distinguished_from_compatible_ones(
    place: Callable[[dict[str, Any]], dict[str, Any]], change: dict[str, Any], message: str
) -> None:
    new = copy.deepcopy(DOCUMENT)
    node = place(new)
    for name, value in change.items():
        if value is None:
            del node[name]
        else:
            node[name] = value
    found = breaking_changes(DOCUMENT, new)
    if message:
        assert any(message in line for line in found), found
    else:
        assert found == []


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        ("0.2.1", "0.2.2", False),
        ("0.2.1", "0.3.0", True),
        ("0.9.0", "1.0.0", True),
        ("1.2.0", "1.3.0", False),
        ("1.2.0", "2.0.0", True),
        ("2.0.0", "1.9.0", False),
        ("0.10.0", "0.9.0", False),
    ],
)
def test_version_permits_breaking_changes(old: str, new: str, allowed: bool) -> None:
    assert allows_breaks(old, new) is allowed


@pytest.mark.parametrize("name", RELEASED)
class TestDocuments:
    def test_breaking_changes_need_a_new_version(self, name: str) -> None:
        new = specs.load(name)
        old = released(name) if RELEASED[name].exists() else new
        versions = old["info"]["version"], new["info"]["version"]
        found = [] if allows_breaks(*versions) else breaking_changes(old, new)
        assert not found, f"raise info.version, or keep it: {found}"

    def test_document_has_no_changes_compared_with_itself(self, name: str) -> None:
        document = specs.load(name)
        assert breaking_changes(document, copy.deepcopy(document)) == []

    def test_changes_are_described(self, name: str) -> None:
        versions = written_down(name)
        assert versions[0] == specs.load(name)["info"]["version"]
        if RELEASED[name].exists():
            assert released(name)["info"]["version"] in versions
