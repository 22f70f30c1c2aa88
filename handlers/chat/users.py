"""Operations of the tag users."""

from handlers.chat import envelope, render
from models.chat import profiles, users
from server.context import Context
from server.response import Response


def get_own_user(ctx: Context) -> Response:
    """Get your own user."""
    actor = ctx.actor
    return envelope.success(
        ctx,
        render.own_user(
            actor,
            max_message_id=users.find_max_message_id(ctx.session, actor.id),
            profile_data=profiles.find_profile(ctx.session, actor.id),
        ),
    )
