"""A user's copies of messages that have a flag, found by the partial index for the flag."""

from sqlalchemy import TextClause


def copies_of_user(dialect: str, index: str, flagged: TextClause) -> str:
    """SQL from FROM on: the copies of :user_id with a flag.

    SQLite knows only averages: without the index by name, it reads all copies of a user who has
    more than others.
    """
    named = f"INDEXED BY {index}" if dialect == "sqlite" else ""
    return f"FROM user_message {named} WHERE user_id = :user_id AND {flagged}"
