"""The outbox: a mail is stored in the transaction of its cause, and a worker sends it after the
commit.

Delivery is at least once: a worker claims the mail, sends it outside a transaction, and marks it as
sent. If the worker dies in between, the next attempt has the same Message-ID. A mail that is marked
as sent is not sent again.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Row, insert, select, update
from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.tables import Outbox
from models.rows import columns_of, read_rows
from specd.db import Db, WorkQueue, table_of

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


class DeadMail(NamedTuple):
    """A mail that could not be sent, without its text."""

    id: int
    realm_id: int
    recipient: str
    subject: str
    failure: str | None
    attempts: int
    created_at: datetime


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
    """A mail to store: the recipient's address, the subject and the text."""

    to: str
    subject: str
    text: str


def enqueue_mails(
    session: Session,
    mails: Sequence[NewMail],
    *,
    realm_id: int,
    now: datetime,
    vault: Vault | None = None,
) -> None:
    """Store mails, which are sent after the commit. Pass the `vault` if the texts contain secrets,
    such as valid links, so that a database dump does not reveal them.
    """
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
    """Return whether a mail was due, and the mail to send, which is claimed for `lease`.

    The mail that has been due the longest comes first. A mail that cannot be opened, or that has no
    attempts left, becomes dead instead.
    """
    row = session.connection().execute(QUEUE.first, {"at": now}).first()
    if row is None:
        return False, None
    if QUEUE.is_exhausted(row):
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
    """Mark a mail as sent, even if another worker has claimed it since, and delete its text."""
    sent = {"state": SENT, "closed_at": now, "body": "", "is_sealed": False, "failure": None}
    unsent = update(OUTBOX).where(OUTBOX.c.id == mail_id, OUTBOX.c.state != SENT)
    session.connection().execute(unsent.values(sent))


def note_failure(session: Session, claim: LeasedMail, reason: str, *, now: datetime) -> bool:
    """Schedule another attempt after a growing pause, up to `ATTEMPTS_MAX` attempts in total.

    Return whether the mail is now dead. Do nothing if another worker has claimed it since.
    """
    if QUEUE.reschedule(session, claim, now=now, failure=reason):
        return False
    mark_dead(session, claim, reason, now=now)
    return True


def mark_dead(
    session: Session, claim: LeasedMail | Row[*tuple[Any, ...]], reason: str, *, now: datetime
) -> None:
    """Mark a mail as permanently failed, and keep it with the reason for `specd chat dead-mail`."""
    QUEUE.change(session, claim, state=DEAD, closed_at=now, failure=reason)


def find_dead(db: Db) -> list[DeadMail]:
    """Return the mails that could not be sent, oldest first."""
    dead = select(*columns_of(DeadMail, OUTBOX)).where(OUTBOX.c.state == DEAD)
    return read_rows(DeadMail, db.execute(dead.order_by(OUTBOX.c.id)))


def revive_dead(session: Session, *, now: datetime) -> int:
    """Schedule all dead mails again, with all attempts. Return their number."""
    revived = {"state": PENDING, "closed_at": None, "attempts": 0, "next_try_at": now}
    dead = update(OUTBOX).where(OUTBOX.c.state == DEAD)
    return session.connection().execute(dead.values(revived)).rowcount


def purpose_of(key: str) -> str:
    return f"mail:{key}"
