"""The names of people and bots."""

import re
import unicodedata
from typing import Any

from sqlalchemy import bindparam, select

from models.chat.actors import Reader, RealmView
from models.chat.errors.people import (
    InvalidCharactersInName,
    InvalidNameFormat,
    NameTooLong,
    NameTooShort,
    UniqueNamesRequired,
)
from models.chat.tables import User

NAME_MIN, NAME_MAX = 2, 100
BAD_NAME_CHARACTERS = frozenset('*`\\>"@')
_NAMES: Any = select(User.full_name).where(
    User.realm_id == bindparam("realm_id"), User.id != bindparam("user_id")
)


def check_full_name(name: str) -> str:
    """The name as it is stored: trimmed. Raises the class that says what is wrong with it."""
    name = name.strip()
    if len(name) > NAME_MAX:
        raise NameTooLong()
    if len(name) < NAME_MIN:
        raise NameTooShort()
    if any(c in BAD_NAME_CHARACTERS or unicodedata.category(c)[0] == "C" for c in name):
        raise InvalidCharactersInName()
    if re.search(r"\|[0-9]+\Z", name):
        raise InvalidNameFormat()
    return name


def require_unique_name(
    reader: Reader, realm: RealmView, name: str, *, user_id: int | None = None
) -> None:
    """Where the realm wants names to be unique: does nobody but `user_id` have it, in any case?

    Raises `UniqueNamesRequired`.
    """
    if not realm.require_unique_names:
        return
    others = reader.execute(_NAMES, {"realm_id": realm.id, "user_id": user_id or 0}).scalars()
    if _key_of(name) in map(_key_of, others):
        raise UniqueNamesRequired()


def _key_of(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
