"""Which migrations a database has had. Each start and each readiness probe checks it, so it does
without Alembic, whose import and reading of the history take longer than the start of a command.
"""

from contextlib import closing
from pathlib import Path

from sqlalchemy import inspect, text

from models.database import Database

HISTORIES = Path(__file__).parent / "migrations"
NUMBER_LENGTH = 4
_TABLE = "alembic_version"


def is_current(url: str, service: str) -> bool:
    """Return whether every migration is applied. Raise `DatabaseUnavailable`."""
    with closing(Database(url)) as database:
        return has_all_migrations(database, service)


def has_all_migrations(database: Database, service: str) -> bool:
    """Return the same of a database that is open, on a connection that no request uses."""
    newest = newest_migration(service)
    with database.reading_apart() as connection:
        if not inspect(connection).has_table(_TABLE):
            return False
        applied = connection.execute(text(f"SELECT version_num FROM {_TABLE}")).scalars()
        return list(applied) == [newest]


def newest_migration(service: str) -> str:
    """Return the number of a service's last migration, such as `0007`: one file has one number, and
    one number one file. Raise ValueError for an unknown service.
    """
    numbers = [
        path.name[:NUMBER_LENGTH] for path in history_of(service).glob("versions/[0-9]*_*.py")
    ]
    return max(numbers)


def history_of(service: str) -> Path:
    """Return the folder of a service's migrations. Raise ValueError for an unknown service."""
    folder = HISTORIES / service
    if not folder.is_dir():
        raise ValueError(f"there is no service named {service}")
    return folder
