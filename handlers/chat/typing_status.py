"""Operations of the tag typing_status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import typing_status
from models.chat.common.errors import MissingParameter
from models.chat.sending.errors import MissingTopic
from models.chat.typing_status import Op

if TYPE_CHECKING:
    from handlers.chat import types

CHANNEL_TYPES = frozenset(("channel", "stream"))


def set_typing_status(
    ctx: Context,
    *,
    op: Op,
    type_: str = "direct",
    to: list[int] | None = None,
    stream_id: int | None = None,
    topic: str | None = None,
) -> envelope.Answer[types.Success]:
    """Set your typing status."""
    session, actor = ctx.session, ctx.actor
    if type_ in CHANNEL_TYPES:
        if stream_id is None:
            raise MissingParameter(var_name="stream_id")
        if topic is None:
            raise MissingTopic()
        typing_status.notify_typing_in_channel(session, actor, stream_id, topic, op, now=ctx.now)
    else:
        if to is None:
            raise MissingParameter(var_name="to")
        typing_status.notify_typing_to_users(session, actor, to, op, now=ctx.now)
    return envelope.success(ctx)


def set_edit_typing_status(
    ctx: Context, *, message_id: int, op: Op
) -> envelope.Answer[types.Success]:
    """Set your typing status in an edit."""
    typing_status.notify_editing(ctx.session, ctx.actor, message_id, op, now=ctx.now)
    return envelope.success(ctx)
