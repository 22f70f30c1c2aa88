"""`specd chat dead-mail` lists mail that failed permanently, with the reasons; `specd chat
receive-mail` turns a mail into a message.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

from cli.databases import open_database
from cli.output import answer, json_option
from cli.shared_secrets import key_maker, open_with_secret
from models.chat.common import outbox
from models.chat.errors import ChatError
from models.chat.identity.errors import RealmMoving
from models.chat.incoming_mail import (
    AutomaticMail,
    Mail,
    NoSuchMailbox,
    UnreadableMail,
    deliver_letter,
    open_mailbox,
    prepare_letter,
    read_mail,
)
from models.clock import SystemClock
from models.errors import DatabaseUnavailable
from settings import Settings


@click.command("dead-mail")
@click.option("--retry", is_flag=True, help="Queue all failed mail again, with all its attempts.")
@json_option
def dead_mail(retry: bool, as_json: bool) -> None:
    """Show mail that failed permanently, without its text, which may contain secrets."""
    with open_database("chat", Settings.from_env()) as database:
        with database.reading() as reader:
            dead = outbox.find_dead(reader)
        now = SystemClock().now()
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
"""The time limit of reading one mail: the longest that people write take a quarter of it."""


@click.command("receive-mail")
@click.argument("address")
def receive_mail(address: str) -> None:
    """Read a mail from standard input and make it a message of the channel that has ADDRESS.

    For the pipe of a mail server. The exit status tells it what to do: 0 the mail was taken, 67
    no such address, 77 no right to send there, 65 nothing to send, 75 try again later. Automatic
    replies are taken and thrown away. Attachments are left out.
    """
    settings = Settings.from_env()
    raw = sys.stdin.buffer.read(LARGEST_MAIL + 1)
    if len(raw) > LARGEST_MAIL:
        _refuse("The mail is too large.", os.EX_DATAERR)
    keys = key_maker(settings)
    try:
        with open_with_secret("chat", settings) as database:
            with database.reading() as reader:
                mailbox = open_mailbox(reader, keys, address)
            mail = read_at_once(raw)
            with database.reading() as reader:
                letter = prepare_letter(reader, mailbox, mail)
            now = SystemClock().now()
            sent = database.run(
                lambda session: deliver_letter(
                    session, open_mailbox(session, keys, address), letter, now=now
                )
            )
    except AutomaticMail as thrown_away:
        click.echo(str(thrown_away))
    except UnreadableMail as problem:
        _refuse(str(problem), os.EX_DATAERR)
    except NoSuchMailbox as problem:
        _refuse(str(problem), os.EX_NOUSER)
    except (RealmMoving, DatabaseUnavailable, click.ClickException) as problem:
        _refuse(str(problem), os.EX_TEMPFAIL)
    except ChatError as problem:
        _refuse(str(problem), os.EX_NOPERM)
    else:
        click.echo(f"Message {sent} sent.")


def read_at_once(raw: bytes) -> Mail:
    """Return the mail. Raise as `read_mail` does, and `UnreadableMail` for one that takes longer
    than any that people write: the time of the library's parsers grows with the square of the
    number of parts, of nested ones and of parameters, which its documentation does not mention.
    """
    with _limited_cpu(CPU_S):
        return read_mail(raw)


@contextmanager
def _limited_cpu(seconds: float) -> Iterator[None]:
    """Raise `UnreadableMail` where the block takes more time of the processor."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise UnreadableMail()

    before = signal.signal(signal.SIGVTALRM, stop)
    # Repeatedly, because the parser may catch the first exception.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.01)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _refuse(reason: str, status: int) -> NoReturn:
    click.echo(reason, err=True)
    sys.exit(status)
