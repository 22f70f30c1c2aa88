"""Names of users and bots."""

import re
import unicodedata
from contextlib import suppress

from sqlalchemy import bindparam, select

from models.chat.common.name_keys import composed
from models.chat.common.one_line import FORBIDDEN
from models.chat.errors import ChatError
from models.chat.identity.actors import RealmView
from models.chat.people.confusables import is_invisible, look_alike, looks, skeleton
from models.chat.people.errors import (
    InvalidCharactersInName,
    InvalidNameFormat,
    NameIsReserved,
    NameTooLong,
    NameTooShort,
    UniqueNamesRequired,
)
from models.chat.tables import User
from specd.db import Db

NOTIFICATION_BOT = "Notification Bot"
SYSTEM_BOTS = (NOTIFICATION_BOT,)
"""The organization's bots. Other users may not have these names or similar ones."""

NAME_MIN, NAME_MAX = 2, 100
BAD_NAME_CHARACTERS = frozenset('*`\\>"@')
_NAMES = select(User.full_name).where(
    User.realm_id == bindparam("realm_id"), User.id != bindparam("user_id")
)


# A link, which mail programs and other clients would make clickable.
_LINK = re.compile(r"://|www\.|\]\s*\(", re.IGNORECASE)


def check_full_name(name: str, *, is_system_bot: bool = False) -> str:
    """Return the name trimmed and with composed letters, as it is stored. Raise an error if the
    name is not permitted.
    """
    name = composed(name.strip())
    if len(name) > NAME_MAX:
        raise NameTooLong()
    if len(name) < NAME_MIN:
        raise NameTooShort()
    if any(map(_is_bad, name)) or is_invisible(name):
        raise InvalidCharactersInName()
    if re.search(r"\|[0-9]+\Z", name) or _LINK.search(name):
        raise InvalidNameFormat()
    if not is_system_bot and _is_reserved(name):
        raise NameIsReserved()
    return name


def as_allowed(name: str, user_id: int) -> str:
    """Return an imported name in a permitted form: without forbidden characters, and with the id if
    too little remains.
    """
    kept = "".join(" " if _is_bad(s) else s for s in composed(name))
    kept = re.sub(r"\|[0-9]+\Z", "", _LINK.sub(" ", kept))
    kept = "" if is_invisible(kept) else " ".join(kept.split())[: NAME_MAX - 20].strip()
    for each in (name, kept, f"{kept} {user_id}"):
        with suppress(ChatError):
            return check_full_name(each)
    return f"User {user_id}"


def _is_bad(character: str) -> bool:
    return (
        FORBIDDEN.search(character) is not None
        or character in BAD_NAME_CHARACTERS
        or unicodedata.category(character)[0] == "C"
    )


def _is_reserved(name: str) -> bool:
    known = {_tight(form) for bot in SYSTEM_BOTS for form in (bot, bot.upper())}
    folded = {_tight(bot.casefold()).casefold() for bot in SYSTEM_BOTS}
    return _tight(name) in known or _tight(name.casefold()).casefold() in folded


def _tight(name: str) -> str:
    return skeleton(name).replace(" ", "")


def require_unique_name(db: Db, realm: RealmView, name: str, *, user_id: int | None = None) -> None:
    """Raise `UniqueNamesRequired` if the realm requires unique names and a user other than
    `user_id` has the name, in any case, or a name that looks like it.
    """
    if not realm.require_unique_names:
        return
    others = db.execute(_NAMES, {"realm_id": realm.id, "user_id": user_id or 0}).scalars()
    own = looks(name)
    if any(look_alike(own, looks(other)) for other in others):
        raise UniqueNamesRequired()
