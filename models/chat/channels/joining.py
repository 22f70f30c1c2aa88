"""Writing subscriptions: the rows of users who join channels, and who hears of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Table, func, insert, select, update
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.access.people import UserRow
from models.chat.channels.subscription_events import tell_of_default_channels, tell_of_subscribers
from models.chat.channels.subscriptions import DEFAULT_SETTINGS, SubscriptionRow
from models.chat.ground import audit
from models.chat.identity.actors import Actor
from models.chat.tables import Message, Subscription

_INSERT = insert(cast(Table, Subscription.__table__))


@dataclass(slots=True)
class Subscribed:
    """What came of it. User id -> names of channels; all channels of the call, and those made."""

    people: Sequence[UserRow]
    channels: list[ChannelView] = field(default_factory=list)
    subscribed: dict[int, list[str]] = field(default_factory=dict)
    already_subscribed: dict[int, list[str]] = field(default_factory=dict)
    unauthorized: list[str] = field(default_factory=list)
    created: list[ChannelView] = field(default_factory=list)


def join(
    session: Session,
    actor: Actor,
    outcome: Subscribed,
    *,
    colors: Mapping[int, str],
    is_default: bool,
    now: datetime,
) -> None:
    """Subscribe the outcome's people to its channels, and say in it who was and who became so.

    `colors`: channel id -> the color of its new subscribers. `is_default`: the created channels
    are also those that new users begin with.
    """
    user_ids = [row.id for row in outcome.people]
    channel_ids = [channel.id for channel in outcome.channels]
    kept = _find_kept(session, channel_ids, user_ids)
    newest = session.execute(select(func.max(Message.id))).scalar() or 0
    beginning = {"is_active": True, "subscribed_at": now, "joined_after_id": newest}
    beginning |= DEFAULT_SETTINGS
    rows: list[dict[str, Any]] = []
    joined: dict[int, list[int]] = {channel_id: [] for channel_id in channel_ids}
    for user_id in user_ids:
        for channel in outcome.channels:
            key = (channel.id, user_id)
            if key in kept and kept[key]["is_active"]:
                outcome.already_subscribed.setdefault(user_id, []).append(channel.name)
                continue
            outcome.subscribed.setdefault(user_id, []).append(channel.name)
            joined[channel.id].append(user_id)
            if key not in kept:
                row: dict[str, Any] = {"channel_id": channel.id, "user_id": user_id}
                rows.append({**row, "color": colors[channel.id], **beginning})
    if rows:
        session.connection().execute(_INSERT, rows)
    if any(not subscription["is_active"] for subscription in kept.values()):
        _rejoin(session, channel_ids, user_ids, now=now)
    pairs = [(channel_id, user_id) for channel_id in joined for user_id in joined[channel_id]]
    audit.record_channel_changes(
        session, actor.realm.id, "user_subscribed", pairs, actor_id=actor.id, now=now
    )
    for row in rows:
        kept[row["channel_id"], row["user_id"]] = row
    tell_of_subscribers(
        session,
        actor.realm,
        [channel for channel in outcome.channels if joined[channel.id]],
        joined,
        kept,
        created=outcome.created,
        now=now,
    )
    if is_default and outcome.created:
        tell_of_default_channels(session, actor.realm, now=now)


def _rejoin(
    session: Session, channel_ids: Collection[int], user_ids: Collection[int], *, now: datetime
) -> None:
    """Revive the subscriptions that these users had, with the settings they had."""
    session.execute(
        update(Subscription)
        .where(
            Subscription.channel_id.in_(channel_ids),
            Subscription.user_id.in_(user_ids),
            ~Subscription.is_active,
        )
        .values(is_active=True, subscribed_at=now)
        .execution_options(synchronize_session=False)
    )


def _find_kept(
    session: Session, channel_ids: Collection[int], user_ids: Collection[int]
) -> dict[tuple[int, int], SubscriptionRow]:
    """The subscriptions that these users have or had, by channel and user."""
    rows = session.execute(
        select(Subscription.__table__).where(
            Subscription.channel_id.in_(channel_ids), Subscription.user_id.in_(user_ids)
        )
    )
    return {(row["channel_id"], row["user_id"]): row for row in rows.mappings()}
