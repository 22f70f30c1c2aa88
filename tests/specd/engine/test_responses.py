"""Undocumented responses are reported, and encoding."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import orjson
import pytest

from specd import Context, Response, encode
from specd._engine.document.responses import Responses, holds_list, may_hold_fractions
from specd._engine.document.schemas import Schemas
from specd._engine.errors import NonConformingResponse
from specd._engine.response import as_response
from tests.specd.engine.services import operation, serve

JSON = "application/json"
DOCUMENT: dict[str, Any] = {
    "components": {
        "headers": {"Must": {"required": True, "schema": {"type": "string"}}},
        "responses": {"Gone": {"description": "Gone."}},
    }
}
DECLARED: dict[str, Any] = {
    "200": {
        "description": "Fine.",
        "headers": {
            "X-Must": {"$ref": "#/components/headers/Must"},
            "X-May": {"schema": {"type": "string"}},
        },
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["a"],
                    "properties": {"a": {"type": "integer"}},
                }
            }
        },
    },
    "204": {"$ref": "#/components/responses/Gone"},
    "4XX": {"description": "Yours.", "content": {JSON: {"schema": {"type": "array"}}}},
}
SENT = {"x-must": "1"}


@dataclass
class Priced:
    price: float


TREE = {"$ref": "#/components/schemas/Tree"}


def responses(declared: dict[str, Any]) -> Responses:
    return Responses(declared, Schemas(DOCUMENT, drop="writeOnly"), "read_a (GET /a)")


@pytest.mark.parametrize(
    ("response", "sent"),
    [
        (Response(200, b'{"a":1}'), SENT),
        (Response(200, b'{"a":123456789012345678901234567890}'), SENT),
        (Response(204, b""), {}),
        (Response(404, b"[]"), {}),
    ],
)
def test_accepts_documented_responses(response: Response, sent: dict[str, str]) -> None:
    responses(DECLARED).check(response, sent)


@pytest.mark.parametrize(
    ("response", "sent", "words"),
    [
        (Response(201, b'{"a":1}'), SENT, "status 201 is undocumented"),
        (Response(500, b"[]"), SENT, "status 500 is undocumented"),
        (Response(200, b'{"a":1}'), {}, "lacks the header x-must"),
        (Response(200, b'{"a":"1"}'), SENT, "200/body/a must be of type integer"),
        (Response(200, b"{}"), SENT, "lacks the required property a"),
        (Response(200, b'{"a":1}', media_type="text/plain"), SENT, "media type text/plain"),
        (Response(204, b"{}"), SENT, "must have no body"),
        (Response(404, b"{}"), SENT, "4XX/body must be of type array"),
    ],
)
def test_rejects_undocumented_responses(
    response: Response, sent: dict[str, str], words: str
) -> None:
    with pytest.raises(NonConformingResponse, match=words) as refused:
        responses(DECLARED).check(response, sent)
    assert "read_a (GET /a)" in str(refused.value.detail)


def test_default_applies_to_other_statuses() -> None:
    declared = {"default": {"description": "Any.", "content": {JSON: {"schema": {}}}}}
    responses(declared).check(Response(418, b"1"), {})


def answering(reply: Any, *, validate: bool = True) -> Any:
    described = {**operation("read_a"), "responses": DECLARED}
    return serve(
        {"/a": {"get": described}},
        {"read_a": lambda ctx: reply},
        components=DOCUMENT["components"],
        validate_responses=validate,
    ).get("/a")


class TestInService:
    @pytest.mark.parametrize(
        "reply",
        [
            {},
            ({"a": "x"}, 200, {"X-Must": "1"}),
            ({"a": 1}, 201),
            {"a": 1},
            ([], 500),
            ({"a": 1}, 204),
            "text",
            None,
        ],
    )
    def test_undocumented_response_is_a_bug(self, reply: Any, logs: Any) -> None:
        answer = answering(reply)
        assert answer.status == 500
        assert answer.json["code"] == "Bug"
        (line,) = [line for line in logs() if line["event"] == "request failed"]
        assert "NonConforming" in line["exception"]
        assert line["id"] == answer.header("Request-Id")

    def test_without_the_check_the_response_is_sent(self) -> None:
        assert answering({"a": "x"}, validate=False).json == {"a": "x"}

    @pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\0b", "caf\u20ac"])
    def test_invalid_header_is_a_bug(self, value: str) -> None:
        answer = answering(({"a": 1}, 200, {"X-Must": value}))
        assert (answer.status, answer.json["code"]) == (500, "Bug")

    def test_headers_of_the_reply_are_sent(self) -> None:
        answer = answering(({"a": 1}, 200, {"X-Must": "caf\xe9"}))
        assert (answer.status, answer.header("X-Must")) == (200, "caf\xe9")

    def test_response_without_a_body_has_no_content_headers(self) -> None:
        answer = answering((None, 204))
        assert (answer.status, answer.body) == (204, b"")
        assert answer.header("Content-Type") is None
        assert answer.header("Content-Length") is None


class TestReplies:
    @pytest.mark.parametrize(
        ("reply", "status", "body", "headers"),
        [
            ({"a": 1}, 200, b'{"a":1}', ()),
            (({"a": 1}, 201), 201, b'{"a":1}', ()),
            (({"a": 1}, 201, {"X": "y"}), 201, b'{"a":1}', (("X", "y"),)),
            (([], 200), 200, b"[]", ()),
            ((b"raw", 200), 200, b"raw", ()),
            ((None, 204), 204, b"", ()),
        ],
    )
    def test_reply_is_converted(self, reply: Any, status: int, body: bytes, headers: Any) -> None:
        response = as_response(reply)
        assert (response.status, response.body, response.headers) == (status, body, headers)

    def test_response_is_not_changed(self) -> None:
        response = Response(200, b"x")
        assert as_response(response) is response

    @pytest.mark.parametrize(
        ("value", "raw"),
        [
            ({"a": "\u00e9\U0001f600"}, '{"a":"é\U0001f600"}'.encode()),
            ({"a": 2**256 - 1}, b'{"a":%d}' % (2**256 - 1)),
            ([-(2**63), 2**64 - 1, 2**64], b"[%d,%d,%d]" % (-(2**63), 2**64 - 1, 2**64)),
            (['\u2028\n"', 2**70], '["\u2028\\n\\"",%d]'.encode() % 2**70),
        ],
    )
    def test_encodes(self, value: Any, raw: bytes) -> None:
        assert encode(value) == raw

    @pytest.mark.parametrize(
        ("value", "raw"),
        [
            (Decimal("1.50"), b"1.5"),
            (Decimal("2.00"), b"2"),
            (Decimal("1E+20"), b"100000000000000000000"),
            ({"a": [Decimal(-1), 2**70]}, b'{"a":[-1,%d]}' % 2**70),
            (datetime(2026, 1, 15, 9, 30), b'"2026-01-15T09:30:00+00:00"'),
            (datetime(2026, 1, 15, 9, 30, tzinfo=UTC), b'"2026-01-15T09:30:00+00:00"'),
            ({"a": None, "b": [1.5, 1e308]}, b'{"a":null,"b":[1.5,1e+308]}'),
            ({"a": None, "at": date(2026, 1, 15)}, b'{"a":null,"at":"2026-01-15"}'),
            # The bytes of a marshaled infinity.
            ({"a": None, "b": "g\0\0\0\0\0\0\xf0\x7f"}, None),
        ],
    )
    def test_python_values_become_json(self, value: Any, raw: bytes | None) -> None:
        assert encode(value) == (orjson.dumps(value) if raw is None else raw)

    @pytest.mark.parametrize("number", ["nan", "-nan", "inf", "-inf"])
    @pytest.mark.parametrize(
        ("make", "place"),
        [
            (lambda number: number, "the whole value"),
            (lambda number: {"items": [{}, {"price": number}]}, "/items/1/price"),
            (lambda number: {"at": datetime.now(UTC), "more": (1, number)}, "/more/1"),
            (lambda number: {"a": 2**70, "b": number}, "/b"),
            (lambda number: [Decimal(1), Priced(number)], "/1/price"),
        ],
    )
    def test_non_finite_numbers_are_rejected(
        self, make: Callable[[float], Any], place: str, number: str
    ) -> None:
        words = f"JSON has no number {float(number)} ({place})"
        with pytest.raises(ValueError, match=re.escape(words)):
            encode(make(float(number)))

    def test_numbers_known_to_be_finite_are_not_checked(self) -> None:
        assert encode([float("nan")], is_finite=True) == b"[null]"

    def test_non_finite_response_is_a_bug(self, logs: Callable[[], list[Any]]) -> None:
        def read(ctx: Context) -> Any:
            return {"price": float("nan")}

        client = serve({"/a": {"get": operation("read")}}, {"read": read})
        assert client.get("/a").status == 500
        (fault,) = (line for line in logs() if line["event"] == "request failed")
        assert "JSON has no number nan (/price)" in fault["exception"]

    def test_decimal_in_a_response_is_a_number(self) -> None:
        def read(ctx: Context) -> Any:
            return {"price": Decimal("1.10"), "count": Decimal(2)}

        client = serve({"/a": {"get": operation("read")}}, {"read": read})
        assert client.get("/a").body == b'{"price":1.1,"count":2}'

    @pytest.mark.parametrize("text", ["NaN", "Infinity", "1E+301", "1E+1000000"])
    def test_decimal_that_is_not_a_json_number_is_rejected(self, text: str) -> None:
        with pytest.raises(TypeError):
            encode({"a": Decimal(text)})

    def test_rejects_values_that_are_not_json(self) -> None:
        with pytest.raises(TypeError):
            encode({"a": object()})
        with pytest.raises((TypeError, ValueError)):
            encode(["\ud800"])


@pytest.mark.parametrize(
    ("schema", "is_found"),
    [
        ({"properties": {"a": {"type": "array"}, "b": True}}, True),
        (
            {"properties": {"a": {"$ref": "#/components/schemas/Tree"}, "b": {"type": "array"}}},
            True,
        ),
        ({"allOf": [TREE]}, False),
        ({"type": "array", "maxItems": 2}, False),
        ({"items": False}, False),
    ],
)
def test_list_without_a_limit_is_found(schema: dict[str, Any], is_found: bool) -> None:
    tree = {"properties": {"next": TREE, "no": False}}
    schemas = Schemas({"components": {"schemas": {"Tree": tree}}}, drop="writeOnly")
    assert holds_list(schemas, schema) is is_found


@pytest.mark.parametrize(
    ("schema", "is_found"),
    [
        ({"type": "object", "properties": {"a": {"type": "number"}}}, True),
        ({"type": ["null", "number"]}, True),
        ({}, True),
        (True, True),
        ({"description": "Anything."}, True),
        ({"type": "object"}, True),
        ({"type": "array"}, True),
        ({"type": "object", "additionalProperties": {"type": "number"}}, True),
        ({"type": "object", "additionalProperties": {}}, True),
        ({"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "number"}]}}, True),
        (TREE, True),
        ({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}, False),
        ({"type": "array", "items": {"type": "integer"}}, False),
        ({"enum": ["a", 1]}, False),
        ({"properties": {"a": {"const": 1}}, "additionalProperties": False}, False),
    ],
)
def test_fraction_is_found(schema: Any, is_found: bool) -> None:
    tree = {"properties": {"next": TREE, "weight": {"type": "number"}}}
    schemas = Schemas({"components": {"schemas": {"Tree": tree}}}, drop="writeOnly")
    assert may_hold_fractions(schemas, schema) is is_found


def test_responses_without_fractions_are_not_searched() -> None:
    def read(ctx: Context) -> Any:
        return {"count": float("nan"), "name": None}

    def answers(kind: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"count": {"type": kind}}}
        return {"200": {"description": "Some.", "content": {JSON: {"schema": schema}}}}

    for kind, status in (("integer", 200), ("number", 500)):
        described = operation("read", responses=answers(kind))
        client = serve({"/a": {"get": described}}, {"read": read}, validate_responses=False)
        assert client.get("/a").status == status
