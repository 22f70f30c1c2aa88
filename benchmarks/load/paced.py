"""A client that asks at a fixed rate, whether or not the earlier answers have come (open loop)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping


class Refused(Exception):
    """The answer was not 2xx; the message holds its beginning."""


class Connection:
    """One connection to 127.0.0.1, opened when it is first used and kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer, which names its length. Raises Refused."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        body = await reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 2"):
            raise Refused(f"{head.splitlines()[0].decode()} {body[:300]!r} to {request[:100]!r}")
        return body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


Work = Callable[[Connection], Awaitable[object]]


def to_bytes(
    method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None
) -> bytes:
    """A request as it goes out."""
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
    """Begin `work` so often, on whichever connection is free; milliseconds until each was done.

    They count from the moment at which it was due, so that one who waits for a connection is not
    forgotten. What the clock of this process wakes late by is not the server's, and does not count.
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
    """How often a second `work` is done when each connection begins anew at once (closed loop)."""
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
