"""Conversations: sets of users who exchange direct messages."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from models.chat.access.people import api_email, email_for_all
from models.chat.identity.actors import Actor
from models.chat.tables import Conversation, ConversationMember, User
from models.dialects import in_parameter
from models.rows import RowQuery, columns_of
from specd.db import Db, Query, table_of

_BY_KEY = select(Conversation.id).where(
    Conversation.realm_id == bindparam("realm_id"), Conversation.key == bindparam("key")
)
_MEMBERS: Query[int, int] = Query(
    select(ConversationMember.conversation_id, ConversationMember.user_id)
    .where(in_parameter(ConversationMember.conversation_id, "conversation_ids"))
    .order_by(ConversationMember.conversation_id, ConversationMember.user_id)
)
_INSERT = insert(table_of(Conversation)).returning(Conversation.id)
_INSERT_MEMBER = insert(table_of(ConversationMember))


def key_of(user_ids: Iterable[int]) -> str:
    """Return the key of the conversation of a set of users. It does not depend on their order."""
    return sha256(",".join(map(str, sorted(set(user_ids)))).encode("ascii")).hexdigest()


def find_conversation(db: Db, realm_id: int, user_ids: Iterable[int]) -> int | None:
    """Return the id of the conversation of exactly these users, or None if it does not exist."""
    key = {"realm_id": realm_id, "key": key_of(user_ids)}
    conversation_id: int | None = db.execute(_BY_KEY, key).scalar()
    return conversation_id


def find_conversations(
    db: Db, realm_id: int, sets: Iterable[Iterable[int]]
) -> dict[frozenset[int], int]:
    """Return set of users -> id of their conversation, for conversations that exist."""
    keys = {key_of(users): frozenset(users) for users in sets}
    if not keys:
        return {}
    query = select(Conversation.key, Conversation.id).where(
        Conversation.realm_id == realm_id, Conversation.key.in_(keys)
    )
    return {keys[key]: conversation_id for key, conversation_id in db.execute(query)}


def require_conversation(session: Session, realm_id: int, user_ids: Iterable[int]) -> int:
    """Return the id of the conversation of exactly these users. It is created if necessary. If two
    units create it concurrently, one of them runs again.
    """
    members = sorted(set(user_ids))
    conversation_id = find_conversation(session, realm_id, members)
    if conversation_id is None:
        connection = session.connection()
        row = {"realm_id": realm_id, "key": key_of(members)}
        conversation_id = connection.execute(_INSERT, row).scalar_one()
        rows = [{"conversation_id": conversation_id, "user_id": user_id} for user_id in members]
        connection.execute(_INSERT_MEMBER, rows)
    return conversation_id


def find_members(db: Db, conversation_ids: Iterable[int]) -> dict[int, list[int]]:
    """Return conversation id -> ids of its users, in ascending order."""
    members: dict[int, list[int]] = {}
    ids = list(conversation_ids)
    if ids:
        for conversation_id, user_id in _MEMBERS.all(db, {"conversation_ids": ids}):
            members.setdefault(conversation_id, []).append(user_id)
    return members


# --- conversations in the API's form --------------------------------------------------------------


def describe_people(
    db: Db, viewer: Actor, members: Mapping[int, list[int]]
) -> dict[int, list[dict[str, Any]]]:
    """Return conversation id -> its users as elements of `display_recipient`."""
    ids = {user_id for user_ids in members.values() for user_id in user_ids}
    shown = find_people(db, viewer, ids)
    return {
        conversation_id: [shown[user_id] for user_id in user_ids]
        for conversation_id, user_ids in members.items()
    }


class _PersonRow(NamedTuple):
    """A user. It implements `EmailOwner`."""

    id: int
    bot_type: int | None
    full_name: str
    delivery_email: str
    email_address_visibility: int


_PEOPLE = RowQuery(
    _PersonRow, select(*columns_of(_PersonRow, User)).where(in_parameter(User.id, "user_ids"))
)


def find_people(
    db: Db, viewer: Actor, user_ids: Iterable[int], *, for_all: bool = False
) -> dict[int, dict[str, Any]]:
    """Return user id -> the user as an element of `display_recipient`.

    `for_all` selects email addresses that all users may see.
    """
    ids = list(user_ids)
    if not ids:
        return {}
    return {
        row.id: {
            "id": row.id,
            "email": email_for_all(row, viewer.realm.host) if for_all else api_email(viewer, row),
            "full_name": row.full_name,
            "is_mirror_dummy": False,
        }
        for row in _PEOPLE.all(db, {"user_ids": ids})
    }
