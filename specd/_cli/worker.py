"""`specd worker`: run the background jobs of this process until SIGTERM or Ctrl-C."""

import os

import click

from specd import _tracing as tracing
from specd._cli.databases import require_databases
from specd._cli.folders import require_folders
from specd._cli.memory import use_one_arena
from specd._cli.waiting import START_WAIT_S, once_available, wait_option
from specd._settings import load_settings
from specd._workers.registry import NAMES, SERVICE_OF, SERVICES, NoDatabase, run


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAME]...")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(tuple(SERVICES)),
    help="Run only the workers of this service; repeat it for several.",
)
@wait_option(START_WAIT_S)
def worker(names: tuple[str, ...], only: tuple[str, ...], wait_s: float) -> None:
    """Run the named workers, or all of them.

    Several processes can run concurrently. Only the databases of the chosen workers must exist.
    """
    if names and only:
        raise click.UsageError("Give workers, or services with --only.")
    use_one_arena()
    settings = load_settings()
    require_folders(settings, serves=False)
    chosen = names or tuple(name for name in NAMES if not only or SERVICE_OF[name] in only)
    services = [service for service, theirs in SERVICES.items() if set(theirs) & set(chosen)]
    once_available(settings, wait_s, lambda: require_databases(settings, *services))
    try:
        tracing.start(os.environ, "specd-worker")
    except tracing.CannotTrace as error:
        raise click.ClickException(str(error)) from None
    try:
        run(chosen, settings)
    except NoDatabase as error:
        raise click.ClickException(str(error)) from None
    finally:
        tracing.close()
