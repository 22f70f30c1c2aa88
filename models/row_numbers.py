"""Row numbers of tables: reserve numbers for rows from other databases, or skip numbers."""

from sqlalchemy import Table, func, insert, select, text, update
from sqlalchemy import table as named_table
from sqlalchemy.orm import Session
from sqlalchemy.sql import column

from models.dialects import dialect_of

_SQLITE_NUMBERS = named_table("sqlite_sequence", column("name"), column("seq"))


def lock(session: Session, table: Table) -> None:
    """Prevent others from adding rows to a table until this unit ends. Adding a row takes a number
    under a lock that conflicts with this one. SQLite has only one writer.
    """
    if dialect_of(session) == "postgresql":
        session.execute(text(f'LOCK TABLE "{table.name}" IN SHARE ROW EXCLUSIVE MODE'))


def reserve(session: Session, table: Table, count: int, after: int = 0) -> int:
    """Reserve `count` consecutive numbers, and return the first. They, and all numbers assigned
    later, are larger than `after`.
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
