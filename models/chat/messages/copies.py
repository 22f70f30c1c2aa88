"""A user's copies of messages that have a flag, found by the partial index for the flag."""

from sqlalchemy import Select, TextClause, bindparam, select

from models.chat.tables import UserMessage
from models.dialects import indexed_by


def copies_of_user(index: str, flagged: TextClause) -> Select[int, int]:
    """Select of the copies of :user_id with a flag: message_id and flags."""
    copies = indexed_by(UserMessage.__table__, index)
    wanted: Select[int, int] = select(copies.c.message_id, copies.c.flags)
    return wanted.where(copies.c.user_id == bindparam("user_id"), flagged)
