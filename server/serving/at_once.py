"""Requests that have arrived whole, answered from the parser's own callback.

uvicorn makes a cycle, an event and a task for each request, because it may have to wait for the
rest of a body, for a client that does not read, or for the application. Most requests need none of
these: the engine answers them on the spot, and only a request that waits gets a task (decision 67).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import Context, copy_context
from functools import partial
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from server.response import Response
from server.serving.engine import Engine
from server.serving.exchange import Exchange, deliver
from server.wire.slow_readers import READER


class _DefaultHead:
    """The headers that the server adds to every answer, a new list each second, as bytes."""

    def __init__(self) -> None:
        self._headers: list[tuple[bytes, bytes]] | None = None
        self._bytes = b""

    def of(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        if headers is not self._headers:
            self._headers = headers
            self._bytes = b"".join(b"%b: %b\r\n" % pair for pair in headers)
        return self._bytes


_default_head = _DefaultHead()


def answer_at_once(
    engine: Engine, exchange: Exchange, body: bytes, default_headers: list[tuple[bytes, bytes]]
) -> bytes | Rest:
    """The whole answer as it goes out, byte for byte as uvicorn writes it; what is left to do where
    the engine waits, or uvicorn has more to do than to write.
    """
    context = copy_context()
    reply: Response | Awaitable[Response] | None
    try:
        reply = context.run(engine.answer_now, exchange, body)
    except BaseException as error:  # not the parser's to handle
        return Rest(engine, exchange, body, context, _fail(error))
    if isinstance(reply, Response):
        answer = _written(exchange, reply, default_headers)
        if answer is not None:
            engine.conclude(exchange, reply)
            return answer
    return Rest(engine, exchange, body, context, reply)


def _written(
    exchange: Exchange, response: Response, default_headers: list[tuple[bytes, bytes]]
) -> bytes | None:
    """A whole answer as it goes out; None where uvicorn has more to do than to write."""
    if exchange.leaves_a_body() or (response.body and response.status in (204, 304)):
        return None
    head = exchange.api.heads.head(response, exchange.request_id, exchange.extra_headers)
    if head is None:
        return None
    default_head = _default_head.of(default_headers)
    sent = b"" if exchange.method == "HEAD" else response.body
    return b"".join((STATUS_LINE[response.status], default_head, head, b"\r\n", sent))


class Cycle(RequestResponseCycle):
    """uvicorn's cycle of a request that waits, and may be answered in one write."""

    async def answer(self, answer: bytes) -> None:
        """Send a whole answer, after which the connection goes on."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if not self.disconnected:
            self.response_started = self.response_complete = True
            self.transport.write(answer)
            self.message_event.set()
            self.on_response()


class Rest:
    """What is left of one request whose body has arrived whole; `reply` is what the engine said."""

    __slots__ = ("_body", "_context", "_engine", "_exchange", "_reply")

    def __init__(
        self,
        engine: Engine,
        exchange: Exchange,
        body: bytes,
        context: Context,
        reply: Response | Awaitable[Response] | None,
    ) -> None:
        self._engine, self._exchange, self._reply = engine, exchange, reply
        self._body = body if reply is None or exchange.unread else None
        self._context = context

    def task(self, cycle: Cycle, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """The task that does it, with the `cycle` of this request."""
        cycle.more_body = False
        if self._body is not None:
            cycle.body += self._body
            cycle.message_event.set()
        run: Any = partial(self._run, cycle)
        return loop.create_task(cycle.run_asgi(run), context=self._context)

    async def _run(self, cycle: Cycle, scope: Scope, receive: Receive, send: Send) -> None:
        engine, exchange, reply = self._engine, self._exchange, self._reply
        if reply is None:
            reply = engine.answer(exchange, receive)
        response = await engine.whole(exchange, reply)
        if response is None:
            return
        scope[READER](exchange.reader)
        answer = None
        if cycle.keep_alive:
            answer = _written(exchange, response, cycle.default_headers)
        if answer is None:
            await deliver(response, exchange, receive, send)
        else:
            await cycle.answer(answer)
        engine.conclude(exchange, response)


async def _fail(error: BaseException) -> Response:
    raise error
