"""Waiting requests, such as long polls.

A wait ends when its event has happened, when its time is over, when the client has disconnected, or
when the server stops. In that case all waits end immediately, so that the responses are still sent.
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
        """End all waits, and prevent new ones."""
        self._is_stopping = True
        for end in self._ends:
            _settle(end)

    async def wait(self, receive: Receive, future: asyncio.Future[Any], seconds: float) -> bool:
        """Wait for `future`, at most `seconds`. Return whether it is done and the server is not
        stopping.

        Raise `Disconnected` if the client has disconnected.
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
