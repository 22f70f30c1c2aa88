"""Operations of the tag keys."""

from typing import cast

from handlers.payment import types
from handlers.payment.wire.context import Context
from models.payment.projects import read_project_name


def get_key(ctx: Context) -> types.Key:
    """Describe the API key of the request."""
    actor = ctx.actor
    return {
        "id": actor.key_id,
        "scope": cast("types.KeyScope", actor.scope),
        "project_name": read_project_name(ctx.connection, actor.project_id),
    }
