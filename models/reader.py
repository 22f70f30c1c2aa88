"""What a read may run on, which database answers it, and an upsert in that database's dialect."""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, Session

Db = Connection | Session
"""What a read may run on: a Core connection of a GET, or the session of a write unit."""

Upsert = postgresql.Insert | sqlite.Insert
"""An INSERT with `on_conflict_do_update` and `on_conflict_do_nothing`."""

UPSERTS: Mapping[str, Callable[[Table | type[DeclarativeBase]], Upsert]] = {
    "postgresql": postgresql.insert,
    "sqlite": sqlite.insert,
}
"""Dialect -> the maker of its upserts into a table, for statements that are prebuilt."""


def dialect_of(db: Db) -> str:
    """`sqlite` or `postgresql`."""
    bind = db.get_bind() if isinstance(db, Session) else db
    return bind.dialect.name


def upsert(session: Session, table: Table | type[DeclarativeBase]) -> Upsert:
    """An upsert into a table or a mapped class, in the dialect of the session's database."""
    return UPSERTS[dialect_of(session)](table)
