"""ASGI middlewares of a project around its application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from specd._engine.serving.app import build_app, engine_of, wrap
from tests.specd.engine.client import Client
from tests.specd.engine.middlewares import Mark
from tests.specd.engine.services import ADA as ADA_HEADER
from tests.specd.engine.services import shop_service
from tests.specd.engine.wire import ADA, Connection, request


def named(name: str) -> Callable[[Any], Mark]:
    return lambda app: Mark(app, name)


@pytest.fixture(scope="module")
def app() -> Any:
    return wrap(build_app([shop_service()]), [named("outer"), named("inner")])


@pytest.mark.parametrize(
    ("path", "status"),
    [("/shop/items", 200), ("/shop/nothing", 404), ("/shop/openapi.json", 200), ("/page", 404)],
)
def test_middlewares_receive_every_request_in_order(app: Any, path: str, status: int) -> None:
    answer = Client(app).get(path, headers=[ADA_HEADER])
    assert answer.status == status
    marks = [value for name, value in answer.headers if name == "x-mark"]
    assert marks == ["inner", "outer"]


def test_middleware_can_respond_itself(app: Any) -> None:
    answer = Client(app).get("/stop")
    assert (answer.status, answer.headers) == (418, [("x-mark", "outer")])


def test_requests_in_one_packet_pass_through_middlewares(app: Any) -> None:
    """The engine must not respond in the callback of the parser, which bypasses middlewares."""

    async def talk() -> bytes:
        connection = Connection(app)
        connection.feed(request(b"GET /shop/items", ADA), request(b"GET /stop"))
        return (await connection.settle())[0]

    written = asyncio.run(talk())
    assert written.startswith(b"HTTP/1.1 200 OK")
    assert b"HTTP/1.1 418" in written
    assert written.count(b"x-mark: outer") == 2


def test_protocol_errors_have_the_format_of_the_service(app: Any) -> None:
    async def talk() -> bytes:
        connection = Connection(app)
        connection.feed(b"GET /shop/items HTTP/1.1\r\n\r\n")
        return connection.wire.written

    written = asyncio.run(talk())
    assert b'"code":"InvalidRequest"' in written
    assert b"x-mark" not in written


def test_application_without_middlewares_is_not_wrapped() -> None:
    built = build_app([shop_service()])
    assert wrap(built, []) is built
    assert engine_of(wrap(built, [Mark])) is engine_of(built)
