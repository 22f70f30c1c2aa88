"""The outbox: mail is written down in the transaction of its cause, and leaves afterwards.

At least once: a mail is claimed, sent outside any transaction, then marked. Where a worker dies in
between, the next attempt has the same Message-ID. What the other side has acknowledged and we have
noted is never sent again.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.common.vault import Vault
from models.chat.tables import Outbox
from models.reader import Db
from models.work_queue import Claim, WorkQueue

PENDING, SENT, DEAD = "pending", "sent", "dead"
ATTEMPTS_MAX = 14
LONGEST_PAUSE = timedelta(hours=1)
SUBJECT_MAX = 200
UNREADABLE = "The text was sealed with another secret"
GAVE_UP = "No attempt came to an end"

OUTBOX = table_of(Outbox)
QUEUE = WorkQueue(
    OUTBOX,
    PENDING,
    pauses=[min(timedelta(seconds=5 * 2**n), LONGEST_PAUSE) for n in range(ATTEMPTS_MAX - 1)],
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
    attempts: int
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


def take_due(
    session: Session, vault: Vault, *, lease: timedelta, now: datetime
) -> tuple[bool, LeasedMail | None]:
    """Return whether a mail was due, and the mail to send: the one due longest, ours for `lease`.

    One that cannot be sent at all, or was taken too often and never came back, is dead now.
    """
    row = session.connection().execute(QUEUE.first, {"at": now}).first()
    if row is None:
        return False, None
    if QUEUE.is_spent(row):
        mark_dead(session, row, row.failure or GAVE_UP, now=now)
        return True, None
    text = vault.open(row.body, purpose=purpose_of(row.key)) if row.is_sealed else row.body
    if text is None:
        mark_dead(session, row, UNREADABLE, now=now)
        return True, None
    QUEUE.claim(session, [row.id], until=now + lease)
    return True, LeasedMail(
        row.id, row.attempts + 1, row.key, row.recipient, row.subject, text, row.created_at
    )


def mark_sent(session: Session, mail_id: int, *, now: datetime) -> None:
    """The other side has it: it is not sent again, whoever has taken it since. Its text goes."""
    gone = {"state": SENT, "closed_at": now, "body": "", "is_sealed": False, "failure": None}
    unsent = update(OUTBOX).where(OUTBOX.c.id == mail_id, OUTBOX.c.state != SENT)
    session.connection().execute(unsent.values(gone))


def note_failure(session: Session, taken: LeasedMail, reason: str, *, now: datetime) -> bool:
    """It could not be sent now: again after a growing pause, up to `ATTEMPTS_MAX` times.

    Returns whether it is dead. Does nothing when somebody else has taken it since.
    """
    if QUEUE.put_off(session, taken, now=now, failure=reason):
        return False
    mark_dead(session, taken, reason, now=now)
    return True


def mark_dead(session: Session, taken: Claim, reason: str, *, now: datetime) -> None:
    """Marks a mail as failed for good and keeps it with the reason, for `specd chat dead-mail`."""
    QUEUE.change(session, taken, state=DEAD, closed_at=now, failure=reason)


def find_dead(db: Db) -> list[DeadMail]:
    """The mails that could not be sent, oldest first."""
    dead = select(*OUTBOX.c).where(OUTBOX.c.state == DEAD).order_by(OUTBOX.c.id)
    return list(db.execute(dead))


def revive_dead(session: Session, *, now: datetime) -> int:
    """Try every dead mail again, from the start. Returns how many there are."""
    revived = {"state": PENDING, "closed_at": None, "attempts": 0, "next_try_at": now}
    dead = update(OUTBOX).where(OUTBOX.c.state == DEAD)
    return session.connection().execute(dead.values(revived)).rowcount


def purpose_of(key: str) -> str:
    return f"mail:{key}"
