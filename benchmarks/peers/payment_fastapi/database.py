"""Engine and session. SQLite: WAL, FULL, BEGIN IMMEDIATE for writers; PostgreSQL: defaults."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session

THREADS = 40  # of the pool that runs sync endpoints: each may use a connection


def open_engines(url: str) -> tuple[Engine, Engine]:
    """Return an engine for reading and one for writing. SQLite allows one writer at a time, so
    writers wait in turn for the only connection instead of for SQLite's unfair busy handler.
    """
    if not url.startswith("sqlite"):
        engine = open_engine(url)
        return engine, engine
    writing = open_engine(url, pool_size=1, max_overflow=0).execution_options(writes=True)
    return open_engine(url), writing


def open_engine(url: str, **pool: int) -> Engine:
    pool.setdefault("pool_size", THREADS)
    if not url.startswith("sqlite"):
        timeouts = "-c lock_timeout=5000 -c statement_timeout=30000"
        return create_engine(url, **pool, connect_args={"options": timeouts})
    engine = create_engine(url, **pool, connect_args={"timeout": 5})

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def get_session(request: Request) -> Iterator[Session]:
    """Yield one session per request. On SQLite, it has the write lock except for GET.

    It connects at its first statement, so it uses no connection while the request is authenticated.
    """
    state = request.app.state
    with Session(state.engine if request.method == "GET" else state.writing_engine) as session:
        yield session


SessionDep = Annotated[Session, Depends(get_session)]
