"""Archive channels and restore them. An archived channel keeps its messages and cannot be
changed.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import update
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView
from models.chat.channels import notices
from models.chat.channels.change_events import notify_of_change
from models.chat.channels.channels import (
    access_channel_to_administer,
    describe_channels,
    find_subscriber_ids,
)
from models.chat.channels.defaults import set_default
from models.chat.channels.errors import (
    ChannelIsArchived,
    ChannelIsNotArchived,
    PrivateChannelIsEmpty,
)
from models.chat.channels.joining import notify_of_restored
from models.chat.common import audit
from models.chat.identity.actors import Actor
from models.chat.organization.settings import CHANNEL_SETTINGS, change_realm
from models.chat.tables import Channel


def archive_channel(session: Session, actor: Actor, channel_id: int, *, now: datetime) -> None:
    """Archive a channel. It stops being a default channel, and settings of the organization stop
    naming it. Its subscribers are kept. Clients without support for archived channels see it as
    deleted.

    Raise `InvalidChannelId`, `MayNotAdministerChannel`, `ChannelIsArchived`.
    """
    channel = access_channel_to_administer(session, actor, channel_id)
    if channel.is_archived:
        raise ChannelIsArchived()
    notices.notify_of_archiving(session, channel, "archived", now=now)
    before = describe_channels(session, actor.realm, [channel], now=now)[channel.id]
    _set_archived(session, actor, channel, True, now)
    set_default(session, actor, channel, False, now=now)
    none = {name: None for name in CHANNEL_SETTINGS if getattr(actor.realm, name) == channel.id}
    if none:
        change_realm(session, actor.realm_id, none, actor=actor, now=now)
    notify_of_change(session, actor, channel, replace(channel, is_archived=True), before, now=now)


def restore_channel(
    session: Session, actor: Actor, channel: ChannelView, *, now: datetime
) -> ChannelView:
    """Restore an archived channel that the actor may administer, with its subscribers, and return
    it. Raise `ChannelIsNotArchived`, and `PrivateChannelIsEmpty` if the channel would have no
    readers.
    """
    if not channel.is_archived:
        raise ChannelIsNotArchived()
    if channel.invite_only and not find_subscriber_ids(session, [channel.id])[channel.id]:
        raise PrivateChannelIsEmpty()
    before = describe_channels(session, actor.realm, [channel], now=now)[channel.id]
    restored = replace(channel, is_archived=False)
    _set_archived(session, actor, channel, False, now)
    notify_of_restored(session, actor.realm, restored, now=now)
    notify_of_change(session, actor, channel, restored, before, now=now)
    notices.notify_of_archiving(session, restored, "unarchived", now=now)
    return restored


def _set_archived(
    session: Session, actor: Actor, channel: ChannelView, is_archived: bool, now: datetime
) -> None:
    statement = update(Channel).where(Channel.id == channel.id)
    session.connection().execute(statement.values(is_archived=is_archived))
    kind = "channel_archived" if is_archived else "channel_restored"
    pairs = [(channel.id, None)]
    audit.record_channel_changes(session, actor.realm_id, kind, pairs, actor_id=actor.id, now=now)
