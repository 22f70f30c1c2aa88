"""The numbers that a database gives to the rows of a table: some are left out, or are for rows that
come from elsewhere.
"""

from sqlalchemy import Table, func, insert, select, text, update
from sqlalchemy import table as named_table
from sqlalchemy.orm import Session
from sqlalchemy.sql import column

from models.dialects import dialect_of

_SQLITE_NUMBERS = named_table("sqlite_sequence", column("name"), column("seq"))


def lock(session: Session, table: Table) -> None:
    """Let nobody else add rows to a table in this unit: whoever does takes a number under a lock
    that this one excludes. SQLite has one writer.
    """
    if dialect_of(session) == "postgresql":
        session.execute(text(f'LOCK TABLE "{table.name}" IN SHARE ROW EXCLUSIVE MODE'))


def reserve(session: Session, table: Table, count: int, after: int = 0) -> int:
    """Return the first of so many numbers that follow one another and that nobody else gets. They,
    and all that others get from now on, are larger than `after`.
    """
    lock(session, table)
    if dialect_of(session) == "postgresql":
        numbers = func.pg_get_serial_sequence(f'"{table.name}"', "id")
        first: int = session.execute(select(func.nextval(numbers))).scalar_one()
        first = max(first, after + 1)
        session.execute(select(func.setval(numbers, first + count, False)))
        return first
    name, last = _SQLITE_NUMBERS.c.name, _SQLITE_NUMBERS.c.seq
    before = session.execute(select(last).where(name == table.name)).scalar()
    last_before = max(int(before or 0), after)
    if before is None:
        session.execute(insert(_SQLITE_NUMBERS).values(name=table.name, seq=last_before + count))
    else:
        moved = update(_SQLITE_NUMBERS).where(name == table.name)
        session.execute(moved.values(seq=last_before + count))
    return last_before + 1
