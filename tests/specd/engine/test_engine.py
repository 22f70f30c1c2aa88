"""From ASGI to an operation and back: every failure has the error format of the service."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from specd._engine.serving.app import build_app
from specd._engine.serving.engine import Engine
from specd._logs import Redact, configure
from tests.specd.engine.client import Answer, Client, call
from tests.specd.engine.services import (
    ADA,
    KEY,
    operation,
    respond,
    serve,
    shop,
    shop_service,
)

ITEM = {"name": "a", "price": "1"}
Logs = Callable[[], list[dict[str, Any]]]


def envelope(answer: Answer, status: int, code: str) -> None:
    """Check that the response is from the error table, with the same id in header and body."""
    assert answer.status == status, answer.body
    assert answer.header("Content-Type") == "application/json"
    assert answer.header("Content-Length") == str(len(answer.body))
    assert answer.json["code"] == code
    assert answer.json["request_id"] == answer.header("Request-Id")


def test_each_request_has_a_different_id(shop: Client) -> None:
    ids = [shop.get("/nope").json["request_id"] for _ in range(600)]
    assert len(set(ids)) == 600
    assert {(len(it), it[:16]) for it in ids} == {(24, ids[0][:16])}
    assert all(re.fullmatch("[0-9a-f]{24}", it) for it in ids)


class TestUnknown:
    @pytest.mark.parametrize(
        "target", ["/nope", "/", "/items/", "/items//", "//items", "/ITEMS", "/items/5/x", "/%69"]
    )
    def test_undocumented_path_is_404(self, shop: Client, target: str) -> None:
        envelope(shop.get(target), 404, "NotFound")

    @pytest.mark.parametrize(
        "target", ["/%", "/items/%zz", "/items/%00", "/items/%FF", "/a%ED%A0%80"]
    )
    def test_path_that_is_not_text_is_rejected(self, shop: Client, target: str) -> None:
        envelope(shop.get(target), 422, "InvalidRequest")

    @pytest.mark.parametrize(
        ("target", "allow"),
        [
            ("/items", "GET, HEAD, OPTIONS, POST"),
            ("/items/5", "DELETE, GET, HEAD, OPTIONS"),
            ("/items/bob", "GET, HEAD, OPTIONS"),
            ("/notes", "OPTIONS, POST"),
        ],
    )
    @pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "get", "NONSENSE"])
    def test_undocumented_method_is_405(
        self, shop: Client, method: str, target: str, allow: str
    ) -> None:
        answer = shop.send(method, target)
        envelope(answer, 405, "MethodNotAllowed")
        assert answer.header("Allow") == allow

    def test_method_is_checked_before_credentials(self, shop: Client) -> None:
        envelope(shop.send("PUT", "/items/5"), 405, "MethodNotAllowed")

    def test_head_is_rejected_without_get(self, shop: Client) -> None:
        answer = shop.send("HEAD", "/notes")
        assert (answer.status, answer.header("Allow"), answer.body) == (405, "OPTIONS, POST", b"")

    def test_paths_outside_the_base_path_go_to_the_pages(self, shop: Client) -> None:
        assert Client(shop.app).get("/shopping").body == b"Not Found\n"


class TestHeadAndOptions:
    def test_head_is_get_without_a_body(self, shop: Client) -> None:
        get, head = shop.get("/items?limit=5"), shop.send("HEAD", "/items?limit=5")
        assert (head.status, head.body) == (200, b"")
        assert head.header("Content-Length") == str(len(get.body))
        assert head.header("Content-Type") == get.header("Content-Type")

    def test_head_fails_like_get(self, shop: Client) -> None:
        answer = shop.send("HEAD", "/items?limit=x")
        assert (answer.status, answer.body) == (422, b"")
        assert int(answer.header("Content-Length") or 0) > 0

    def test_options_lists_the_methods(self, shop: Client) -> None:
        answer = shop.send("OPTIONS", "/items")
        assert (answer.status, answer.body) == (204, b"")
        assert answer.header("Allow") == "GET, HEAD, OPTIONS, POST"
        assert answer.header("Request-Id")
        assert answer.header("Content-Length") is None

    def test_options_of_an_unknown_path_is_404(self, shop: Client) -> None:
        envelope(shop.send("OPTIONS", "/nope"), 404, "NotFound")


class TestSizes:
    def test_body_over_the_limit_is_rejected_by_its_length(self) -> None:
        client = shop(body_limit=100)
        answer = client.post(
            "/items", headers=[ADA, KEY], body=b"x" * 101, content_type="application/json"
        )
        envelope(answer, 413, "BodyTooLarge")
        assert answer.header("Connection") == "close"

    def test_body_at_the_limit_is_accepted(self) -> None:
        body = b'{"name":"a","price":"1"}'
        client = shop(body_limit=len(body))
        assert (
            client.post(
                "/items", headers=[ADA, KEY], body=body, content_type="application/json"
            ).status
            == 201
        )

    def test_endless_body_is_rejected(self) -> None:
        client = shop(body_limit=1000)
        received = 0

        async def receive() -> dict[str, Any]:
            nonlocal received
            received += 1000
            return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

        answer = client.post(
            "/items",
            headers=[ADA, KEY, ("Transfer-Encoding", "chunked")],
            content_type="application/json",
            receive=receive,
        )
        envelope(answer, 413, "BodyTooLarge")
        assert received < 6 * 1024 * 1024

    def test_slow_body_is_rejected(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("specd._engine.http.answering._LINGER_SECONDS", 0.02)

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

        client = shop(body_timeout_s=0.02)
        envelope_answer = asyncio.run(
            _within(
                5,
                client.exchange(
                    "POST",
                    "/items",
                    headers=[ADA, KEY, ("Content-Length", "5")],
                    content_type="application/json",
                    receive=receive,
                ),
            )
        )
        envelope(envelope_answer, 408, "RequestTimeout")
        assert envelope_answer.header("Connection") == "close"

    def test_long_target_is_rejected(self, shop: Client) -> None:
        envelope(shop.get("/items?" + "a" * 8192), 414, "TargetTooLong")

    def test_too_many_headers_are_rejected(self, shop: Client) -> None:
        envelope(shop.get("/items", headers=[("X", "v" * 16384)]), 431, "HeadersTooLarge")
        envelope(shop.get("/items", headers=[("X", "v")] * 101), 431, "HeadersTooLarge")

    def test_two_framings_end_the_connection(self, shop: Client) -> None:
        answer = shop.post("/items", headers=[ADA, KEY, ("Content-Length", "3")], chunks=[b"abc"])
        envelope(answer, 422, "InvalidRequest")
        assert answer.header("Connection") == "close"

    def test_unexpected_body_ends_the_connection(self, shop: Client) -> None:
        answer = shop.get("/items", body=b"x" * 100)
        assert (answer.status, answer.header("Connection")) == (200, "close")

    def test_disconnected_client_gets_no_response(self, logs: Logs) -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        answer = shop().post(
            "/items",
            headers=[ADA, KEY, ("Content-Length", "5")],
            content_type="application/json",
            receive=receive,
        )
        assert answer.status == 0
        assert [line["status"] for line in logs()] == [499]


async def _within(seconds: float, work: Any) -> Any:
    async with asyncio.timeout(seconds):
        return await work


class TestRequestIds:
    def test_differ(self, shop: Client) -> None:
        ids = {shop.get("/items").header("Request-Id") for _ in range(20)}
        assert len(ids) == 20
        assert all(re.fullmatch("[0-9a-f]{24}", str(one)) for one in ids)

    def test_are_never_those_of_the_client(self, shop: Client) -> None:
        answer = shop.get("/items", headers=[("Request-Id", "mine")])
        assert answer.header("Request-Id") != "mine"

    @pytest.mark.parametrize("target", ["/items", "/nope", "/items?limit=x", "/items/5"])
    def test_are_in_the_log_line(self, shop: Client, logs: Logs, target: str) -> None:
        answer = shop.get(target)
        (line,) = logs()
        assert line["id"] == answer.header("Request-Id")
        assert line["status"] == answer.status
        assert line["method"] == "GET"
        assert line["service"] == "shop"
        assert line["level"] == "info"
        assert line["ms"] >= 0
        assert line["operation"] == {"/items/5": "get_item", "/nope": None}.get(
            target, "list_items"
        )

    def test_log_contains_no_data_of_requests(self, shop: Client, logs: Logs) -> None:
        shop.get("/items/5?token=s3cret", headers=[ADA, ("Cookie", "s3cret")])
        assert "s3cret" not in str(logs())
        assert "good-token" not in str(logs())


class TestBugs:
    def test_details_are_only_logged(self, logs: Logs) -> None:
        answer = shop().post("/items", headers=[ADA, KEY], value={**ITEM, "name": "crash"})
        envelope(answer, 500, "Bug")
        assert b"bug that saw" not in answer.body
        assert b"Traceback" not in answer.body
        (line,) = [line for line in logs() if line["event"] == "request failed"]
        assert line["id"] == answer.header("Request-Id")
        assert line["operation"] == "create_item"
        assert "RuntimeError: a bug that saw" in line["exception"]
        assert "items.py" in line["exception"]

    def test_secrets_are_redacted_in_the_log(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import io

        import structlog

        import specd._engine.serving.engine

        stream = io.BytesIO()
        before = structlog.get_config()
        configure("info", secrets=[re.compile("good-[a-z]+")], stream=stream)
        monkeypatch.setattr(specd._engine.serving.engine, "log", structlog.get_logger())
        shop().post("/items", headers=[ADA, KEY], value={**ITEM, "name": "crash"})
        structlog.configure(**before)
        assert b"a bug that saw Bearer [secret]" in stream.getvalue()
        assert b"good-token" not in stream.getvalue()

    def test_redaction_keeps_time_and_level(self) -> None:
        event = {"event": "x", "exception": "key abc", "level": "abc"}
        assert Redact([re.compile("abc")])(None, "info", event) == {
            "event": "x",
            "exception": "key [secret]",
            "level": "abc",
        }

    def test_failing_error_table_still_gives_a_response(self, logs: Logs) -> None:
        def broken(error: Exception, request_id: str) -> Any:
            raise KeyError("table")

        answer = shop(respond=broken).get("/nope")
        assert (answer.status, answer.body) == (500, b"{}")
        assert any(line["event"] == "error table failed" for line in logs())

    def test_error_in_a_security_function_is_a_bug(self, logs: Logs) -> None:
        def read_a(ctx: Any) -> dict[str, Any]:
            return {}

        client = serve(
            {"/a": {"get": operation("read_a", security=[{"b": []}])}},
            {"read_a": read_a},
            components={
                "securitySchemes": {
                    "b": {
                        "type": "http",
                        "scheme": "bearer",
                        "x-bearerInfoFunc": "tests.specd.engine.test_engine.breaks",
                    }
                }
            },
        )
        envelope(client.get("/a", headers=[ADA]), 500, "Bug")
        assert "ZeroDivisionError" in logs()[0]["exception"]

    def test_error_mapped_to_503_is_logged_without_a_traceback(self, logs: Logs) -> None:
        from specd import Response

        client = serve(
            {"/a": {"get": operation("read_a")}},
            {"read_a": lambda ctx: 1 / 0},
            respond=lambda error, rid: Response(503, b"{}"),
        )
        assert client.get("/a").status == 503
        assert [line["event"] for line in logs()] == ["request"]

    @pytest.mark.parametrize(
        "error",
        ["NotImplementedError", "StopIteration", "RecursionError", "MemoryError", "TimeoutError"],
    )
    def test_any_exception_is_caught(self, error: str) -> None:
        def read_a(ctx: Any) -> Any:
            raise (
                vars(__builtins__)[error]
                if not isinstance(__builtins__, dict)
                else (__builtins__[error])
            )

        envelope(
            serve({"/a": {"get": operation("read_a")}}, {"read_a": read_a}).get("/a"), 500, "Bug"
        )


def breaks(token: str) -> Any:
    return 1 / 0


class TestAnswers:
    def test_handler_receives_parsed_values(self, shop: Client) -> None:
        answer = shop.get(
            "/items?limit=5&ratio=0.5&open=true&tag=a&tag=b&ids=1,2&sort=up&which=3"
            "&filter=%7B%22a%22:1%7D&zz=1",
            headers=[("X-Depth", "3")],
        )
        assert answer.status == 200
        assert answer.json == {
            "limit": 5,
            "ratio": 0.5,
            "open_": True,
            "tag": ["a", "b"],
            "ids": [1, 2],
            "sort": "up",
            "which": 3,
            "filter_": {"a": 1},
            "x_depth": 3,
            "unknown": ["zz"],
        }

    def test_created_object_is_returned(self, shop: Client) -> None:
        answer = shop.post("/items", headers=[ADA, KEY], value=ITEM)
        assert (answer.status, answer.json) == (201, {"key": KEY[1], "name": "a", "actor": "ada"})

    def test_fixed_path_precedes_template(self, shop: Client) -> None:
        answer = shop.get("/items/special")
        assert (answer.status, answer.json) == (200, {"special": True})
        assert answer.header("X-Special") == "yes"

    def test_context_has_its_request(self) -> None:
        def read_a(ctx: Any, *, id_: int) -> dict[str, Any]:
            return {
                "operation": ctx.operation.operation_id,
                "method": ctx.operation.method,
                "template": ctx.operation.path,
                "path": ctx.path_parameters,
                "client": ctx.client,
                "id": ctx.request_id,
                "accept": ctx.header("aCCept"),
                "none": ctx.header("X-None"),
                "year": ctx.now.year,
                "aware": ctx.now.tzinfo is not None,
                "settings": ctx.settings,
                "adapters": ctx.adapters,
            }

        parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
        client = serve(
            {"/a/{id}": {"get": operation("read_a", parameters=[parameter])}},
            {"read_a": read_a},
            settings="S",
            adapters="A",
        )
        answer = client.get("/a/5", headers=[("Accept", "x"), ("Accept", "y")])
        assert answer.json == {
            "operation": "read_a",
            "method": "GET",
            "template": "/t/a/{id}",
            "path": {"id_": 5},
            "client": "127.0.0.1",
            "id": answer.header("Request-Id"),
            "accept": "x, y",
            "none": None,
            "year": answer.json["year"],
            "aware": True,
            "settings": "S",
            "adapters": "A",
        }

    def test_slashes_are_merged_if_configured(self) -> None:
        assert shop(leniency=frozenset({"slashes"})).get("//items///special").status == 200
        assert shop().get("//items/special").status == 404

    def test_slashes_are_merged_for_one_of_two_services(self) -> None:
        lenient = shop_service(base_path="/lenient", leniency=frozenset({"slashes"}))
        strict = shop_service(name="strict", base_path="/strict")
        client = Client(build_app([lenient, strict]))
        assert client.get("/lenient//items/special").status == 200
        assert client.get("/strict/items/special").status == 200
        assert client.get("/strict//items/special").status == 404

    def test_malformed_path_can_be_configured_as_unknown(self) -> None:
        client = shop(leniency=frozenset({"malformed_paths"}))
        assert client.get("/items/0", headers=[ADA]).status == 404
        assert client.get("/items?limit=x").status == 422

    def test_unknown_leniency_is_rejected(self) -> None:
        with pytest.raises(ValueError, match="no leniency slash; there are foreign_bodies, "):
            shop(leniency=frozenset({"slash"}))

    def test_scope_without_raw_path_is_served(self, shop: Client) -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/shop/items/special",
            "query_string": b"",
            "headers": [],
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request"}

        assert asyncio.run(call(shop.app, scope, receive)).status == 200

    def test_engine_is_a_middleware_of_connexion(self, shop: Client) -> None:
        from connexion.middleware.abstract import SpecMiddleware

        (engine,) = [m for m in shop.app.middleware_stack if isinstance(m, Engine)]
        assert isinstance(engine, SpecMiddleware)
        assert engine.apis[0].service.respond is respond
