"""Operations of the tag submessages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import submessages
from models.chat.common.quotas import SUBMESSAGES, require_within

if TYPE_CHECKING:
    from handlers.chat import types


def add_submessage(
    ctx: Context, *, message_id: int, msg_type: str, content: types.WidgetChange
) -> envelope.Answer[types.Success]:
    """Vote, or change a poll or a to-do list."""
    submessages.add_submessage(ctx.session, ctx.actor, message_id, content, now=ctx.now)
    require_within(ctx.session, ctx.settings, SUBMESSAGES, message_id)
    return envelope.success(ctx)
