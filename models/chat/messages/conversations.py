"""Conversations: the sets of users that write to each other directly."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.people import api_email, email_for_all
from models.chat.identity.actors import Actor
from models.chat.tables import Conversation, ConversationMember, User
from models.dialects import bound_in
from models.prepared import Query
from models.reader import Db

_BY_KEY = select(Conversation.id).where(
    Conversation.realm_id == bindparam("realm_id"), Conversation.key == bindparam("key")
)
_MEMBERS: Query[int, int] = Query(
    select(ConversationMember.conversation_id, ConversationMember.user_id)
    .where(bound_in(ConversationMember.conversation_id, "conversation_ids"))
    .order_by(ConversationMember.conversation_id, ConversationMember.user_id)
)
_INSERT = insert(table_of(Conversation)).returning(Conversation.id)
_INSERT_MEMBER = insert(table_of(ConversationMember))


def key_of(user_ids: Iterable[int]) -> str:
    """What makes a set of users one conversation, whoever of them writes."""
    return sha256(",".join(map(str, sorted(set(user_ids)))).encode("ascii")).hexdigest()


def find_conversation(db: Db, realm_id: int, user_ids: Iterable[int]) -> int | None:
    """Id of the conversation of exactly these users, if they ever wrote."""
    key = {"realm_id": realm_id, "key": key_of(user_ids)}
    found: int | None = db.execute(_BY_KEY, key).scalar()
    return found


def find_conversations(
    db: Db, realm_id: int, sets: Iterable[Iterable[int]]
) -> dict[frozenset[int], int]:
    """Sets of users that ever wrote -> the ids of their conversations, in one statement."""
    keys = {key_of(users): frozenset(users) for users in sets}
    if not keys:
        return {}
    wanted = select(Conversation.key, Conversation.id).where(
        Conversation.realm_id == realm_id, Conversation.key.in_(keys)
    )
    return {keys[key]: conversation_id for key, conversation_id in db.execute(wanted)}


def require_conversation(session: Session, realm_id: int, user_ids: Iterable[int]) -> int:
    """The same, made now if need be. Two who make it at once: the unit of one runs again."""
    members = sorted(set(user_ids))
    found = find_conversation(session, realm_id, members)
    if found is not None:
        return found
    connection = session.connection()
    made: int = connection.execute(
        _INSERT, {"realm_id": realm_id, "key": key_of(members)}
    ).scalar_one()
    connection.execute(
        _INSERT_MEMBER, [{"conversation_id": made, "user_id": user_id} for user_id in members]
    )
    return made


def find_members(db: Db, conversation_ids: Iterable[int]) -> dict[int, list[int]]:
    """Conversation id -> ids of its users, ascending."""
    members: dict[int, list[int]] = {}
    ids = list(conversation_ids)
    if ids:
        found = _MEMBERS.all(db, {"conversation_ids": ids})
        for conversation_id, user_id in found:
            members.setdefault(conversation_id, []).append(user_id)
    return members


# --- as clients see them -------------------------------------------------------------------------


def describe_people(
    db: Db, viewer: Actor, members: Mapping[int, list[int]]
) -> dict[int, list[dict[str, Any]]]:
    """Conversation id -> who is in it, as `display_recipient` shows them."""
    ids = {user_id for user_ids in members.values() for user_id in user_ids}
    shown = find_people(db, viewer, ids)
    return {
        conversation_id: [shown[user_id] for user_id in user_ids]
        for conversation_id, user_ids in members.items()
    }


class _PersonRow(NamedTuple):
    """A user; fits `EmailOwner`."""

    id: int
    bot_type: int | None
    full_name: str
    delivery_email: str
    email_address_visibility: int


_PEOPLE = Query(
    select(
        User.id,
        User.bot_type,
        User.full_name,
        User.delivery_email,
        User.email_address_visibility,
    ).where(bound_in(User.id, "user_ids"))
)


def find_people(
    db: Db, viewer: Actor, user_ids: Iterable[int], *, for_all: bool = False
) -> dict[int, dict[str, Any]]:
    """User id -> the user as an element of `display_recipient`.

    `for_all`: others read it too, so only with emails that everybody may see.
    """
    ids = list(user_ids)
    if not ids:
        return {}
    asked = {"user_ids": ids}
    rows = map(_PersonRow._make, _PEOPLE.all(db, asked))
    return {
        row.id: {
            "id": row.id,
            "email": email_for_all(row, viewer.realm.host) if for_all else api_email(viewer, row),
            "full_name": row.full_name,
            "is_mirror_dummy": False,
        }
        for row in rows
    }
