"""Pictures made small and files stored, off the event loop and in threads of their own."""

import asyncio
import time
from pathlib import Path
from weakref import WeakValueDictionary

from adapters.images.pictures import NotAPicture, Picture, make_small
from server.pools import Pool

PICTURES = Pool("pictures", 2)
STORES = Pool("stores", 8)
"""For files on their way into the store, which may be far away."""
TURN_S = 10.0
"""Longest wait for a turn among all pictures of this process."""

_of_users: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()


async def make_picture(
    user_id: int, source: Path, target: Path, width: int, height: int, *, only_still: bool = False
) -> Picture:
    """Return what `make_small` makes, one picture of a user at a time. Whoever waits for a turn
    holds no thread. Raises `NotAPicture`, also where the turn did not come in `TURN_S`.
    """
    give_up_at = time.monotonic() + TURN_S

    def make() -> Picture:
        if time.monotonic() > give_up_at:
            raise NotAPicture("too many others")
        return make_small(source, target, width, height, only_still=only_still)

    turn = _of_users.setdefault(user_id, asyncio.Lock())
    try:
        async with asyncio.timeout(TURN_S):
            await turn.acquire()
    except TimeoutError:
        raise NotAPicture("too many others of this user") from None
    try:
        return await PICTURES.run(make)
    finally:
        turn.release()
