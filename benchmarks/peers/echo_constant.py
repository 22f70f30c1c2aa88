"""The floor of every server on uvicorn's loop and parser: it responds with constants, chosen by the
path. `app` responds the same through ASGI, for the check that all servers agree.
"""

import asyncio
from typing import Any

import httptools
import orjson
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from benchmarks.engine.operations import OPERATIONS
from benchmarks.load.worker import Worker

HEAD = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n"


class Constant(asyncio.Protocol):
    """One connection. uvicorn passes the state and calls `shutdown`."""

    def __init__(self, *, server_state: Any, **_: Any) -> None:
        self.connections = server_state.connections
        self.parser = httptools.HttpRequestParser(self)
        self.url = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.connections.discard(self)

    def shutdown(self) -> None:
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.url = url

    def on_message_complete(self) -> None:
        self.transport.write(ANSWERS[self.url])


def _written(status: int, answer: Any) -> bytes:
    body = orjson.dumps(answer)
    return STATUS_LINE[status] + HEAD % len(body) + body


ANSWERS = {
    operation.request.path.encode(): _written(operation.status, operation.answer)
    for operation in OPERATIONS
}


class ConstantWorker(Worker):
    """The peers' worker with another protocol."""

    CONFIG_KWARGS = {**Worker.CONFIG_KWARGS, "http": Constant}  # noqa: RUF012 (as gunicorn reads it)


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    head, _, body = ANSWERS[scope["path"].encode()].partition(b"\r\n\r\n")
    response = Response(body, int(head[9:12]), media_type="application/json")
    await response(scope, receive, send)


app = Starlette(routes=[Mount("/", answer)])
