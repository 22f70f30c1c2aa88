"""Starts complete requests in the parser's callback.

uvicorn creates a cycle, an event and a task for each request, because it may have to wait for the
rest of a body, for a slow reader, or for the application. Most requests do not wait: the engine's
coroutine ends when it is started, and its response is sent in one write. Only a request that has to
wait gets a cycle and a task (decision 67).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any

from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from specd._engine.http.started import go_on
from specd._engine.response import Response
from specd._engine.serving.engine import Engine
from specd._engine.serving.exchange import Exchange, head_of


def answer_at_once(
    engine: Engine, exchange: Exchange, body: bytes, default_headers: list[tuple[bytes, bytes]]
) -> bytes | Rest:
    """Return the complete response, byte for byte as uvicorn writes it, or a `Rest` if the engine
    has to wait or uvicorn has to do more than write.
    """
    context, arrived = copy_context(), Arrived(body)
    answering = engine.answer(exchange, arrived)
    rest: Awaitable[Response | None]
    try:
        pending = context.run(answering.send, None)
    except StopIteration as end:
        response: Response = end.value
        if not (exchange.leaves_a_body() or (response.body and response.status in (204, 304))):
            engine.conclude(exchange, response)
            return _written(exchange, response, default_headers)
        rest = _end(response)
    except BaseException as error:  # not the parser's to handle
        rest = _end(error)
    else:
        rest = go_on(answering, pending)
    return Rest(engine, exchange, arrived, context, rest)


def _written(
    exchange: Exchange, response: Response, default_headers: list[tuple[bytes, bytes]]
) -> bytes:
    headers = head_of(response, exchange)["headers"]
    body = b"" if exchange.method == "HEAD" else response.body
    lines = [b"%b: %b\r\n" % pair for pair in (*default_headers, *headers)]
    return b"".join((STATUS_LINE[response.status], *lines, b"\r\n", body))


class Arrived:
    """The `receive` of a request whose body has arrived completely. `cycle` receives later
    messages.
    """

    cycle: RequestResponseCycle

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body

    async def __call__(self) -> Message:
        body, self._body = self._body, None
        if body is None:
            message: Any = await self.cycle.receive()
            return message  # type: ignore[no-any-return]
        return {"type": "http.request", "body": body}


@dataclass(slots=True)
class Rest:
    """One complete request whose response needs a task."""

    engine: Engine
    exchange: Exchange
    arrived: Arrived
    context: Context
    answer: Awaitable[Response | None]

    def task(
        self, cycle: RequestResponseCycle, loop: asyncio.AbstractEventLoop
    ) -> asyncio.Task[None]:
        """Return the task that sends the response with the `cycle` of this request."""
        cycle.more_body = False
        self.arrived.cycle = cycle
        run: Any = self._run
        return loop.create_task(cycle.run_asgi(run), context=self.context)

    async def _run(self, scope: Scope, _: Receive, send: Send) -> None:
        await self.engine.finish(self.exchange, self.answer, scope, self.arrived, send)


async def _end(end: Response | BaseException) -> Response:
    if isinstance(end, Response):
        return end
    raise end
