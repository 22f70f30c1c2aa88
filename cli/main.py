"""The console script `specd`: one click group; every failure is one sentence and an exit status."""

import sys
import traceback
from typing import Any

import click

from cli.chain import chain
from cli.config import config
from cli.demo import demo
from cli.doctor import doctor
from cli.migrate import migrate
from cli.output import one_sentence, without_secrets
from cli.payment import payment
from cli.serve import serve
from cli.worker import worker
from models.errors import DomainError
from settings import SettingsError

TRACEBACK = "--traceback"
USAGE_STATUS = 2
FAILURE_STATUS = 1
INTERRUPTED_STATUS = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    TRACEBACK,
    is_flag=True,
    expose_value=False,
    help="Show where a failure came from; put it first.",
)
def specd() -> None:
    """Payment test checkout, served straight from its OpenAPI document.

    Settings are SPECD_* environment variables: `specd config check` lists them.
    """


for command in (migrate, serve, worker, demo, chain, payment, config, doctor):
    specd.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit: 0, 1 for a failure, 2 for a wrong command line."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        status: Any = specd.main(words, prog_name="specd", standalone_mode=False)
    except Exception as error:
        if TRACEBACK in words[:1]:
            # Locals are not shown, but a message may quote what was typed: mask it like the rest.
            click.echo(without_secrets("".join(traceback.format_exception(error))), err=True)
        click.echo(f"Error: {one_sentence(_wording(error))}", err=True)
        status = USAGE_STATUS if isinstance(error, click.UsageError) else FAILURE_STATUS
    except KeyboardInterrupt:
        status = INTERRUPTED_STATUS
    sys.exit(status if isinstance(status, int) else 0)


def _wording(error: Exception) -> str:
    match error:
        case click.ClickException():
            return error.format_message()
        case click.Abort():
            return "Interrupted."
        case DomainError() | SettingsError():
            return str(error)
        case OSError() if error.strerror:
            return f"{error.strerror}: {error.filename or error.errno}"
    # Unforeseen: the text of a foreign exception may hold anything, so only its kind is told.
    return f"specd failed ({type(error).__name__}); `specd {TRACEBACK} ...` shows where"


if __name__ == "__main__":
    main()
