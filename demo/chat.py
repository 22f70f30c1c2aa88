"""Creates the demo's chat organization and its users, or uses those of an earlier start."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.channels import find_channel
from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, subscribe
from models.chat.identity.actors import find_actor, find_realm_at
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import Role
from models.chat.organization.errors import RealmStopped
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.organization.settings import change_realm
from models.chat.people.users import create_user
from models.chat.tables import User

NAME = "Acme"
OWNER = "Cordelia"
PEOPLE = {
    "Iago": Role.ADMINISTRATOR,
    "Hamlet": Role.MEMBER,
    "Othello": Role.MEMBER,
    "Polonius": Role.GUEST,
}
BOT = "Reminder"
BOTS_OWNER = "Hamlet"
GENERAL = "general"
MODERATION = "moderation"


@dataclass(frozen=True, slots=True)
class ChatUser:
    """A user with the credentials for `curl -u`. `what` is the role, or `bot`."""

    name: str
    what: str
    user_id: int
    email: str
    api_key: str


@dataclass(frozen=True, slots=True)
class ChatAccess:
    """The users and ids of the demo organization."""

    realm_id: int
    users: tuple[ChatUser, ...]
    channel_id: int


def seed_chat(session: Session, keys: KeyMaker, *, host: str, now: datetime) -> ChatAccess:
    """Create the organization at the demo's host and its users and channels, if they are missing.
    Return the users with their keys. Raise `RealmStopped`.

    This is one transaction and can be repeated.
    """
    realm = find_realm_at(session, host)
    if realm is None:
        made, _, _ = create_realm(
            session,
            keys,
            name=NAME,
            host=host,
            owner_email=_email(OWNER),
            owner_name=OWNER,
            now=now,
        )
        realm = access_realm_by_id(session, made.id)
    if realm.stopped_at is not None:
        raise RealmStopped(realm=host)

    def user(name: str, role: Role, owner_id: int | None = None) -> ChatUser:
        found = session.execute(
            select(User).where(User.realm_id == realm.id, User.email_key == _email(name))
        ).scalar()
        if found is None:
            found, _ = create_user(
                session,
                keys,
                realm=realm,
                email=_email(name),
                full_name=name,
                role=role,
                bot_type=None if owner_id is None else 1,
                bot_owner_id=owner_id,
                now=now,
            )
        if role == Role.OWNER:
            found.can_create_users = found.can_change_user_emails = True
        what = "bot" if owner_id is not None else role.name.lower()
        return ChatUser(name, what, found.id, found.delivery_email, keys.key_of(found))

    users = [user(OWNER, Role.OWNER), *(user(name, role) for name, role in PEOPLE.items())]
    owner_id = next(person.user_id for person in users if person.name == BOTS_OWNER)
    users.append(user(BOT, Role.MEMBER, owner_id))
    channel_id = _open_channel(session, users[0].user_id, GENERAL, NewChannel(is_default=True),
                               [person.user_id for person in users], now)  # fmt: skip
    if realm.moderation_request_channel_id is None:
        moderators = [person.user_id for person in users[:2]]
        private = NewChannel(invite_only=True)
        desk = _open_channel(session, users[0].user_id, MODERATION, private, moderators, now)
        settings = {"moderation_request_channel_id": desk}
        change_realm(session, realm.id, settings, actor=None, now=now)
    return ChatAccess(realm_id=realm.id, users=tuple(users), channel_id=channel_id)


def _open_channel(
    session: Session, owner_id: int, name: str, new: NewChannel, users: list[int], now: datetime
) -> int:
    """Return the id of a channel. Create it with these subscribers if it does not exist."""
    owner = find_actor(session, owner_id)
    assert owner is not None
    channel = find_channel(session, owner, name=name)
    if channel is None:
        subscribe(
            session,
            owner,
            [WantedChannel(name)],
            new,
            principals=users,
            refuse_unauthorized=True,
            web_public_enabled=False,
            now=now,
        )
        channel = find_channel(session, owner, name=name)
        assert channel is not None
    return channel.id


def _email(name: str) -> str:
    return f"{name.lower()}@acme.example"
