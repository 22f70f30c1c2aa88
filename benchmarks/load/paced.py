"""A client with a fixed request rate that does not wait for earlier responses (open loop)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping


class Refused(Exception):
    """The response was not 2xx. The message contains its beginning."""


class Connection(asyncio.Protocol):
    """A connection to 127.0.0.1, reopened if the server closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._received = bytearray()

    async def ask(self, request: bytes) -> bytes:
        """Return the body of a response with Content-Length. Raise Refused or ConnectionError."""
        loop = asyncio.get_running_loop()
        if self._transport is None or self._transport.is_closing():
            self._transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        self._received.clear()
        self._answer = loop.create_future()
        self._transport.write(request)
        answer = await self._answer
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 2"):
            raise Refused(f"{head.splitlines()[0].decode()} {body[:300]!r} to {request[:100]!r}")
        return body

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        end = received.find(b"\r\n\r\n", 0, 4096)
        if end < 0 or self._answer is None or self._answer.done():
            return
        length = received[:end].lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(received) >= end + 4 + int(length or 0):
            self._answer.set_result(bytes(received))

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionError("the server has closed"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


Work = Callable[[Connection], Awaitable[object]]


def to_bytes(
    method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None
) -> bytes:
    """Return a request as bytes."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Content-Length: {len(body.encode())}",
    ]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", body]).encode()


async def pace(
    port: int, work: Work, *, per_second: float, seconds: float, connections: int
) -> list[float]:
    """Start `work` `per_second` times a second, on any free connection. Return the milliseconds
    until each was done.

    Times count from the due moment, so that waiting for a connection is included. The delay of this
    process's own timer is excluded, because the server does not cause it.
    """
    due: asyncio.Queue[float | None] = asyncio.Queue()
    times: list[float] = []

    async def serve() -> None:
        connection = Connection(port)
        try:
            while (began := await due.get()) is not None:
                await work(connection)
                times.append((time.perf_counter() - began) * 1000)
        finally:
            connection.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(serve())
        begin = time.perf_counter()
        for number in range(round(per_second * seconds)):
            await asyncio.sleep(max(0.0, begin + number / per_second - time.perf_counter()))
            due.put_nowait(time.perf_counter())
        for _ in range(connections):
            due.put_nowait(None)
    return times


async def flood(port: int, work: Work, *, seconds: float, connections: int) -> float:
    """Return how often `work` is done per second if each connection repeats it (closed loop)."""
    count = 0
    ends_at = time.perf_counter() + seconds

    async def serve() -> None:
        nonlocal count
        connection = Connection(port)
        try:
            while time.perf_counter() < ends_at:
                await work(connection)
                count += 1
        finally:
            connection.close()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(serve())
    return count / (time.perf_counter() - began)
