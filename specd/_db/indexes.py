"""Builds indexes that the models define and the database lacks, after the migrations.

If a migration built an index, writers of a large table would wait for it. PostgreSQL can build it
while others write, but not in a transaction. SQLite has one writer, so it builds the index in the
migration's transaction.
"""

import time

from sqlalchemy import Connection, Index, MetaData, inspect, text
from sqlalchemy.schema import CreateIndex

from specd._db.database import Database

_LOCK = 0x5BECE
_LOOK_S = 0.2
_BUILT = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index'",
    "postgresql": "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = oid"
    " WHERE pg_table_is_visible(oid) AND indisvalid",
}


def build_in_transaction(connection: Connection, models: MetaData) -> None:
    """Build the missing indexes in the current transaction, while no other process can write."""
    for index in find_missing(connection, models):
        index.create(connection)


def build_beside_writers(database: Database, models: MetaData) -> None:
    """Build the missing indexes in PostgreSQL, one process at a time, while others write.

    Rebuild an index that a killed process left incomplete. Raise `DatabaseUnavailable`.
    """
    with database.reading_apart() as reader:
        if not find_missing(reader, models):
            return
    with database.outside_transactions() as connection:
        # Poll, because a process that waits within a statement would be a reader, and the builder
        # would wait for it to end.
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:n)"), {"n": _LOCK}):
            time.sleep(_LOOK_S)
        for index in find_missing(connection, models):
            connection.execute(text(f'DROP INDEX CONCURRENTLY IF EXISTS "{index.name}"'))
            statement = str(CreateIndex(index).compile(dialect=connection.dialect))
            beside = statement.replace(" INDEX ", " INDEX CONCURRENTLY ", 1)
            connection.exec_driver_sql(beside)


def find_missing(connection: Connection, models: MetaData) -> list[Index]:
    """Return the indexes of the models that a database lacks. Skip indexes on columns that it lacks
    too, because their migration may not be written yet.
    """
    built = set(connection.execute(text(_BUILT[connection.dialect.name])).scalars())
    named = [index for table in models.sorted_tables for index in table.indexes]
    missing = [index for index in named if index.name not in built]
    found = inspect(connection)
    columns = {
        (name, column["name"])
        for name in {index.table.name for index in missing if index.table is not None}
        if found.has_table(name)
        for column in found.get_columns(name)
    }
    ready = [
        index
        for index in missing
        if index.table is not None
        and {(index.table.name, column.name) for column in index.columns} <= columns
    ]
    return sorted(ready, key=lambda index: str(index.name))
