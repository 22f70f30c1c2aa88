"""Operations of the tag subscriptions."""

from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.new_channels import new_channel
from models.chat.channels import notices as channel_notices
from models.chat.channels import subscribing, subscriptions, unsubscribing
from models.chat.channels.creation import NewChannel
from models.chat.channels.errors import NothingToDo
from models.chat.channels.subscribing import WantedChannel, one_line
from models.chat.channels.subscriptions import SettingChange
from models.chat.common.quotas import CHANNELS, require_within
from models.chat.rendering.texts import render_texts
from specd import Response, before_transaction


def list_subscriptions(
    ctx: Context,
    *,
    include_subscribers: str = "false",
    include_archived_channels: bool = False,
) -> Response:
    """List the channels you are subscribed to."""
    records = subscriptions.find_subscriptions(
        ctx.connection,
        ctx.actor,
        include_subscribers=include_subscribers != "false",
        include_archived=include_archived_channels,
        now=ctx.now,
    )
    return envelope.success(ctx, subscriptions=records)


def _prepare(ctx: Context, *, subscriptions: list[dict[str, Any]]) -> dict[str, str]:
    descriptions = (one_line(item.get("description", "")) for item in subscriptions)
    return render_texts(ctx.connection, ctx.actor, descriptions)


@before_transaction(_prepare)
def subscribe(
    ctx: Context,
    html: dict[str, str],
    *,
    subscriptions: list[dict[str, Any]],
    principals: list[int] | list[str] | None = None,
    authorization_errors_fatal: bool,
    announce: bool,
    send_new_subscription_messages: bool,
    **channel: Any,
) -> Response:
    """Subscribe users to channels.

    `channel`: the parameters of `new_channel`.
    """
    data = _subscribe(
        ctx,
        html,
        subscriptions,
        new_channel(**channel),
        principals=principals or [],
        refuse_unauthorized=authorization_errors_fatal,
        announce=announce,
        notify=send_new_subscription_messages,
    )
    return envelope.success(ctx, data)


def _subscribe(
    ctx: Context,
    html: dict[str, str],
    items: list[dict[str, Any]],
    new: NewChannel,
    *,
    principals: list[int] | list[str],
    refuse_unauthorized: bool = True,
    announce: bool = False,
    notify: bool = True,
) -> dict[str, Any]:
    """Subscribe users to channels, and return what clients are told of it."""
    outcome = subscribing.subscribe(
        ctx.session,
        ctx.actor,
        [
            WantedChannel(item["name"], item.get("description", ""), item.get("color"))
            for item in items
        ],
        new,
        principals=principals,
        refuse_unauthorized=refuse_unauthorized,
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
    if not refuse_unauthorized:
        data["unauthorized"] = outcome.unauthorized
    if notify:
        data["new_subscription_messages_sent"] = channel_notices.notify_subscribers(
            ctx.session, ctx.actor, outcome, now=ctx.now
        )
    channel_notices.notify_of_channels(
        ctx.session, ctx.actor, outcome.created, announce=announce, now=ctx.now
    )
    return data


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


def _prepare_added(ctx: Context, *, add: list[dict[str, Any]] | None = None) -> dict[str, str]:
    return _prepare(ctx, subscriptions=add or [])


@before_transaction(_prepare_added)
def update_subscriptions(
    ctx: Context,
    html: dict[str, str],
    *,
    add: list[dict[str, Any]] | None = None,
    delete: list[str] | None = None,
) -> Response:
    """Subscribe to channels and unsubscribe from others."""
    if not add and not delete:
        raise NothingToDo()
    data = _subscribe(ctx, html, add, NewChannel(), principals=[]) if add else {}
    if delete:
        removed, not_removed = unsubscribing.unsubscribe(
            ctx.session, ctx.actor, delete, principals=[], now=ctx.now
        )
        data |= {"removed": removed, "not_removed": not_removed}
    return envelope.success(ctx, data)


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
        ctx.connection, ctx.actor, user_id=user_id, channel_id=stream_id
    )
    return envelope.success(ctx, is_subscribed=is_subscribed)
