"""Bots in the form for the users who manage them: their owners and the administrators."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from models.chat.access.people import USER_COLUMNS, UserRow, avatar_url, dummy_email
from models.chat.events import log
from models.chat.events.people import (
    BotChange,
    BotId,
    BotService,
    RealmBotAddEvent,
    RealmBotDeleteEvent,
    RealmBotUpdateEvent,
)
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.roles import Role
from models.chat.tables import OutgoingWebhook, User
from models.dialects import id_in
from models.rows import read_rows
from specd.db import Db

_BOTS = (
    select(*USER_COLUMNS)
    .where(User.realm_id == bindparam("realm_id"), User.bot_type.is_not(None), ~User.is_system_bot)
    .order_by(User.id)
)
_OWN = User.bot_owner_id == bindparam("owner_id")
UNSET: dict[str, Any] = {
    "default_sending_stream": None,
    "default_events_register_stream": None,
    "default_all_public_streams": False,
}
"""Unused fields: bots once had default channels, but now each request contains its channel."""


def find_managed_bots(db: Db, actor: Actor) -> list[dict[str, Any]]:
    """Return the bots that the actor manages, active or not, ordered by id. Administrators manage
    all bots, other users their own.
    """
    query = _BOTS if actor.is_administrator else _BOTS.where(_OWN)
    values = {"realm_id": actor.realm_id, "owner_id": actor.id}
    return _describe_all(db, read_rows(UserRow, db.execute(query, values)), actor.realm)


def _describe_all(db: Db, bots: Sequence[UserRow | User], realm: RealmView) -> list[dict[str, Any]]:
    services = find_services(db, [bot.id for bot in bots])
    return [describe_bot(bot, realm, services.get(bot.id, ())) for bot in bots]


def find_services(db: Db, bot_ids: Iterable[int]) -> Mapping[int, list[BotService]]:
    """Return bot id -> its service, for outgoing webhooks."""
    hook = OutgoingWebhook
    query = select(hook.user_id, hook.payload_url, hook.interface)
    return {
        row.user_id: [BotService(base_url=row.payload_url, interface=row.interface)]
        for row in db.execute(query.where(id_in(hook.user_id, bot_ids)))
    }


def describe_bot(
    bot: UserRow | User, realm: RealmView, services: Sequence[BotService] = ()
) -> dict[str, Any]:
    """Return a bot in the form of snapshots and events, without its key."""
    return {
        "user_id": bot.id,
        "email": bot.delivery_email,
        "full_name": bot.full_name,
        "bot_type": bot.bot_type,
        "is_active": bot.is_active,
        "owner_id": bot.bot_owner_id,
        "avatar_url": picture_of_bot(bot, realm),
        **UNSET,
        "services": list(services),
    }


def picture_of_bot(bot: UserRow | User, realm: RealmView) -> str:
    """Return the URL of the bot's avatar. If the bot has not uploaded one, it follows from the
    bot's email, which all users may see until the bot is deleted.
    """
    email = dummy_email(bot.id, realm.host) if bot.is_deleted else bot.delivery_email
    return avatar_url(bot, realm.id, email)


def find_managers(db: Db, realm_id: int, *owner_ids: int | None) -> list[int]:
    """Return the ids of the realm's active administrators and of these owners of bots, if they are
    active.
    """
    owners = [owner_id for owner_id in owner_ids if owner_id is not None]
    user_ids = db.execute(
        select(User.id).where(
            User.realm_id == realm_id,
            User.is_active,
            ~User.is_system_bot,
            or_(User.role <= Role.ADMINISTRATOR, User.id.in_(owners)),
        )
    )
    return list(user_ids.scalars())


def notify_of_new_bot(session: Session, realm: RealmView, bot: User, *, now: datetime) -> None:
    """Notify the managers of a new bot."""
    managers = find_managers(session, realm.id, bot.bot_owner_id)
    event = RealmBotAddEvent(bot=describe_bot(bot, realm))
    log.append(session, realm.id, event, user_ids=managers, now=now)


def notify_of_bot(session: Session, user: User, change: BotChange, *, now: datetime) -> None:
    """Notify the managers of a bot of a change. Do nothing if the user is not a bot."""
    if user.bot_type is None or user.is_system_bot:
        return
    managers = find_managers(session, user.realm_id, user.bot_owner_id)
    event = RealmBotUpdateEvent(bot={"user_id": user.id, **change})
    log.append(session, user.realm_id, event, user_ids=managers, now=now)


def notify_of_owner(
    session: Session, realm: RealmView, bot: User, previous_id: int | None, *, now: datetime
) -> None:
    """Notify users of a bot's new owner, who replaces the previous owner."""
    owner_id = bot.bot_owner_id
    assert owner_id is not None
    before = set(find_managers(session, realm.id, previous_id))
    after = set(find_managers(session, realm.id, owner_id))
    [described] = _describe_all(session, [bot], realm)
    events: Sequence[log.AddressedEvent] = [
        (RealmBotDeleteEvent(bot=BotId(user_id=bot.id)), before - after),
        (RealmBotAddEvent(bot=described), after - before),
        (RealmBotUpdateEvent(bot={"user_id": bot.id, "owner_id": owner_id}), after & before),
    ]
    log.append_all(session, realm.id, events, now=now)


def notify_of_management(
    session: Session, realm: RealmView, user: User, before: int, *, now: datetime
) -> None:
    """Notify a user whose role was `before` of the bots that they manage now, or no longer
    manage.
    """
    was, manages = before <= Role.ADMINISTRATOR, user.role <= Role.ADMINISTRATOR
    if was == manages:
        return
    others = _BOTS.where(or_(User.bot_owner_id.is_(None), User.bot_owner_id != user.id))
    bots = read_rows(UserRow, session.execute(others, {"realm_id": realm.id}))
    for bot in _describe_all(session, bots, realm):
        event: log.ClientEvent = RealmBotAddEvent(bot=bot)
        if not manages:
            event = RealmBotDeleteEvent(bot=BotId(user_id=bot["user_id"]))
        log.append(session, realm.id, event, user_ids=[user.id], now=now)
