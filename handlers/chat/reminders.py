"""Operations of the tag reminders."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import REMINDERS, require_within
from models.chat.rendering.texts import PreparedText
from models.chat.scheduling import reminders
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def list_reminders(ctx: Context) -> envelope.Answer[types.ReminderList]:
    """Get your reminders."""
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "reminders": cast(
                "list[types.Reminder]", reminders.find_reminders(ctx.connection, ctx.actor)
            ),
        },
    )


def _prepare_new(ctx: Context, *, message_id: int, note: str | None = None) -> PreparedText | None:
    return reminders.prepare_new(ctx.connection, ctx.actor, message_id=message_id, note=note)


@before_transaction(_prepare_new)
def create_reminder(
    ctx: Context,
    text: PreparedText | None,
    *,
    message_id: int,
    scheduled_delivery_timestamp: int,
    note: str | None = None,
) -> envelope.Answer[types.ReminderCreated]:
    """Set a reminder of a message."""
    reminder_id = reminders.create_reminder(
        ctx.session,
        ctx.actor,
        message_id=message_id,
        note=note,
        delivery_timestamp=scheduled_delivery_timestamp,
        text=text,
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, REMINDERS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "reminder_id": reminder_id})


def delete_reminder(ctx: Context, *, reminder_id: int) -> envelope.Answer[types.Success]:
    """Delete a reminder."""
    reminders.delete_reminder(ctx.session, ctx.actor, reminder_id, now=ctx.now)
    return envelope.success(ctx)
