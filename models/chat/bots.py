"""Bots.

Users create bots and deactivate them. A bot's owner and the administrators manage it. Only the
owner can read its key.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from models.chat.access.errors import NoSuchUser, NotForBots
from models.chat.access.membership import belongs, require
from models.chat.access.naming import find_named
from models.chat.access.people import api_email, avatar_url
from models.chat.accounts.administering import Administered, lock_user
from models.chat.accounts.changes import change_full_name, change_role
from models.chat.accounts.deactivation import deactivate_bot, set_owner
from models.chat.accounts.errors import BadNameOrUsername
from models.chat.accounts.key_renewal import renew_key
from models.chat.accounts.new_users import notify_of_groups
from models.chat.common.vault import Vault
from models.chat.errors import ChatError
from models.chat.identity.actors import Actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import BotType, Role
from models.chat.outgoing_webhooks.hooks import change_hook, create_hook, find_own_services
from models.chat.people.bots import UNSET, find_services, notify_of_bot, picture_of_bot
from models.chat.people.emails import check_email
from models.chat.people.errors import EmailInUse, InvalidEmail
from models.chat.people.full_names import check_full_name, require_unique_name
from models.chat.people.users import create_user
from models.chat.tables import User
from specd.db import Db


class NoSuchBot(ChatError):
    """No bot of the organization has this id. The response is the same for the id of a user who is
    not a bot.
    """

    sentence = "No such bot"
    advice = "Use the id of a bot that `GET /users` returns."


class BotNameInUse(ChatError):
    """An active user of the organization has this name, in any case."""

    sentence = "Name is already in use."
    advice = "Choose another `full_name`."


class UsernameInUse(ChatError):
    """Another account has the email address that the bot would get."""

    sentence = "Username already in use"
    advice = "Choose another `short_name`."


class OwnerRefused(ChatError):
    """The bot cannot belong to this user. Facts: `problem`."""

    sentence = "Failed to change owner, {problem}"
    advice = "Choose an active user who is not a guest."


_NAMED = select(User.id).where(
    User.realm_id == bindparam("realm_id"),
    func.lower(User.full_name) == func.lower(bindparam("name")),
    User.is_active,
)
_ONE = select(User.bot_type, User.bot_owner_id).where(
    User.realm_id == bindparam("realm_id"), User.id == bindparam("bot_id"), ~User.is_system_bot
)
_OWN = (
    select(
        User.id,
        User.delivery_email,
        User.full_name,
        User.avatar_version,
        User.avatar_handle,
        User.api_key_nonce,
        User.api_key_sha256,
    )
    .where(User.bot_owner_id == bindparam("owner_id"), User.is_active)
    .order_by(User.id)
)


def find_own_bots(db: Db, keys: KeyMaker, vault: Vault, actor: Actor) -> list[dict[str, Any]]:
    """Return the actor's active bots with their keys, ordered by id."""
    bots = db.execute(_OWN, {"owner_id": actor.id}).all()
    services = find_own_services(db, vault, [bot.id for bot in bots])
    return [
        {
            "user_id": bot.id,
            "username": bot.delivery_email,
            "full_name": bot.full_name,
            "api_key": keys.find_key(bot.api_key_nonce, bot.api_key_sha256),
            "avatar_url": avatar_url(bot, actor.realm_id, bot.delivery_email),
            **UNSET,
            "services": services.get(bot.id, []),
        }
        for bot in bots
    ]


@dataclass(frozen=True, slots=True)
class Address:
    """The checked URL of an outgoing webhook, and the format of its requests."""

    url: str
    interface: int


def create_bot(
    session: Session,
    keys: KeyMaker,
    vault: Vault,
    actor: Actor,
    *,
    full_name: str,
    short_name: str,
    bot_type: int,
    address: Address | None = None,
    now: datetime,
) -> dict[str, Any]:
    """Create a bot that belongs to the actor. Return its id, its key, and other
    fields for its owner.

    Raise `NotForBots`, `InsufficientPermission`, an error of `check_bot_name`, `BadNameOrUsername`
    or `UsernameInUse`.
    """
    require_may_create(session, actor, bot_type)
    name = check_bot_name(session, actor, full_name)
    try:
        email = check_email(f"{short_name.strip()}-bot@{actor.realm.host}")
        bot, api_key = create_user(
            session, keys, realm=actor.realm, email=email, full_name=name, role=Role.MEMBER,
            bot_type=bot_type, bot_owner_id=actor.id, actor_id=actor.id, now=now,
        )  # fmt: skip
    except InvalidEmail:
        raise BadNameOrUsername() from None
    except EmailInUse:
        raise UsernameInUse() from None
    notify_of_groups(session, actor.realm, bot, now=now)
    if address is not None:
        create_hook(session, vault, bot.id, url=address.url, interface=address.interface)
        _notify_of_services(session, bot, now)
    return {
        "user_id": bot.id,
        "api_key": api_key,
        "avatar_url": picture_of_bot(bot, actor.realm),
        **UNSET,
        "services": find_own_services(session, vault, [bot.id]).get(bot.id, []),
    }


def _notify_of_services(session: Session, bot: User, now: datetime) -> None:
    services = find_services(session, [bot.id])[bot.id]
    notify_of_bot(session, bot, {"services": services}, now=now)


def require_may_create(db: Db, actor: Actor, bot_type: int) -> None:
    """Raise `NotForBots` or `InsufficientPermission` unless the actor may create bots of
    this type.
    """
    if actor.is_bot:
        raise NotForBots()
    groups = [actor.realm.can_create_bots_group]
    if bot_type == BotType.INCOMING_WEBHOOK:
        groups.append(actor.realm.can_create_write_only_bots_group)
    require(any(belongs(db, actor, group) for group in groups))


def check_bot_name(db: Db, actor: Actor, name: str, *, bot_id: int | None = None) -> str:
    """Return the name as it is stored. A bot cannot have the name of another active user. Raise an
    error of `check_full_name` or `require_unique_name`, or `BotNameInUse`.
    """
    name = check_full_name(name)
    require_unique_name(db, actor.realm, name, user_id=bot_id)
    user_ids = db.execute(_NAMED, {"realm_id": actor.realm_id, "name": name}).scalars()
    if any(user_id != bot_id for user_id in user_ids):
        raise BotNameInUse()
    return name


def access_managed_bot(session: Session, actor: Actor, bot_id: int) -> Administered:
    """Return a bot that the actor manages, active or not, locked until the unit ends.

    A user who manages a bot can obtain its key. Therefore a user cannot manage a bot with rights
    that the user could not grant. Raise `NoSuchBot`, `InsufficientPermission`, `MustBeOwner`.
    """
    try:
        managed = lock_user(session, actor, bot_id)
    except NoSuchUser:
        raise NoSuchBot() from None
    bot = managed.user
    _require_managed(actor, bot.bot_type, bot.bot_owner_id)
    if bot.bot_owner_id == actor.id:
        return managed
    require(actor.can_create_users or not bot.can_create_users)
    managed.require_owner_if(bot.role == Role.OWNER)
    return managed


def require_managed(db: Db, actor: Actor, bot_id: int) -> None:
    """Require that the actor manages the bot. The bot is not locked. Raise `NoSuchBot`,
    `InsufficientPermission`.
    """
    row = db.execute(_ONE, {"realm_id": actor.realm_id, "bot_id": bot_id}).first()
    if row is None:
        raise NoSuchBot()
    _require_managed(actor, row.bot_type, row.bot_owner_id)


def _require_managed(actor: Actor, bot_type: int | None, owner_id: int | None) -> None:
    if bot_type is None:
        raise NoSuchBot()
    require(owner_id == actor.id or actor.is_administrator)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotChanges:
    """Changes of a bot; None means no change."""

    full_name: str | None = None
    role: int | None = None
    owner_id: int | None = None
    url: str | None = None
    interface: int | None = None


def change_bot(
    session: Session,
    keys: KeyMaker,
    actor: Actor,
    bot_id: int,
    changes: BotChanges,
    *,
    now: datetime,
) -> dict[str, Any]:
    """Change a bot, and return its fields for the response. If one change fails, none is made. With
    a new owner the bot gets a new API key, because the previous owner has the old key.

    Raise an error of `access_managed_bot`, `check_bot_name`, `change_role`, `check_bot_owner` or
    `change_hook`.
    """
    managed = access_managed_bot(session, actor, bot_id)
    bot = managed.user
    if changes.full_name is not None and changes.full_name.strip() != bot.full_name:
        name = check_bot_name(session, actor, changes.full_name, bot_id=bot.id)
        change_full_name(session, actor, bot, name, now=now)
    if changes.role is not None and changes.role != bot.role:
        change_role(session, managed, changes.role, now=now)
    if changes.owner_id is not None and changes.owner_id != bot.bot_owner_id:
        check_bot_owner(session, actor, changes.owner_id)
        session.flush()
        renew_key(session, keys, actor.realm, bot.id, actor_id=actor.id, now=now)
        set_owner(session, actor, bot, changes.owner_id, now=now)
    hook = change_hook(session, bot.id, url=changes.url, interface=changes.interface)
    if hook is not None and not (changes.url is None and changes.interface is None):
        _notify_of_services(session, bot, now)
    changed: dict[str, Any] = {
        "full_name": bot.full_name,
        "avatar_url": picture_of_bot(bot, actor.realm),
        **UNSET,
    }
    if hook is not None:
        changed |= {
            "service_payload_url": hook.payload_url,
            "service_interface": hook.interface,
        }
    if bot.bot_owner_id is not None:
        changed["bot_owner"] = api_email(actor, session.get_one(User, bot.bot_owner_id))
    return changed


def check_bot_owner(db: Db, actor: Actor, user_id: int) -> None:
    """Require that the user may own bots. Raise `OwnerRefused`, also for a hidden user."""
    row = find_named(db, actor, [user_id]).get(user_id)
    if row is None:
        raise OwnerRefused(problem="no such user")
    if not row.is_active:
        raise OwnerRefused(problem="user is deactivated")
    if row.bot_type is not None:
        raise OwnerRefused(problem="bots can't own other bots")
    if row.role == Role.GUEST:
        raise OwnerRefused(problem="guests can't own bots")


def renew_bot_key(
    session: Session, keys: KeyMaker, actor: Actor, bot_id: int, *, now: datetime
) -> str | None:
    """Replace the bot's key. Return the new key to the bot's owner, or None to an administrator.
    Raise an error of `access_managed_bot`.
    """
    bot = access_managed_bot(session, actor, bot_id).user
    api_key = renew_key(session, keys, actor.realm, bot.id, actor_id=actor.id, now=now)
    return api_key if bot.bot_owner_id == actor.id else None


def end_bot(session: Session, actor: Actor, bot_id: int, *, now: datetime) -> None:
    """Deactivate a bot. Do nothing if it is already deactivated. Raise an error of
    `access_managed_bot`.
    """
    deactivate_bot(session, actor, access_managed_bot(session, actor, bot_id).user, now=now)
