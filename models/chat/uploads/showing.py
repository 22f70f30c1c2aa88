"""Links between messages and the files in them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, insert, select, update
from sqlalchemy.orm import Session

from models.chat.identity.actors import Actor
from models.chat.uploads.access import find_shown_to
from models.chat.uploads.attachments import (
    ATTACHMENTS,
    FILES,
    LINKS,
    AttachmentRow,
    notify_shown,
    records_of,
)
from models.dialects import id_in
from models.rows import columns_of, read_rows


def show_in(
    session: Session, author: Actor, message_id: int, handles: Collection[str], *, now: datetime
) -> None:
    """Link a message of the author to files, by their handles. Files that the author may not get
    are skipped, so that a handle alone gives no access.
    """
    if not handles:
        return
    connection = session.connection()
    named = (
        FILES.where(ATTACHMENTS.c.handle.in_(handles), ATTACHMENTS.c.realm_id == author.realm_id)
        .order_by(ATTACHMENTS.c.id)
        .with_for_update()
    )
    rows = read_rows(AttachmentRow, connection.execute(named))
    others = [row.id for row in rows if row.owner_id != author.id]
    allowed = find_shown_to(session, author, others) if others else set()
    rows = [row for row in rows if row.owner_id == author.id or row.id in allowed]
    if not rows:
        return
    ids = [row.id for row in rows]
    connection.execute(insert(LINKS), [{"attachment_id": i, "message_id": message_id} for i in ids])
    connection.execute(
        update(ATTACHMENTS).where(id_in(ATTACHMENTS.c.id, ids)).values(detached_at=None)
    )
    notify_shown(session, rows, now=now)


def change_shown(
    session: Session, author: Actor, message_id: int, handles: Collection[str], *, now: datetime
) -> list[dict[str, Any]]:
    """Link the author's message to exactly these files. Return the attachment objects of the
    author's files that are no longer in a message.
    """
    connection = session.connection()
    linked = (
        select(*columns_of(AttachmentRow, ATTACHMENTS))
        .join(LINKS, LINKS.c.attachment_id == ATTACHMENTS.c.id)
        .where(LINKS.c.message_id == message_id)
        .order_by(ATTACHMENTS.c.id)
        .with_for_update(of=ATTACHMENTS)
    )
    before = read_rows(AttachmentRow, connection.execute(linked))
    removed = [row for row in before if row.handle not in handles]
    detached: set[int] = set()
    if removed:
        ids = [row.id for row in removed]
        link = (LINKS.c.message_id == message_id) & id_in(LINKS.c.attachment_id, ids)
        connection.execute(delete(LINKS).where(link))
        shown = exists().where(LINKS.c.attachment_id == ATTACHMENTS.c.id)
        unshown = update(ATTACHMENTS).where(id_in(ATTACHMENTS.c.id, ids), ~shown)
        unshown = unshown.values(detached_at=now).returning(ATTACHMENTS.c.id)
        detached.update(connection.execute(unshown).scalars())
        notify_shown(session, removed, now=now)
    new = set(handles) - {row.handle for row in before}
    show_in(session, author, message_id, new, now=now)
    mine = [row for row in removed if row.id in detached and row.owner_id == author.id]
    return records_of(session, mine)


def forget_shown(session: Session, message_ids: Sequence[int], *, now: datetime) -> None:
    """Detach the files that are only in these messages, before the messages are deleted with their
    links.
    """
    these = LINKS.c.message_id.in_(message_ids)
    by_these = select(LINKS.c.attachment_id).where(these)
    by_others = exists().where(LINKS.c.attachment_id == ATTACHMENTS.c.id, ~these)
    session.connection().execute(
        update(ATTACHMENTS)
        .where(ATTACHMENTS.c.id.in_(by_these), ~by_others)
        .values(detached_at=now)
    )
