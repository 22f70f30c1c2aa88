"""`specd chat import`: creates an organization from an archive or from a Zulip export."""

import csv
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from adapters.archive_reader import ArchiveRefused
from adapters.file_store.wiring import ARRIVING, build_file_store
from cli.shared_secrets import chat_vault, key_maker
from models.chat.common.hosts import check_host
from models.chat.identity.django_hashes import is_django_hash
from models.chat.imports.runs import ImportTaken
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock
from workers.imports import NO_HASHES, Imported, Imports
from workers.zulip_imports import NO_PASSWORDS, ConversionTaken, Loss, converted, describe

EVERY_S = 2.0
LEFT_BEHIND = """\
Not imported, with the required action:
- Passwords and API keys: `specd chat renew-key --realm {host} --email EMAIL` creates a new key. \
With --password-file FILE it also sets a password, which the user can change after signing in.
- The key for signed tokens: `specd chat set-realm --realm {host} jwt_key=@FILE ...`.
- Devices and push tokens: none, each app registers again when its owner signs in.
- Event queues: none, clients register again.
- Invitation links: the senders send the invitations again, or copy the new links.
- Secrets of outgoing webhooks: the owners configure the new secrets from the bot's settings.
- Tokens of video calls: users authorize video calls again."""
LEFT_BY_ZULIP = """\
Not imported, with the required action:
- Passwords without a hash: `specd chat renew-key --realm {host} --email EMAIL \
--password-file FILE` sets a password, which the user can change after signing in.
- API keys of bots: `specd chat renew-key --realm {host} --email EMAIL` creates a new key.
- Devices and push tokens: users sign in again at the new URL.
- Secrets of outgoing webhooks: the owners configure the new secrets from the bot's settings.
- Invitations, drafts and votes in polls: none, Zulip's export does not contain them."""
WAITING = """\
{waiting} scheduled messages were due before the import ended and are on hold. To send them, \
run the command again with --send-overdue."""


@click.command("import")
@click.argument(
    "archive", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--host", required=True, help="Host name of the organization, without port.")
@click.option("--name", help="New display name.")
@click.option(
    "--from",
    "source",
    type=click.Choice(["zulip"]),
    help="Product of the export, if not specd.",
)
@click.option(
    "--zulip-host", help="Previous host of the organization, to change links in messages."
)
@click.option(
    "--passwords",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV file of addresses and password hashes from Zulip's database.",
)
@click.option("--send-overdue", is_flag=True, help="Send the overdue scheduled messages.")
@click.option("--discard", is_flag=True, help="Remove the unfinished import at this host.")
@json_option
def import_archive(
    archive: Path | None,
    host: str,
    name: str | None,
    source: str | None,
    zulip_host: str | None,
    passwords: Path | None,
    send_overdue: bool,
    discard: bool,
    as_json: bool,
) -> None:
    """Create an organization from an archive.

    The archive is one that `specd chat export` wrote with all data, or a tarball of Zulip's
    `manage.py export`. Servers and workers can keep running. Until the import is finished, the host
    answers as if there were no organization. If the command is killed, run it again to resume.
    """
    if (archive is None) is not discard:
        raise click.UsageError("Give an archive, or --discard an unfinished import.")
    if source is None and (zulip_host is not None or passwords is not None):
        raise click.UsageError("--zulip-host and --passwords need --from zulip.")
    settings = Settings.from_env()
    progress = ImportProgress()
    with open_database("chat", settings, needs_secret=True) as database:
        imports = Imports(
            database,
            Clock(),
            build_file_store(settings),
            settings.chat_upload_dir / ARRIVING,
            keys=key_maker(settings),
            vault=chat_vault(settings),
            listener=progress.tell,
        )
        if archive is None:
            imports.discard(host)
            text = "The unfinished import was removed."
            answer({"discarded": True}, as_json=as_json, text=text)
            return
        try:
            with _opened(archive, host, source, zulip_host, passwords, progress) as opened:
                imported = imports.run(
                    opened.archive,
                    host=host,
                    name=name,
                    sends_overdue=send_overdue,
                    password_hashes=opened.password_hashes,
                )
        except ArchiveRefused as refusal:
            raise click.ClickException(
                f"The archive was rejected: {_printable(str(refusal))}."
            ) from None
        except (ImportTaken, ConversionTaken):
            raise click.ClickException("Another process is running this import.") from None
    _answer(imported, opened, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Opened:
    """An archive in specd format. `losses` is None if it was not converted from another format."""

    archive: Path
    password_hashes: Mapping[int, str]
    losses: list[Loss] | None = None


@contextmanager
def _opened(
    archive: Path,
    host: str,
    source: str | None,
    zulip_host: str | None,
    passwords: Path | None,
    progress: "ImportProgress",
) -> Iterator[_Opened]:
    if source is None:
        yield _Opened(archive, NO_HASHES)
        return
    conversion = converted(
        archive,
        Settings.from_env().chat_export_dir / "conversions",
        host=host,
        zulip_host=None if zulip_host is None else check_host(zulip_host),
        passwords=NO_PASSWORDS if passwords is None else read_passwords(passwords),
        listener=progress.tell,
    )
    with ExitStack() as stack:
        try:
            made = stack.enter_context(conversion)
        except OSError as problem:
            reason = problem.strerror
            raise click.ClickException(f"The export cannot be unpacked: {reason}.") from None
        yield _Opened(made.archive, made.password_hashes, made.losses)


def read_passwords(path: Path) -> Mapping[str, str]:
    """Read Django password hashes by lower-case address from a CSV file of two columns. Unusable
    passwords (empty, or beginning with `!`) are skipped. Raise `ClickException` for other lines.
    """
    hashes: dict[str, str] = {}
    with path.open(newline="", encoding="utf-8") as lines:
        for number, row in enumerate(csv.reader(lines), 1):
            if len(row) != 2 or "@" not in row[0]:
                raise click.ClickException(f"{path}, line {number}: is not an address and a hash.")
            if is_django_hash(row[1]):
                hashes[row[0].lower()] = row[1]
            elif row[1] and not row[1].startswith("!"):
                raise click.ClickException(f"{path}, line {number}: the hash is not a Django hash.")
    return hashes


def _answer(imported: Imported, opened: _Opened, *, as_json: bool) -> None:
    run = imported.run
    left_behind = LEFT_BEHIND if opened.losses is None else LEFT_BY_ZULIP
    text = (
        f"Organization {run.realm_id} is at {run.host}: {imported.rows} rows and"
        f" {imported.files} files.\n{left_behind.format(host=run.host)}"
    )
    facts = {
        "realm_id": run.realm_id,
        "host": run.host,
        "rows": imported.rows,
        "files": imported.files,
        "overdue": imported.waiting,
    }
    if opened.losses is not None:
        facts["passwords"] = len(opened.password_hashes)
        facts["dropped"] = describe(opened.losses)
        text += f"\n{len(opened.password_hashes)} passwords were imported.\nDropped:"
        text += "".join(
            f"\n- {_printable(each.table)}, {each.count}: {_printable(each.what)}"
            for each in opened.losses
        )
    if imported.waiting:
        text += "\n" + WAITING.format(waiting=imported.waiting)
    answer(facts, as_json=as_json, text=text)


class ImportProgress:
    """Prints the progress of an import on standard error if that is a terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._said_at = self._began_at = time.monotonic()
        self._what, self._since, self._rows_before = "", 0.0, 0
        self._done_before = 0

    def tell(self, what: str, done: int, rows: int, total: int) -> None:
        """Print at intervals: the current part, the speed, and the remaining time."""
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


def _printable(text: str) -> str:
    """Escape text from an archive for the terminal: line breaks, control characters and characters
    that change the text direction.
    """
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)
