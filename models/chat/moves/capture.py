"""Capture changes in an organization while it is copied: triggers record the key of each changed
row.

The triggers write to `row_change` in the transaction of the change, so that no change is missed.
The copier reads the current rows, so it only needs their keys. On PostgreSQL a trigger runs once
for each statement, on SQLite once for each row.
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
"""The tables with triggers. A change of a star also changes its message copy."""
LOCK_MS = 100
OPERATIONS = ("INSERT", "UPDATE", "DELETE")
_OWNERS = {"user_id": "user", "sender_id": "user", "channel_id": "channel"}
"""Columns that identify the organization of rows without `realm_id`."""
Key = tuple[int | str, ...]


class Change(NamedTuple):
    """An entry of the log: its id, and the primary key of the changed row."""

    id: int
    key: Key


def key_of(table: Table) -> tuple[list[Column[Any]], Column[Any] | None]:
    """Return the primary key: one or two numbers, and the text column or None."""
    numbers = [column for column in table.primary_key if not isinstance(column.type, String)]
    texts = [column for column in table.primary_key if isinstance(column.type, String)]
    assert 1 <= len(numbers) <= 2
    assert len(texts) <= 1
    return numbers, texts[0] if texts else None


# --- triggers -------------------------------------------------------------------------------------


def install(session: Session, realm_id: int, table: Table) -> None:
    """Record changes in an organization's rows of a table from now on. Do nothing if they are
    already recorded.
    """
    postgresql = dialect_of(session) == "postgresql"
    _wait_briefly(session)
    for statement in _on_postgresql(realm_id, table) if postgresql else _on_sqlite(realm_id, table):
        _execute(session, statement)


def remove(session: Session, realm_id: int, table: Table) -> None:
    """Stop recording changes in a table."""
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
    """Return whether all changes in an organization are recorded."""
    wanted = {_name(realm_id, table, each) for table in CAPTURED for each in OPERATIONS}
    return wanted <= set(find_triggers(db))


def find_triggers(db: Db) -> list[str]:
    """Return the names of all triggers for moves in a database."""
    source = "pg_trigger" if dialect_of(db) == "postgresql" else "sqlite_master"
    column = "tgname" if dialect_of(db) == "postgresql" else "name"
    only = "" if dialect_of(db) == "postgresql" else " AND type = 'trigger'"
    found = text(f"SELECT {column} FROM {source} WHERE {column} LIKE 'move|_%' ESCAPE '|'{only}")
    return sorted(db.execute(found).scalars())


def _wait_briefly(session: Session) -> None:
    """Wait for the table only briefly: other requests queue behind a waiting lock."""
    if dialect_of(session) == "postgresql":
        _execute(session, f"SET LOCAL lock_timeout = '{LOCK_MS}ms'")


def _execute(session: Session, statement: str) -> None:
    session.connection().exec_driver_sql(statement)


def _name(realm_id: int, table: Table, operation: str = "") -> str:
    return "_".join(filter(None, ("move", str(realm_id), table.name, operation.lower())))


def _logged_as(table: Table) -> str:
    return _COPY.name if table is _STAR else table.name


def _values(realm_id: int, table: Table, row: str) -> str:
    """Return the values of an entry, as columns of `row`."""
    numbers, words = key_of(table)
    columns = [f"{row}.{column.name}" for column in numbers]
    columns += ["NULL"] * (2 - len(columns))
    columns.append("NULL" if words is None else f"{row}.{words.name}")
    return ", ".join((str(realm_id), f"'{_logged_as(table)}'", *columns))


def _condition(realm_id: int, table: Table, row: str) -> str:
    """Return the condition that a row belongs to the organization. Some tables cannot be filtered:
    all their rows are recorded, and the copier filters them.
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
    """Return whether to record the key before or after the change, or both. Numbers in keys never
    change.
    """
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
    """Record every row of a part as if it had changed."""
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
    """Return the next entries of a table, in order."""
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
    """Return the number of entries, at most `most`."""
    some = select(_CHANGE.c.id).where(_CHANGE.c.realm_id == realm_id).limit(most).subquery()
    return db.execute(select(func.count()).select_from(some)).scalar_one()


def forget_changes(session: Session, ids: Sequence[int]) -> None:
    """Delete entries whose rows were copied."""
    session.connection().execute(delete(_CHANGE).where(id_in(_CHANGE.c.id, ids)))


def forget_some(session: Session, realm_id: int, most: int) -> bool:
    """Delete some entries of an organization. Return whether there were any."""
    some = select(_CHANGE.c.id).where(_CHANGE.c.realm_id == realm_id).limit(most)
    gone = delete(_CHANGE).where(_CHANGE.c.id.in_(some))
    return session.connection().execute(gone).rowcount > 0
