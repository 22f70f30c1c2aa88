"""Work in many units: one after another with other requests between, or by a worker."""

import asyncio
from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from handlers.chat.wire.context import Context
from specd.db import Db

Step = Callable[[int, Session], int | None]
"""Work from after an id on. Return the id after which to continue; None: nothing is left."""
LONGEST_S = 10.0
"""How long one request works; its answer has whether anything is left to repeat it for."""
POLL_INTERVAL_S = 0.5
"""How often a request reads the progress of a worker."""


async def take_steps(ctx: Context, step: Step) -> bool:
    """Take steps for up to `LONGEST_S` seconds. Return whether nothing is left."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LONGEST_S
    after: int | None = 0
    while after is not None and loop.time() < ends_at:
        after = await ctx.write(partial(step, after))
    return after is None


async def wait_for_worker(
    ctx: Context, find_left: Callable[[Db], int | None], take_step: Callable[[Session], object]
) -> bool:
    """Wait up to `LONGEST_S` seconds for a worker to finish what a request began. Return whether
    it has.

    `find_left` returns the progress of the work, and None at its end. Where that is the same as the
    last time, the request itself takes a step with `take_step`.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LONGEST_S
    seen = None
    while (left := await ctx.read(find_left)) is not None:
        if left == seen:
            await ctx.write(take_step)
        seen = left
        due_at = loop.time() + POLL_INTERVAL_S
        await ctx.wait(loop.create_future(), POLL_INTERVAL_S)
        if loop.time() < due_at - POLL_INTERVAL_S / 2 or due_at > ends_at:
            return False  # the server stops, or the time has passed
    return True
