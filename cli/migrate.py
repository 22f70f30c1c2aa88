"""`specd migrate`: upgrades every database to this release's schema."""

import click

from cli.output import answer, json_option
from models.migrate import upgrade
from settings import Settings


@click.command()
@json_option
def migrate(as_json: bool) -> None:
    """Create or upgrade the databases; repeated and concurrent runs are safe."""
    settings = Settings.from_env()
    services = migrate_all(settings)
    answer({"migrated": services}, as_json=as_json, text=f"Migrated: {', '.join(services)}.")


def migrate_all(settings: Settings) -> list[str]:
    """Upgrade each service's database; the names of the services."""
    for service, url in settings.database_urls.items():
        upgrade(url, service)
    return list(settings.database_urls)
