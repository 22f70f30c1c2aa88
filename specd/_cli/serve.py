"""`specd serve`: runs gunicorn in this process, with everything that is already imported."""

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click
import structlog
from gunicorn.app import wsgiapp

from specd import _logs as logs
from specd._cli.databases import require_databases
from specd._cli.folders import require_folders
from specd._cli.names import ServiceName
from specd._cli.output import without_secrets
from specd._cli.waiting import START_WAIT_S, once_available, wait_option
from specd._library_internals import check_library_internals
from specd._project import current
from specd._settings import is_loopback, load_settings


def gunicorn_argv(services: Sequence[str]) -> list[str]:
    """Return the command line that serves some services with our configuration."""
    application = f"specd._applications:select({', '.join(map(repr, services))})"
    configuration = "python:specd._cli.gunicorn_conf"
    return [sys.executable, "-m", "gunicorn", "-c", configuration, application]


def _build(services: Sequence[str]) -> None:
    """Build the application for gunicorn in advance, so that it serves soon after a database
    becomes available. Building opens nothing. The log stays silent until the start, because
    otherwise each attempt to connect would write a line.
    """
    import_module("specd._cli.gunicorn_conf")  # before anything imports prometheus_client
    silent = structlog.get_config()
    current().application_of(*services)
    structlog.configure(**silent)


@click.command()
@click.option(
    "--only",
    type=ServiceName(),
    multiple=True,
    help="Serve only this service; repeat it for several.",
)
@click.option(
    "--reload",
    "reloads",
    is_flag=True,
    help="For development on this machine: reload changed files, with one process.",
)
@wait_option(START_WAIT_S)
def serve(only: tuple[str, ...], reloads: bool, wait_s: float) -> None:
    """Serve HTTP with gunicorn until SIGTERM or Ctrl-C.

    `SPECD_BIND` is the address, 127.0.0.1:8080 by default.
    """
    check_library_internals()
    settings = load_settings()
    if reloads and not is_loopback(settings.bind.rpartition(":")[0]):
        raise click.ClickException(
            "--reload shows errors to every client and requires a SPECD_BIND that only this"
            f" machine can reach, such as 127.0.0.1:8080, not {settings.bind}."
        )
    require_folders(settings, serves=True)
    services = tuple(name for name in current().names if not only or name in only)
    once_available(
        settings,
        wait_s,
        lambda: require_databases(settings, *services),
        lambda: None if reloads else _build(services),
    )
    if reloads:
        words = ["-m", "specd._cli.reloading", settings.bind, *services]
        os.execv(sys.executable, [sys.executable, *words])
    logs.configure(settings.log_level, secrets=current().secret_patterns())
    # On SIGUSR2 gunicorn starts Python with these arguments again.
    sys.argv = ["-mgunicorn", *gunicorn_argv(services)[3:]]
    try:
        wsgiapp.run(prog="gunicorn")
    except Exception:
        # Print it completely, as gunicorn does, because it contains the place of an error in a
        # document.
        click.echo(without_secrets(traceback.format_exc()), err=True)
        sys.exit(1)
