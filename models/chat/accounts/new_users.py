"""Accounts that administrators make for others."""

from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.accounts.errors import BadNameOrUsername, PasswordTooWeak, UserCreationNotAllowed
from models.chat.accounts.newcomers import join_default_channels, welcome
from models.chat.events.people import UserGroupAddMembersEvent
from models.chat.identity.actors import Actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import DIRECT_GROUPS, Role
from models.chat.people.emails import check_email, check_email_allowed, require_email_is_free
from models.chat.people.errors import InvalidEmail
from models.chat.people.events import notify_of_membership
from models.chat.people.full_names import check_full_name, require_unique_name
from models.chat.people.users import create_user


def require_may_create_users(actor: Actor) -> None:
    """A right that the operator gives. Raises `UserCreationNotAllowed`."""
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
    """A new member's id. `password_hash` is None for a password that is too weak.

    Raises, in this order: `UserCreationNotAllowed`, what `check_full_name` and
    `require_unique_name` raise, `BadNameOrUsername`, what `check_email_allowed` raises,
    `EmailInUse`, `PasswordTooWeak`.
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
    groups = [actor.realm.group_id_of(name) for name in DIRECT_GROUPS[Role.MEMBER]]
    joins = UserGroupAddMembersEvent
    notify_of_membership(session, actor.realm_id, joins, groups, [user.id], now=now)
    join_default_channels(session, user, now=now)
    welcome(session, user, now=now)
    return user.id
