"""Opens the databases of a command; rejects a missing or outdated one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from models.database import Database
from models.revisions import is_current
from settings import Settings

SQLITE = "sqlite:///"


@contextmanager
def open_database(service: str, settings: Settings) -> Iterator[Database]:
    """A service's database, migrated. Raises ClickException or DatabaseUnavailable."""
    require_migrated(service, settings.database_urls[service])
    with closing(Database.for_service(service, settings)) as database:
        yield database


def require_all_migrated(settings: Settings, *only: str | None) -> None:
    """Raises ClickException unless the databases of `only` (default: all services) are migrated."""
    wanted = set(filter(None, only))
    for service, url in settings.database_urls.items():
        if not wanted or service in wanted:
            require_migrated(service, url)


def require_migrated(service: str, url: str) -> None:
    """Raises ClickException unless the database exists with this release's schema."""
    if is_missing(url) or not is_current(url, service):
        raise click.ClickException(
            f"The {service} database is not migrated to this release; run `specd migrate` first."
        )


def is_missing(url: str) -> bool:
    """Whether the URL names a missing SQLite file; the check must not create the file."""
    return url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE).split("?")[0]).exists()
