"""The least that an answer can cost: its statements by the raw driver and its bytes by orjson."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import orjson
import psycopg
from sqlalchemy import Engine, event, make_url

Statement = tuple[str, Any]
"""SQL as the driver gets it, and its parameters."""


def record(engine: Engine) -> list[Statement]:
    """A list of the statements that the engine executes from now on. An engine that somebody has
    listened to stays a little slower: measure another one.
    """
    statements: list[Statement] = []

    def note(_c: object, _u: object, sql: str, parameters: Any, *_: object) -> None:
        statements.append((sql, parameters))

    event.listen(engine, "before_cursor_execute", note)
    return statements


def connect(url: str) -> Any:
    """A connection of the raw driver's, in the state in which the service reads."""
    where = make_url(url)
    if where.get_backend_name() == "sqlite":
        assert where.database is not None
        connection = sqlite3.connect(where.database, isolation_level=None)
        connection.execute("PRAGMA query_only = ON")
        return connection
    options = "-c jit=off -c default_transaction_read_only=on"
    plain = where.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, autocommit=True, options=options)


def connect_writing(url: str) -> Any:
    """The same, in the state in which the service writes."""
    where = make_url(url)
    if where.get_backend_name() == "sqlite":
        assert where.database is not None
        connection = sqlite3.connect(where.database, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        for setting in ("synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {setting}")
        return connection
    plain = where.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, options="-c jit=off")


class Floor:
    """An ASGI application that makes one answer anew for every request."""

    def __init__(self, connection: Any, statements: Sequence[Statement], body: bytes) -> None:
        self._connection = connection
        self._statements = statements
        self._answer = orjson.loads(body)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for sql, parameters in self._statements:
            self._connection.execute(sql, parameters).fetchall()
        await send_answer(send, self._answer)


async def send_answer(send: Any, answer: Any) -> None:
    """The answer, encoded anew."""
    body = orjson.dumps(answer) + b"\n"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
