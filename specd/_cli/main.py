"""The console script `specd`: a click group that turns failures into a line and an exit status."""

import ast
import gc
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import structlog

from specd._cli.identity import require_own_identity
from specd._cli.output import database_message, one_sentence, without_secrets
from specd._db.errors import Refusal
from specd._library_internals import LibraryInternalMissing
from specd._project import BrokenProject, NoProject, find_project
from specd._release import RELEASE
from specd._settings import SettingsError

OWN_COMMANDS = (
    *("migrate", "serve", "worker", "new", "types", "routes", "mock"),
    *("check", "config", "doctor"),
)
COLLECT_AFTER = (20_000, 20, 50)
"""The thresholds of garbage collection. With Python's defaults, traversing the imported modules,
which are permanent, takes a fifth of a server's start.
"""
TRACEBACK = "--traceback"
USAGE_STATUS = 2
FAILURE_STATUS = 1
INTERRUPTED_STATUS = 130


class Commands(click.Group):
    """The commands. `specd NAME` is the function NAME of its module, which is imported on demand,
    because importing all of them takes two seconds.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(find_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (commands := find_commands()):
            return None
        command: click.Command = getattr(import_module(commands[cmd_name]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their docstrings, without importing them."""
        commands = find_commands()
        limit = formatter.width - 6 - max(map(len, commands))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, listed(name, module).get_short_help_str(limit))
                    for name, module in commands.items()
                ]
            )


def find_commands() -> dict[str, str]:
    """Return command -> the module that has the function of the same name, for the commands of the
    library and of the project, if there is one.
    """
    commands = {name: f"specd._cli.{name}" for name in OWN_COMMANDS}
    if (project := find_project()) is not None:
        commands |= {each.name: each.commands for each in project.services if each.commands}
        commands |= project.commands
    return commands


def listed(name: str, module: str) -> click.Command:
    """Return a command with only its name and the help of its docstring."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    (function,) = (
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return click.Command(name, help=ast.get_docstring(function))


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(version=RELEASE, message="specd %(version)s")
@click.option(
    TRACEBACK,
    is_flag=True,
    expose_value=False,
    help="Show the traceback of a failure. Must be the first argument.",
)
def specd() -> None:
    """specd serves hand-written OpenAPI documents: it rejects every request that the document does
    not allow, and calls your Python function for all others.

    Settings are SPECD_* environment variables: `specd config check` lists them.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit: 0, 1 for a failure, 2 for a wrong command line."""
    words = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(*COLLECT_AFTER)
    try:
        # No other user of this machine may read the files of a command.
        with _silent_logs(), private_files():
            require_own_identity(words)
            status: Any = specd.main(words, prog_name="specd", standalone_mode=False)
    except Exception as error:
        if TRACEBACK in words[:1] or isinstance(error, BrokenProject):
            # Local variables are not shown, but a message may quote the input, so secrets are
            # masked.
            click.echo(without_secrets("".join(traceback.format_exception(error))), err=True)
        click.echo(f"Error: {one_sentence(_wording(error))}", err=True)
        status = USAGE_STATUS if isinstance(error, click.UsageError) else FAILURE_STATUS
    except KeyboardInterrupt:
        status = INTERRUPTED_STATUS
    sys.exit(status if isinstance(status, int) else 0)


@contextmanager
def private_files() -> Iterator[None]:
    """Restrict new files and folders of this process and its children to their owner."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Silence the logs of short commands. `worker` configures its own log."""
    before = structlog.get_config()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)


def _wording(error: Exception) -> str:
    if message := database_message(error):
        return f"The database cannot be used: {message}"
    match error:
        case click.ClickException():
            return error.format_message()
        case click.Abort():
            return "Interrupted."
        case Refusal() | SettingsError() | LibraryInternalMissing() | NoProject() | BrokenProject():
            return str(error)
        case OSError() if error.strerror:
            return f"{error.strerror}: {error.filename or error.errno}"
        case ModuleNotFoundError():
            return (
                f"{error} (`specd {TRACEBACK} ...` shows where): check that the requirements of the"
                " project are installed"
            )
    # The text of an unexpected exception may contain secrets, so only its class is shown.
    return f"specd failed ({type(error).__name__}); `specd {TRACEBACK} ...` shows where"


if __name__ == "__main__":
    main()
