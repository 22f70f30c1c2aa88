"""Operations of the tag subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

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
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def list_subscriptions(
    ctx: Context,
    *,
    include_subscribers: str = "false",
    include_archived_channels: bool = False,
) -> envelope.Answer[types.SubscriptionList]:
    """List the channels you are subscribed to."""
    records = subscriptions.find_subscriptions(
        ctx.connection,
        ctx.actor,
        include_subscribers=include_subscribers != "false",
        include_archived=include_archived_channels,
        now=ctx.now,
    )
    return envelope.success(
        ctx, {**envelope.OK, "subscriptions": cast("list[types.Subscription]", records)}
    )


def _prepare(ctx: Context, *, subscriptions: list[types.ChannelToSubscribe]) -> dict[str, str]:
    descriptions = (one_line(item.get("description", "")) for item in subscriptions)
    return render_texts(ctx.connection, ctx.actor, descriptions)


@before_transaction(_prepare)
def subscribe(
    ctx: Context,
    html: dict[str, str],
    *,
    subscriptions: list[types.ChannelToSubscribe],
    principals: list[int] | list[str] | None = None,
    authorization_errors_fatal: bool,
    announce: bool,
    send_new_subscription_messages: bool,
    **channel: Any,
) -> envelope.Answer[types.Subscribed]:
    """Subscribe users to channels.

    `channel`: the parameters of `new_channel`.
    """
    answer = _subscribe(
        ctx,
        html,
        subscriptions,
        new_channel(**channel),
        principals=principals or [],
        refuse_unauthorized=authorization_errors_fatal,
        announce=announce,
        notify=send_new_subscription_messages,
    )
    return envelope.success(ctx, answer)


def _subscribe(
    ctx: Context,
    html: dict[str, str],
    items: list[types.ChannelToSubscribe],
    new: NewChannel,
    *,
    principals: list[int] | list[str],
    refuse_unauthorized: bool = True,
    announce: bool = False,
    notify: bool = True,
) -> types.Subscribed:
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
    answer: types.Subscribed = {
        "result": "success",
        "msg": "",
        "subscribed": {str(id_): names for id_, names in outcome.subscribed.items()},
        "already_subscribed": {
            str(id_): names for id_, names in outcome.already_subscribed.items()
        },
    }
    if not refuse_unauthorized:
        answer["unauthorized"] = outcome.unauthorized
    if notify:
        answer["new_subscription_messages_sent"] = channel_notices.notify_subscribers(
            ctx.session, ctx.actor, outcome, now=ctx.now
        )
    channel_notices.notify_of_channels(
        ctx.session, ctx.actor, outcome.created, announce=announce, now=ctx.now
    )
    return answer


def unsubscribe(
    ctx: Context,
    *,
    subscriptions: list[str],
    principals: list[int] | list[str] | None = None,
) -> envelope.Answer[types.Unsubscribed]:
    """Unsubscribe users from channels."""
    removed, not_removed = unsubscribing.unsubscribe(
        ctx.session, ctx.actor, subscriptions, principals=principals or [], now=ctx.now
    )
    return envelope.success(ctx, {**envelope.OK, "removed": removed, "not_removed": not_removed})


def _prepare_added(
    ctx: Context, *, add: list[types.ChannelToSubscribe] | None = None
) -> dict[str, str]:
    return _prepare(ctx, subscriptions=add or [])


@before_transaction(_prepare_added)
def update_subscriptions(
    ctx: Context,
    html: dict[str, str],
    *,
    add: list[types.ChannelToSubscribe] | None = None,
    delete: list[str] | None = None,
) -> envelope.Answer[types.SubscriptionsUpdated]:
    """Subscribe to channels and unsubscribe from others."""
    if not add and not delete:
        raise NothingToDo()
    answer: types.SubscriptionsUpdated = {"result": "success", "msg": ""}
    if add:
        done = _subscribe(ctx, html, add, NewChannel(), principals=[])
        answer["subscribed"] = done["subscribed"]
        answer["already_subscribed"] = done["already_subscribed"]
        answer["new_subscription_messages_sent"] = done.get("new_subscription_messages_sent", False)
    if delete:
        removed, not_removed = unsubscribing.unsubscribe(
            ctx.session, ctx.actor, delete, principals=[], now=ctx.now
        )
        answer["removed"], answer["not_removed"] = removed, not_removed
    return envelope.success(ctx, answer)


def update_subscription_settings(
    ctx: Context, *, subscription_data: list[types.SubscriptionChange]
) -> envelope.Answer[types.Success]:
    """Change your settings for several channels."""
    changes = [
        SettingChange(item["stream_id"], item["property"], item["value"])
        for item in subscription_data
    ]
    subscriptions.change_settings(ctx.session, ctx.actor, changes, now=ctx.now)
    return envelope.success(ctx)


def update_subscription_setting(
    ctx: Context, *, stream_id: int, property_: str, value: bool | str
) -> envelope.Answer[types.Success]:
    """Change one of your settings for a channel."""
    change = SettingChange(stream_id, property_, value)
    subscriptions.change_settings(ctx.session, ctx.actor, [change], now=ctx.now)
    return envelope.success(ctx)


def get_subscription_status(
    ctx: Context, *, user_id: int, stream_id: int
) -> envelope.Answer[types.SubscriptionStatus]:
    """Get whether a user is subscribed to a channel."""
    is_subscribed = subscriptions.is_subscribed(
        ctx.connection, ctx.actor, user_id=user_id, channel_id=stream_id
    )
    return envelope.success(ctx, {**envelope.OK, "is_subscribed": is_subscribed})
