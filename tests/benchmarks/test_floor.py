"""The floor server sends the bytes of the service and executes its statements."""

import asyncio
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from benchmarks.floor.__main__ import table
from benchmarks.floor.floor import Floor, connect, record
from benchmarks.floor.places import Files
from benchmarks.floor.profiling import on_this_thread, profile
from benchmarks.floor.replay import Replay, Step, Steps
from benchmarks.floor.requests import payment_requests, request
from benchmarks.floor.turns import Row
from benchmarks.floor.wire import Connection
from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import Protocol
from specd.db import Database
from tests.specd.engine.services import shop_service

REQUEST = b"GET /shop/items?limit=3 HTTP/1.1\r\nHost: a\r\n\r\n"


def test_floor_executes_the_recorded_statements(tmp_path: Path) -> None:
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


def test_recorded_changes_are_repeated_on_a_copy(tmp_path: Path) -> None:
    place = Files(tmp_path)
    with closing(Database(place.make("first"))) as database:
        database.run(lambda session: session.execute(text("CREATE TABLE t (x INTEGER)")))
    urls = [place.copy("first", name) for name in ("noted", "floor")]
    insert = text("INSERT INTO t VALUES (:x)")

    def one(session: Session) -> None:
        session.execute(insert, {"x": 1})
        with Database.savepoint(session):
            session.execute(insert, [{"x": 2}, {"x": 3}])

    def refused(session: Session) -> None:
        session.execute(insert, {"x": 4})
        raise LookupError

    def found(url: str) -> list[object]:
        with closing(Database(url)) as database, database.reading() as reader:
            return list(reader.execute(text("SELECT x FROM t ORDER BY x")).scalars())

    noted: list[tuple[tuple[Step, ...], bytes]] = []
    with closing(Database(urls[0])) as database:
        steps = Steps(database)
        steps.take()
        database.run(one)
        with pytest.raises(LookupError):
            database.run(refused)
        with database.reading() as reader:
            reader.execute(text("SELECT x FROM t"))
        noted.append((steps.take(), b'{"done": true}\n'))
    ends = [kind for kind, _, _ in noted[0][0] if kind in ("commit", "rollback", "read", "many")]
    assert ends == ["many", "commit", "rollback", "read"]

    async def run() -> bytes:
        replay = Replay(urls[1], iter(noted))
        answer = await Connection(replay, HttpToolsProtocol).ask(REQUEST)
        replay.close()
        return answer

    assert asyncio.run(run()).endswith(b'\r\n\r\n{"done":true}\n')
    assert [found(url) for url in urls] == [[1, 2, 3]] * 2


def test_requests_are_sequential() -> None:
    assert request("POST", "/a", ["X", "1"], '"\u00e9"') == (
        b"POST /a HTTP/1.1\r\nHost: 127.0.0.1:8700\r\nX: 1\r\nContent-Length: 4\r\n\r\n"
        + '"\u00e9"'.encode()
    )
    first, second = islice(payment_requests("create", "key", ()), 2)
    assert b"Idempotency-Key: floor-order-0\r\n" in first
    assert b"Idempotency-Key: floor-order-1\r\n" in second
    paths = [sent.split(b" ")[1] for sent in payment_requests("cancel", "key", ["a", "b"])]
    assert paths == [b"/v1/invoices/a/cancel", b"/v1/invoices/b/cancel"]


def test_service_is_called_in_process_and_profiled() -> None:
    async def run() -> str:
        app = build_app([shop_service()])
        on_this_thread(app)
        connection = Connection(app, Protocol)
        assert (await connection.ask(REQUEST)).startswith(b"HTTP/1.1 200 ")
        return await profile(lambda: connection.ask(REQUEST), 3, 200)

    report = asyncio.run(run())
    assert report.startswith("3 requests\n")
    assert "engine.py" in report


def test_exceeded_goal_is_reported() -> None:
    rows = [Row("messages", 8, 43_956, 1000, 400), Row("search", 6, 755, 1001, 400)]
    lines = table("sqlite", rows).splitlines()
    assert lines[-2] == "| GET 100 messages of a channel | 8 | 43,956 | 1,000 | 400 | 2.50 x |  |"
    assert lines[-1].endswith("| 6 | 755 | 1,001 | 400 | 2.50 x | over |")
