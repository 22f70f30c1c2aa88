"""Create and find users and bots."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from models.chat.access.errors import NoSuchUser
from models.chat.access.membership import sync_system_groups
from models.chat.access.people import (
    USER_COLUMNS,
    UserRow,
    sees_everybody,
    visible_to,
)
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.people import RealmUserAddEvent
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import Role
from models.chat.people.bots import notify_of_new_bot
from models.chat.people.defaults import find_user_defaults
from models.chat.people.emails import check_email, require_email_is_free
from models.chat.people.events import find_users_who_know
from models.chat.people.full_names import check_full_name
from models.chat.people.view import describe_new_user
from models.chat.tables import User, UserMessage
from models.rows import read_rows
from specd.db import Db, Query


def create_user(
    session: Session,
    keys: KeyMaker,
    *,
    realm: RealmView,
    email: str,
    full_name: str,
    role: int,
    now: datetime,
    password_hash: str | None = None,
    bot_type: int | None = None,
    bot_owner_id: int | None = None,
    can_create_users: bool = False,
    can_change_user_emails: bool = False,
    is_system_bot: bool = False,
    actor_id: int | None = None,
) -> tuple[User, str]:
    """Create an active user of the realm. Return the user and the API key.

    Raise `InvalidEmail`, `EmailInUse`, an error of `check_full_name`, and `NoSuchUser` if the owner
    is a bot or not in the realm.
    """
    email, full_name = check_email(email), check_full_name(full_name, is_system_bot=is_system_bot)
    require_email_is_free(session, realm.id, email)
    if bot_owner_id is not None:
        owner = session.get(User, bot_owner_id)
        if owner is None or owner.realm_id != realm.id or owner.bot_type is not None:
            raise NoSuchUser()
    defaults = {} if bot_type is not None else find_user_defaults(session, realm.id)
    user = User(
        **defaults,
        realm_id=realm.id,
        delivery_email=email,
        email_key=email.casefold(),
        full_name=full_name,
        role=Role(role),
        bot_type=bot_type,
        bot_owner_id=bot_owner_id,
        is_system_bot=is_system_bot,
        date_joined=now,
        default_language=realm.default_language,
        email_address_visibility=realm.email_address_visibility,
        can_create_users=can_create_users,
        can_change_user_emails=can_change_user_emails,
        password_hash=password_hash,
    )
    api_key = keys.renew(user)
    session.add(user)
    session.flush()
    sync_system_groups(session, user)
    audit.record(
        session, realm.id, "user_created", actor_id=actor_id, user_id=user.id, now=now,
        facts={"role": int(role), "bot_type": bot_type},
    )  # fmt: skip
    event = RealmUserAddEvent(person=describe_new_user(user, realm))
    user_ids = find_users_who_know(session, realm, user.id)
    log.append(session, realm.id, event, user_ids=user_ids, now=now)
    if bot_type is not None and not is_system_bot:
        notify_of_new_bot(session, realm, user, now=now)
    return user, api_key


_IN_REALM = select(*USER_COLUMNS).where(User.realm_id == bindparam("realm_id")).order_by(User.id)
_ALL = _IN_REALM.where(~User.is_system_bot)
_SYSTEM_BOTS = _IN_REALM.where(User.is_system_bot)


def find_users(db: Db, actor: Actor, user_ids: Iterable[int] | None = None) -> list[UserRow]:
    """Return rows of the realm's users that the actor may see, active or not, ordered by id: all
    users, or those in `user_ids`.
    """
    query = _ALL if user_ids is None else _ALL.where(User.id.in_(list(user_ids)))
    if not sees_everybody(db, actor):
        query = query.where(User.id.in_(visible_to(actor.id)))
    return read_rows(UserRow, db.execute(query, {"realm_id": actor.realm.id}))


def find_system_bots(db: Db, realm_id: int) -> list[UserRow]:
    """Return rows of the realm's system bots."""
    return read_rows(UserRow, db.execute(_SYSTEM_BOTS, {"realm_id": realm_id}))


MAX_MESSAGE = select(func.max(UserMessage.message_id)).where(
    UserMessage.user_id == bindparam("user_id")
)
"""The id of the newest message of which user `:user_id` has a copy, or null."""
_MAX_MESSAGE = Query(MAX_MESSAGE)


def find_max_message_id(db: Db, user_id: int) -> int:
    """Return the id of the newest message of which the user has a copy, or -1 if there is none."""
    (newest,) = _MAX_MESSAGE.one(db, {"user_id": user_id})
    return -1 if newest is None else newest
