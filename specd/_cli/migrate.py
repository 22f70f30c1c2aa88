"""`specd migrate`: upgrades every database to this release's schema."""

from contextlib import closing
from importlib import import_module

import click

from specd._cli.databases import (
    SQLITE,
    UNKNOWN_REVISION,
    is_migrated,
    may_create_tables,
    owner_is_missing,
)
from specd._cli.folders import require_restored
from specd._cli.names import ServiceName
from specd._cli.output import answer, json_option
from specd._cli.waiting import once_available, wait_option
from specd._db.database import Database
from specd._project import current
from specd._settings import Settings, load_settings

NO_DATABASE = "There is no database to migrate."


@click.command()
@click.option("--only", type=ServiceName(), help="Migrate only the database of this service.")
@click.option(
    "--new",
    "name",
    metavar="NAME",
    help="Write the next migration, with the differences between the tables and the database.",
)
@wait_option(0)
@json_option
def migrate(as_json: bool, wait_s: float, only: str | None, name: str | None) -> None:
    """Create or upgrade the databases.

    Repeated and concurrent runs are safe.
    """
    settings = load_settings()
    require_restored(settings)
    if name is not None:
        files = once_available(settings, wait_s, lambda: write_all(settings, only, name))
        said = "\n".join(f"wrote    {file}" for file in files)
        nothing = "Nothing to write: the databases match the tables of the models."
        if not _urls(settings, only):
            nothing = NO_DATABASE
        answer({"written": files}, as_json=as_json, text=said or nothing)
        return
    services = once_available(settings, wait_s, lambda: migrate_all(settings, only))
    text = f"Migrated: {', '.join(services)}." if services else NO_DATABASE
    answer({"migrated": services}, as_json=as_json, text=text)


def migrate_all(settings: Settings, only: str | None = None) -> list[str]:
    """Upgrade the database of each service, or of one. Return the names of the services."""
    urls = _urls(settings, only)
    for service, url in urls.items():
        if not is_migrated(url, service):
            _require_owner(url, service)
            _upgrade(url, service)
            _expect_workers(url, service)
    return list(urls)


def write_all(settings: Settings, only: str | None, name: str) -> list[str]:
    """Upgrade the databases, and write a migration for each service whose tables differ from its
    database. Return the files, below the root of the project.
    """
    autogenerate = import_module(
        "specd._db.autogenerate"
    )  # imports Alembic, which most starts do not need
    if not autogenerate.NAME.fullmatch(name):
        raise click.UsageError("NAME must consist of lower-case letters, digits and underscores.")
    migrate_all(settings, only)
    root, files = current().root, []
    for service, url in _urls(settings, only).items():
        if file := autogenerate.write_migration(url, service, name):
            files.append(str(file.relative_to(root)))
    return files


def _urls(settings: Settings, only: str | None) -> dict[str, str]:
    return {name: url for name, url in settings.database_urls.items() if only in (None, name)}


def _require_owner(url: str, service: str) -> None:
    if not url.startswith(SQLITE) and not may_create_tables(url):
        raise click.ClickException(
            f"The role of the {service} database cannot create tables; {owner_is_missing(url)}."
        )


def _upgrade(url: str, service: str) -> None:
    from specd._db import migrate  # imports Alembic, which most starts do not need

    try:
        migrate.upgrade(url, service)
    except migrate.UnknownRevision as error:
        raise click.ClickException(f"The {service} database is {UNKNOWN_REVISION}.") from error
    except migrate.BrokenReferences as error:
        raise click.ClickException(f"The {service} database was not changed: {error}.") from error
    except migrate.WrongEncoding as error:
        raise click.ClickException(
            f"The {service} database has the encoding {error}, but needs UTF8: create it again"
            " with ENCODING 'UTF8' TEMPLATE template0."
        ) from error


def _expect_workers(url: str, service: str) -> None:
    """Expect the workers of this release, so that a worker that is never started is reported."""
    registry = import_module(
        "specd._workers.registry"
    )  # imports all workers, which most starts do not need
    if service in registry.SERVICES:
        with closing(Database(url)) as database:
            registry.expect_all(service, database)
