"""The bytes of the rows that a request writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import inspect
from sqlalchemy.orm import Session

from specd.db import Database

TABLE = "bytes_written"
_SUM = f"SELECT of_table, sum(bytes) FROM {TABLE} GROUP BY of_table"
_FUNCTION = f"""
CREATE FUNCTION note_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO {TABLE}
  SELECT TG_TABLE_NAME, coalesce(sum(
    octet_length(made.value) / CASE WHEN made.value LIKE '\\x%%' THEN 2 ELSE 1 END + 1
  ), 0)
  FROM jsonb_each_text(to_jsonb(NEW)) AS made
  WHERE made.value IS DISTINCT FROM to_jsonb(OLD) ->> made.key;
  RETURN NULL;
END $$
"""


@contextmanager
def weighed(database: Any) -> Iterator[None]:
    """Record the bytes of each inserted row and of each updated value with triggers on all tables.
    Yield a meter of the database (a `RolledBack`) that returns them.
    """
    tables: dict[str, list[str]] = {}
    with database.reading() as reader:
        found = inspect(reader)
        for table in found.get_table_names():
            columns = [column["name"] for column in found.get_columns(table)]
            tables[table] = columns
    if database.dialect == "sqlite":  # internal tables of a full-text index cannot have triggers
        with database.reading() as reader:
            virtual = reader.exec_driver_sql(
                "SELECT name FROM pragma_table_list WHERE type <> 'table' OR name LIKE 'sqlite%'"
            )
            for name in virtual.scalars():
                tables.pop(name, None)
    apart = Database(database._url.render_as_string(hide_password=False))
    try:
        apart.run(lambda session: _begin(session, database.dialect, tables))
        database.written = Counter()
        yield
    finally:
        database.written = None
        apart.run(lambda session: _end(session, database.dialect, tables))
        apart.dispose()


def take_bytes(connection: Any) -> Counter[str]:
    """Return table -> bytes that the transaction on this driver connection has written so far."""
    cursor = connection.cursor()
    cursor.execute(_SUM)
    found = Counter({table: int(size) for table, size in cursor.fetchall()})
    cursor.execute(f"DELETE FROM {TABLE}")
    cursor.close()
    return found


def _begin(session: Session, dialect: str, tables: dict[str, list[str]]) -> None:
    execute = session.connection().exec_driver_sql
    execute(f"CREATE TABLE {TABLE} (of_table text, bytes bigint)")
    if dialect == "sqlite":
        for table, columns in tables.items():
            every = " + ".join(map(_size, columns))
            changed = " + ".join(
                f'(NEW."{name}" IS NOT OLD."{name}") * ({_size(name)})' for name in columns
            )
            for verb, size in (("INSERT", every), ("UPDATE", changed)):
                execute(
                    f'CREATE TRIGGER "{TABLE}_{table}_{verb}" AFTER {verb} ON "{table}"'
                    f" BEGIN INSERT INTO {TABLE} VALUES ('{table}', {size}); END"
                )
        return
    execute(_FUNCTION)
    for table in tables:
        execute(
            f'CREATE TRIGGER {TABLE} AFTER INSERT OR UPDATE ON "{table}"'
            " FOR EACH ROW EXECUTE FUNCTION note_bytes()"
        )


def _size(column: str) -> str:
    return f'coalesce(length(CAST(NEW."{column}" AS BLOB)) + 1, 0)'


def _end(session: Session, dialect: str, tables: dict[str, list[str]]) -> None:
    execute = session.connection().exec_driver_sql
    if dialect == "sqlite":
        for table in tables:
            for verb in ("INSERT", "UPDATE"):
                execute(f'DROP TRIGGER "{TABLE}_{table}_{verb}"')
    else:
        execute("DROP FUNCTION note_bytes CASCADE")
    execute(f"DROP TABLE {TABLE}")
