"""`specd serve`: the process becomes gunicorn, with all that it has imported so far."""

import os
import sys
import traceback
from importlib import import_module

import click
import structlog
from gunicorn.app import wsgiapp

from specd import _logs as logs
from specd._cli.databases import require_databases
from specd._cli.folders import require_folders
from specd._cli.output import without_secrets
from specd._cli.waiting import START_WAIT_S, once_available, wait_option
from specd._library_internals import check_library_internals
from specd._project import EVERYTHING, current
from specd._settings import is_loopback, load_settings


def gunicorn_argv(application: str) -> list[str]:
    """Return the command line that serves `wsgi:<application>` with our configuration."""
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "python:specd._cli.gunicorn_conf",
        f"wsgi:{application}",
    ]


def _build(application: str) -> None:
    """Build the application that gunicorn finds then, so that it serves soon after the return of a
    database. Building opens nothing. The log of servers begins when they serve: each look at the
    database would have a line.
    """
    import_module("specd._cli.gunicorn_conf")  # before anything imports prometheus_client
    silent = structlog.get_config()
    getattr(import_module("wsgi"), application)
    structlog.configure(**silent)


@click.command()
@click.option(
    "--only",
    type=click.Choice(current().names),
    help="Serve only this service.",
)
@click.option(
    "--reload",
    "reloads",
    is_flag=True,
    help="For development on this machine: serve the files as they change, with one process.",
)
@wait_option(START_WAIT_S)
def serve(only: str | None, reloads: bool, wait_s: float) -> None:
    """Serve HTTP with gunicorn until SIGTERM or Ctrl-C."""
    check_library_internals()
    settings = load_settings()
    if reloads and not is_loopback(settings.bind.rpartition(":")[0]):
        raise click.ClickException(
            "--reload shows mistakes to every client and requires a SPECD_BIND that only this"
            f" machine can reach, such as 127.0.0.1:8080, not {settings.bind}."
        )
    require_folders(settings, serves=True)
    application = only or EVERYTHING
    once_available(
        settings,
        wait_s,
        lambda: require_databases(settings, only),
        lambda: None if reloads else _build(application),
    )
    if reloads:
        words = ["-m", "specd._cli.reloading", settings.bind, application]
        os.execv(sys.executable, [sys.executable, *words])
    logs.configure(settings.log_level, secrets=current().secret_patterns())
    # On SIGUSR2 gunicorn starts Python with these arguments again.
    sys.argv = ["-mgunicorn", *gunicorn_argv(application)[3:]]
    try:
        wsgiapp.run(prog="gunicorn")
    except Exception:
        # In full, as gunicorn prints it, because it names the place of an error in a document.
        click.echo(without_secrets(traceback.format_exc()), err=True)
        sys.exit(1)
