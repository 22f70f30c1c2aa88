"""The floor answers with the service's own bytes, for the service's own statements."""

import asyncio
from pathlib import Path

from sqlalchemy import create_engine, text
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from benchmarks.floor.__main__ import Row, table
from benchmarks.floor.floor import Floor, connect, record
from benchmarks.floor.profiling import on_this_thread, profile
from benchmarks.floor.wire import Connection
from server.serving.app import build_app
from server.serving.protocol import Protocol
from tests.server.services import shop_service

REQUEST = b"GET /shop/items?limit=3 HTTP/1.1\r\nHost: a\r\n\r\n"


def test_the_floor_runs_the_statements_that_were_noted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'floor.db'}"
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t AS SELECT 1 AS x"))
        statements = record(engine)
        connection.execute(text("SELECT x FROM t WHERE x = :x"), {"x": 1})
    assert statements == [("SELECT x FROM t WHERE x = ?", (1,))]
    asked: list[str] = []
    driver = connect(url)
    driver.set_trace_callback(asked.append)

    async def run() -> bytes:
        floor = Connection(Floor(driver, statements, b'{"b": 1, "a": [2]}\n'), HttpToolsProtocol)
        first = await floor.ask(REQUEST)
        assert await floor.ask(REQUEST) == first
        return first

    head, _, body = asyncio.run(run()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == b'{"b":1,"a":[2]}\n'
    assert asked == ["SELECT x FROM t WHERE x = 1"] * 2
    driver.close()
    engine.dispose()


def test_a_service_is_fed_by_hand_and_profiled() -> None:
    async def run() -> str:
        app = build_app([shop_service()])
        on_this_thread(app)
        connection = Connection(app, Protocol)
        assert (await connection.ask(REQUEST)).startswith(b"HTTP/1.1 200 ")
        return await profile(lambda: connection.ask(REQUEST), 3, 200)

    told = asyncio.run(run())
    assert told.startswith("3 requests\n")
    assert "engine.py" in told


def test_what_is_over_its_goal_is_told() -> None:
    rows = [Row("messages", 8, 43_956, 1000, 400), Row("search", 6, 755, 1001, 400)]
    lines = table("sqlite", rows).splitlines()
    assert lines[-2] == "| GET 100 messages of a channel | 8 | 43,956 | 1,000 | 400 | 2.50 x |  |"
    assert lines[-1].endswith("| 6 | 755 | 1,001 | 400 | 2.50 x | over |")
