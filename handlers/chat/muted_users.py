"""Operations of the tag muted_users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.steps import take_steps
from models.chat import muted_users
from models.chat.common.quotas import MUTED_USERS, require_within
from models.chat.reading.marking import mark_next_from

if TYPE_CHECKING:
    from handlers.chat import types


async def mute_user(ctx: Context, *, muted_user_id: int) -> envelope.Answer[types.Success]:
    """Mute a user."""

    def mute(session: Session) -> None:
        muted_users.mute_user(session, ctx.actor, muted_user_id, now=ctx.now)
        require_within(session, ctx.settings, MUTED_USERS, ctx.actor.id)

    def mark(after: int, session: Session) -> int | None:
        return mark_next_from(session, ctx.actor, muted_user_id, after=after, now=ctx.now)

    await ctx.write(mute)
    await take_steps(ctx, mark)
    return envelope.success(ctx)


def unmute_user(ctx: Context, *, muted_user_id: int) -> envelope.Answer[types.Success]:
    """Unmute a user."""
    muted_users.unmute_user(ctx.session, ctx.actor, muted_user_id, now=ctx.now)
    return envelope.success(ctx)
