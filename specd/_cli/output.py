"""The output of commands: text for people, or with `--json` one JSON object as the last line."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from specd._db.errors import DatabaseUnavailable
from specd._engine.printable import printable as printable
from specd._logs import BLOT
from specd._project import find_project
from specd._settings import mask

PIPE_WIDTH = 1000  # programs that read a pipe need complete rows

F = TypeVar("F", bound=Callable[..., object])


def json_option(command: F) -> F:
    """Add the option `--json` to a click command, as its argument `as_json`."""
    help = "Print one JSON object as the last line of standard output."
    return click.option("--json", "as_json", is_flag=True, help=help)(command)


def answer(
    payload: Mapping[str, Any],
    *,
    as_json: bool,
    text: str = "",
    columns: tuple[str, ...] = (),
    rows: Sequence[tuple[str, ...]] = (),
) -> None:
    """Print the result of a command: the text, or a table of rows if there are `columns`, or with
    `as_json` the payload as one line of JSON.

    It is the last line of standard output, so print everything else to standard error. The texts of
    a table are printed unchanged, without markup.
    """
    if as_json or not columns:
        click.echo(json.dumps(payload) if as_json else text)
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(escape, row))  # `specd-server[s3]` is text, not markup
    console = Console()
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    console.print(table)


def without_secrets(text: str) -> str:
    """Return `text` with secrets replaced: the project's patterns, texts that look like keys,
    extended private keys, and passwords in URLs.
    """
    for pattern in _find_patterns():
        text = pattern.sub(BLOT, text)
    text = re.sub(r"\b([a-zA-Z]prv)[1-9A-HJ-NP-Za-km-z]{20,}", r"\1***", text)
    text = re.sub(r"\b[A-Za-z0-9]{32}\b", "***", text)
    return mask(text)


def _find_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of secrets of the project. The result is empty if there is no project or
    it is broken.
    """
    with suppress(Exception):
        project = find_project()
        return project.secret_patterns() if project else ()
    return ()


def one_sentence(text: str) -> str:
    """Return `text` on one line, ending in a period, without secrets."""
    text = " ".join(without_secrets(text).split())
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def database_message(error: Exception) -> str:
    """Return the first line of the database's or driver's message, because later lines may quote
    data.
    """
    cause = error.__cause__ if isinstance(error, DatabaseUnavailable) else error
    lines = str(getattr(cause, "orig", None) or "").strip().splitlines()
    return lines[0] if lines else ""
