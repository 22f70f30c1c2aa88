"""A user's copies of messages that have a flag, found by the partial index for the flag."""

from sqlalchemy import Select, TextClause, bindparam, select

from models.chat.tables import UserMessage
from models.dialects import indexed_by


def copies_of_user(index: str, flagged: TextClause) -> Select[int, int]:
    """Return the query for message_id and flags of the copies of :user_id with a flag."""
    copies = indexed_by(UserMessage.__table__, index)
    query: Select[int, int] = select(copies.c.message_id, copies.c.flags)
    return query.where(copies.c.user_id == bindparam("user_id"), flagged)
