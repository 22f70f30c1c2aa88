"""`specd serve`: replaces the process with gunicorn."""

import os
import sys

import click

import services
from cli.databases import require_all_migrated
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
    settings = Settings.from_env()
    require_all_migrated(settings, only)
    argv = gunicorn_argv(only or EVERYTHING)
    os.execv(argv[0], argv)
