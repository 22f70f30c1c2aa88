"""The minimum cost of a response: its statements with the raw driver, its bytes with orjson."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import orjson
import psycopg
from sqlalchemy import Engine, event, make_url

Statement = tuple[str, Any]
"""SQL in the driver's form, and its parameters."""


def record(engine: Engine) -> list[Statement]:
    """Return a list that collects the statements the engine executes from now on. Listeners slow an
    engine permanently, so measure another one.
    """
    statements: list[Statement] = []

    def note(_c: object, _u: object, sql: str, parameters: Any, *_: object) -> None:
        statements.append((sql, parameters))

    event.listen(engine, "before_cursor_execute", note)
    return statements


def connect(url: str) -> Any:
    """Return a connection of the raw driver, configured like the service's read connections."""
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
    """Return a connection of the raw driver, configured like the service's write connections."""
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
    """An ASGI application that encodes the same response for every request."""

    def __init__(self, connection: Any, statements: Sequence[Statement], body: bytes) -> None:
        self._connection = connection
        self._statements = statements
        self._answer = orjson.loads(body)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for sql, parameters in self._statements:
            self._connection.execute(sql, parameters).fetchall()
        await send_answer(send, self._answer)


async def send_answer(send: Any, answer: Any) -> None:
    """Encode and send a response."""
    body = orjson.dumps(answer) + b"\n"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
