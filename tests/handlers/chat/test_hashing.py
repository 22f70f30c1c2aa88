"""Hashes have threads of their own, as many as are made at once."""

import asyncio
import os
import threading

from handlers.chat.wire.pools import NICENESS, run_hashing
from models.chat.identity.passwords import HASHES_AT_ONCE


def test_hashes_run_in_threads_of_their_own() -> None:
    together = threading.Barrier(HASHES_AT_ONCE, timeout=60)

    def work(number: int) -> tuple[int, str]:
        together.wait()
        return number, threading.current_thread().name

    async def run() -> list[tuple[int, str]]:
        wanted = [run_hashing(work, number) for number in range(2 * HASHES_AT_ONCE)]
        return await asyncio.gather(*wanted)

    done = asyncio.run(run())
    assert [number for number, _ in done] == list(range(2 * HASHES_AT_ONCE))
    assert {name for _, name in done} == {f"hashes_{n}" for n in range(HASHES_AT_ONCE)}


def test_hashes_give_way_to_the_event_loop() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def run() -> tuple[int, int]:
        return niceness(), await run_hashing(niceness)

    ours, theirs = asyncio.run(run())
    assert theirs == max(ours, NICENESS)
