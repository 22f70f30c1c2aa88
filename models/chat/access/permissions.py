"""Who may do what by their role, and which channels somebody may read, as one select.

Access to one channel is channels.py's, membership in groups membership.py's.
"""

from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    SQLColumnExpression,
    bindparam,
    false,
    or_,
    select,
)

from models.chat.access.errors import (
    InsufficientPermission,
    MustBeAdministrator,
    MustBeMember,
    MustBeOwner,
    NotAllowedForGuests,
    NotForBots,
)
from models.chat.access.membership import group_ids_of
from models.chat.identity.actors import Actor
from models.chat.tables import Channel, Subscription
from models.reader import Db


def require_role(actor: Actor, role: str) -> None:
    """Raise unless the actor has the role an operation names with `x-required-role`:
    `owner`, `administrator`, `member` (no guest), `human` (no bot).
    """
    match role:
        case "owner" if not actor.is_owner:
            raise MustBeOwner()
        case "administrator" if not actor.is_administrator:
            raise MustBeAdministrator()
        case "member" if actor.is_guest:
            raise NotAllowedForGuests()
        case "full_member" if actor.is_guest:
            raise MustBeMember()
        case "human" if actor.is_bot:
            raise NotForBots()


def require(allowed: bool) -> None:
    """Raises `InsufficientPermission` unless `allowed`."""
    if not allowed:
        raise InsufficientPermission()


@cache
def readable_channels(is_guest: bool) -> Select[Any]:
    """Select of the ids of all channels somebody has content access to; `reading_as` says who.

    The same rule as `channels.has_content_access`, for many channels at once.
    """
    subscribed = select(Subscription.channel_id).where(
        Subscription.user_id == bindparam("reader_id"), Subscription.is_active
    )
    if is_guest:
        open_to_all: SQLColumnExpression[bool] = Channel.is_web_public
        by_group: ColumnElement[bool] = false()
    else:
        groups: BindParameter[list[int]] = bindparam("reader_group_ids", expanding=True)
        open_to_all = Channel.is_web_public | ~Channel.invite_only
        by_group = Channel.can_subscribe_group.in_(groups) | (
            Channel.can_add_subscribers_group.in_(groups)
        )
    return select(Channel.id).where(
        Channel.realm_id == bindparam("reader_realm_id"),
        or_(open_to_all, by_group, Channel.id.in_(subscribed)),
    )


def reading_as(db: Db, actor: Actor) -> dict[str, Any]:
    """The parameters of `readable_channels` for an actor."""
    parameters: dict[str, Any] = {"reader_id": actor.id, "reader_realm_id": actor.realm_id}
    if not actor.is_guest:
        parameters["reader_group_ids"] = sorted(group_ids_of(db, actor))
    return parameters


def readable_channel_ids(db: Db, actor: Actor) -> Select[Any]:
    """`readable_channels` with an actor's parameters filled in: for `IN` and joins."""
    return readable_channels(actor.is_guest).params(reading_as(db, actor))
