"""Work that takes many units: one after another, so that others come between, or a worker's."""

import asyncio
from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from handlers.chat.wire.context import Context
from models.reader import Db

Step = Callable[[Session, int], int | None]
"""Begins after an id and returns the id after which to go on, or None when nothing is left."""
LONGEST_S = 10.0
"""How long one request works; a client that is told that something is left asks again."""
LOOK_EVERY_S = 0.5
"""How often a request looks how far a worker is."""


async def take_steps(ctx: Context, step: Step) -> bool:
    """Take steps for up to `LONGEST_S` seconds. Returns whether nothing is left."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LONGEST_S
    after: int | None = 0
    while after is not None and loop.time() < ends_at:
        after = await ctx.write(partial(_step_after, step, after))
    return after is None


async def see_through(
    ctx: Context, find_left: Callable[[Db], int | None], go_on: Callable[[Session], None]
) -> bool:
    """Wait up to `LONGEST_S` seconds for a worker to finish what a request began. Returns whether
    it has.

    `find_left` tells how far the work is, and None at its end. Where nobody has taken it further
    since the last look, the request does, with `go_on`.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LONGEST_S
    seen = None
    while (left := await ctx.read(find_left)) is not None:
        if left == seen:
            await ctx.write(go_on)
        seen = left
        looks_at = loop.time() + LOOK_EVERY_S
        await ctx.wait(loop.create_future(), LOOK_EVERY_S)
        if loop.time() < looks_at - LOOK_EVERY_S / 2 or looks_at > ends_at:
            return False  # the server stops, or the time is over
    return True


def _step_after(step: Step, after: int, session: Session) -> int | None:
    return step(session, after)
