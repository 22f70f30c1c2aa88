"""The organization's own emoji. Deactivated ones are listed too: old messages have them."""

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.membership import belongs, require
from models.chat.access.people import visible_user_id
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.organization import RealmEmojiUpdateEvent
from models.chat.identity.actors import Actor
from models.chat.organization.errors import (
    BuiltInEmoji,
    CustomEmojiNotFound,
    EmojiNameEnds,
    EmojiNameTaken,
    InvalidEmojiName,
    NotEmojiAuthor,
)
from models.chat.rendering.emoji import EMOJI
from models.chat.tables import Realm, RealmEmoji
from models.reader import Db

SIZE = 64
"""The most pixels that a picture is wide or high."""
FILE_MAX_MIB = 5
STILL = ".still"
"""What follows the handle in the store's key of an animation's first frame."""

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
    db: Db, realm_id: int, *, known_ids: Container[int] | None
) -> dict[str, dict[str, Any]]:
    """Id, as text -> the emoji. `known_ids`: users whom the reader may know; None: everybody."""
    return {
        str(row.id): {
            "id": str(row.id),
            "name": row.name,
            "source_url": row.source_url,
            "still_url": row.still_url,
            "deactivated": row.is_deactivated,
            "author_id": visible_user_id(row.author_id, known_ids),
        }
        for row in db.execute(_EMOJI, {"realm_id": realm_id})
    }


@dataclass(frozen=True, slots=True)
class NewEmoji:
    """An emoji whose pictures are in the store already."""

    name: str
    handle: str
    is_animated: bool


def check_emoji_name(name: str) -> str:
    """A name as it stands between colons. Raises `InvalidEmojiName`, `EmojiNameEnds`."""
    name = name.strip().replace(" ", "_")
    if _NAME.fullmatch(name) is None:
        raise InvalidEmojiName()
    if not name[-1].isalnum():
        raise EmojiNameEnds()
    return name


def require_may_add(db: Db, actor: Actor, name: str) -> None:
    """Raises `InsufficientPermission`, `EmojiNameTaken`, `BuiltInEmoji`."""
    require(belongs(db, actor, actor.realm.can_add_custom_emoji_group))
    if _find_active(db, actor.realm_id, name) is not None:
        raise EmojiNameTaken()
    if name in EMOJI and not actor.is_administrator:
        raise BuiltInEmoji()


def add_custom_emoji(session: Session, actor: Actor, new: NewEmoji, *, now: datetime) -> int:
    """The id of the new emoji. Raises what `require_may_add` raises."""
    # Those who add one of the same name at once do it one after the other.
    session.execute(
        select(Realm.id).where(Realm.id == actor.realm_id).with_for_update(key_share=True)
    )
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
    _tell(session, actor, "custom_emoji_added", emoji_id, new.name, now)
    return emoji_id


def deactivate_custom_emoji(session: Session, actor: Actor, name: str, *, now: datetime) -> None:
    """Nobody can use it from now on. Raises `CustomEmojiNotFound`, `NotEmojiAuthor`."""
    found = _find_active(session, actor.realm_id, name)
    if found is None:
        raise CustomEmojiNotFound(name=name)
    emoji_id, author_id = found
    if author_id != actor.id and not actor.is_administrator:
        raise NotEmojiAuthor()
    gone = update(_TABLE).where(_TABLE.c.id == emoji_id).values(is_deactivated=True)
    session.connection().execute(gone)
    _tell(session, actor, "custom_emoji_deactivated", emoji_id, name, now)


def find_picture(db: Db, realm_id: int, handle: str) -> bool:
    """Has the organization an emoji with this picture?"""
    wanted = select(_TABLE.c.id).where(_TABLE.c.handle == handle, _TABLE.c.realm_id == realm_id)
    return db.execute(wanted).first() is not None


def _find_active(db: Db, realm_id: int, name: str) -> tuple[int, int | None] | None:
    """Id and author of the emoji that can be used under this name."""
    wanted = select(_TABLE.c.id, _TABLE.c.author_id).where(
        _TABLE.c.realm_id == realm_id, _TABLE.c.name == name, ~_TABLE.c.is_deactivated
    )
    row = db.execute(wanted).first()
    return None if row is None else (row.id, row.author_id)


def _tell(
    session: Session, actor: Actor, kind: str, emoji_id: int, name: str, now: datetime
) -> None:
    facts = {"emoji_id": emoji_id, "name": name}
    audit.record(session, actor.realm_id, kind, actor_id=actor.id, facts=facts, now=now)
    log.append(session, actor.realm_id, RealmEmojiUpdateEvent(), now=now)
