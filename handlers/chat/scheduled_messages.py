"""Operations of the tag scheduled_messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import (
    SCHEDULED_MESSAGES,
    SCHEDULED_TEXTS,
    require_texts_within,
    require_within,
)
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.scheduling import scheduled_messages
from models.chat.scheduling.records import CHANNEL, DIRECT, To
from models.chat.scheduling.scheduled_messages import Changes
from models.chat.sending.drafts import client_name
from specd import before_transaction, idempotent

if TYPE_CHECKING:
    from handlers.chat import types

KINDS = {"direct": DIRECT, "private": DIRECT, "channel": CHANNEL, "stream": CHANNEL}
"""Old and new names of the kinds."""


def list_scheduled_messages(ctx: Context) -> envelope.Answer[types.ScheduledMessageList]:
    """Get your scheduled messages."""
    messages = scheduled_messages.find_scheduled_messages(ctx.connection, ctx.actor)
    return envelope.success(
        ctx, {**envelope.OK, "scheduled_messages": cast("list[types.ScheduledMessage]", messages)}
    )


def _prepare_new(ctx: Context, *, content: str) -> PreparedText:
    return prepare_text(ctx.connection, ctx.actor, content)


def _sent_message(
    ctx: Context,
    text: PreparedText,
    *,
    type_: str,
    to: To,
    scheduled_delivery_timestamp: int,
    topic: str | None = None,
    read_by_sender: bool | None = None,
    **others: object,
) -> dict[str, object]:
    return {
        "type": type_,
        "to": to,
        "content": text.content,
        "topic": topic,
        "scheduled_delivery_timestamp": scheduled_delivery_timestamp,
        "read_by_sender": read_by_sender,
    }


@before_transaction(_prepare_new)
@idempotent(sent=_sent_message)
def create_scheduled_message(
    ctx: Context,
    text: PreparedText,
    *,
    type_: str,
    to: To,
    scheduled_delivery_timestamp: int,
    topic: str | None = None,
    read_by_sender: bool | None = None,
    client: str | None = None,
) -> envelope.Answer[types.ScheduledMessageCreated]:
    """Schedule a message."""
    message_id = scheduled_messages.schedule_message(
        ctx.session,
        ctx.actor,
        kind=KINDS[type_],
        to=to,
        text=text,
        topic=topic,
        delivery_timestamp=scheduled_delivery_timestamp,
        client=client_name(client, ctx.header("user-agent")),
        read_by_sender=read_by_sender,
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, SCHEDULED_MESSAGES, ctx.actor.id)
    require_texts_within(ctx.session, SCHEDULED_TEXTS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "scheduled_message_id": message_id})


def _prepare_edit(
    ctx: Context, *, scheduled_message_id: int, content: str | None = None
) -> PreparedText | None:
    return scheduled_messages.prepare_edit(
        ctx.connection, ctx.actor, scheduled_message_id, content=content
    )


@before_transaction(_prepare_edit)
def update_scheduled_message(
    ctx: Context,
    text: PreparedText | None,
    *,
    scheduled_message_id: int,
    type_: str | None = None,
    to: To | None = None,
    content: str | None = None,
    topic: str | None = None,
    scheduled_delivery_timestamp: int | None = None,
    client: str | None = None,
) -> envelope.Answer[types.Success]:
    """Edit a scheduled message."""
    scheduled_messages.edit_scheduled_message(
        ctx.session,
        ctx.actor,
        scheduled_message_id,
        Changes(
            kind=None if type_ is None else KINDS[type_],
            to=to,
            content=content,
            topic=topic,
            delivery_timestamp=scheduled_delivery_timestamp,
        ),
        text=text,
        client=client_name(client, ctx.header("user-agent")),
        now=ctx.now,
    )
    require_texts_within(ctx.session, SCHEDULED_TEXTS, ctx.actor.id)
    return envelope.success(ctx)


def delete_scheduled_message(
    ctx: Context, *, scheduled_message_id: int
) -> envelope.Answer[types.Success]:
    """Delete a scheduled message."""
    scheduled_messages.delete_scheduled_message(
        ctx.session, ctx.actor, scheduled_message_id, now=ctx.now
    )
    return envelope.success(ctx)
