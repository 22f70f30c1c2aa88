"""Stars of message copies. A star is stored in a separate table and not in the flags of the
copy.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    SQLColumnExpression,
    bindparam,
    case,
    delete,
    select,
    tuple_,
)
from sqlalchemy.orm import Session

from models.chat.messages.flags import STARRED
from models.chat.tables import StarredMessage, UserMessage
from models.dialects import in_parameter
from specd.db import Change, table_of, upsert

_STAR = table_of(StarredMessage)


def all_flags(copy: type[UserMessage]) -> ColumnElement[int]:
    """Return all flags of a copy (the table or an alias), including the star, or null without a
    copy.
    """
    starred = select(StarredMessage.message_id).where(
        StarredMessage.user_id == copy.user_id, StarredMessage.message_id == copy.message_id
    )
    return (copy.flags + case((starred.exists(), STARRED), else_=0)).label("flags")


def add_stars(session: Session, user_id: int, message_ids: list[int]) -> int:
    """Star the user's copies of these messages. Return the number of new stars."""
    return _ADD.run(session, {"reader_id": user_id, "ids": message_ids})


def remove_stars(session: Session, user_id: int, message_ids: list[int]) -> int:
    """Remove the user's stars from these messages. Return the number of removed stars."""
    return _REMOVE.run(session, {"reader_id": user_id, "ids": message_ids})


def forget_stars(session: Session, copies: ColumnElement[bool]) -> None:
    """Remove the stars of existing copies, selected by a condition on `UserMessage`."""
    theirs = select(UserMessage.user_id, UserMessage.message_id).where(copies)
    starred: SQLColumnExpression[Any] = tuple_(_STAR.c.user_id, _STAR.c.message_id)
    session.connection().execute(delete(_STAR).where(starred.in_(theirs)))


_COPIES = select(UserMessage.user_id, UserMessage.message_id).where(
    UserMessage.user_id == bindparam("reader_id", type_=BigInteger),
    in_parameter(UserMessage.message_id, "ids"),
)
_ADD = Change(
    upsert(_STAR).from_select(["user_id", "message_id"], _COPIES).on_conflict_do_nothing()
)
_REMOVE = Change(
    delete(_STAR).where(
        _STAR.c.user_id == bindparam("reader_id"), in_parameter(_STAR.c.message_id, "ids")
    )
)
