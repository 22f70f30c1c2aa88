"""New members: accounts that administrators create, with default channels and a welcome message."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.accounts.errors import BadNameOrUsername, PasswordTooWeak, UserCreationNotAllowed
from models.chat.channels.subscribing import subscribe_to_existing
from models.chat.events.people import UserGroupAddMembersEvent
from models.chat.identity.actors import Actor, RealmView, find_actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import DIRECT_GROUPS, Role
from models.chat.people.emails import check_email, check_email_allowed, require_email_is_free
from models.chat.people.errors import InvalidEmail
from models.chat.people.events import notify_of_membership
from models.chat.people.full_names import check_full_name, require_unique_name
from models.chat.people.users import create_user
from models.chat.rendering import Names
from models.chat.rendering.quotes import fenced
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.errors import MessageIsEmpty
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import Channel, DefaultChannel, Realm, User
from specd.db import Db

WELCOME = (
    "Hello, and welcome! 👋\n\n"
    "Channels hold the conversations of this organization, and topics keep them apart: find one"
    " that interests you, or write to somebody directly. Answer here if you like; nobody reads it,"
    " so it is a good place to try things."
)


def require_may_create_users(actor: Actor) -> None:
    """Raise `UserCreationNotAllowed` unless the operator has given the actor this right."""
    if not actor.can_create_users:
        raise UserCreationNotAllowed()


def add_user(
    session: Session,
    keys: KeyMaker,
    actor: Actor,
    *,
    email: str,
    full_name: str,
    password_hash: str | None,
    now: datetime,
) -> int:
    """Create a member and return the id. `password_hash` is None for a password that is too weak.

    Raise, in this order: `UserCreationNotAllowed`, errors of `check_full_name` and
    `require_unique_name`, `BadNameOrUsername`, errors of `check_email_allowed`, `EmailInUse`,
    `PasswordTooWeak`.
    """
    require_may_create_users(actor)
    full_name = check_full_name(full_name)
    require_unique_name(session, actor.realm, full_name)
    try:
        email = check_email(email)
    except InvalidEmail:
        raise BadNameOrUsername() from None
    check_email_allowed(session, actor.realm, email)
    require_email_is_free(session, actor.realm_id, email)
    if password_hash is None:
        raise PasswordTooWeak()
    user, _ = create_user(
        session,
        keys,
        realm=actor.realm,
        email=email,
        full_name=full_name,
        role=Role.MEMBER,
        password_hash=password_hash,
        actor_id=actor.id,
        now=now,
    )
    user.awaits_first_sign_in = True
    notify_of_groups(session, actor.realm, user, now=now)
    join_default_channels(session, user, now=now)
    welcome(session, user, now=now)
    return user.id


def notify_of_groups(
    session: Session, realm: RealmView, user: User, *, chosen: Sequence[int] = (), now: datetime
) -> None:
    """Append the events of a new user's groups: those of the role, and `chosen` groups."""
    group_ids = [realm.group_id_of(name) for name in DIRECT_GROUPS[Role(user.role)]]
    joined = UserGroupAddMembersEvent
    notify_of_membership(session, realm.id, joined, [*group_ids, *chosen], [user.id], now=now)


def welcome(session: Session, user: User, *, now: datetime) -> None:
    """Send the welcome message of the notification bot, and the organization's welcome text if it
    has one.
    """
    send_direct_notices(session, user.realm_id, [user.id], content=WELCOME, now=now)
    own_text = select(Realm.welcome_message_custom_text).where(Realm.id == user.realm_id)
    text = session.execute(own_text).scalar_one()
    if text:
        send_direct_notices(session, user.realm_id, [user.id], content=_quoted(text), now=now)


def prepare_welcome_text(db: Db, actor: Actor, text: str) -> PreparedText:
    """Return the message with the organization's welcome text. Raise `MessageIsEmpty`."""
    text = text.strip()
    if not text:
        raise MessageIsEmpty()
    return prepare_text(db, actor, _quoted(text), Names())


def try_welcome_text(session: Session, actor: Actor, text: PreparedText, *, now: datetime) -> int:
    """Send the actor the result of `prepare_welcome_text`, and return the message id."""
    [message_id] = send_direct_notices(session, actor.realm_id, [actor.id], content=text, now=now)
    return message_id


def _quoted(text: str) -> str:
    return "The administrators of this organization say:\n\n" + fenced(text, "quote", least=4)


def join_default_channels(session: Session, user: User, *, now: datetime) -> None:
    """Subscribe a new member to the default channels. Guests and bots get none."""
    actor = find_actor(session, user.id)
    if actor is None or actor.is_guest or actor.is_bot:
        return
    names = session.scalars(
        select(Channel.name)
        .join(DefaultChannel, DefaultChannel.channel_id == Channel.id)
        .where(DefaultChannel.realm_id == user.realm_id, ~Channel.is_archived)
        .order_by(Channel.id)
    ).all()
    subscribe_to_existing(session, actor, names, now=now)
