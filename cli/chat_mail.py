"""`specd chat dead-mail` lists mail that failed permanently, with the reasons; `specd chat
receive-mail` turns a mail into a message.
"""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click
from sqlalchemy.orm import Session

from adapters.file_store.store import FileStore
from adapters.file_store.uploads import store_upload
from adapters.file_store.wiring import ARRIVING, build_file_store
from adapters.images.pictures import NotAPicture, make_small
from cli.shared_secrets import key_maker
from models.chat.common import outbox
from models.chat.common.errors import QuotaExceeded
from models.chat.common.quotas import ATTACHMENTS, require_within
from models.chat.errors import ChatError
from models.chat.identity.actors import Actor
from models.chat.identity.errors import RealmMoving
from models.chat.incoming_mail import (
    MAX_FILES,
    AutomaticMail,
    Mail,
    MailFile,
    NoSuchMailbox,
    UnreadableMail,
    deliver_letter,
    open_mailbox,
    prepare_letter,
    read_files,
    read_mail,
)
from models.chat.rendering.previews import THUMBNAIL_SIZE
from models.chat.uploads import attachments, names
from models.chat.uploads.attachments import NewUpload
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock
from specd.errors import DatabaseUnavailable


@click.command("dead-mail")
@click.option("--retry", is_flag=True, help="Queue all failed mail again, with new attempts.")
@json_option
def dead_mail(retry: bool, as_json: bool) -> None:
    """Show mail that failed permanently.

    The text of the mail is not shown, because it may contain secrets.
    """
    with open_database("chat", Settings.from_env()) as database:
        with database.reading() as reader:
            dead = outbox.find_dead(reader)
        now = Clock().now()
        if retry and dead:
            database.run(lambda session: outbox.revive_dead(session, now=now))
    lines = [
        f"{row.id}  {row.created_at:%Y-%m-%d %H:%M}  {row.recipient}  {row.subject!r}: "
        f"{row.failure} ({row.attempts} attempts)"
        for row in dead
    ]
    lines.append(
        f"{len(dead)} mails queued again." if retry else f"{len(dead)} mails failed permanently."
    )
    shown = [
        {
            "id": row.id,
            "realm_id": row.realm_id,
            "to": row.recipient,
            "subject": row.subject,
            "reason": row.failure,
            "attempts": row.attempts,
            "created_at": row.created_at.isoformat(),
        }
        for row in dead
    ]
    answer({"dead": shown, "retried": retry}, as_json=as_json, text="\n".join(lines))


LARGEST_MAIL = 25 * 1024 * 1024
CPU_S = 0.2
"""The CPU time limit for parsing a mail. The longest real mails need a quarter of it."""
FILES_CPU_S = 2.0
"""The CPU time limit for reading attachments. Those of the largest mail need a quarter of it."""


@click.command("receive-mail")
@click.argument("address")
def receive_mail(address: str) -> None:
    """Deliver one mail from standard input to a channel.

    ADDRESS is the email address of the channel. A mail server runs this command for each mail. Exit
    statuses: 0 the mail was accepted, 65 it has no content, 67 the address is unknown, 75 try again
    later, 77 the sender may not send to the channel. Automatic replies are accepted and discarded.
    Attachments become files in the message; it names those that are too large or too many.
    """
    settings = Settings.from_env()
    raw = sys.stdin.buffer.read(LARGEST_MAIL + 1)
    if len(raw) > LARGEST_MAIL:
        _refuse("The mail is too large.", os.EX_DATAERR)
    keys = key_maker(settings)
    try:
        with open_database("chat", settings, needs_secret=True) as database:
            with database.reading() as reader:
                mailbox = open_mailbox(reader, keys, address)
            mail = read_at_once(raw)
            files, left_out = _read_files(raw)
            if not mail.text and not files:
                raise UnreadableMail()
            with database.reading() as reader:
                used = attachments.find_space_used(reader, mailbox.sender.realm_id)
            kept, left_out = _store(settings, mailbox.sender, files, left_out, used=used)

            def send(files: Sequence[NewUpload], left_out: str) -> int:
                with database.reading() as reader:
                    letter = prepare_letter(reader, mailbox, mail, files=files, left_out=left_out)
                now = Clock().now()

                def deliver(session: Session) -> int:
                    box = open_mailbox(session, keys, address)
                    sent = deliver_letter(session, box, letter, now=now, files=files)
                    if files:
                        require_within(session, settings, ATTACHMENTS, box.sender.id)
                    return sent

                return database.run(deliver)

            try:
                sent = send(kept, left_out)
            except QuotaExceeded as full:
                sent = send((), f"The attachments were omitted: {full}")
    except AutomaticMail as thrown_away:
        click.echo(str(thrown_away))
    except UnreadableMail as problem:
        _refuse(str(problem), os.EX_DATAERR)
    except NoSuchMailbox as problem:
        _refuse(str(problem), os.EX_NOUSER)
    except (RealmMoving, DatabaseUnavailable, OSError, click.ClickException) as problem:
        _refuse(str(problem), os.EX_TEMPFAIL)
    except ChatError as problem:
        _refuse(str(problem), os.EX_NOPERM)
    else:
        click.echo(f"Message {sent} sent.")


def read_at_once(raw: bytes) -> Mail:
    """Parse a mail within a CPU time limit. Raise the errors of `read_mail`, and `UnreadableMail`
    if the limit is exceeded. The standard library's parsers need quadratic time in the number of
    parts, their nesting and their parameters, which its documentation does not mention.
    """
    with _limited_cpu(CPU_S):
        return read_mail(raw, needs_text=False)


def _read_files(raw: bytes) -> tuple[list[MailFile], str]:
    """Return the attachments, and a sentence for the message if they could not be read."""
    try:
        with _limited_cpu(FILES_CPU_S):
            return read_files(raw), ""
    except UnreadableMail:
        return [], "The attachments could not be read."


def _store(
    settings: Settings, owner: Actor, files: Sequence[MailFile], left_out: str, *, used: int
) -> tuple[list[NewUpload], str]:
    """Store attachments. Return them, and a sentence about omitted ones. Raise `OSError`."""
    kept: list[NewUpload] = []
    refused: list[str] = []
    store = build_file_store(settings)
    for file in files:
        name = names.check_name(file.name)
        used += len(file.content)
        is_fit = len(file.content) <= settings.chat_max_file_upload_size_mib << 20
        is_room = used <= settings.chat_upload_quota_mib << 20 and len(kept) < MAX_FILES
        if not (is_fit and is_room):
            used -= len(file.content)
            refused.append(name)
            continue
        new = NewUpload(
            handle=names.make_handle(),
            name=name,
            path_name=names.path_name_of(name),
            size=len(file.content),
            media_type=names.check_media_type(file.media_type, name),
        )
        kept.append(_store_file(store, settings.chat_upload_dir / ARRIVING, owner, new, file))
    if refused:
        more = f" and {len(refused) - MAX_FILES} more" if len(refused) > MAX_FILES else ""
        left_out = f"Omitted, too large or too many: {', '.join(refused[:MAX_FILES])}{more}"
    return kept, left_out


def _store_file(
    store: FileStore, arriving: Path, owner: Actor, new: NewUpload, file: MailFile
) -> NewUpload:
    """Store an attachment, with a thumbnail if it is a picture, and return its upload."""
    arriving.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = arriving / new.handle
    small = path.with_name(f"{path.name}.small")
    picture = None
    try:
        path.write_bytes(file.content)
        if new.media_type.startswith("image/"):
            with suppress(NotAPicture):
                picture = make_small(path, small, *THUMBNAIL_SIZE, only_still=True)
        return store_upload(store, owner.realm_id, new, path, picture)
    finally:
        path.unlink(missing_ok=True)
        small.unlink(missing_ok=True)


@contextmanager
def _limited_cpu(seconds: float) -> Iterator[None]:
    """Raise `UnreadableMail` if the block needs more CPU time."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise UnreadableMail()

    before = signal.signal(signal.SIGVTALRM, stop)
    # The timer repeats, because the parser may catch the first exception.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.01)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _refuse(reason: str, status: int) -> NoReturn:
    click.echo(reason, err=True)
    sys.exit(status)
