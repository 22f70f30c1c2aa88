"""A request received in one packet gets the same response, without a task, as one in several
packets.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from specd import Context
from specd._engine.serving.app import build_app
from specd._engine.serving.exchange import Exchange
from tests.specd.engine.arrivals import a_file, make_thing, taking
from tests.specd.engine.services import operation, serve, shop_service
from tests.specd.engine.wire import ADA, CHUNKED, FORM, ITEM, JSON, KEY, Connection, request


def exchange(*chunks: bytes, as_ever: bool = False, app: Any = None) -> tuple[bytes, bool, bool]:
    """Return the response, whether the connection was closed, and whether no task was used."""

    async def run() -> tuple[bytes, bool, bool]:
        connection = Connection(app or build_app([shop_service()]), as_ever=as_ever)
        connection.feed(*chunks)
        at_once = not connection.state.tasks
        return (*await connection.settle(), at_once)

    return asyncio.run(run())


WHOLE = {
    "read": request(b"GET /shop/items?limit=3"),
    "whole address": request(b"GET http://a/shop/items?limit=3"),
    "encoded": request(b"GET /shop/items/%61da", b"X-Key: secret", ADA),
    "head": request(b"HEAD /shop/items?limit=3"),
    "options": request(b"OPTIONS /shop/items"),
    "wrong method": request(b"PUT /shop/items"),
    "not found": request(b"GET /shop/gadgets"),
    "document": request(b"GET /shop/openapi.json"),
    "invalid": request(b"GET /shop/items?limit=0&limit=x"),
    "unauthenticated": request(b"GET /shop/items/7"),
    "json": request(b"POST /shop/items", ADA, KEY, JSON, body=ITEM),
    "chunked": request(
        b"POST /shop/items", ADA, KEY, JSON, CHUNKED,
        body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(ITEM), ITEM),
    ),
    "trailers": request(
        b"POST /shop/items", ADA, KEY, JSON, CHUNKED,
        body=b"%x\r\n%s\r\n0\r\nAuthorization: x\r\n\r\n" % (len(ITEM), ITEM),
    ),
    "broken json": request(b"POST /shop/items", ADA, KEY, JSON, body=b"{"),
    "wrong media type": request(b"POST /shop/items", ADA, KEY, FORM, body=b"a=b"),
    "form": request(b"POST /shop/notes", FORM, body=b"text=hello&to=%5B1,2%5D"),
    "empty body": request(b"POST /shop/notes", FORM, b"Content-Length: 0"),
    "invalid form": request(b"POST /shop/notes", FORM, body=b"to=x"),
    "bad header": request(b"GET /shop/items", b"X-Depth: 10"),
    "upgrade": request(b"GET /shop/items", b"Connection: Upgrade", b"Upgrade: h2c"),
    "upgrade of a write": request(
        b"POST /shop/notes", FORM, b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA", body=b"text=hello&to=%5B1,2%5D",
    ),
    "upgrade in chunks": request(
        b"POST /shop/items", ADA, KEY, JSON, CHUNKED, b"Upgrade: websocket", b"connection: upgrade",
        body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(ITEM), ITEM),
    ),
}  # fmt: skip
IN_A_TASK = {
    "waits": request(b"POST /shop/notes/wait?seconds=0.01"),
    "unread body": request(b"POST /shop/gadgets", body=b"abc"),
    "old": request(b"GET /shop/items").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "closes": request(b"GET /shop/items", b"Connection: close"),
    "expects": request(b"POST /shop/notes", FORM, b"Expect: 100-continue", body=b"text=a"),
    "two headers": request(b"GET /shop/items", b"Content-Type: a", b"Content-Type: b"),
    "asterisk": request(b"OPTIONS *"),
    "page": request(b"GET /elsewhere"),
    "probe": request(b"GET /livez"),
}
REFUSED = {
    "bad target": request(b"GET /shop/it ems"),
    "connect": request(b"CONNECT a:80"),
    "no host": b"GET /shop/items HTTP/1.1\r\n\r\n",
    "bad chunk": request(b"POST /shop/items", ADA, KEY, JSON, CHUNKED, body=b"zz\r\n"),
    "bad length": request(b"POST /shop/items", ADA, KEY, JSON, b"Content-Length: x"),
}


def in_parts(raw: bytes) -> list[Sequence[bytes]]:
    """Return the same bytes, divided as a network may divide them."""
    head = raw.index(b"\r\n\r\n") + 4
    return [
        (raw[: head - 2], raw[head - 2 :]),
        (raw[:head], raw[head:] or b""),
        [*map(bytes, zip(raw))],
    ]


@pytest.mark.parametrize("name", {**WHOLE, **IN_A_TASK})
def test_response_does_not_depend_on_the_packets(name: str) -> None:
    raw = {**WHOLE, **IN_A_TASK}[name]
    written, closed, at_once = exchange(raw, as_ever=True)
    assert written.startswith(b"HTTP/1.1 ")
    assert not at_once
    assert exchange(raw) == (written, closed, name in WHOLE)
    for chunks in in_parts(raw):
        assert exchange(*chunks)[:2] == (written, closed), chunks


def test_options_of_the_whole_server_is_answered() -> None:
    """It is a ping and does not list methods (RFC 9110, section 9.3.7)."""
    written, _, _ = exchange(request(b"OPTIONS *"))
    assert written.startswith(b"HTTP/1.1 204 "), written
    written, _, _ = exchange(request(b"GET *"))
    assert written.startswith(b"HTTP/1.1 404 "), written


@pytest.mark.parametrize("override", [False, True])
@pytest.mark.parametrize("size", [10, 200_000, 400_000])
def test_file_in_one_packet_is_accepted(tmp_path: Path, size: int, *, override: bool) -> None:
    """It may exceed the limit of other bodies."""
    app = taking(
        tmp_path,
        make_thing,
        limit=300_000,
        leniency=frozenset({"method_override"} if override else ()),
    ).app
    head = b"Content-Type: multipart/form-data; boundary=x"
    raw = request(b"POST /t/things", head, body=a_file(b"a" * size) + b"--x--\r\n")
    written, closed, _ = exchange(raw, as_ever=True, app=app)
    assert written[9:12] == (b"400" if size == 400_000 else b"200")
    assert exchange(raw, app=app) == (written, closed, False)


@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
def test_waiting_read_runs_in_a_task(method: bytes) -> None:
    async def read_thing(ctx: Context) -> dict[str, bool]:
        return {"came": await ctx.wait(asyncio.get_running_loop().create_future(), 0.01)}

    client = serve({"/things": {"get": operation("read_thing")}}, {"read_thing": read_thing})
    raw = request(method + b" /t/things")
    written, closed, _ = exchange(raw, as_ever=True, app=client.app)
    assert written.startswith(b"HTTP/1.1 200 ")
    assert exchange(raw, app=client.app) == (written, closed, False)


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_http_reaches_no_handler(name: str) -> None:
    written, closed, at_once = exchange(REFUSED[name])
    assert (written, closed) == exchange(REFUSED[name], as_ever=True)[:2]
    assert (written[9:12], closed, at_once) in [(b"400", True, True), (b"422", True, True)]


def test_pipelined_requests_are_answered_in_order() -> None:
    """The first is answered immediately. The others in the packet are queued."""
    raws = [WHOLE[name] for name in ("json", "read", "invalid", "form")] + [IN_A_TASK["waits"]]
    alone = b"".join(exchange(raw)[0] for raw in raws)
    assert exchange(b"".join(raws)) == (alone, False, False)
    raws = [IN_A_TASK["waits"], *raws]
    alone = b"".join(exchange(raw)[0] for raw in raws)
    assert exchange(b"".join(raws)) == (alone, False, False)


def test_sequential_requests_are_answered() -> None:
    """With and without a task for the request before."""
    raws = [WHOLE["json"], WHOLE["read"], IN_A_TASK["waits"], WHOLE["read"], WHOLE["form"]]
    alone = b"".join(exchange(raw)[0] for raw in raws)

    async def run() -> None:
        connection = Connection(build_app([shop_service()]))
        for raw in raws:
            connection.feed(raw)
            if connection.state.tasks:
                await asyncio.gather(*connection.state.tasks)
        assert connection.state.total_requests == len(raws)
        assert connection.protocol._idle_since is not None
        written, closed = await connection.settle()
        assert (written, closed) == (alone, False)

    asyncio.run(run())


def test_client_that_does_not_read_gets_no_immediate_response() -> None:
    answer, _, _ = exchange(WHOLE["read"])

    async def run() -> None:
        connection = Connection(build_app([shop_service()]))
        connection.protocol.pause_writing()
        connection.feed(WHOLE["read"])
        for _ in range(10):
            await asyncio.sleep(0)
        assert connection.wire.written == b""
        connection.protocol.resume_writing()
        written, _ = await connection.settle()
        assert written == answer

    asyncio.run(run())


def test_client_can_disconnect_during_its_request() -> None:
    async def run() -> None:
        connection = Connection(build_app([shop_service()]))
        connection.feed(IN_A_TASK["waits"])
        connection.wire.close()
        written, _ = await connection.settle()
        assert written == b""

    asyncio.run(run())


def test_client_can_disconnect_before_its_request_is_complete(
    logs: Callable[[], list[dict[str, Any]]],
) -> None:
    async def run() -> None:
        connection = Connection(build_app([shop_service()]))
        connection.feed(WHOLE["json"][:-1])
        await asyncio.sleep(0)
        connection.protocol.connection_lost(None)
        await asyncio.gather(*connection.state.tasks)
        assert connection.wire.written == b""

    asyncio.run(run())
    assert [(line["event"], line["status"]) for line in logs()] == [("request", 499)]


def test_idle_connection_is_closed() -> None:
    """The time starts with the last response, sent with or without a task."""

    async def run() -> None:
        connection = Connection(build_app([shop_service()]))
        connection.protocol.timeout_keep_alive = 0.2  # type: ignore[assignment]
        for name in ("read", "wait"):
            await asyncio.sleep(0.15)
            connection.feed({**WHOLE, "wait": IN_A_TASK["waits"].replace(b"0.01", b"0.3")}[name])
            await asyncio.gather(*connection.state.tasks)
            assert not connection.wire.closed
        await asyncio.sleep(0.15)
        assert not connection.wire.closed
        await asyncio.sleep(0.1)
        assert connection.wire.closed

    asyncio.run(run())


@pytest.mark.parametrize("way", ["at once", "in a task", "in parts"])
def test_connection_records_its_user(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of unread responses of a user applies with and without a task."""
    monkeypatch.setattr(Exchange, "actor_id", "ada")
    waits = way == "in a task"
    raw = request(b"POST /shop/notes/wait?seconds=0.01" if waits else b"GET /shop/items")

    async def run() -> object:
        connection = Connection(build_app([shop_service()]))
        connection.feed(*((raw[:-2], raw[-2:]) if way == "in parts" else (raw,)))
        await connection.settle()
        return connection.protocol.reader

    assert asyncio.run(run()) == ("shop", "ada")
