"""Secrets for commands: read from a file or standard input, never from an argument.

Every user of the machine can see arguments in the process list, and shells store them in their
history.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

SECRET_MAX = 64 * 1024


def secret_option(name: str, help: str) -> Callable[[F], F]:
    """Return a decorator that adds the option `--NAME-file`, which passes the secret to the
    parameter NAME. The option `--NAME` is rejected with an explanation.
    """

    def add(command: F) -> F:
        argument = name.replace("-", "_")
        from_file = click.option(
            f"--{name}-file",
            argument,
            metavar="FILE",
            callback=_read,
            help=f"{help} `-` reads stdin.",
        )
        refused = click.option(
            f"--{name}", f"{argument}_shown", hidden=True, expose_value=False, callback=_refuse
        )
        return from_file(refused(command))

    return add


def read_secret(place: str) -> str:
    """Return the text of a file, or of standard input (`-`), without final line breaks. Raise
    UsageError if it is empty.
    """
    with click.open_file(place) as source:
        text = str(source.read(SECRET_MAX)).rstrip("\r\n")
    if not text:
        raise click.UsageError(
            f"There is no secret in {'standard input' if place == '-' else place}."
        )
    return text


def _read(context: click.Context, option: click.Parameter, place: str | None) -> str | None:
    return None if place is None else read_secret(place)


def _refuse(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            f"{option.opts[0]} would show the secret to every user of this machine: use"
            f" {option.opts[0]}-file FILE, or - for standard input."
        )
