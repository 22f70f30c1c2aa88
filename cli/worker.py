"""`specd worker`: run the background jobs of this process until SIGTERM or Ctrl-C."""

import click

from cli.databases import database_urls, require_migrated
from settings import Settings
from workers.registry import NAMES, run


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAME]...")
def worker(names: tuple[str, ...]) -> None:
    """Run the named workers, or all; several processes at once are safe."""
    settings = Settings.from_env()
    for service, url in database_urls(settings).items():
        require_migrated(service, url)
    run(names or NAMES, settings)
