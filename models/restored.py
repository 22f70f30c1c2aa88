"""After a restore of a backup: numbers that were handed out since are never handed out again.

Clients know them: a reader of events asks for what comes behind the last one that it has seen, and
would miss all that is numbered anew below it.
"""

from collections.abc import Iterable

from sqlalchemy import Table, func, insert, select, update
from sqlalchemy import table as named_table
from sqlalchemy.orm import Session
from sqlalchemy.sql import column

from models.reader import dialect_of

_SQLITE_NUMBERS = named_table("sqlite_sequence", column("name"), column("seq"))


def skip_ids(session: Session, tables: Iterable[Table], count: int) -> None:
    """Leave out so many numbers of the rows of each table."""
    for each in tables:
        if dialect_of(session) == "postgresql":
            numbers = func.pg_get_serial_sequence(each.name, "id")
            session.execute(select(func.setval(numbers, func.nextval(numbers) + count)))
            continue
        name, last = _SQLITE_NUMBERS.c.name, _SQLITE_NUMBERS.c.seq
        moved = update(_SQLITE_NUMBERS).where(name == each.name).values(seq=last + count)
        if session.connection().execute(moved).rowcount == 0:
            session.execute(insert(_SQLITE_NUMBERS).values(name=each.name, seq=count))
