"""`specd chat move`: moves an organization from another installation while users work in it."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from adapters.archive_reader import ArchiveRefused
from adapters.file_store.wiring import ARRIVING, build_file_store
from cli.chat_import import ImportProgress
from cli.shared_secrets import chat_vault, has_same_secret, key_maker
from models.chat.common.hosts import check_host
from models.chat.imports.runs import ImportTaken
from models.chat.moves.rows import RowNotMoved
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock, Database
from workers.imports import Imports
from workers.moves import Moved, Moves, Place

SWITCH_S = 60
"""The time limit of the switch command."""
LEFT_BEHIND = """\
Not moved:
- Deleted messages that are still stored, and exports.
- Queued mail: the old installation sends it."""
LEFT_WITH_THE_IDS = """\
Because the ids are new:
- Event queues and presence are not kept: clients register again.
- Email addresses of channels change: users copy the new addresses."""
SWITCH = """\
Now direct the proxy to this installation (docs/scale.md). Until then, requests fail with 503."""


@click.command("move")
@click.option("--host", required=True, help="Host name of the organization, without port.")
@click.option(
    "--from-env",
    "source_file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the settings of the installation to move from: its chat database and uploads.",
)
@click.option(
    "--switch-command",
    help="Shell command that directs the proxy to this installation after all data is copied.",
)
@click.option(
    "--keep-ids",
    is_flag=True,
    help="Stop if an id is already in use here. By default, all ids are then new.",
)
@click.option("--discard", is_flag=True, help="Cancel an unfinished move.")
@json_option
def move(
    host: str, source_file: Path, switch_command: str | None, keep_ids: bool, discard: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Move an organization here from another installation.

    Users can work during the move, except for some seconds at the end, when requests get 503. Both
    installations need this release and the same SPECD_CHAT_SECRET, so that users keep their keys.
    If the command is killed, run it again to resume.
    """
    host = check_host(host)
    settings, source_settings = Settings.from_env(), Settings.from_env(read_settings(source_file))
    progress = ImportProgress()
    with (
        open_database("chat", settings, needs_secret=True) as here,
        _opened_source(settings, source_settings, here) as source,
    ):
        files = build_file_store(settings)
        arriving = settings.chat_upload_dir / ARRIVING
        imports = Imports(
            here, Clock(), files, arriving, keys=key_maker(settings),
            vault=chat_vault(settings), listener=progress.tell,
        )  # fmt: skip
        moves = Moves(
            Place(source, build_file_store(source_settings)), Place(here, files), imports,
            Clock(), settings.chat_export_dir / "moves", listener=progress.tell,
            must_keep_ids=keep_ids,
        )  # fmt: skip
        try:
            if discard:
                moves.discard(host)
                text = "The move was canceled; the organization remains at its previous location."
                answer({"discarded": True}, as_json=as_json, text=text)
                return
            moved = moves.run(host, switch=_switch(switch_command))
        except ArchiveRefused as refusal:
            raise click.ClickException(f"The first copy was rejected: {refusal}.") from None
        except RowNotMoved as refusal:
            raise click.ClickException(f"A row was rejected: {refusal}.") from None
        except ImportTaken:
            raise click.ClickException("Another process is running this move.") from None
    _answer(moved, is_switched=switch_command is not None, as_json=as_json)


def read_settings(path: Path) -> dict[str, str]:
    """Return the variables of a file with lines NAME=VALUE. Raise `ClickException`."""
    values: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise click.ClickException(f"{path}, line {number}: is not NAME=VALUE.")
        values[name.strip()] = value.strip().strip("\"'")
    return values


@contextmanager
def _opened_source(settings: Settings, theirs: Settings, here: Database) -> Iterator[Database]:
    if theirs.database_urls["chat"] == settings.database_urls["chat"]:
        raise click.ClickException("Both installations have the same chat database.")
    with open_database("chat", theirs) as source:
        if not has_same_secret(source, settings):
            raise click.ClickException(
                "The installation to move from has another SPECD_CHAT_SECRET, from which API keys"
                " are derived; set the same secret here."
            )
        if source.find_revision() != here.find_revision():
            raise click.ClickException("Both installations need the same release.")
        yield source


def _switch(command: str | None) -> Callable[[], None]:
    def switch() -> None:
        if command is None:
            return
        try:
            subprocess.run(["/bin/sh", "-c", command], check=True, timeout=SWITCH_S)
        except subprocess.SubprocessError as problem:
            raise click.ClickException(
                f"The organization has moved, but the switch command failed ({problem}). Run"
                " it manually, and then run this command again."
            ) from None

    return switch


def _answer(moved: Moved, *, is_switched: bool, as_json: bool) -> None:
    run = moved.run
    facts = {
        "realm_id": run.realm_id,
        "host": run.host,
        "keeps_ids": run.keeps_ids,
        "rounds": moved.rounds,
        "changes": moved.changes,
        "stopped_s": None if moved.stopped_s is None else round(moved.stopped_s, 2),
    }
    ids = "with all of its ids" if run.keeps_ids else "with new ids"
    text = f"Organization {run.realm_id} is at {run.host}, {ids}."
    if moved.stopped_s is not None:
        text += (
            f" {moved.changes} changes were copied in {moved.rounds} rounds; it was stopped for"
            f" {moved.stopped_s:.1f} s."
        )
    text += f"\n{LEFT_BEHIND}"
    if not run.keeps_ids:
        text += f"\n{LEFT_WITH_THE_IDS}"
    if not is_switched:
        text += f"\n{SWITCH}"
    answer(facts, as_json=as_json, text=text)
