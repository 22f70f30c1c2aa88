"""Operations of the tag channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.new_channels import new_channel
from models.chat.access.channels import ChannelView, access_channel, access_channel_by_name
from models.chat.access.group_settings import CHANNEL_GROUPS
from models.chat.access.people import find_visible_user_ids
from models.chat.channels import archiving, channels, defaults, notices, subscriptions
from models.chat.channels.changing import ChannelChanges, PrivacyChange, change_channel
from models.chat.channels.channels import ChannelQuery
from models.chat.channels.errors import ChannelExists
from models.chat.channels.subscribing import WantedChannel, one_line, subscribe
from models.chat.common.quotas import CHANNELS, require_within
from models.chat.events.log import ABSENT
from models.chat.incoming_mail import MailNotReceived, make_address
from models.chat.rendering.texts import render_texts
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def list_channels(
    ctx: Context, *, include_default: bool = False, **query: bool
) -> envelope.Answer[types.ChannelList]:
    """List the channels you can access.

    `query`: the fields of `ChannelQuery`.
    """
    visible = channels.find_channels(ctx.connection, ctx.actor, ChannelQuery(**query))
    described = _describe(ctx, visible)
    if include_default:
        defaults = channels.find_default_channel_ids(ctx.connection, ctx.actor.realm_id)
        for channel_id, channel in described.items():
            channel["is_default"] = channel_id in defaults
    return envelope.success(ctx, {**envelope.OK, "streams": list(described.values())})


def get_channel(ctx: Context, *, stream_id: int) -> envelope.Answer[types.OneChannel]:
    """Get a channel."""
    channel = access_channel(ctx.connection, ctx.actor, stream_id, content=False)
    return envelope.success(ctx, {**envelope.OK, "stream": _describe(ctx, [channel])[channel.id]})


def _describe(ctx: Context, views: Sequence[ChannelView]) -> dict[int, types.Channel]:
    described = channels.describe_channels(
        ctx.connection,
        ctx.actor.realm,
        views,
        now=ctx.now,
        visible_ids=find_visible_user_ids(ctx.connection, ctx.actor),
    )
    return cast("dict[int, types.Channel]", described)


def list_channel_subscribers(
    ctx: Context, *, stream_id: int
) -> envelope.Answer[types.ChannelSubscribers]:
    """List the subscribers of a channel."""
    user_ids = subscriptions.find_visible_subscriber_ids(ctx.connection, ctx.actor, stream_id)
    return envelope.success(ctx, {**envelope.OK, "subscribers": user_ids})


def get_channel_id(ctx: Context, *, stream: str) -> envelope.Answer[types.ChannelId]:
    """Get a channel's id by its name."""
    channel = access_channel_by_name(ctx.connection, ctx.actor, stream, content=False)
    return envelope.success(ctx, {**envelope.OK, "stream_id": channel.id})


def get_channel_email(
    ctx: Context, *, stream_id: int, sender_id: int | None = None
) -> envelope.Answer[types.ChannelEmail]:
    """Get a channel's email address."""
    domain = ctx.settings.chat_mail_domain
    if not domain:
        raise MailNotReceived()
    keys = ctx.adapters.keys
    address = make_address(ctx.connection, keys, ctx.actor, stream_id, sender_id, domain=domain)
    return envelope.success(ctx, {**envelope.OK, "email": address})


def _prepare(ctx: Context, *, description: str | None = None) -> str:
    text = one_line(description or "")
    return render_texts(ctx.connection, ctx.actor, [text])[text]


@before_transaction(_prepare)
def update_channel(
    ctx: Context, html: str, *, stream_id: int, **sent: Any
) -> envelope.Answer[types.Success]:
    """Change a channel.

    `sent`: the parameters that were sent; null is a value of `folder_id`.
    """
    changes = ChannelChanges(
        is_archived=sent.get("is_archived"),
        name=sent.get("new_name"),
        description=sent.get("description"),
        privacy=PrivacyChange(
            is_private=sent.get("is_private"),
            is_web_public=sent.get("is_web_public"),
            history_public_to_subscribers=sent.get("history_public_to_subscribers"),
            is_default=sent.get("is_default_stream"),
        ),
        message_retention_days=sent.get("message_retention_days"),
        topics_policy=sent.get("topics_policy"),
        folder_id=sent.get("folder_id", ABSENT),
        groups={
            name: value
            for name, value in sent.items()
            if name in CHANNEL_GROUPS and value is not None
        },
    )
    change_channel(
        ctx.session,
        ctx.actor,
        stream_id,
        changes,
        html=html,
        web_public_enabled=ctx.settings.chat_web_public_streams_enabled,
        now=ctx.now,
    )
    return envelope.success(ctx)


def _prepare_new(ctx: Context, *, description: str) -> dict[str, str]:
    return render_texts(ctx.connection, ctx.actor, [one_line(description)])


@before_transaction(_prepare_new)
def create_channel(
    ctx: Context,
    html: dict[str, str],
    *,
    name: str,
    description: str,
    subscribers: list[int],
    announce: bool,
    send_new_subscription_messages: bool,
    **channel: Any,
) -> envelope.Answer[types.ChannelCreated]:
    """Create a channel.

    `channel`: the parameters of `new_channel`.
    """
    outcome = subscribe(
        ctx.session,
        ctx.actor,
        [WantedChannel(name, description, None)],
        new_channel(**channel),
        principals=subscribers,
        refuse_unauthorized=True,
        html=html,
        web_public_enabled=ctx.settings.chat_web_public_streams_enabled,
        now=ctx.now,
    )
    if not outcome.created:
        raise ChannelExists(channel_name=name.strip())
    require_within(ctx.session, ctx.settings, CHANNELS, ctx.actor.id)
    if send_new_subscription_messages:
        notices.notify_subscribers(ctx.session, ctx.actor, outcome, now=ctx.now)
    notices.notify_of_channels(
        ctx.session, ctx.actor, outcome.created, announce=announce, now=ctx.now
    )
    return envelope.success(ctx, {**envelope.OK, "id": outcome.created[0].id})


def archive_channel(ctx: Context, *, stream_id: int) -> envelope.Answer[types.Success]:
    """Archive a channel."""
    archiving.archive_channel(ctx.session, ctx.actor, stream_id, now=ctx.now)
    return envelope.success(ctx)


def add_default_channel(ctx: Context, *, stream_id: int) -> envelope.Answer[types.Success]:
    """Make a channel a default channel."""
    defaults.add_default(ctx.session, ctx.actor, stream_id, now=ctx.now)
    return envelope.success(ctx)


def remove_default_channel(ctx: Context, *, stream_id: int) -> envelope.Answer[types.Success]:
    """Remove a channel from the default channels."""
    defaults.remove_default(ctx.session, ctx.actor, stream_id, now=ctx.now)
    return envelope.success(ctx)
