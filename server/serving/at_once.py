"""Requests that have arrived whole, answered from the parser's own callback.

uvicorn makes a cycle, an event and a task for each request, because it may have to wait for the
rest of a body, for a client that does not read, or for the application. Most requests need none of
these: `AtOnce` runs the engine until it has an answer or waits for the first time, and only a
request that waits gets a task (decision 58).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any

from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from server.response import Response
from server.serving.engine import Engine
from server.serving.exchange import Exchange
from server.wire.started import go_on, into_a_task


class AtOnce:
    """One request whose `body` has arrived whole."""

    __slots__ = ("_answer", "_body", "_context", "_engine", "_exchange", "_pending", "_receive")

    def __init__(self, engine: Engine, exchange: Exchange, body: bytes) -> None:
        self._engine, self._exchange = engine, exchange
        self._body: bytes | None = body
        self._context = copy_context()
        self._answer: Coroutine[Any, Any, Response] = engine.answer(exchange, self._read)
        self._pending: Any = None
        self._receive: Receive | None = None

    async def _read(self) -> Message:
        """`receive`, until there is one."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await into_a_task()
        assert self._receive is not None
        return await self._receive()

    def run(self, default_head: bytes) -> bytes | None:
        """The whole answer as it goes out, byte for byte as uvicorn writes it; None where the
        engine waits, or uvicorn has more to do than to write. Then the request goes on in `task`.
        """
        exchange = self._exchange
        try:
            self._pending = self._context.run(self._answer.send, None)
        except StopIteration as end:
            response: Response = end.value
        except BaseException as error:
            self._answer = _fail(error)
            return None
        else:
            return None
        if not (exchange.leaves_a_body or (response.body and response.status in (204, 304))):
            head = exchange.api.heads.head(response, exchange.request_id, exchange.extra_headers)
            if head is not None:
                body = b"" if exchange.method == "HEAD" else response.body
                self._engine.conclude(exchange, response)
                return b"".join((STATUS_LINE[response.status], default_head, head, b"\r\n", body))
        self._answer = _give(response)
        return None

    def task(self, cycle: Any, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """A task for what is left to do, with uvicorn's `cycle` of this request."""
        cycle.more_body = False
        if self._body is not None:
            cycle.body += self._body
            cycle.message_event.set()
            self._body = None
        self._receive = cycle.receive
        return loop.create_task(cycle.run_asgi(self._rest), context=self._context)

    async def _rest(self, _: Scope, receive: Receive, send: Send) -> None:
        answer = go_on(self._answer, self._pending)
        await self._engine.finish(self._exchange, answer, receive, send)


async def _give(response: Response) -> Response:
    return response


async def _fail(error: BaseException) -> Response:
    raise error
