"""Operations of the tag playgrounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.errors import MissingParameter
from models.chat.common.quotas import PLAYGROUNDS, require_within
from models.chat.organization import playgrounds

if TYPE_CHECKING:
    from handlers.chat import types


def create_playground(
    ctx: Context, *, name: str, url_template: str, syntax_language: str | None = None
) -> envelope.Answer[types.PlaygroundCreated]:
    """Add a code playground."""
    if syntax_language is None:
        raise MissingParameter(var_name="syntax_language")
    playground_id = playgrounds.create_playground(
        ctx.session,
        ctx.actor,
        name=name,
        syntax_language=syntax_language,
        url_template=url_template,
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, PLAYGROUNDS, ctx.actor.realm_id)
    return envelope.success(ctx, {**envelope.OK, "id": playground_id})


def delete_playground(ctx: Context, *, playground_id: int) -> envelope.Answer[types.Success]:
    """Remove a code playground."""
    playgrounds.delete_playground(ctx.session, ctx.actor, playground_id, now=ctx.now)
    return envelope.success(ctx)
