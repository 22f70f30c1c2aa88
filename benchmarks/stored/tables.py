"""The table of all servers, and its rows."""

import os
from typing import Any

from sqlalchemy import Engine, String, create_engine, event, insert
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

URL = "BENCHMARK_DATABASE_URL"
"""The environment variable with the database of a server."""
ROWS = 1000
VERSION = "1.0.0"
NO_SUCH_TASK = {"message": "No such task."}


class Base(DeclarativeBase):
    pass


class Task(Base):
    __tablename__ = "task"

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str] = mapped_column(String(200))
    completed: Mapped[bool] = mapped_column(default=False)


def rendered(task: Task) -> dict[str, Any]:
    return {"id": task.id, "text": task.text, "completed": task.completed}


def url_of_server() -> str:
    return os.environ[URL]


def fill(url: str) -> None:
    """Create the table with its rows."""
    engine = create_engine(url)
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        rows = [{"text": f"task {n}", "completed": n % 2 == 0} for n in range(1, ROWS + 1)]
        connection.execute(insert(Task), rows)
    engine.dispose()


def open_engines(url: str) -> tuple[Engine, Engine]:
    """Return the engines of a peer, for reads and for writes, as durable as ours. SQLite allows one
    writer, so writers wait for one connection in turn.
    """
    reading, writing = (create_engine(url, pool_size=size, max_overflow=0) for size in (40, 1))
    for engine in (reading, writing):
        event.listen(engine, "connect", _configure)
    return reading, writing


def _configure(connection: Any, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
