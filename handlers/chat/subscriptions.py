"""Operations of the tag subscriptions."""

from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.access.group_settings import GroupValue
from models.chat.channels import notices as channel_notices
from models.chat.channels import subscribing, subscriptions, unsubscribing
from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, one_line
from models.chat.channels.subscriptions import SettingChange
from models.chat.common.quotas import CHANNELS, require_within
from models.chat.rendering.texts import render_texts
from server.phases import prepared_by
from server.response import Response


def list_subscriptions(
    ctx: Context,
    *,
    include_subscribers: str = "false",
    include_archived_channels: bool = False,
) -> Response:
    """List the channels you are subscribed to."""
    records = subscriptions.find_subscriptions(
        ctx.session,
        ctx.actor,
        include_subscribers=include_subscribers != "false",
        include_archived=include_archived_channels,
        now=ctx.now,
    )
    return envelope.success(ctx, subscriptions=records)


def _prepare(ctx: Context, *, subscriptions: list[dict[str, Any]]) -> dict[str, str]:
    descriptions = (one_line(item.get("description", "")) for item in subscriptions)
    return render_texts(ctx.session, ctx.actor, descriptions)


@prepared_by(_prepare)
def subscribe(
    ctx: Context,
    html: dict[str, str],
    *,
    subscriptions: list[dict[str, Any]],
    principals: list[int] | list[str] | None = None,
    authorization_errors_fatal: bool,
    announce: bool,
    invite_only: bool,
    is_web_public: bool,
    is_default_stream: bool,
    history_public_to_subscribers: bool | None = None,
    message_retention_days: int | str | None = None,
    topics_policy: str | None = None,
    folder_id: int | None = None,
    send_new_subscription_messages: bool,
    **groups: GroupValue | None,
) -> Response:
    """Subscribe users to channels."""
    outcome = subscribing.subscribe(
        ctx.session,
        ctx.actor,
        [
            WantedChannel(item["name"], item.get("description", ""), item.get("color"))
            for item in subscriptions
        ],
        NewChannel(
            invite_only=invite_only,
            is_web_public=is_web_public,
            is_default=is_default_stream,
            history_public_to_subscribers=history_public_to_subscribers,
            message_retention_days=message_retention_days,
            topics_policy=topics_policy,
            folder_id=folder_id,
            groups={name: value for name, value in groups.items() if value is not None},
        ),
        principals=principals or [],
        refuse_unauthorized=authorization_errors_fatal,
        html=html,
        web_public_enabled=ctx.settings.chat_web_public_streams_enabled,
        now=ctx.now,
    )
    if outcome.created:
        require_within(ctx.session, ctx.settings, CHANNELS, ctx.actor.id)
    data: dict[str, Any] = {
        "subscribed": {str(id_): names for id_, names in outcome.subscribed.items()},
        "already_subscribed": {
            str(id_): names for id_, names in outcome.already_subscribed.items()
        },
    }
    if not authorization_errors_fatal:
        data["unauthorized"] = outcome.unauthorized
    if send_new_subscription_messages:
        data["new_subscription_messages_sent"] = channel_notices.notify_subscribers(
            ctx.session, ctx.actor, outcome, now=ctx.now
        )
    channel_notices.notify_of_channels(
        ctx.session, ctx.actor, outcome.created, announce=announce, now=ctx.now
    )
    return envelope.success(ctx, data)


def unsubscribe(
    ctx: Context,
    *,
    subscriptions: list[str],
    principals: list[int] | list[str] | None = None,
) -> Response:
    """Unsubscribe users from channels."""
    removed, not_removed = unsubscribing.unsubscribe(
        ctx.session, ctx.actor, subscriptions, principals=principals or [], now=ctx.now
    )
    return envelope.success(ctx, removed=removed, not_removed=not_removed)


def update_subscription_settings(
    ctx: Context, *, subscription_data: list[dict[str, Any]]
) -> Response:
    """Change your settings for several channels."""
    changes = [
        SettingChange(item["stream_id"], item["property"], item["value"])
        for item in subscription_data
    ]
    subscriptions.change_settings(ctx.session, ctx.actor, changes, now=ctx.now)
    return envelope.success(ctx)


def update_subscription_setting(
    ctx: Context, *, stream_id: int, property_: str, value: bool | str
) -> Response:
    """Change one of your settings for a channel."""
    change = SettingChange(stream_id, property_, value)
    subscriptions.change_settings(ctx.session, ctx.actor, [change], now=ctx.now)
    return envelope.success(ctx)


def get_subscription_status(ctx: Context, *, user_id: int, stream_id: int) -> Response:
    """Get whether a user is subscribed to a channel."""
    is_subscribed = subscriptions.is_subscribed(
        ctx.session, ctx.actor, user_id=user_id, channel_id=stream_id
    )
    return envelope.success(ctx, is_subscribed=is_subscribed)
