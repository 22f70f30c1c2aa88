"""Operations of the tag custom_emoji."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.access.people import find_known_ids
from models.chat.organization.emoji import find_custom_emoji
from server.response import Response


def list_custom_emoji(ctx: Context) -> Response:
    """List the custom emoji."""
    db, actor = ctx.session, ctx.actor
    known_ids = find_known_ids(db, actor)
    return envelope.success(ctx, emoji=find_custom_emoji(db, actor.realm_id, known_ids=known_ids))
