"""Emoji as clients name them in statuses and reactions: Unicode's, the organization's own, and the
service's.
"""

import re
from dataclasses import dataclass

from sqlalchemy import select

from models.chat.identity.actors import Actor
from models.chat.people.errors import (
    CustomEmojiDeactivated,
    EmojiCodeWithoutName,
    EmojiDoesNotExist,
    InvalidEmoji,
)
from models.chat.rendering.emoji import EMOJI
from models.chat.tables import RealmEmoji
from specd.db import Db

UNICODE, REALM, EXTRA = "unicode_emoji", "realm_emoji", "service_extra_emoji"
EXTRA_EMOJI = "zulip"
"""The one emoji that comes with the service; its code is its name."""
CLIENTS_EXTRA = "zulip_extra_emoji"
"""The name of `EXTRA` for clients, some of which refuse unknown names."""

CODE_POINTS = re.compile(r"[0-9a-f]{2,6}(-[0-9a-f]{2,6}){0,9}")
NAME = re.compile(r"[\w+-]+")
"""The form of a name of Unicode's emoji, as written between colons in a text."""


@dataclass(frozen=True, slots=True)
class Emoji:
    """An emoji as clients name it; name and code are empty for none."""

    emoji_name: str = ""
    emoji_code: str = ""
    reaction_type: str = UNICODE


def own_kind(reaction_type: str | None) -> str | None:
    """Return the stored type of an emoji, from a client's."""
    return EXTRA if reaction_type == CLIENTS_EXTRA else reaction_type


def clients_kind(reaction_type: str) -> str:
    """Return the type of an emoji for clients, from the stored one."""
    return CLIENTS_EXTRA if reaction_type == EXTRA else reaction_type


def check_emoji(
    db: Db, actor: Actor, name: str | None, code: str | None, kind: str | None
) -> Emoji | None:
    """Return the emoji that a client sent; None if it sent none. An empty name means no emoji.

    Raise `EmojiCodeWithoutName`, and what `complete_emoji` and `require_usable` raise.
    """
    if name is None:
        if code is not None or kind is not None:
            raise EmojiCodeWithoutName()
        return None
    if name == "":
        return Emoji()
    emoji = complete_emoji(db, actor, name, code, kind)
    require_usable(db, actor, emoji)
    return emoji


def complete_emoji(db: Db, actor: Actor, name: str, code: str | None, kind: str | None) -> Emoji:
    """Return the emoji, completed by its name where the client left something out. Raise
    `EmojiDoesNotExist`.
    """
    if code is not None and kind is not None:
        return Emoji(name, code, kind)
    named = access_emoji(db, actor, name)
    return Emoji(
        name,
        named.emoji_code if code is None else code,
        named.reaction_type if kind is None else kind,
    )


def access_emoji(db: Db, actor: Actor, name: str) -> Emoji:
    """Return the emoji of that name: the organization's own, then the service's, then Unicode's.

    Raise `EmojiDoesNotExist`.
    """
    own = select(RealmEmoji.id).where(
        RealmEmoji.realm_id == actor.realm_id, RealmEmoji.name == name, ~RealmEmoji.is_deactivated
    )
    emoji_id = db.execute(own).scalar()
    if emoji_id is not None:
        return Emoji(name, str(emoji_id), REALM)
    if name == EXTRA_EMOJI:
        return Emoji(name, name, EXTRA)
    if name in EMOJI:
        return Emoji(name, EMOJI[name], UNICODE)
    raise EmojiDoesNotExist(name=name)


def require_usable(db: Db, actor: Actor, emoji: Emoji) -> None:
    """Require that name, code and type match, and that the emoji is active.

    Raise `InvalidEmoji`, `CustomEmojiDeactivated`.
    """
    name, code = emoji.emoji_name, emoji.emoji_code
    match emoji.reaction_type:
        case "unicode_emoji":
            # Clients may have newer emoji than this table: a name that it lacks is accepted.
            if CODE_POINTS.fullmatch(code) is None:
                raise InvalidEmoji(what="emoji code")
            if EMOJI.get(name, code) != code or NAME.fullmatch(name) is None:
                raise InvalidEmoji(what="emoji name")
        case "realm_emoji":
            _require_usable_custom(db, actor, name, code)
        case _:
            if code != EXTRA_EMOJI:
                raise InvalidEmoji(what="emoji code")
            if name != EXTRA_EMOJI:
                raise InvalidEmoji(what="emoji name")


def _require_usable_custom(db: Db, actor: Actor, name: str, code: str) -> None:
    row = None
    if re.fullmatch(r"[0-9]{1,9}", code):
        query = select(RealmEmoji.name, RealmEmoji.is_deactivated).where(
            RealmEmoji.realm_id == actor.realm_id, RealmEmoji.id == int(code)
        )
        row = db.execute(query).first()
    if row is None:
        raise InvalidEmoji(what="custom emoji")
    if row.name != name:
        raise InvalidEmoji(what="custom emoji name")
    if row.is_deactivated:
        raise CustomEmojiDeactivated()
