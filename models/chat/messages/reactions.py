"""Reaction objects. One statement reads the reactions to many messages."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from models.chat.access.people import api_email
from models.chat.identity.actors import Actor
from models.chat.people.emoji import clients_kind
from models.chat.tables import Reaction, User
from models.dialects import in_parameter
from models.rows import RowQuery, columns_of
from specd.db import Db


class _ReactionRow(NamedTuple):
    """A reaction with the facts of its user."""

    message_id: int
    emoji_name: str
    emoji_code: str
    reaction_type: str
    id: int
    full_name: str
    bot_type: int | None
    delivery_email: str
    email_address_visibility: int


_REACTIONS = RowQuery(
    _ReactionRow,
    select(
        Reaction.message_id,
        Reaction.emoji_name,
        Reaction.emoji_code,
        Reaction.reaction_type,
        *columns_of(_ReactionRow, User),
    )
    .join(User, User.id == Reaction.user_id)
    .where(in_parameter(Reaction.message_id, "message_ids"))
    .order_by(Reaction.id),
)


def find_reactions(
    db: Db, viewer: Actor, message_ids: Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    """Return message id -> its reactions, oldest first, for messages that have any."""
    reactions: dict[int, list[dict[str, Any]]] = {}
    for row in _REACTIONS.all(db, {"message_ids": message_ids}):
        reactions.setdefault(row.message_id, []).append(
            {
                "emoji_name": row.emoji_name,
                "emoji_code": row.emoji_code,
                "reaction_type": clients_kind(row.reaction_type),
                "user_id": row.id,
                "user": {
                    "email": api_email(viewer, row),
                    "full_name": row.full_name,
                    "id": row.id,
                },
            }
        )
    return reactions
