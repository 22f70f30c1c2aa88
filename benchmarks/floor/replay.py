"""Writes, compared with their floor: the transactions of many requests are recorded on one copy of
a database, and the raw driver replays them on another copy, from the same initial state.
"""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, event, make_url
from sqlalchemy.orm import Session

from benchmarks.floor.floor import connect, connect_writing, send_answer
from specd.db import Database

Step = tuple[str, str, Any]
"""`read`, `write`, `many`, `commit` or `rollback`; SQL in the driver's form; its parameters."""


class Steps:
    """Records the statements that a service sends to its drivers from now on."""

    def __init__(self, database: Database) -> None:
        self.noted: list[Step] = []
        with database.reading() as reader:
            self._listen(reader.engine, "read")
        self._listen(database.run(_engine_of), "write")

    def take(self) -> tuple[Step, ...]:
        """Return the steps recorded since the last call."""
        taken = tuple(self.noted)
        self.noted.clear()
        return taken

    def _listen(self, engine: Engine, kind: str) -> None:
        def note(_c: object, _u: object, sql: str, values: Any, _x: object, many: bool) -> None:
            # If SQLAlchemy wrote a batch as one statement, all its values are in one tuple.
            self.noted.append(("many" if many and isinstance(values, list) else kind, sql, values))

        def note_end(kind: str) -> Callable[[Connection], None]:
            return lambda _: self.noted.append((kind, "", None))

        event.listen(engine, "before_cursor_execute", note)
        if kind == "write":
            event.listen(engine, "commit", note_end("commit"))
            event.listen(engine, "rollback", note_end("rollback"))


def _engine_of(session: Session) -> Engine:
    return session.connection().engine


class Replay:
    """An ASGI application that executes the recorded steps of the next request for every request,
    and encodes its response.
    """

    def __init__(self, url: str, requests: Iterator[tuple[tuple[Step, ...], bytes]]) -> None:
        self._reader = connect(url)
        self._writer = connect_writing(url)
        self._is_sqlite = make_url(url).get_backend_name() == "sqlite"
        self._requests = ((steps, orjson.loads(body)) for steps, body in requests)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        steps, answer = next(self._requests)
        for kind, sql, values in steps:
            match kind:
                case "read":
                    self._reader.execute(sql, values).fetchall()
                case "write":
                    cursor = self._writer.execute(sql, values)
                    if cursor.description is not None:
                        cursor.fetchall()
                case "many":
                    self._writer.cursor().executemany(sql, values)
                case end:
                    self._end(end)
        await send_answer(send, answer)

    def _end(self, end: str) -> None:
        if self._is_sqlite:
            self._writer.execute(end)
        else:
            getattr(self._writer, end)()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
