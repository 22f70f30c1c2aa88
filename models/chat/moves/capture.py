"""What changes in an organization while it is copied: triggers note the key of each row.

They write into `row_change` in the transaction of the change, so that none is missed. Who copies
reads the rows as they are then, and so needs to know only that they have changed. On PostgreSQL a
trigger runs once for each statement, on SQLite once for each row.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    text,
)
from sqlalchemy.orm import Session

from models.chat.exports.tables import Part
from models.chat.imports.kept import KEPT_TABLES, scope_of
from models.chat.imports.rows import TABLES
from models.chat.tables import RowChange, StarredMessage, UserMessage
from models.dialects import dialect_of, id_in
from specd.db import Db, table_of

_CHANGE = table_of(RowChange)
_STAR, _COPY = table_of(StarredMessage), table_of(UserMessage)
FOLLOWED: tuple[Table, ...] = (*TABLES, *KEPT_TABLES)
"""The tables that a move copies."""
CAPTURED: tuple[Table, ...] = (*FOLLOWED, _STAR)
"""The tables with triggers. A star changes its copy."""
LOCK_MS = 100
OPERATIONS = ("INSERT", "UPDATE", "DELETE")
_OWNERS = {"user_id": "user", "sender_id": "user", "channel_id": "channel"}
"""Columns that tell whose a row is, where it does not say so itself."""
Key = tuple[int | str, ...]


class Change(NamedTuple):
    """An entry of the log: the primary key of a row, and the entry's own id."""

    id: int
    key: Key


def key_of(table: Table) -> tuple[list[Column[Any]], Column[Any] | None]:
    """Return the columns of the primary key: numbers, and at most one text, which comes last."""
    numbers = [column for column in table.primary_key if not isinstance(column.type, String)]
    texts = [column for column in table.primary_key if isinstance(column.type, String)]
    assert 1 <= len(numbers) <= 2
    assert len(texts) <= 1
    return numbers, texts[0] if texts else None


# --- triggers -------------------------------------------------------------------------------------


def install(session: Session, realm_id: int, table: Table) -> None:
    """Note the changes of an organization's rows of a table from now on, unless it is done."""
    postgresql = dialect_of(session) == "postgresql"
    _wait_briefly(session)
    for statement in _on_postgresql(realm_id, table) if postgresql else _on_sqlite(realm_id, table):
        _execute(session, statement)


def remove(session: Session, realm_id: int, table: Table) -> None:
    """Note the changes no longer."""
    _wait_briefly(session)
    for operation in OPERATIONS:
        name = _name(realm_id, table, operation)
        if dialect_of(session) == "postgresql":
            _execute(session, f'DROP TRIGGER IF EXISTS "{name}" ON "{table.name}"')
        else:
            _execute(session, f'DROP TRIGGER IF EXISTS "{name}"')
    if dialect_of(session) == "postgresql":
        _execute(session, f'DROP FUNCTION IF EXISTS "{_name(realm_id, table)}"()')


def is_installed(db: Db, realm_id: int) -> bool:
    """Return whether all changes of an organization are noted."""
    wanted = {_name(realm_id, table, each) for table in CAPTURED for each in OPERATIONS}
    return wanted <= set(find_triggers(db))


def find_triggers(db: Db) -> list[str]:
    """Return the names of all triggers of moves in a database."""
    source = "pg_trigger" if dialect_of(db) == "postgresql" else "sqlite_master"
    column = "tgname" if dialect_of(db) == "postgresql" else "name"
    only = "" if dialect_of(db) == "postgresql" else " AND type = 'trigger'"
    found = text(f"SELECT {column} FROM {source} WHERE {column} LIKE 'move|_%' ESCAPE '|'{only}")
    return sorted(db.execute(found).scalars())


def _wait_briefly(session: Session) -> None:
    """Give up soon where the table is in use: all others wait behind whoever waits for its lock."""
    if dialect_of(session) == "postgresql":
        _execute(session, f"SET LOCAL lock_timeout = '{LOCK_MS}ms'")


def _execute(session: Session, statement: str) -> None:
    session.connection().exec_driver_sql(statement)


def _name(realm_id: int, table: Table, operation: str = "") -> str:
    return "_".join(filter(None, ("move", str(realm_id), table.name, operation.lower())))


def _logged_as(table: Table) -> str:
    return _COPY.name if table is _STAR else table.name


def _values(realm_id: int, table: Table, row: str) -> str:
    """Return the values of an entry, from the columns of `row`."""
    numbers, words = key_of(table)
    columns = [f"{row}.{column.name}" for column in numbers]
    columns += ["NULL"] * (2 - len(columns))
    columns.append("NULL" if words is None else f"{row}.{words.name}")
    return ", ".join((str(realm_id), f"'{_logged_as(table)}'", *columns))


def _condition(realm_id: int, table: Table, row: str) -> str:
    """Return the condition that a row is the organization's; of some tables all rows are noted, and
    who reads finds out.
    """
    if table.name == "realm":
        return f"{row}.id = {realm_id}"
    if "realm_id" in table.c:
        return f"{row}.realm_id = {realm_id}"
    for column, owner in _OWNERS.items():
        if column in table.c and not table.c[column].nullable:
            return (
                f'EXISTS (SELECT 1 FROM "{owner}" AS owner'
                f" WHERE owner.id = {row}.{column} AND owner.realm_id = {realm_id})"
            )
    return "1 = 1"


_INTO = "INSERT INTO row_change (realm_id, table_name, key, key2, key_text)"


def _rows_of(table: Table, operation: str) -> tuple[str, ...]:
    """Return whether the key before or after a change is noted; numbers of keys never change."""
    if operation == "UPDATE" and key_of(table)[1] is not None:
        return ("OLD", "NEW")
    return ("OLD",) if operation == "DELETE" else ("NEW",)


def _on_sqlite(realm_id: int, table: Table) -> Iterator[str]:
    for operation in OPERATIONS:
        rows = _rows_of(table, operation)
        noted = "".join(f"{_INTO} VALUES ({_values(realm_id, table, row)}); " for row in rows)
        yield (
            f'CREATE TRIGGER IF NOT EXISTS "{_name(realm_id, table, operation)}"'
            f' AFTER {operation} ON "{table.name}"'
            f" WHEN {_condition(realm_id, table, rows[0])} BEGIN {noted}END"
        )


def _on_postgresql(realm_id: int, table: Table) -> Iterator[str]:
    def noted(row: str) -> str:
        return (
            f"{_INTO} SELECT {_values(realm_id, table, 'changed')}"
            f" FROM {row.lower()}_rows AS changed"
            f" WHERE {_condition(realm_id, table, 'changed')};"
        )

    body = "".join(
        f" IF TG_OP = '{operation}' THEN"
        f" {' '.join(noted(row) for row in _rows_of(table, operation))} END IF;"
        for operation in OPERATIONS
    )
    function = _name(realm_id, table)
    yield (
        f'CREATE OR REPLACE FUNCTION "{function}"() RETURNS trigger LANGUAGE plpgsql'
        f" AS $$BEGIN{body} RETURN NULL; END$$"
    )
    for operation in OPERATIONS:
        rows = _rows_of(table, operation)
        transition = " ".join(f"{row} TABLE AS {row.lower()}_rows" for row in rows)
        yield (
            f'CREATE OR REPLACE TRIGGER "{_name(realm_id, table, operation)}"'
            f' AFTER {operation} ON "{table.name}" REFERENCING {transition}'
            f' FOR EACH STATEMENT EXECUTE FUNCTION "{function}"()'
        )


# --- the log --------------------------------------------------------------------------------------


def note_all(session: Session, realm_id: int, part: Part) -> None:
    """Note every row of a part, as if it had changed."""
    numbers, words = key_of(table_of(part.table))
    second = numbers[1] if len(numbers) == 2 else null()
    rows = select(
        literal(realm_id),
        literal(part.table.__tablename__),
        numbers[0],
        second,
        null() if words is None else words,
    ).where(part.where(scope_of(realm_id)))
    names = ["realm_id", "table_name", "key", "key2", "key_text"]
    session.connection().execute(insert(_CHANGE).from_select(names, rows))


_NEXT = (
    select(_CHANGE)
    .where(
        _CHANGE.c.realm_id == bindparam("of_realm_id"),
        _CHANGE.c.table_name == bindparam("of_table"),
        _CHANGE.c.id > bindparam("after"),
    )
    .order_by(_CHANGE.c.id)
    .limit(bindparam("most"))
)


def find_changes(db: Db, realm_id: int, table: Table, *, after: int, most: int) -> list[Change]:
    """Return the next entries of a table, in their order."""
    numbers, words = key_of(table)
    values = {"of_realm_id": realm_id, "of_table": table.name, "after": after, "most": most}
    found = []
    for row in db.execute(_NEXT, values):
        key: Key = (row.key, row.key2)[: len(numbers)]
        found.append(Change(row.id, key if words is None else (*key, row.key_text)))
    return found


def find_changed(db: Db, realm_id: int) -> frozenset[str]:
    """Return the names of tables that have entries."""
    names = select(_CHANGE.c.table_name).where(_CHANGE.c.realm_id == realm_id).distinct()
    return frozenset(db.execute(names).scalars())


def count_changes(db: Db, realm_id: int, most: int) -> int:
    """Return how many entries there are, `most` at most."""
    some = select(_CHANGE.c.id).where(_CHANGE.c.realm_id == realm_id).limit(most).subquery()
    return db.execute(select(func.count()).select_from(some)).scalar_one()


def forget_changes(session: Session, ids: Sequence[int]) -> None:
    """Remove entries that were followed."""
    session.connection().execute(delete(_CHANGE).where(id_in(_CHANGE.c.id, ids)))


def forget_some(session: Session, realm_id: int, most: int) -> bool:
    """Remove some entries of an organization; return whether there were any."""
    some = select(_CHANGE.c.id).where(_CHANGE.c.realm_id == realm_id).limit(most)
    gone = delete(_CHANGE).where(_CHANGE.c.id.in_(some))
    return session.connection().execute(gone).rowcount > 0
