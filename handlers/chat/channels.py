"""Operations of the tag channels."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.access.channels import access_channel, access_channel_by_name
from models.chat.access.people import find_known_ids
from models.chat.channels import channels, subscriptions
from models.chat.channels.channels import ChannelQuery
from server.response import Response


def list_channels(
    ctx: Context,
    *,
    include_public: bool,
    include_web_public: bool,
    include_subscribed: bool,
    include_all: bool,
    include_all_active: bool,
    include_default: bool,
    include_owner_subscribed: bool,
    include_can_access_content: bool,
    exclude_archived: bool,
) -> Response:
    """List the channels you can access."""
    query = ChannelQuery(
        include_public=include_public,
        include_web_public=include_web_public,
        include_subscribed=include_subscribed,
        include_all=include_all,
        include_all_active=include_all_active,
        include_owner_subscribed=include_owner_subscribed,
        include_can_access_content=include_can_access_content,
        exclude_archived=exclude_archived,
    )
    found = channels.find_channels(ctx.session, ctx.actor, query)
    described = channels.describe_channels(
        ctx.session,
        ctx.actor.realm,
        found,
        now=ctx.now,
        known_ids=find_known_ids(ctx.session, ctx.actor),
    )
    if include_default:
        defaults = channels.find_default_channel_ids(ctx.session, ctx.actor.realm_id)
        for channel_id, channel in described.items():
            channel["is_default"] = channel_id in defaults
    return envelope.success(ctx, streams=list(described.values()))


def get_channel(ctx: Context, *, stream_id: int) -> Response:
    """Get a channel."""
    channel = access_channel(ctx.session, ctx.actor, stream_id, content=False)
    described = channels.describe_channels(
        ctx.session,
        ctx.actor.realm,
        [channel],
        now=ctx.now,
        known_ids=find_known_ids(ctx.session, ctx.actor),
    )
    return envelope.success(ctx, stream=described[channel.id])


def list_channel_subscribers(ctx: Context, *, stream_id: int) -> Response:
    """List the subscribers of a channel."""
    found = subscriptions.find_known_subscribers(ctx.session, ctx.actor, stream_id)
    return envelope.success(ctx, subscribers=found)


def get_channel_id(ctx: Context, *, stream: str) -> Response:
    """Get a channel's id by its name."""
    channel = access_channel_by_name(ctx.session, ctx.actor, stream, content=False)
    return envelope.success(ctx, stream_id=channel.id)
