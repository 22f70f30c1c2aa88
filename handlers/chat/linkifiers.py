"""Operations of the tag linkifiers."""

from handlers.chat import envelope
from models.chat import linkifiers
from server.context import Context
from server.response import Response


def list_linkifiers(ctx: Context) -> Response:
    """List the linkifiers."""
    found = linkifiers.list_linkifiers(ctx.session, ctx.actor.realm_id)
    return envelope.success(ctx, linkifiers=found)
