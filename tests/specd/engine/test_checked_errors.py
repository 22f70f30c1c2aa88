"""Error responses are checked against the document, like responses of handlers."""

from collections.abc import Callable
from typing import Any

import pytest

from specd import Context, Refusal, Response, encode
from specd.errors import DatabaseUnavailable, NotFound, RateLimited
from tests.specd.engine.client import Answer
from tests.specd.engine.services import operation, serve

JSON = "application/json"
ERROR = {
    "description": "Wrong.",
    "content": {JSON: {"schema": {"type": "object", "required": ["code"]}}},
}
FINE = {"200": {"description": "Fine.", "content": {JSON: {"schema": {}}}}}
WITH_HEADER = {**ERROR, "headers": {"X-Must": {"required": True, "schema": {"type": "string"}}}}
Logs = Callable[[], list[dict[str, Any]]]


class Teapot(Refusal):
    """There is no coffee."""

    status, code, sentence = 418, "teapot", "This is a teapot."


class Busy(Refusal):
    """A part of the service is busy."""

    status, code, sentence = 503, "busy", "Try again."


class Maintenance(Refusal):
    """The service is under maintenance."""

    status, code, sentence = 503, "maintenance", "Try again."
    is_of_any_operation = True


class OwnNotFound(NotFound):
    """Something is not there."""


def answering(error: Exception, responses: dict[str, Any], **changes: Any) -> Answer:
    """Return the response of an operation that raises an error and documents some responses."""

    def read(ctx: Context) -> Any:
        raise error

    described = operation("read", responses={**FINE, **responses})
    return serve({"/a": {"get": described}}, {"read": read}, **changes).get("/a")


def reason(logs: Logs) -> str:
    """Return the reason of the only failure in the log."""
    (line,) = (line for line in logs() if line["event"] == "request failed")
    assert line["operation"] == "read"
    return str(line["exception"])


@pytest.mark.parametrize(
    ("error", "responses", "words"),
    [
        (Teapot(), {}, "read (GET /a): status 418 is undocumented"),
        (Teapot(), {"419": ERROR, "5XX": ERROR}, "status 418 is undocumented"),
        (OwnNotFound(), {}, "status 404 is undocumented"),
        (Busy(), {}, "status 503 is undocumented"),
        (Teapot(), {"4XX": {**ERROR, "content": {"text/plain": {}}}}, "the media type application"),
        (
            Teapot(),
            {"default": {**ERROR, "content": {JSON: {"schema": {"required": ["sort"]}}}}},
            "default/body lacks the required property sort",
        ),
        (Teapot(), {"418": WITH_HEADER}, "418 lacks the header x-must"),
        (
            ValueError("a bug"),
            {"500": {**ERROR, "content": {JSON: {"schema": {"required": ["sort"]}}}}},
            "500/body lacks the required property sort",
        ),
    ],
)
def test_undocumented_error_is_a_bug(
    error: Exception, responses: dict[str, Any], words: str, logs: Logs
) -> None:
    answer = answering(error, responses)
    assert (answer.status, answer.json["code"]) == (500, "Bug")
    logged = reason(logs)
    assert words in logged
    assert type(error).__name__ in logged  # and its origin
    assert "in read" in logged


@pytest.mark.parametrize("key", ["418", "4XX", "default"])
def test_error_has_a_body_if_its_entry_has_no_content(key: str) -> None:
    answer = answering(Teapot(), {key: {"description": "No coffee."}})
    assert (answer.status, answer.json["code"]) == (418, "Teapot")


def test_headers_of_an_entry_without_content_are_checked(logs: Logs) -> None:
    needs = {"description": "No coffee.", "headers": WITH_HEADER["headers"]}
    assert answering(Teapot(), {"418": needs}).status == 500
    assert "418 lacks the header x-must" in reason(logs)


@pytest.mark.parametrize("key", ["418", "4XX", "default"])
def test_documented_error_is_sent(key: str) -> None:
    answer = answering(Teapot(), {key: ERROR})
    assert (answer.status, answer.json["code"]) == (418, "Teapot")


def test_undocumented_error_is_sent_without_the_check() -> None:
    assert answering(Teapot(), {}, validate_responses=False).status == 418


def test_body_that_is_not_json_is_a_bug(logs: Logs) -> None:
    def respond(error: Exception, request_id: str) -> Response:
        return Response(getattr(error, "status", 500), b"")

    assert answering(Teapot(), {"418": ERROR}, respond=respond).status == 500
    assert "418/body is not JSON" in reason(logs)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RateLimited(limit=1, retry_after_s=1), 429),
        (DatabaseUnavailable(), 503),
        (Maintenance(), 503),
        (NotImplementedError(), 500),
        (ValueError("a bug"), 500),
    ],
)
def test_errors_of_every_operation_need_not_be_documented(error: Exception, status: int) -> None:
    assert answering(error, {}).status == status


def test_operation_with_a_body_need_not_document_415() -> None:
    body = {"content": {JSON: {"schema": {"type": "object"}}}}
    described = operation("make", responses=FINE, requestBody=body)
    client = serve({"/a": {"post": described}}, {"make": lambda ctx, *, body=None: {}})
    assert client.post("/a", body=b"a", content_type="text/plain").status == 415
    assert client.post("/a", body=b"{}", headers=[("Content-Encoding", "gzip")]).status == 415


def test_errors_of_every_operation_are_checked_if_documented(logs: Logs) -> None:
    limited = RateLimited(limit=1, retry_after_s=1)
    assert answering(limited, {"429": WITH_HEADER}).status == 500
    assert "429 lacks the header x-must" in reason(logs)


def test_answers_without_an_operation_are_not_checked() -> None:
    described = operation("read", responses=FINE)
    client = serve({"/a": {"get": described}}, {"read": lambda ctx: {}})
    assert client.get("/b").status == 404
    assert client.post("/a").status == 405


def test_rejected_request_must_be_documented(logs: Logs) -> None:
    parameter = {"name": "n", "in": "query", "schema": {"type": "integer"}}
    for responses, status in ((FINE, 500), ({**FINE, "422": ERROR}, 422)):
        described = operation("read", responses=responses, parameters=[parameter])
        client = serve({"/a": {"get": described}}, {"read": lambda ctx, *, n=0: n})
        assert client.get("/a?n=x").status == status
    assert "status 422 is undocumented" in reason(logs)


def test_rate_limit_headers_are_checked() -> None:
    class Limit:
        def take(self, ctx: Context) -> tuple[tuple[str, str], ...]:
            return (("X-Must", "1"),)

    assert answering(Teapot(), {"418": WITH_HEADER}, rate_limit=Limit()).status == 418


def test_check_does_not_change_the_response() -> None:
    def respond(error: Exception, request_id: str) -> Response:
        return Response(418, encode({"code": request_id}), (("X-Must", "1"),))

    answer = answering(Teapot(), {"418": WITH_HEADER}, respond=respond)
    assert answer.body == encode({"code": answer.header("Request-Id")})
