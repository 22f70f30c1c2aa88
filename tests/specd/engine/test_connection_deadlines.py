"""Every state of a connection has a deadline, regardless of the client.

With real sockets and deadlines of a fraction of a second.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
import uvloop
from uvicorn.config import Config
from uvicorn.server import ServerState

from specd._engine.http import answering
from specd._engine.serving import protocol
from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import Protocol
from tests.specd.engine.services import shop_service
from tests.specd.engine.wire import ADA, CHUNKED, FORM, JSON, KEY, request

HEAD_S = 0.3
BODY_S = 0.4
READ_S = 0.6
IDLE_S = 0.5
LINGER_S = 0.4
SLACK_S = 2.0
"""Tolerance for a busy machine. Missing deadlines would take many times longer."""
DRIP_S = 0.02
READ = request(b"GET /shop/items")
WRITE = request(b"POST /shop/items", ADA, KEY, JSON, b"Content-Length: 5000")
CHUNKS = request(b"POST /shop/items", ADA, KEY, JSON, CHUNKED)


@dataclass(frozen=True)
class State:
    """A state of a connection. `first` creates it, and repeated `drip` does not leave it.

    `ends_s` is the deadline, and `statuses` are those of all responses.
    """

    first: bytes
    drip: bytes
    ends_s: float
    statuses: tuple[int, ...]


STATES = {
    "nothing sent": State(b"", b"", HEAD_S, (408,)),
    "empty lines alone": State(b"", b"\r\n", HEAD_S, (408,)),
    "half a request line": State(b"GET /shop/it", b"", HEAD_S, (408,)),
    "a request line in drips": State(b"GET /shop/items?", b"a", HEAD_S, (408,)),
    "half a head": State(READ[:-4], b"", HEAD_S, (408,)),
    "a head in drips": State(READ[:-2], b"X: a\r\n", HEAD_S, (408,)),
    "a header in drips": State(READ[:-2] + b"X: ", b"a", HEAD_S, (408,)),
    "a head without its body": State(WRITE, b"", BODY_S, (408,)),
    "an awaited body that never comes": State(
        request(b"POST /shop/items", ADA, KEY, JSON, b"Expect: 100-continue", b"Content-Length: 9"),
        b"", BODY_S, (100, 408),
    ),
    "half a body": State(WRITE + b"{", b"", BODY_S, (408,)),
    "a body in drips": State(WRITE + b"{", b" ", BODY_S, (408,)),
    "half a chunk size": State(CHUNKS + b"1", b"", BODY_S, (408,)),
    "a chunk size in drips": State(CHUNKS + b"1;", b"a", BODY_S, (408,)),
    "half a chunk": State(CHUNKS + b"ff\r\n{", b"", BODY_S, (408,)),
    "chunks in drips": State(CHUNKS, b"1\r\n \r\n", BODY_S, (408,)),
    "trailers in drips": State(CHUNKS + b"2\r\n{}\r\n0\r\n", b"X: a\r\n", BODY_S, (408,)),
    "an offer to upgrade and half a body": State(
        request(b"POST /shop/notes", FORM, b"Connection: upgrade", b"Upgrade: h2c",
                b"Content-Length: 9"),
        b"", BODY_S, (408,),
    ),
    "a body that is not read": State(
        request(b"POST /shop/gadgets", b"Content-Length: 100000"), b"a", LINGER_S, (404,)
    ),
    "the body of a page": State(
        request(b"POST /elsewhere", b"Content-Length: 100000"), b"a", IDLE_S, (404,)
    ),
    "the body of a probe": State(
        request(b"POST /healthz", b"Content-Length: 100000"), b"a", IDLE_S, (405,)
    ),
    "an idle connection": State(READ, b"", IDLE_S, (200,)),
    "an idle connection after a request that waited": State(
        request(b"POST /shop/notes/wait?seconds=0.1"), b"", IDLE_S + 0.1, (200,)
    ),
    "empty lines behind a request": State(READ, b"\r\n", IDLE_S, (200,)),
    "half a head behind a request": State(READ + READ[:-4], b"", HEAD_S, (200, 408)),
    "a head in drips behind a request": State(READ + READ[:-2], b"X: a\r\n", HEAD_S, (200, 408)),
    "a head in drips behind one that waits": State(
        request(b"POST /shop/notes/wait?seconds=0.1") + READ[:-2], b"X: a\r\n", HEAD_S, (200, 408)
    ),
    "a body in drips behind a request": State(READ + WRITE, b" ", BODY_S, (200, 408)),
}  # fmt: skip


class Server:
    """A server of the shop on a free port of this machine."""

    def __init__(self, app: Any) -> None:
        self._config = Config(
            app, http=Protocol, lifespan="off", proxy_headers=False, access_log=False
        )
        self._config.timeout_keep_alive = IDLE_S  # type: ignore[assignment]
        self._config.load()
        self.state = ServerState()

    async def __aenter__(self) -> Server:
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._protocol, "127.0.0.1", 0)
        self.port = self._listening.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()

    def _protocol(self) -> Protocol:
        return Protocol(self._config, self.state, {})


def statuses(raw: bytes) -> tuple[int, ...]:
    return tuple(int(each[:3]) for each in raw.split(b"HTTP/1.1 ")[1:])


@pytest.fixture(scope="module")
def app() -> Any:
    return build_app([shop_service(body_timeout_s=BODY_S, answer_timeout_s=READ_S)])


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    monkeypatch.setattr(protocol, "HEAD_TIMEOUT_S", HEAD_S)
    monkeypatch.setattr(answering, "_LINGER_SECONDS", LINGER_S)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        yield runner.run


async def live_through(port: int, state: State) -> tuple[bytes, float]:
    """Return the response bytes and the time at which the connection ended."""
    loop = asyncio.get_running_loop()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = loop.time()
    writer.write(state.first)

    async def drip() -> None:
        while state.drip:
            await asyncio.sleep(DRIP_S)
            writer.write(state.drip)

    dripping = asyncio.create_task(drip())
    written = b""
    try:
        async with asyncio.timeout(state.ends_s + 5 * SLACK_S):
            while piece := await reader.read(65536):
                written += piece
    except ConnectionResetError:
        pass  # it ended while more bytes were being sent
    finally:
        took = loop.time() - began
        dripping.cancel()
        writer.transport.abort()
    return written, took


def test_every_state_ends_at_its_deadline(run: Callable[..., Any], app: Any) -> None:
    """All states run together, and none delays another."""

    async def play() -> dict[str, tuple[bytes, float]]:
        async with Server(app) as server:
            lives = (live_through(server.port, state) for state in STATES.values())
            ended = dict(zip(STATES, await asyncio.gather(*lives), strict=True))
            assert not server.state.tasks
            return ended

    wrong = {}
    worst = 0.0
    for name, (written, took) in run(play()).items():
        state = STATES[name]
        worst = max(worst, took - state.ends_s)
        is_in_time = state.ends_s * 0.9 <= took <= state.ends_s + SLACK_S
        if statuses(written) != state.statuses or not is_in_time:
            wrong[name] = (statuses(written), took)
    print(f"{len(STATES)} states, at most {worst:.2f} s after their deadline")
    assert wrong == {}


@pytest.mark.parametrize("is_read", [False, True], ids=["never read", "read in drips"])
def test_unread_response_ends(run: Callable[..., Any], app: Any, *, is_read: bool) -> None:
    """It is much larger than the buffers."""

    async def play() -> float:
        loop = asyncio.get_running_loop()
        async with Server(app) as server:
            with socket.socket() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.setblocking(False)
                await loop.sock_connect(client, ("127.0.0.1", server.port))
                sending = loop.create_task(
                    loop.sock_sendall(client, request(b"GET /shop/openapi.json") * 2_000)
                )
                await asyncio.sleep(0.1)
                assert server.state.connections
                began = loop.time()
                async with asyncio.timeout(5 * SLACK_S):
                    while server.state.connections or server.state.tasks:
                        await asyncio.sleep(DRIP_S)
                        if is_read:
                            with suppress(OSError):
                                client.recv(16)
                took = loop.time() - began
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
                return took

    assert READ_S / 2 <= run(play()) <= READ_S + SLACK_S
