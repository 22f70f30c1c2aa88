"""Remove files: files that have not been in a message for a while, deleted files, and files in the
store without a row.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, or_, select, update
from sqlalchemy.orm import Session

from models.chat.identity.actors import is_running
from models.chat.tables import RealmEmoji, SavedSnippet, ScheduledMessage, StoredDraft, User
from models.chat.uploads.attachments import ATTACHMENTS, LINKS, notify_removed
from models.chat.uploads.names import key_of
from specd.db import Db


@dataclass(frozen=True, slots=True)
class DeletedFile:
    """A deleted file that is still in the store, under `key`."""

    attachment_id: int
    key: str


def try_expire_one(session: Session, *, detached_before: datetime, now: datetime) -> bool:
    """Delete a file that has not been in a message since `detached_before`. Return whether there
    was one.

    A file in a scheduled message, a draft or a saved snippet is kept for another such period. Files
    of stopped organizations are kept, because a move may still have to copy them.
    """
    row = session.execute(
        select(ATTACHMENTS.c.id, ATTACHMENTS.c.realm_id, ATTACHMENTS.c.owner_id)
        .add_columns(_is_named().label("is_named"))
        .where(ATTACHMENTS.c.deleted_at.is_(None), ATTACHMENTS.c.detached_at < detached_before)
        .where(is_running(ATTACHMENTS.c.realm_id))
        .order_by(ATTACHMENTS.c.detached_at, ATTACHMENTS.c.id)
        .limit(1)
        .with_for_update(skip_locked=True, of=ATTACHMENTS)
    ).first()
    if row is None:
        return False
    statement = update(ATTACHMENTS).where(ATTACHMENTS.c.id == row.id)
    if row.is_named:
        session.connection().execute(statement.values(detached_at=now))
        return True
    session.connection().execute(statement.values(deleted_at=now))
    session.connection().execute(delete(LINKS).where(LINKS.c.attachment_id == row.id))
    notify_removed(session, row.realm_id, row.owner_id, row.id, now=now)
    return True


def find_deleted(db: Db) -> DeletedFile | None:
    """Return a file to remove from the store before its row is deleted, or None if there is
    none.
    """
    row = db.execute(
        select(ATTACHMENTS.c.id, ATTACHMENTS.c.realm_id, ATTACHMENTS.c.handle)
        .where(ATTACHMENTS.c.deleted_at.is_not(None))
        .order_by(ATTACHMENTS.c.deleted_at, ATTACHMENTS.c.id)
        .limit(1)
    ).first()
    return None if row is None else DeletedFile(row.id, key_of(row.realm_id, row.handle))


def forget_deleted(session: Session, deleted: DeletedFile) -> None:
    """Delete the row of a file that was removed from the store."""
    session.connection().execute(
        delete(ATTACHMENTS).where(ATTACHMENTS.c.id == deleted.attachment_id)
    )


def find_used_handles(db: Db, handles: Collection[str]) -> set[str]:
    """Return the handles that a file, a custom emoji or an avatar uses."""
    files = select(ATTACHMENTS.c.handle).where(ATTACHMENTS.c.handle.in_(handles))
    emoji = select(RealmEmoji.handle).where(RealmEmoji.handle.in_(handles))
    avatars = select(User.avatar_handle).where(User.avatar_handle.in_(handles))
    return set(db.execute(files.union(emoji, avatars)).scalars())


def _is_named() -> ColumnElement[bool]:
    """Return the condition that a text that may become a message contains the file's handle."""
    return or_(
        *(
            exists().where(
                table.realm_id == ATTACHMENTS.c.realm_id,
                table.content.contains(ATTACHMENTS.c.handle, autoescape=False),
            )
            for table in (ScheduledMessage, StoredDraft, SavedSnippet)
        )
    )
