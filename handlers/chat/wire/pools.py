"""Threads for hashing passwords, for making pictures small and for storing files."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from adapters.images.pictures import NotAPicture, Picture, make_small, make_square
from models.chat.identity.passwords import PASSWORDS
from specd import Pool

run_hashing = PASSWORDS.run
"""A hash takes some 50 ms by design, so it runs without a connection and without a lock."""
PICTURES = Pool("pictures", 2)
STORES = Pool("stores", 8)
"""For writing files to the store, which may be remote."""
Made = TypeVar("Made")
TURN_S = 10.0
"""Longest wait for a turn among all pictures of this process."""

_of_users: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()


async def make_picture(
    user_id: int, source: Path, target: Path, width: int, height: int, *, only_still: bool = False
) -> Picture:
    """Return what `make_small` makes, one picture of a user at a time. The wait for a turn takes no
    thread. Raise `NotAPicture`, also where the turn does not come in `TURN_S`.
    """
    return await _in_turn(
        user_id, lambda: make_small(source, target, width, height, only_still=only_still)
    )


async def make_squares(user_id: int, source: Path, targets: Mapping[Path, int]) -> None:
    """Write what `make_square` does to each target, of so many pixels, the largest first; each is
    made of the one before. Wait and raise as `make_picture` does.
    """

    def make() -> None:
        larger = source
        for target, side in targets.items():
            make_square(larger, target, side)
            larger = target

    await _in_turn(user_id, make)


async def _in_turn(user_id: int, work: Callable[[], Made]) -> Made:
    give_up_at = time.monotonic() + TURN_S

    def make() -> Made:
        if time.monotonic() > give_up_at:
            raise NotAPicture("too many others")
        return work()

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
