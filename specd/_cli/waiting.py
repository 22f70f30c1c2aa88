"""Waits for a database that starts later than this machine, for example after a power failure."""

import time
from collections.abc import Callable
from typing import TypeVar

import click

from specd._cli.databases import SQLITE
from specd._cli.output import database_message
from specd._db.errors import DatabaseUnavailable
from specd._settings import Settings

PAUSE_S = 0.5
START_WAIT_S = 600.0
"""How long servers and workers wait at their start."""
T = TypeVar("T")


def wait_option(default_s: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option `--wait`, in seconds."""
    return click.option(
        "--wait",
        "wait_s",
        type=click.FloatRange(min=0, max=86_400),
        default=default_s,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for a PostgreSQL server that does not respond yet.",
    )


def once_available(
    settings: Settings,
    wait_s: float,
    work: Callable[[], T],
    meanwhile: Callable[[], object] = lambda: None,
) -> T:
    """Return the result of `work`. Repeat it for `wait_s` seconds while a PostgreSQL database is
    not available, and then raise DatabaseUnavailable. Print each new reason to standard error, and
    call `meanwhile` once. SQLite needs no waiting.
    """
    ends_at = time.monotonic() + wait_s
    waits = not all(url.startswith(SQLITE) for url in settings.database_urls.values())
    told = ""
    while True:
        try:
            return work()
        except DatabaseUnavailable as error:
            if not waits or time.monotonic() + PAUSE_S > ends_at:
                raise
            reason = database_message(error) or "it does not respond"
            if reason != told:
                click.echo(f"Waiting for the database: {reason}", err=True)
                if not told:
                    meanwhile()
                told = reason
            time.sleep(PAUSE_S)
