"""`specd serve`: the process becomes gunicorn, with all that it has imported so far."""

import sys
import traceback

import click
from gunicorn.app import wsgiapp

import services
from cli.databases import require_all_migrated
from cli.output import without_secrets
from cli.shared_secrets import require_secrets
from seams import require_seams
from settings import Settings

EVERYTHING = "app"
"""The application that serves every service; the others are called like theirs."""


def gunicorn_argv(application: str) -> list[str]:
    """The command line that serves `wsgi:<application>` with our configuration."""
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "python:cli.gunicorn_conf",
        f"wsgi:{application}",
    ]


@click.command()
@click.option(
    "--only",
    type=click.Choice(services.NAMES),
    help="Serve only this service.",
)
def serve(only: str | None) -> None:
    """Serve HTTP with gunicorn until SIGTERM or Ctrl-C."""
    require_seams()
    settings = Settings.from_env()
    require_all_migrated(settings, only)
    require_secrets(settings, only)
    words = gunicorn_argv(only or EVERYTHING)[3:]
    # On SIGUSR2 gunicorn starts Python with these words again.
    sys.argv = ["-mgunicorn", *words]
    try:
        wsgiapp.run(prog="gunicorn")
    except Exception:
        # Whole, as gunicorn has it printed: it names the place of a document that is not served.
        click.echo(without_secrets(traceback.format_exc()), err=True)
        sys.exit(1)
