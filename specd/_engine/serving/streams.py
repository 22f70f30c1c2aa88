"""Responses that are sent piece by piece while their handler generates them.

The handler's iterator runs in one task, or in a thread if it is not asynchronous, at most one piece
ahead of the client. The head is sent after the first piece, so that an error before it gets a
normal response. A later error, a late piece, or the end of the server cuts off the response, so
that clients do not mistake it for a complete one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import structlog
from starlette.types import Receive, Send

from specd._engine.document.bodies import Disconnected
from specd._engine.errors import InternalError
from specd._engine.http.answering import END
from specd._engine.pools import Pool
from specd._engine.response import Stream
from specd._engine.serving.exchange import Exchange, head_of
from specd._engine.serving.waiting import Waiting

log = structlog.get_logger("specd.requests")
STREAMS = Pool("streams", 8)
"""For iterators that are not asynchronous, which may wait for a file or a network."""
_DONE = object()


class Source:
    """The pieces of one response, requested one at a time."""

    def __init__(self, stream: Stream, waiting: Waiting, receive: Receive, seconds: float) -> None:
        pieces = stream.pieces
        self._pieces = _in_threads(pieces) if isinstance(pieces, Iterator) else pieces
        self._frame = stream.frame
        self._waiting = waiting
        self._receive = receive
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()
        self._ready: asyncio.Future[Any]
        self._first: bytes | None = None
        self.is_cut = False

    async def begin(self) -> None:
        """Wait for the first piece. Raise the iterator's exceptions, `Disconnected`, or
        `InternalError` if it is late.
        """
        try:
            self._first = await self._next()
        except BaseException:
            await self.close()
            raise
        if self.is_cut:
            await self.close()
            raise InternalError(f"the stream has not begun within {self._seconds} s")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the encoded pieces, until one is late."""
        piece = self._first
        while piece is not None:
            yield piece
            piece = await self._next()

    async def close(self) -> None:
        """Cancel the iterator."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _next(self) -> bytes | None:
        self._ready = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        else:
            self._asked.set()
        await self._waiting.wait(self._receive, self._ready, self._seconds)
        if not self._ready.done():
            self.is_cut = True
            return None
        piece = self._ready.result()
        return None if piece is _DONE else self._frame(piece)

    async def _run(self) -> None:
        try:
            async for piece in self._pieces:
                self._ready.set_result(piece)
                await self._asked.wait()
                self._asked.clear()
            self._ready.set_result(_DONE)
        except Exception as error:
            self._ready.set_exception(error)
        finally:
            if isinstance(self._pieces, AsyncGenerator):
                await self._pieces.aclose()


async def deliver_stream(stream: Stream, exchange: Exchange, send: Send) -> None:
    """Send a response whose source has begun. If the body was not read, end the connection."""
    source: Source = stream.source
    head = head_of(stream, exchange)
    head["headers"] = [pair for pair in head["headers"] if pair[0] != b"content-length"]
    if exchange.leaves_a_body():
        head["headers"].append((b"connection", b"close"))
    try:
        await send(head)
        if exchange.method != "HEAD":
            async for piece in source:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        if source.is_cut:
            log.warning("stream cut off", id=exchange.request_id, operation=exchange.operation_id)
        else:
            await send(END)
    except Disconnected:
        pass
    except Exception:
        log.exception("stream failed", id=exchange.request_id, operation=exchange.operation_id)
    finally:
        await source.close()


async def _in_threads(pieces: Iterator[Any]) -> AsyncGenerator[Any, None]:
    try:
        while (piece := await STREAMS.run(next, pieces, _DONE)) is not _DONE:
            yield piece
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            with suppress(ValueError):  # it is still running in its thread
                await STREAMS.run(close)
