"""Default channels, to which new members are subscribed."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.channels.channels import find_default_channel_ids, lock_channel
from models.chat.channels.errors import ChannelIsArchived, PrivateChannelAsDefault
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.channels import DefaultStreamsEvent
from models.chat.identity.actors import Actor
from models.chat.tables import DefaultChannel


def add_default(session: Session, actor: Actor, channel_id: int, *, now: datetime) -> None:
    """Make a channel a default channel. Raise `InvalidChannelId`, `PrivateChannelAsDefault`,
    `ChannelIsArchived`.
    """
    channel = lock_channel(session, actor, channel_id)
    if channel.invite_only:
        raise PrivateChannelAsDefault()
    if channel.is_archived:
        raise ChannelIsArchived()
    set_default(session, actor, channel, True, now=now)


def remove_default(session: Session, actor: Actor, channel_id: int, *, now: datetime) -> None:
    """Stop subscribing new members to a channel. Raise `InvalidChannelId`."""
    set_default(session, actor, lock_channel(session, actor, channel_id), False, now=now)


def set_default(
    session: Session, actor: Actor, channel: ChannelView, is_default: bool, *, now: datetime
) -> None:
    """Set whether new members are subscribed to the channel. The caller has locked the channel."""
    if (channel.id in find_default_channel_ids(session, actor.realm_id)) is is_default:
        return
    if is_default:
        row = {"channel_id": channel.id, "realm_id": actor.realm_id}
        session.execute(insert(DefaultChannel).values(row))
    else:
        former = delete(DefaultChannel).where(DefaultChannel.channel_id == channel.id)
        session.connection().execute(former)
    audit.record(
        session,
        actor.realm_id,
        "default_channel_changed",
        actor_id=actor.id,
        channel_id=channel.id,
        facts={"is_default": is_default},
        now=now,
    )
    notify_of_default_channels(session, actor.realm_id, now=now)


def notify_of_default_channels(
    session: Session, realm_id: int, *, user_ids: Sequence[int] | None = None, now: datetime
) -> None:
    """Append the event with the default channels for `user_ids`, or for all users."""
    ids = sorted(find_default_channel_ids(session, realm_id))
    event = DefaultStreamsEvent(default_streams=ids)
    log.append(session, realm_id, event, user_ids=user_ids, now=now)
