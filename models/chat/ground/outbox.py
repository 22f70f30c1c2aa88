"""The outbox: mail is written down in the transaction of its cause, and leaves afterwards.

At least once: a mail is taken for a while (a lease), sent outside any transaction, then marked. A
worker that dies in between gives it back when the lease ends, and the next attempt has the same
Message-ID. What the other side has acknowledged and we have noted is never sent again.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, cast

from sqlalchemy import ColumnElement, Table, bindparam, insert, literal, select, update
from sqlalchemy.orm import Session

from models.chat.ground.vault import Vault
from models.chat.tables import Outbox
from models.reader import Db

PENDING, SENT, DEAD = "pending", "sent", "dead"
ATTEMPTS_MAX = 14
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)
SUBJECT_MAX = 200
UNREADABLE = "The text was sealed with another secret"
GAVE_UP = "No attempt came to an end"

OUTBOX = cast(Table, Outbox.__table__)
_is_pending = OUTBOX.c.state == literal(PENDING, literal_execute=True)
# Literal, or neither database uses the partial index.
_is_due = _is_pending & (OUTBOX.c.next_try_at <= bindparam("at"))
_SOME_DUE = select(OUTBOX.c.id).where(_is_due).limit(1)
_TAKE = (
    select(*OUTBOX.c)
    .where(_is_due)
    .order_by(OUTBOX.c.next_try_at, OUTBOX.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)


class DeadMail(Protocol):
    """A mail that could not be sent, without its text."""

    @property
    def id(self) -> int: ...
    @property
    def realm_id(self) -> int: ...
    @property
    def recipient(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def attempts(self) -> int: ...
    @property
    def created_at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class LeasedMail:
    """A mail that this worker may send until its lease ends."""

    id: int
    attempt: int
    key: str
    to: str
    subject: str
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMail:
    """A mail to write: the recipient's address, the subject, and the text."""

    to: str
    subject: str
    text: str


def enqueue_mail(
    session: Session,
    *,
    realm_id: int,
    to: str,
    subject: str,
    text: str,
    now: datetime,
    vault: Vault | None = None,
) -> None:
    """Have a mail sent once this transaction has ended well. Give the `vault` where the text has a
    secret, such as a link that works: no dump of the database then tells it.
    """
    mail = NewMail(to=to, subject=subject, text=text)
    enqueue_mails(session, [mail], realm_id=realm_id, now=now, vault=vault)


def enqueue_mails(
    session: Session,
    mails: Sequence[NewMail],
    *,
    realm_id: int,
    now: datetime,
    vault: Vault | None = None,
) -> None:
    """The same for many, in one statement."""
    rows = []
    for mail in mails:
        key = uuid.uuid4().hex
        body = mail.text if vault is None else vault.seal(mail.text, purpose=purpose_of(key))
        row = {
            "realm_id": realm_id,
            "key": key,
            "recipient": mail.to,
            "subject": " ".join(mail.subject.split())[:SUBJECT_MAX],
            "body": body,
            "is_sealed": vault is not None,
            "state": PENDING,
            "attempts": 0,
            "next_try_at": now,
            "created_at": now,
        }
        rows.append(row)
    if rows:
        session.connection().execute(insert(OUTBOX), rows)


def is_anything_due(db: Db, *, now: datetime) -> bool:
    """A cheap look that takes no lock."""
    return db.execute(_SOME_DUE, {"at": now}).first() is not None


def take_due(
    session: Session, vault: Vault, *, lease: timedelta, now: datetime
) -> tuple[bool, LeasedMail | None]:
    """Was a mail due, and the mail to send: the one due longest, ours for `lease`.

    One that cannot be sent at all, or was taken too often and never came back, is dead now.
    """
    row = session.connection().execute(_TAKE, {"at": now}).first()
    if row is None:
        return False, None
    if row.attempts >= ATTEMPTS_MAX:
        mark_dead(session, row.id, row.attempts, row.failure or GAVE_UP, now=now)
        return True, None
    text = vault.open(row.body, purpose=purpose_of(row.key)) if row.is_sealed else row.body
    if text is None:
        mark_dead(session, row.id, row.attempts, UNREADABLE, now=now)
        return True, None
    attempt = row.attempts + 1
    _change(session, OUTBOX.c.id == row.id, attempts=attempt, next_try_at=now + lease)
    return True, LeasedMail(
        row.id, attempt, row.key, row.recipient, row.subject, text, row.created_at
    )


def mark_sent(session: Session, mail_id: int, *, now: datetime) -> None:
    """The other side has it: it is not sent again, whoever has taken it since. Its text goes."""
    _change(
        session,
        (OUTBOX.c.id == mail_id) & (OUTBOX.c.state != SENT),
        state=SENT, closed_at=now, body="", is_sealed=False, failure=None,
    )  # fmt: skip


def note_failure(session: Session, taken: LeasedMail, reason: str, *, now: datetime) -> bool:
    """It could not be sent now: again after a growing pause, up to `ATTEMPTS_MAX` times.

    Returns whether it is dead. Does nothing when somebody else has taken it since.
    """
    if taken.attempt >= ATTEMPTS_MAX:
        mark_dead(session, taken.id, taken.attempt, reason, now=now)
        return True
    pause = min(FIRST_PAUSE * 2 ** (taken.attempt - 1), LONGEST_PAUSE)
    _change(session, _still(taken.id, taken.attempt), next_try_at=now + pause, failure=reason)
    return False


def mark_dead(session: Session, mail_id: int, attempt: int, reason: str, *, now: datetime) -> None:
    """Marks a mail as failed for good and keeps it with the reason, for `specd chat dead-mail`."""
    _change(session, _still(mail_id, attempt), state=DEAD, closed_at=now, failure=reason)


def find_dead(db: Db) -> list[DeadMail]:
    """The mails that could not be sent, oldest first."""
    dead = select(*OUTBOX.c).where(OUTBOX.c.state == DEAD).order_by(OUTBOX.c.id)
    return list(db.execute(dead))


def revive_dead(session: Session, *, now: datetime) -> int:
    """Try every dead mail again, from the start. Returns how many there are."""
    return _change(
        session, OUTBOX.c.state == DEAD,
        state=PENDING, closed_at=None, attempts=0, next_try_at=now,
    )  # fmt: skip


def _still(mail_id: int, attempt: int) -> ColumnElement[bool]:
    return (OUTBOX.c.id == mail_id) & _is_pending & (OUTBOX.c.attempts == attempt)


def _change(session: Session, which: ColumnElement[bool], **values: Any) -> int:
    return session.connection().execute(update(OUTBOX).where(which).values(**values)).rowcount


def purpose_of(key: str) -> str:
    return f"mail:{key}"
