"""`specd migrate`: upgrades every database to this release's schema."""

from contextlib import closing
from importlib import import_module

import click

from specd._cli.databases import (
    SQLITE,
    UNKNOWN_REVISION,
    is_missing,
    may_create_tables,
    owner_is_missing,
)
from specd._cli.folders import require_restored
from specd._cli.output import answer, json_option
from specd._cli.waiting import once_available, wait_option
from specd._db.database import Database
from specd._db.revisions import is_usable
from specd._settings import Settings, load_settings


@click.command()
@wait_option(0)
@json_option
def migrate(as_json: bool, wait_s: float) -> None:
    """Create or upgrade the databases; repeated and concurrent runs are safe."""
    settings = load_settings()
    require_restored(settings)
    services = once_available(settings, wait_s, lambda: migrate_all(settings))
    answer({"migrated": services}, as_json=as_json, text=f"Migrated: {', '.join(services)}.")


def migrate_all(settings: Settings) -> list[str]:
    """Upgrade each service's database; return the names of the services."""
    for service, url in settings.database_urls.items():
        if is_missing(url) or not is_usable(url, service):
            _require_owner(url, service)
            _upgrade(url, service)
            _expect_workers(url, service)
    return list(settings.database_urls)


def _require_owner(url: str, service: str) -> None:
    if not url.startswith(SQLITE) and not may_create_tables(url):
        raise click.ClickException(
            f"The role of the {service} database may not create tables; {owner_is_missing(url)}."
        )


def _upgrade(url: str, service: str) -> None:
    from specd._db import migrate  # imports Alembic, which most starts do not need

    try:
        migrate.upgrade(url, service)
    except migrate.UnknownRevision as error:
        raise click.ClickException(f"The {service} database is {UNKNOWN_REVISION}.") from error
    except migrate.WrongEncoding as error:
        raise click.ClickException(
            f"The {service} database has the encoding {error}, but UTF8 is needed: create it anew"
            " with ENCODING 'UTF8' TEMPLATE template0."
        ) from error


def _expect_workers(url: str, service: str) -> None:
    """Expect the workers of this release, so that one which nobody starts is missed."""
    registry = import_module(
        "specd._workers.registry"
    )  # imports all workers, which most starts do not
    if service in registry.SERVICES:
        with closing(Database(url)) as database:
            registry.expect_all(service, database)
