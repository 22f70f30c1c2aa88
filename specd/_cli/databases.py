"""Opens databases for commands. Rejects missing and outdated databases, and different secrets."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click
from sqlalchemy import make_url, text

from specd._db.database import Database
from specd._db.revisions import is_foreign, is_usable
from specd._db.secret_checks import SharedSecret
from specd._project import current, find_object
from specd._settings import Settings, variable

SQLITE = "sqlite:///"
UNKNOWN_REVISION = (
    "not of this release or an earlier one; restore a backup, or start with an empty database"
)
UNMIGRATED = "not migrated to this release; run `specd migrate` first"


@contextmanager
def open_database(
    service: str, settings: Settings, *, needs_secret: bool = False
) -> Iterator[Database]:
    """Open the database of a service for a command.

    Raise ClickException, whose message tells the operator what to do, if the database is missing or
    not migrated. With `needs_secret`, also raise it if the database was not written under this
    machine's secret. Raise DatabaseUnavailable if the database does not respond.
    """
    url = settings.database_urls[service]
    if not is_migrated(url, service):
        raise click.ClickException(f"The {service} database is {why_unusable(url, service)}.")
    with closing(Database.for_service(service, settings)) as database:
        if needs_secret:
            _require_secret(service, database, settings)
        yield database


def find_secret(service: str) -> SharedSecret | None:
    """Return the secret that all machines of a service share, or None if it has none."""
    reference = current()[service].secret
    return find_object(reference) if reference else None


def _require_secret(service: str, database: Database, settings: Settings) -> None:
    secret = find_secret(service)
    if secret and not secret.is_shared(database, settings):
        raise click.ClickException(
            f"The {service} database was written with another {variable(f'{service}_secret')};"
            f" set the same on this machine (if unset, it is the file {service}-secret in"
            f" {variable('data_dir')}), or replace it with `specd {service} reseal`."
        )


def require_databases(settings: Settings, *only: str | None) -> None:
    """Raise ClickException unless the databases are migrated, were written under the secrets of
    this machine, and keep the time limits of connections. `only` names the services, by default
    all.
    """
    wanted = set(filter(None, only)) or settings.database_urls.keys()
    for service in settings.database_urls:
        if service in wanted:
            with open_database(service, settings, needs_secret=True) as database:
                lacks = database.missing_limits()
            if lacks:
                raise click.ClickException(
                    f"The {service} database is {limits_are_missing(lacks)}."
                )


def owner_is_missing(url: str) -> str:
    """Return the instruction by which a superuser of PostgreSQL creates the role and the database
    of a URL.
    """
    parts = make_url(url)
    role, name = (_identifier(text or "specd") for text in (parts.username, parts.database))
    return (
        f"as a superuser: CREATE ROLE {role} LOGIN PASSWORD '...'; CREATE DATABASE {name} OWNER"
        f" {role} ENCODING 'UTF8' TEMPLATE template0; for an existing database: ALTER DATABASE"
        f" {name} OWNER TO {role} (docs/deploy/first-hour.md)"
    )


def may_create_tables(url: str) -> bool:
    """Return whether the role of a PostgreSQL URL may create tables. Raise DatabaseUnavailable."""
    with closing(Database(url)) as database, database.reading_apart() as connection:
        asked = text("SELECT has_schema_privilege(current_schema(), 'CREATE')")
        return bool(connection.execute(asked).scalar())


def _identifier(name: str) -> str:
    """Return an SQL identifier, quoted if necessary."""
    if re.fullmatch("[a-z_][a-z0-9_]*", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def limits_are_missing(lacks: list[str]) -> str:
    """Return the message for operators about the result of `Database.missing_limits`."""
    return (
        f"without {', '.join(lacks)}; with a pooler that switches connections between"
        " transactions, add `?pooling=transaction` to the database's URL"
    )


def is_missing(url: str) -> bool:
    """Return whether the URL names a missing SQLite file, without creating it."""
    return url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE).split("?")[0]).exists()


def is_migrated(url: str, service: str) -> bool:
    """Return whether a database has the migrations of a service. Raise DatabaseUnavailable."""
    return not is_missing(url) and is_usable(url, service)


def why_unusable(url: str, service: str) -> str:
    """Return the message for operators about a database whose schema this release cannot use."""
    if not is_missing(url) and is_foreign(url, service):
        return UNKNOWN_REVISION
    return UNMIGRATED
