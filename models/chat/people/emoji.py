"""Emoji in statuses and reactions: Unicode emoji, custom emoji of the organization, and the
service's emoji.
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
"""The only emoji of the service. Its code is its name."""
CLIENTS_EXTRA = "zulip_extra_emoji"
"""The name of `EXTRA` in the API, because some clients reject unknown names."""

CODE_POINTS = re.compile(r"[0-9a-f]{2,6}(-[0-9a-f]{2,6}){0,9}")
NAME = re.compile(r"[\w+-]+")
"""The form of names of Unicode emoji, which are written between colons in texts."""


@dataclass(frozen=True, slots=True)
class Emoji:
    """An emoji in the API's form. Name and code are empty if there is none."""

    emoji_name: str = ""
    emoji_code: str = ""
    reaction_type: str = UNICODE


def own_kind(reaction_type: str | None) -> str | None:
    """Convert the type of an emoji from the API's name to the stored name."""
    return EXTRA if reaction_type == CLIENTS_EXTRA else reaction_type


def clients_kind(reaction_type: str) -> str:
    """Convert the type of an emoji from the stored name to the API's name."""
    return CLIENTS_EXTRA if reaction_type == EXTRA else reaction_type


def check_emoji(
    db: Db, actor: Actor, name: str | None, code: str | None, kind: str | None
) -> Emoji | None:
    """Return the emoji in a request, or None if there is none. An empty name clears the emoji.

    Raise `EmojiCodeWithoutName`, or an error of `complete_emoji` or `require_usable`.
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
    """Return the emoji. A missing code or type is looked up by the name. Raise
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
    """Return the emoji with this name: first custom emoji, then the service's emoji, then Unicode
    emoji. Raise `EmojiDoesNotExist`.
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
            # Clients may have newer emoji than this table, so unknown names are accepted.
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
