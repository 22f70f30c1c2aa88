"""Work that takes many units: one after another, so that others come between."""

import asyncio
from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from handlers.chat.wire.context import Context

Step = Callable[[Session, int], int | None]
"""Begins after an id and returns the id after which to go on, or None when nothing is left."""
MARKING_S = 10.0
"""How long one request marks messages as read; a client that is told so asks again."""


async def take_steps(ctx: Context, step: Step) -> bool:
    """Take steps for up to `MARKING_S` seconds. Returns whether nothing is left."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + MARKING_S
    after: int | None = 0
    while after is not None and loop.time() < ends_at:
        after = await ctx.write(partial(_step_after, step, after))
    return after is None


def _step_after(step: Step, after: int, session: Session) -> int | None:
    return step(session, after)
