"""Operations of the tag submessages."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import submessages
from models.chat.common.quotas import SUBMESSAGES, require_within
from models.json import Json
from specd import Response


def add_submessage(
    ctx: Context, *, message_id: int, msg_type: str, content: dict[str, Json]
) -> Response:
    """Vote, or change a poll or a to-do list."""
    submessages.add_submessage(ctx.session, ctx.actor, message_id, content, now=ctx.now)
    require_within(ctx.session, ctx.settings, SUBMESSAGES, message_id)
    return envelope.success(ctx)
