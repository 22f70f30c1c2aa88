"""Secrets for commands, from the environment, a file or standard input.

They should not be arguments, because other users of the machine can see a process's arguments, and
the shell stores them in its history.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

LONGEST = 4096
"""The maximum length of a secret from a file or standard input."""


def read_secret(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return the secret for an option; use this as its callback. `-` reads standard input, and
    `@PATH` reads a file. Print a warning if the secret itself is an argument. Raise
    `click.BadParameter` if the file cannot be read.
    """
    name = option.name or ""
    if value is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return value
    if value == "-":
        return sys.stdin.readline(LONGEST).strip()
    if value.startswith("@"):
        try:
            with Path(value[1:]).open(encoding="utf-8") as file:
                return file.read(LONGEST).strip()
        except (OSError, UnicodeError) as error:
            raise click.BadParameter(f"the file cannot be read ({error})") from None
    variable = option.envvar if isinstance(option, click.Option) else None
    click.echo(
        f"Warning: other users can see the value of --{name} in the process list; use the variable"
        f" {variable}, --{name} @FILE or --{name} - (standard input).",
        err=True,
    )
    return value
