"""Requests that wait for something to happen, and what ends their wait.

A wait ends when what it is for has happened, when its time is over, when the client has gone, or
when the server stops: then every wait ends at once, so that the answers still go out.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Receive

from specd._engine.document.bodies import Disconnected


class Waiting:
    """The waiting requests of one process."""

    def __init__(self) -> None:
        self._ends: set[asyncio.Future[None]] = set()
        self._is_stopping = False

    def stop(self) -> None:
        """End every wait, and let no other begin."""
        self._is_stopping = True
        for end in self._ends:
            _settle(end)

    async def wait(self, receive: Receive, future: asyncio.Future[Any], seconds: float) -> bool:
        """Wait for `future`, up to so many seconds. Return whether there is time left.

        Raise `Disconnected` when the client has gone.
        """
        if self._is_stopping:
            return False
        loop = asyncio.get_running_loop()
        end: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _settle, end)
        watch = loop.create_task(_watch(receive, end))

        def happened(_: object) -> None:
            _settle(end)

        future.add_done_callback(happened)
        self._ends.add(end)
        try:
            await end
        finally:
            timer.cancel()
            watch.cancel()
            self._ends.discard(end)
            future.remove_done_callback(happened)
        return future.done() and not self._is_stopping


async def _watch(receive: Receive, end: asyncio.Future[None]) -> None:
    """Discard what the client sends until it disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    if not end.done():
        end.set_exception(Disconnected())


def _settle(end: asyncio.Future[None]) -> None:
    if not end.done():
        end.set_result(None)
