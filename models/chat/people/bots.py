"""Bots as those who manage them see them: their owners and the administrators."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from models.chat.access.people import avatar_url, dummy_email
from models.chat.events import log
from models.chat.events.people import (
    BotChange,
    BotService,
    KnownBot,
    RealmBotAddEvent,
    RealmBotDeleteEvent,
    RealmBotUpdateEvent,
)
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.roles import Role
from models.chat.tables import OutgoingWebhook, User
from models.dialects import id_in
from models.reader import Db

COLUMNS = (
    User.id,
    User.full_name,
    User.bot_type,
    User.is_active,
    User.is_deleted,
    User.bot_owner_id,
    User.delivery_email,
    User.avatar_version,
)
_BOTS = (
    select(*COLUMNS)
    .where(User.realm_id == bindparam("realm_id"), User.bot_type.is_not(None), ~User.is_system_bot)
    .order_by(User.id)
)
_OWN = User.bot_owner_id == bindparam("owner_id")
UNSET: dict[str, Any] = {
    "default_sending_stream": None,
    "default_events_register_stream": None,
    "default_all_public_streams": False,
}
"""Channels that bots once had for requests that name none; now each request names its own."""


class BotRow(Protocol):
    """A row of `COLUMNS`, or a `User`."""

    @property
    def id(self) -> int: ...
    @property
    def full_name(self) -> str: ...
    @property
    def bot_type(self) -> int | None: ...
    @property
    def is_active(self) -> bool: ...
    @property
    def is_deleted(self) -> bool: ...
    @property
    def bot_owner_id(self) -> int | None: ...
    @property
    def delivery_email(self) -> str: ...
    @property
    def avatar_version(self) -> int: ...


def find_managed_bots(db: Db, actor: Actor) -> list[dict[str, Any]]:
    """The bots that the actor manages, active or not, in order of their ids: administrators all,
    others their own.
    """
    wanted = _BOTS if actor.is_administrator else _BOTS.where(_OWN)
    given = {"realm_id": actor.realm_id, "owner_id": actor.id}
    return _describe_all(db, db.execute(wanted, given).all(), actor.realm)


def _describe_all(db: Db, bots: Iterable[BotRow], realm: RealmView) -> list[dict[str, Any]]:
    rows = list(bots)
    services = find_services(db, [row.id for row in rows])
    return [describe_bot(row, realm, services.get(row.id, ())) for row in rows]


def find_services(db: Db, bot_ids: Iterable[int]) -> Mapping[int, list[BotService]]:
    """Bot's id -> where it lives, of those that live at an address."""
    hook = OutgoingWebhook
    wanted = select(hook.user_id, hook.payload_url, hook.interface)
    found = db.execute(wanted.where(id_in(hook.user_id, bot_ids)))
    return {
        row.user_id: [BotService(base_url=row.payload_url, interface=row.interface)]
        for row in found
    }


def describe_bot(
    bot: BotRow, realm: RealmView, services: Sequence[BotService] = ()
) -> dict[str, Any]:
    """A bot in a snapshot and in events. Keys are never told there."""
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


def picture_of_bot(bot: BotRow, realm: RealmView) -> str:
    """The address of the bot's picture: everybody knows a bot by its email, until it is deleted."""
    known_as = dummy_email(bot.id, realm.host) if bot.is_deleted else bot.delivery_email
    return avatar_url(known_as, bot.avatar_version)


def find_managers(db: Db, realm_id: int, *owner_ids: int | None) -> list[int]:
    """Ids of the active administrators of the realm and of these owners of bots."""
    owners = [owner_id for owner_id in owner_ids if owner_id is not None]
    found = db.execute(
        select(User.id).where(
            User.realm_id == realm_id,
            User.is_active,
            ~User.is_system_bot,
            or_(User.role <= Role.ADMINISTRATOR, User.id.in_(owners)),
        )
    )
    return list(found.scalars())


def notify_of_new_bot(session: Session, realm: RealmView, bot: User, *, now: datetime) -> None:
    """The bot was made: tells those who manage it."""
    managers = find_managers(session, realm.id, bot.bot_owner_id)
    event = RealmBotAddEvent(bot=describe_bot(bot, realm))
    log.append(session, realm.id, event, user_ids=managers, now=now)


def notify_of_bot(session: Session, user: User, change: BotChange, *, now: datetime) -> None:
    """What is new about a bot: tells those who manage it. Of a person there is nothing to tell."""
    if user.bot_type is None or user.is_system_bot:
        return
    managers = find_managers(session, user.realm_id, user.bot_owner_id)
    event = RealmBotUpdateEvent(bot={"user_id": user.id, **change})
    log.append(session, user.realm_id, event, user_ids=managers, now=now)


def notify_of_owner(
    session: Session, realm: RealmView, bot: User, previous_id: int | None, *, now: datetime
) -> None:
    """The bot has another owner, who manages it from now on; the previous one may no longer."""
    before = set(find_managers(session, realm.id, previous_id))
    after = set(find_managers(session, realm.id, bot.bot_owner_id))
    assert bot.bot_owner_id is not None
    [described] = _describe_all(session, [bot], realm)
    told: Sequence[log.AddressedEvent] = [
        (RealmBotDeleteEvent(bot=KnownBot(user_id=bot.id)), before - after),
        (RealmBotAddEvent(bot=described), after - before),
        (
            RealmBotUpdateEvent(bot={"user_id": bot.id, "owner_id": bot.bot_owner_id}),
            after & before,
        ),
    ]
    log.append_all(session, realm.id, told, now=now)


def notify_of_management(
    session: Session, realm: RealmView, user: User, before: int, *, now: datetime
) -> None:
    """The user, whose role was `before`, has another one: tells them which bots they manage now and
    did not, or no longer do.
    """
    was, manages = before <= Role.ADMINISTRATOR, user.role <= Role.ADMINISTRATOR
    if was == manages:
        return
    others = _BOTS.where(or_(User.bot_owner_id.is_(None), User.bot_owner_id != user.id))
    bots = session.execute(others, {"realm_id": realm.id}).all()
    told: list[log.AddressedEvent] = [
        (
            RealmBotAddEvent(bot=bot)
            if manages
            else RealmBotDeleteEvent(bot=KnownBot(user_id=bot["user_id"])),
            [user.id],
        )
        for bot in _describe_all(session, bots, realm)
    ]
    log.append_all(session, realm.id, told, now=now)
