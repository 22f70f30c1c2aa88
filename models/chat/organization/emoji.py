"""Custom emoji. Deactivated emoji are listed too, because old messages contain them."""

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from models.chat.access.membership import belongs, require
from models.chat.access.people import id_if_visible
from models.chat.events.organization import RealmEmojiUpdateEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.organization.errors import (
    BuiltInEmoji,
    CustomEmojiNotFound,
    EmojiNameEnds,
    EmojiNameTaken,
    EmojiNameTooLong,
    InvalidEmojiName,
    NotEmojiAuthor,
)
from models.chat.rendering.emoji import EMOJI
from models.chat.tables import RealmEmoji
from specd.db import Db, table_of

SIZE = 64
"""The maximum width and height of an image, in pixels."""
FILE_MAX_MIB = 5
NAME_MAX = 60
"""In characters."""
STILL = ".still"
"""The suffix of the store key for the first frame of an animation."""

_TABLE = table_of(RealmEmoji)
_NAME = re.compile(r"[0-9a-z._-]+")

_EMOJI = (
    select(
        RealmEmoji.id,
        RealmEmoji.name,
        RealmEmoji.source_url,
        RealmEmoji.still_url,
        RealmEmoji.author_id,
        RealmEmoji.is_deactivated,
    )
    .where(RealmEmoji.realm_id == bindparam("realm_id"))
    .order_by(RealmEmoji.id)
)


def find_custom_emoji(
    db: Db, realm_id: int, *, visible_ids: Container[int] | None
) -> dict[str, dict[str, Any]]:
    """Return id as text -> the emoji. `visible_ids` are the users that the reader may see, or None
    for all users.
    """
    return {
        str(row.id): {
            "id": str(row.id),
            "name": row.name,
            "source_url": row.source_url,
            "still_url": row.still_url,
            "deactivated": row.is_deactivated,
            "author_id": id_if_visible(row.author_id, visible_ids),
        }
        for row in db.execute(_EMOJI, {"realm_id": realm_id})
    }


@dataclass(frozen=True, slots=True)
class NewEmoji:
    """An emoji whose images are already in the store."""

    name: str
    handle: str
    is_animated: bool


def check_emoji_name(name: str) -> str:
    """Return a name as it is written between colons. Raise `InvalidEmojiName`, `EmojiNameEnds`,
    `EmojiNameTooLong`.
    """
    name = name.strip().replace(" ", "_")
    if _NAME.fullmatch(name) is None:
        raise InvalidEmojiName()
    if not name[-1].isalnum():
        raise EmojiNameEnds()
    if len(name) > NAME_MAX:
        raise EmojiNameTooLong(limit=NAME_MAX)
    return name


def require_may_add(db: Db, actor: Actor, name: str) -> None:
    """Raise `InsufficientPermission`, `EmojiNameTaken`, `BuiltInEmoji`."""
    require(belongs(db, actor, actor.realm.can_add_custom_emoji_group))
    if _find_active(db, actor.realm_id, name) is not None:
        raise EmojiNameTaken()
    if name in EMOJI and not actor.is_administrator:
        raise BuiltInEmoji()


def add_custom_emoji(session: Session, actor: Actor, new: NewEmoji, *, now: datetime) -> int:
    """Add an emoji and return its id. Raise an error of `require_may_add`."""
    lock_realm(session, actor.realm_id)
    require_may_add(session, actor, new.name)
    images = f"/user_avatars/{actor.realm_id}/emoji/images"
    row = {
        "realm_id": actor.realm_id,
        "name": new.name,
        "source_url": f"{images}/{new.handle}.webp",
        "still_url": f"{images}/still/{new.handle}.webp" if new.is_animated else None,
        "handle": new.handle,
        "author_id": actor.id,
        "is_deactivated": False,
    }
    added = insert(_TABLE).values(row).returning(_TABLE.c.id)
    emoji_id: int = session.connection().execute(added).scalar_one()
    facts = {"emoji_id": emoji_id, "name": new.name}
    append_change(session, actor, "custom_emoji_added", facts, RealmEmojiUpdateEvent(), now=now)
    return emoji_id


def deactivate_custom_emoji(session: Session, actor: Actor, name: str, *, now: datetime) -> None:
    """Deactivate an emoji for all users. Raise `CustomEmojiNotFound`, `NotEmojiAuthor`."""
    active = _find_active(session, actor.realm_id, name)
    if active is None:
        raise CustomEmojiNotFound(name=name)
    emoji_id, author_id = active
    if author_id != actor.id and not actor.is_administrator:
        raise NotEmojiAuthor()
    named = update(_TABLE).where(_TABLE.c.id == emoji_id)
    session.connection().execute(named.values(is_deactivated=True))
    facts = {"emoji_id": emoji_id, "name": name}
    event = RealmEmojiUpdateEvent()
    append_change(session, actor, "custom_emoji_deactivated", facts, event, now=now)


def has_picture(db: Db, realm_id: int, handle: str) -> bool:
    """Return whether the organization has an emoji with this image."""
    query = select(_TABLE.c.id).where(_TABLE.c.handle == handle, _TABLE.c.realm_id == realm_id)
    return db.execute(query).first() is not None


def _find_active(db: Db, realm_id: int, name: str) -> tuple[int, int | None] | None:
    """Return the id and the author of the active emoji with this name, or None."""
    query = select(_TABLE.c.id, _TABLE.c.author_id).where(
        _TABLE.c.realm_id == realm_id, _TABLE.c.name == name, ~_TABLE.c.is_deactivated
    )
    row = db.execute(query).first()
    return None if row is None else (row.id, row.author_id)
