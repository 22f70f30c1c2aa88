"""What a read may run on, and which database answers it."""

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.orm import Session

Reader = Connection | Session
"""What a read may run on: a Core connection of a GET, or the session of a write unit."""


def dialect_of(reader: Reader) -> str:
    """`sqlite` or `postgresql`."""
    bind: Any = reader.get_bind() if isinstance(reader, Session) else reader
    return str(bind.dialect.name)
