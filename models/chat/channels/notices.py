"""Notices about new, changed and archived channels and subscriptions."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, find_channel
from models.chat.channels.creation import FOREVER
from models.chat.channels.joining import Subscribed
from models.chat.identity.actors import Actor
from models.chat.rendering.quotes import Quotes, fenced, inert_block, inert_line
from models.chat.sending.notices import send_direct_notices, try_send_notice
from models.chat.sending.recipients import ToChannel

MAX_SUBSCRIBERS = 100
"""If a request subscribes more users than this, none of them gets a notice."""

CHANNEL_EVENTS = "channel events"
NEW_CHANNELS = "new channels"


def notify_subscribers(
    session: Session, actor: Actor, outcome: Subscribed, *, now: datetime
) -> bool:
    """Send a notice to each user who was subscribed to existing channels, except to the actor and
    bots. Return False if there are too many users.
    """
    if len(outcome.subscribed) > MAX_SUBSCRIBERS:
        return False
    created = {channel.name for channel in outcome.created}
    bots = {row.id for row in outcome.people if row.bot_type is not None}
    users_of: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for user_id, names in outcome.subscribed.items():
        existing = tuple(sorted(set(names) - created))
        if existing and user_id != actor.id and user_id not in bots:
            users_of[existing].append(user_id)
    channels = {channel.name: channel for channel in outcome.channels}
    for existing, user_ids in users_of.items():
        quotes = Quotes()
        who = quotes.user(actor.id, actor.full_name, silent=False)
        links = [quotes.channel(channels[name]) for name in existing]
        if len(links) == 1:
            content = f"{who} subscribed you to {links[0]}."
        else:
            content = f"{who} subscribed you to the following channels:\n\n" + "\n".join(
                f"* {link}" for link in links
            )
        send_direct_notices(
            session, actor.realm.id, user_ids, content=content, quotes=quotes, now=now
        )
    return True


def notify_of_channels(
    session: Session,
    actor: Actor,
    created: Sequence[ChannelView],
    *,
    announce: bool,
    now: datetime,
) -> None:
    """Post the description and the creator in each new channel. With `announce`, also post the new
    public channels in the organization's channel for announcements.
    """
    realm = actor.realm
    public = [channel for channel in created if not channel.invite_only]
    if announce and public and realm.new_stream_announcements_stream_id is not None:
        board = find_channel(session, actor, channel_id=realm.new_stream_announcements_stream_id)
        if board is not None and not board.is_archived:
            quotes = Quotes()
            who = quotes.user(actor.id, actor.full_name)
            links = [quotes.channel(channel) for channel in public]
            content = (
                f"{who} created a new channel {links[0]}."
                if len(links) == 1
                else f"{who} created the following channels: {', '.join(links)}."
            )
            _post(session, board, NEW_CHANNELS, content, quotes, now)
    for channel in created:
        quotes = Quotes()
        who = quotes.user(actor.id, actor.full_name)
        content = (
            f"**{_policy_name(channel)}** channel created by {who}. **Description:**\n"
            + _description(channel)
        )
        _post(session, channel, CHANNEL_EVENTS, content, quotes, now)


def notify_of_changes(
    session: Session, actor: Actor, old: ChannelView, new: ChannelView, *, now: datetime
) -> None:
    """Post the actor's changes in the channel: name, description, permissions to read and to post,
    and retention.
    """
    if new.name != old.name:
        names = f"**{inert_line(old.name)}** to **{inert_line(new.name)}**"
        _notify_of_change(session, actor, new, f"renamed channel {names}.", now)
    if new.description != old.description:
        change = "changed the description for this channel.\n\n"
        change += f"* **Old description:**\n{_description(old)}\n"
        change += f"* **New description:**\n{_description(new)}"
        _notify_of_change(session, actor, new, change, now)
    if (policy := _policy_name(new)) != (before := _policy_name(old)):
        change = f"changed the access permissions for this channel from **{before}**"
        change += f" to **{policy}**."
        _notify_of_change(session, actor, new, change, now)
    if new.can_send_message_group != old.can_send_message_group:
        change = "changed the posting permissions for this channel."
        _notify_of_change(session, actor, new, change, now)
    if new.message_retention_days != old.message_retention_days:
        change = "changed the message retention period for this channel:\n\n"
        change += f"* **Old retention period**: {_retention(actor, old)}\n"
        change += f"* **New retention period**: {_retention(actor, new)}"
        _notify_of_change(session, actor, new, change, now)


def notify_of_archiving(
    session: Session,
    channel: ChannelView,
    change: Literal["archived", "unarchived"],
    *,
    now: datetime,
) -> None:
    """Post the last message of a channel before it is archived, or the first message after it is
    restored.
    """
    content = f"Channel {inert_line(channel.name)} has been {change}."
    _post(session, channel, CHANNEL_EVENTS, content, Quotes(), now)


def _notify_of_change(
    session: Session, actor: Actor, channel: ChannelView, change: str, now: datetime
) -> None:
    quotes = Quotes()
    who = quotes.user(actor.id, actor.full_name)
    _post(session, channel, CHANNEL_EVENTS, f"{who} {change}", quotes, now)


def _description(channel: ChannelView) -> str:
    # "No description" is outside `inert_block`, which would show it as code.
    text = inert_block(channel.description) if channel.description else "*No description.*"
    return fenced(text, " quote", least=4)


def _retention(actor: Actor, channel: ChannelView) -> str:
    days = channel.message_retention_days
    if days is None:
        days = actor.realm.message_retention_days
    return "Forever" if days == FOREVER else f"{days} days"


def _post(
    session: Session, channel: ChannelView, topic: str, content: str, quotes: Quotes, now: datetime
) -> None:
    if channel.topics_policy == "empty_topic_only":
        topic = ""
    try_send_notice(
        session, channel.realm_id, ToChannel(channel.id),
        topic=topic, content=content, quotes=quotes, now=now, channel_id=channel.id,
    )  # fmt: skip


def _policy_name(channel: ChannelView) -> str:
    if channel.is_web_public:
        return "Web-public"
    if not channel.invite_only:
        return "Public"
    if channel.history_public_to_subscribers:
        return "Private, shared history"
    return "Private, protected history"
