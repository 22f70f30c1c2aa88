"""Uploaded files of users: store, list and delete them.

A file is stored before its row is written, and its row is marked as deleted before the file is
removed. So a row that is not marked as deleted never refers to a missing file.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.account import (
    AttachmentAddEvent,
    AttachmentRemoveEvent,
    AttachmentUpdateEvent,
)
from models.chat.events.log import ClientEvent
from models.chat.identity.actors import Actor
from models.chat.tables import Attachment, AttachmentMessage, Message, UserMessage
from models.chat.uploads.errors import AttachmentDoesNotExist, UploadQuotaExceeded
from models.chat.uploads.names import path_id_of
from models.dialects import in_parameter
from models.rows import columns_of, read_rows
from specd.db import Db, UtcMs, table_of

MAX_MESSAGES = 100
"""Maximum number of messages in an attachment object. The newest are included."""

ATTACHMENTS = table_of(Attachment)
LINKS = table_of(AttachmentMessage)


class AttachmentRow(NamedTuple):
    """A file."""

    id: int
    realm_id: int
    owner_id: int
    handle: str
    name: str
    path_name: str
    size: int
    media_type: str
    width: int | None
    created_at: datetime


_COLUMNS = columns_of(AttachmentRow, Attachment)
FILES = select(*_COLUMNS).where(ATTACHMENTS.c.deleted_at.is_(None))
"""All files that are not deleted."""
_INSERT = insert(ATTACHMENTS).returning(*_COLUMNS)
_OWN = FILES.where(ATTACHMENTS.c.owner_id == bindparam("of_user_id")).order_by(ATTACHMENTS.c.id)
_USED = select(func.coalesce(func.sum(ATTACHMENTS.c.size), 0)).where(
    ATTACHMENTS.c.realm_id == bindparam("of_realm_id")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUpload:
    """A file that is already in the store, under `names.key_of`."""

    handle: str
    name: str
    path_name: str
    size: int
    media_type: str
    width: int | None = None
    height: int | None = None
    is_animated: bool | None = None


def require_space(db: Db, realm_id: int, size: int, *, quota_mib: int) -> None:
    """Raise `UploadQuotaExceeded` unless `size` additional bytes fit into the quota. Two concurrent
    uploads may exceed it.
    """
    if find_space_used(db, realm_id) + size > quota_mib << 20:
        raise UploadQuotaExceeded()


def find_space_used(db: Db, realm_id: int) -> int:
    """Return the size of all files of an organization, in bytes."""
    return int(db.execute(_USED, {"of_realm_id": realm_id}).scalar_one())


def add_upload(session: Session, owner: Actor, new: NewUpload, *, now: datetime) -> AttachmentRow:
    """Insert the row of a file that is not in a message yet. Return the row."""
    values = {
        **asdict(new),
        "realm_id": owner.realm_id,
        "owner_id": owner.id,
        "created_at": now,
        "detached_at": now,
    }
    (added,) = read_rows(AttachmentRow, session.connection().execute(_INSERT, values))
    used = find_space_used(session, owner.realm_id)
    event = AttachmentAddEvent(attachment=record_of(added, ()), upload_space_used=used)
    log.append(session, owner.realm_id, event, user_ids=[owner.id], now=now)
    return added


def find_attachments(db: Db, owner: Actor) -> list[dict[str, Any]]:
    """Return the attachment objects of the owner's files, oldest first."""
    return records_of(db, read_rows(AttachmentRow, db.execute(_OWN, {"of_user_id": owner.id})))


def delete_attachment(session: Session, owner: Actor, attachment_id: int, *, now: datetime) -> None:
    """Mark the file as deleted; the worker removes it. Raise `AttachmentDoesNotExist`."""
    own = (
        update(ATTACHMENTS)
        .where(
            ATTACHMENTS.c.id == attachment_id,
            ATTACHMENTS.c.owner_id == owner.id,
            ATTACHMENTS.c.deleted_at.is_(None),
        )
        .values(deleted_at=now, detached_at=now)
    )
    connection = session.connection()
    if connection.execute(own.returning(ATTACHMENTS.c.id)).first() is None:
        raise AttachmentDoesNotExist()
    connection.execute(delete(LINKS).where(LINKS.c.attachment_id == attachment_id))
    notify_removed(session, owner.realm_id, owner.id, attachment_id, now=now)


def notify_removed(
    session: Session, realm_id: int, owner_id: int, attachment_id: int, *, now: datetime
) -> None:
    """Append the event of a removed file, for its owner."""
    used = find_space_used(session, realm_id)
    event = AttachmentRemoveEvent(attachment={"id": attachment_id}, upload_space_used=used)
    log.append(session, realm_id, event, user_ids=[owner_id], now=now)


def notify_shown(session: Session, rows: Sequence[AttachmentRow], *, now: datetime) -> None:
    """Append the events of files whose messages have changed, for the owners of the files."""
    if not rows:
        return
    used = find_space_used(session, rows[0].realm_id)
    records = records_of(session, rows)
    events: list[tuple[ClientEvent, list[int]]] = [
        (AttachmentUpdateEvent(attachment=record, upload_space_used=used), [row.owner_id])
        for row, record in zip(rows, records, strict=True)
    ]
    log.append_all(session, rows[0].realm_id, events, now=now)


def records_of(db: Db, rows: Sequence[AttachmentRow]) -> list[dict[str, Any]]:
    """Return attachment objects, with the messages that their owners sent or received."""
    shown = _find_messages(db, [row.id for row in rows]) if rows else {}
    return [record_of(row, shown.get(row.id, ())) for row in rows]


def record_of(row: AttachmentRow, messages: Sequence[tuple[int, datetime]]) -> dict[str, Any]:
    """Return the attachment object for responses and events."""
    return {
        "id": row.id,
        "name": row.name,
        "path_id": path_id_of(row.realm_id, row.handle, row.path_name),
        "size": row.size,
        "create_time": UtcMs.to_ms(row.created_at),
        "messages": [{"id": i, "date_sent": UtcMs.to_ms(sent_at)} for i, sent_at in messages],
    }


def _find_messages(db: Db, ids: Sequence[int]) -> dict[int, list[tuple[int, datetime]]]:
    """Return attachment -> the newest messages that show it and of which its owner has a copy, in
    order.
    """
    has_copy = (
        select(UserMessage.user_id)
        .where(UserMessage.user_id == ATTACHMENTS.c.owner_id, UserMessage.message_id == Message.id)
        .exists()
    )
    place = func.row_number().over(
        partition_by=LINKS.c.attachment_id, order_by=LINKS.c.message_id.desc()
    )
    newest = (
        select(LINKS.c.attachment_id, Message.id, Message.sent_at, place.label("place"))
        .join(ATTACHMENTS, ATTACHMENTS.c.id == LINKS.c.attachment_id)
        .join(Message, Message.id == LINKS.c.message_id)
        .where(
            in_parameter(LINKS.c.attachment_id, "ids"),
            or_(Message.sender_id == ATTACHMENTS.c.owner_id, has_copy),
        )
        .subquery()
    )
    wanted = (
        select(newest.c.attachment_id, newest.c.id, newest.c.sent_at)
        .where(newest.c.place <= MAX_MESSAGES)
        .order_by(newest.c.attachment_id, newest.c.id)
    )
    messages: dict[int, list[tuple[int, datetime]]] = defaultdict(list)
    for attachment_id, message_id, sent_at in db.execute(wanted, {"ids": ids}):
        messages[attachment_id].append((message_id, sent_at))
    return messages
