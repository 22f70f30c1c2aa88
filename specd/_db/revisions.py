"""Finds the migrations that a database has, and whether this release can use its schema.

Each start and each readiness probe checks this, so Alembic is not used: importing it and reading
the history take longer than the start of a command.

A migration names the `oldest` release that can use the schema after it, by that release's newest
migration. `specd migrate` writes this into the database for servers of older releases, because only
the newer release has the file of the migration.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select, text

from specd._db.database import APPLIED, Database
from specd._project import current

NUMBER_LENGTH = 4
COMPATIBILITY = Table(
    "schema_compatibility",
    MetaData(),
    Column("revision", String(NUMBER_LENGTH), primary_key=True),
    Column("oldest", String(NUMBER_LENGTH), nullable=False),
)


def is_usable(url: str, service: str) -> bool:
    """Return whether this release can use the schema. Raise `DatabaseUnavailable`."""
    with closing(Database(url)) as database:
        return has_usable_schema(database, service)


def has_usable_schema(database: Database, service: str) -> bool:
    """Return whether every migration of this release is applied, and no later migration whose
    schema this release cannot use. Use a connection that no request uses. Raise
    `DatabaseUnavailable`.
    """
    newest = newest_migration(service)
    if not newest:
        return True
    with database.reading_apart() as connection:
        if not inspect(connection).has_table(APPLIED):
            return False
        applied = connection.execute(text(f"SELECT version_num FROM {APPLIED}")).scalars().all()
        if len(applied) != 1 or applied[0] < newest:
            return False
        return applied[0] == newest or _oldest_for(connection, applied[0]) <= newest


def is_foreign(url: str, service: str) -> bool:
    """Return whether a database has a migration that this release does not have, so that it cannot
    be upgraded. Raise `DatabaseUnavailable`.
    """
    known = {path.name[:NUMBER_LENGTH] for path in _migrations(service)}
    with closing(Database(url)) as database, database.reading_apart() as connection:
        if not inspect(connection).has_table(APPLIED):
            return False
        applied = connection.execute(text(f"SELECT version_num FROM {APPLIED}")).scalars().all()
        return not known.issuperset(applied)


def _oldest_for(connection: Connection, revision: str) -> str:
    """Return the oldest release that can use the schema of a revision. If none is recorded, only
    the release of that revision can.
    """
    if not inspect(connection).has_table(COMPATIBILITY.name):
        return revision
    named = select(COMPATIBILITY.c.oldest).where(COMPATIBILITY.c.revision == revision)
    return connection.execute(named).scalar() or revision


def newest_migration(service: str) -> str:
    """Return the number of a service's last migration, such as `0007`, or an empty text if it has
    no migrations. Each file has a different number. Raise ValueError for an unknown service.
    """
    return max((path.name[:NUMBER_LENGTH] for path in _migrations(service)), default="")


def _migrations(service: str) -> Iterator[Path]:
    return history_of(service).glob("[0-9]*_*.py")


def history_of(service: str) -> Path:
    """Return the folder of a service's migrations. Raise ValueError for an unknown service."""
    try:
        return current().migrations(service)
    except KeyError:
        raise ValueError(f"there is no service named {service}") from None
