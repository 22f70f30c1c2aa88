"""Opens the databases of a command; rejects a missing or outdated one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from models.database import Database
from models.revisions import is_foreign, is_usable
from settings import Settings

SQLITE = "sqlite:///"
UNKNOWN_REVISION = (
    "not of this release or an earlier one; restore a backup, or start with an empty database"
)
UNMIGRATED = "not migrated to this release; run `specd migrate` first"


@contextmanager
def open_database(service: str, settings: Settings) -> Iterator[Database]:
    """Yield a service's database, migrated. Raise ClickException or DatabaseUnavailable."""
    url = settings.database_urls[service]
    if is_missing(url) or not is_usable(url, service):
        raise click.ClickException(f"The {service} database is {why_unusable(url, service)}.")
    with closing(Database.for_service(service, settings)) as database:
        yield database


def limits_are_missing(lacks: list[str]) -> str:
    """Return what to tell an operator about what `Database.missing_limits` returns."""
    return (
        f"without {', '.join(lacks)}; behind a pooler that changes connections between"
        " transactions, add `?pooling=transaction` to the database's URL"
    )


def is_missing(url: str) -> bool:
    """Return whether the URL names a missing SQLite file, without creating it."""
    return url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE).split("?")[0]).exists()


def why_unusable(url: str, service: str) -> str:
    """Return what to tell an operator about a database whose schema this release cannot use."""
    if not is_missing(url) and is_foreign(url, service):
        return UNKNOWN_REVISION
    return UNMIGRATED
