"""`specd chat import`: makes an organization of an archive."""

import time
from pathlib import Path

import click
from rich.console import Console

from adapters.archive_reader import ArchiveRefused
from adapters.file_store.wiring import ARRIVING, build_file_store
from cli.output import answer, json_option
from cli.shared_secrets import chat_vault, key_maker, open_with_secret
from models.chat.imports.runs import ImportTaken
from models.clock import SystemClock
from settings import Settings
from workers.imports import Imported, Imports

EVERY_S = 2.0
LEFT_BEHIND = """\
What does not come along, and who has to do something:
- Passwords and API keys. `specd chat renew-key --realm {host} --email EMAIL` makes a new key; \
with --password-file FILE it sets a password too, with which a person signs in and changes it.
- The key that checks signed tokens: `specd chat set-realm --realm {host} jwt_key=@FILE ...`.
- Devices and tokens for push: each app registers again when its owner signs in.
- Event queues: clients load again by themselves.
- Links of invitations: whoever sent one sends it again, or copies the new link.
- Secrets of outgoing webhooks: their owners find the new ones in the bot's settings.
- Tokens of video calls: people allow them again."""
WAITING = """\
{waiting} scheduled messages were due before the import ended, and wait. Run the command again \
with --send-overdue to send them."""


@click.command("import")
@click.argument(
    "archive", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--host", required=True, help="Host name of the organization, without port.")
@click.option("--name", help="Another display name.")
@click.option("--send-overdue", is_flag=True, help="Send scheduled messages that are overdue.")
@click.option("--discard", is_flag=True, help="Remove the unfinished import at this host.")
@json_option
def import_archive(
    archive: Path | None,
    host: str,
    name: str | None,
    send_overdue: bool,
    discard: bool,
    as_json: bool,
) -> None:
    """Make an organization of an archive that `specd chat export` wrote with everything in it.

    Servers and workers can keep running. Until the import is finished its host answers as if there
    were no organization. A command that was killed goes on when it is run again.
    """
    if (archive is None) is not discard:
        raise click.UsageError("Name an archive, or --discard an unfinished import.")
    settings = Settings.from_env()
    progress = _Progress()
    with open_with_secret("chat", settings) as database:
        imports = Imports(
            database,
            SystemClock(),
            build_file_store(settings),
            settings.chat_upload_dir / ARRIVING,
            keys=key_maker(settings),
            vault=chat_vault(settings),
            listener=progress.tell,
        )
        if archive is None:
            imports.discard(host)
            text = "The unfinished import is removed."
            answer({"discarded": True}, as_json=as_json, text=text)
            return
        try:
            imported = imports.run(archive, host=host, name=name, sends_overdue=send_overdue)
        except ArchiveRefused as refusal:
            raise click.ClickException(f"The archive is refused: {refusal}.") from None
        except ImportTaken:
            raise click.ClickException("Another process carries on this import.") from None
    _answer(imported, as_json=as_json)


def _answer(imported: Imported, *, as_json: bool) -> None:
    run = imported.run
    text = (
        f"Organization {run.realm_id} is at {run.host}: {imported.rows} rows and"
        f" {imported.files} files.\n{LEFT_BEHIND.format(host=run.host)}"
    )
    if imported.waiting:
        text += "\n" + WAITING.format(waiting=imported.waiting)
    answer(
        {
            "realm_id": run.realm_id,
            "host": run.host,
            "rows": imported.rows,
            "files": imported.files,
            "overdue": imported.waiting,
        },
        as_json=as_json,
        text=text,
    )


class _Progress:
    """Says on standard error how far an import is, where somebody watches."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._said_at = self._began_at = time.monotonic()
        self._what, self._since, self._rows_before = "", 0.0, 0
        self._done_before = 0

    def tell(self, what: str, done: int, rows: int, total: int) -> None:
        """Say it at intervals: what is written, how fast, and the time that is left."""
        now = time.monotonic()
        if not self._what:
            self._rows_before = rows
        if what != self._what:
            self._what, self._since, self._done_before = what, now, done
        if not self._console.is_terminal or now - self._said_at < EVERY_S:
            return
        self._said_at = now
        speed = (done - self._done_before) / max(now - self._since, 0.001)
        text = f"{what}: {done}, {speed:.0f}/s"
        if rows > self._rows_before:
            per_row = (now - self._began_at) / (rows - self._rows_before)
            left = int((total - rows) * per_row)
            text += f"; {rows} of {total} rows, {left // 60}:{left % 60:02} left"
        click.echo(text, err=True)
