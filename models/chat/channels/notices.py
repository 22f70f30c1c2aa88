"""What the notification bot writes when channels are made or changed and users are subscribed."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, find_channel
from models.chat.channels.creation import FOREVER
from models.chat.channels.joining import Subscribed
from models.chat.identity.actors import Actor
from models.chat.rendering.quotes import Quotes, fenced, inert_block, inert_line
from models.chat.sending.notices import send_direct_notices, try_send_notice
from models.chat.sending.recipients import ToChannel

MOST_SUBSCRIBERS = 100
"""Nobody is written to when more than so many users were subscribed at once."""

CHANNEL_EVENTS = "channel events"
NEW_CHANNELS = "new channels"


def notify_subscribers(
    session: Session, actor: Actor, outcome: Subscribed, *, now: datetime
) -> bool:
    """Write to each other person who was subscribed to channels that existed before.

    Returns False when they are too many.
    """
    if len(outcome.subscribed) > MOST_SUBSCRIBERS:
        return False
    made = {channel.name for channel in outcome.created}
    bots = {row.id for row in outcome.people if row.bot_type is not None}
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for user_id, names in outcome.subscribed.items():
        news = tuple(sorted(set(names) - made))
        if news and user_id != actor.id and user_id not in bots:
            alike[news].append(user_id)
    channels = {channel.name: channel for channel in outcome.channels}
    for theirs, user_ids in alike.items():
        quotes = Quotes()
        who = quotes.user(actor.id, actor.full_name, silent=False)
        links = [quotes.channel(channels[name]) for name in theirs]
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
    """Post in each new channel what it is and who made it; with `announce` also that there are new
    ones, where the organization announces them: not those that only their subscribers may know.
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
    """Post in a channel what somebody has changed: its name, its description, who can read it, who
    can write there and how long messages are kept.
    """
    if new.name != old.name:
        names = f"**{inert_line(old.name)}** to **{inert_line(new.name)}**"
        _notify_of_change(session, actor, new, f"renamed channel {names}.", now)
    if new.description != old.description:
        said = "changed the description for this channel.\n\n"
        said += f"* **Old description:**\n{_description(old)}\n"
        said += f"* **New description:**\n{_description(new)}"
        _notify_of_change(session, actor, new, said, now)
    if (policy := _policy_name(new)) != (before := _policy_name(old)):
        said = f"changed the access permissions for this channel from **{before}** to **{policy}**."
        _notify_of_change(session, actor, new, said, now)
    if new.can_send_message_group != old.can_send_message_group:
        said = "changed the posting permissions for this channel."
        _notify_of_change(session, actor, new, said, now)
    if new.message_retention_days != old.message_retention_days:
        said = "changed the message retention period for this channel:\n\n"
        said += f"* **Old retention period**: {_retention(actor, old)}\n"
        said += f"* **New retention period**: {_retention(actor, new)}"
        _notify_of_change(session, actor, new, said, now)


def notify_of_archiving(session: Session, channel: ChannelView, *, now: datetime) -> None:
    """The last message of a channel."""
    content = f"Channel {inert_line(channel.name)} has been archived."
    _post(session, channel, CHANNEL_EVENTS, content, Quotes(), now)


def notify_of_restoring(session: Session, channel: ChannelView, *, now: datetime) -> None:
    """The first message of a channel that was archived."""
    content = f"Channel {inert_line(channel.name)} has been unarchived."
    _post(session, channel, CHANNEL_EVENTS, content, Quotes(), now)


def _notify_of_change(
    session: Session, actor: Actor, channel: ChannelView, said: str, now: datetime
) -> None:
    quotes = Quotes()
    who = quotes.user(actor.id, actor.full_name)
    _post(session, channel, CHANNEL_EVENTS, f"{who} {said}", quotes, now)


def _description(channel: ChannelView) -> str:
    # The bot's own words are not to be written as code.
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
