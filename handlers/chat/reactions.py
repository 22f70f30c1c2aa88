"""Operations of the tag reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import reactions
from models.chat.common.quotas import REACTION_EMOJI, REACTIONS, require_within
from models.chat.people.emoji import own_kind

if TYPE_CHECKING:
    from handlers.chat import types


def add_reaction(
    ctx: Context,
    *,
    message_id: int,
    emoji_name: str,
    emoji_code: str | None = None,
    reaction_type: str | None = None,
) -> envelope.Answer[types.Success]:
    """Add an emoji reaction."""
    reactions.add_reaction(
        ctx.session,
        ctx.actor,
        message_id,
        name=emoji_name,
        code=emoji_code,
        kind=own_kind(reaction_type),
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, REACTION_EMOJI, message_id)
    require_within(ctx.session, ctx.settings, REACTIONS, message_id)
    return envelope.success(ctx)


def remove_reaction(
    ctx: Context,
    *,
    message_id: int,
    emoji_name: str | None = None,
    emoji_code: str | None = None,
    reaction_type: str | None = None,
) -> envelope.Answer[types.Success]:
    """Remove an emoji reaction."""
    reactions.remove_reaction(
        ctx.session,
        ctx.actor,
        message_id,
        name=emoji_name,
        code=emoji_code,
        kind=own_kind(reaction_type),
        now=ctx.now,
    )
    return envelope.success(ctx)
