"""Operations of the tag realm."""

from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.organization.settings import change_realm
from server.response import Response


def update_realm(ctx: Context, **changes: Any) -> Response:
    """Change settings of the organization.

    `changes`: the parameters that were sent; null is a value of several settings.
    """
    change_realm(ctx.session, ctx.actor.realm_id, changes, actor=ctx.actor, now=ctx.now)
    return envelope.success(ctx)
