"""What a read may run on, and which database answers it."""

from sqlalchemy import Connection
from sqlalchemy.orm import Session

Db = Connection | Session
"""What a read may run on: a Core connection of a GET, or the session of a write unit."""

INT_MAX = 2_147_483_647
"""The largest value of an integer column; ids are such columns."""


def dialect_of(db: Db) -> str:
    """`sqlite` or `postgresql`."""
    bind = db.get_bind() if isinstance(db, Session) else db
    return bind.dialect.name
