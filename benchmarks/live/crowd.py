"""Thousands of clients in one process. Each has a connection that polls for events.

They understand only responses with a Content-Length, because an HTTP client library would use more
of the machine than the measured server.
"""

import asyncio
import re
import time
from base64 import b64encode
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

import orjson

HOST = "127.0.0.1"
AT_ONCE = 200
"""The number of connections opened simultaneously."""
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Account:
    """A user that sends or polls."""

    email: str
    api_key: str

    @property
    def header(self) -> bytes:
        pair = b64encode(f"{self.email}:{self.api_key}".encode())
        return b"Authorization: Basic " + pair + b"\r\n"


@dataclass(frozen=True, slots=True)
class QueueOf:
    """An event queue and its user."""

    account: Account
    queue_id: str


class ClientsFailed(Exception):
    """A poll was rejected, a connection broke, or a client missed an event: figures are
    meaningless.
    """


def body_of(buffer: bytes) -> bytes | None:
    """Return the body of a response, or None if it is incomplete. Raise `ClientsFailed`."""
    head, found, body = buffer.partition(b"\r\n\r\n")
    if not found:
        return None
    length = _LENGTH.search(head)
    if length is None:
        raise ClientsFailed(f"an answer without a length: {head!r}")
    if len(body) < int(length[1]):
        return None
    if not head.startswith(b"HTTP/1.1 200"):
        raise ClientsFailed(f"{head[:40]!r} {body[:300]!r}")
    return body


class Poller(asyncio.Protocol):
    """One client. It polls again after each response."""

    __slots__ = ("_crowd", "_head", "_path", "_received", "last_event_id", "port", "transport")

    def __init__(self, crowd: "Crowd", queue: QueueOf) -> None:
        self._crowd = crowd
        self._path = f"GET /api/v1/events?queue_id={queue.queue_id}&last_event_id=".encode()
        self._head = b" HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\n" + queue.account.header
        self._received = b""
        self.last_event_id = -1
        self.port = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        self.port = int(transport.get_extra_info("sockname")[1])
        self._poll()

    def _poll(self) -> None:
        asked = self._path + str(self.last_event_id).encode() + self._head + b"\r\n"
        self.transport.write(asked)

    def data_received(self, data: bytes) -> None:
        at = time.perf_counter()
        self._received += data
        try:
            body = body_of(self._received)
        except ClientsFailed as failure:
            self._crowd.failures.append(str(failure))
            return
        if body is None:
            return
        self._received = b""
        events = orjson.loads(body)["events"]
        self._crowd.take(self, events, at)
        if events:
            self.last_event_id = events[-1]["id"]
        self._poll()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._crowd.is_leaving:
            self._crowd.failures.append(f"a connection broke: {exc!r}")


class Crowd:
    """All waiting clients, and when each received which message."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.pollers: list[Poller] = []
        self.failures: list[str] = []
        self.heartbeats = 0
        self.is_leaving = False
        self._told: dict[int, list[tuple[float, Poller]]] = defaultdict(list)

    async def join(self, queues: Sequence[QueueOf]) -> None:
        """Connect a client for each queue. Each sends its first poll."""
        loop = asyncio.get_running_loop()

        def poller(queue: QueueOf) -> Poller:
            self.pollers.append(Poller(self, queue))
            return self.pollers[-1]

        for start in range(0, len(queues), AT_ONCE):
            some = queues[start : start + AT_ONCE]
            await asyncio.gather(
                *(
                    loop.create_connection(partial(poller, queue), HOST, self._port)
                    for queue in some
                )
            )

    async def leave(self) -> None:
        """Close all connections."""
        self.is_leaving = True
        for poller in self.pollers:
            poller.transport.abort()
        await asyncio.sleep(0.5)

    def take(self, poller: Poller, events: list[dict[str, object]], at: float) -> None:
        for event in events:
            if event["type"] == "message":
                message = event["message"]
                assert isinstance(message, dict)
                self._told[message["id"]].append((at, poller))
            elif event["type"] == "heartbeat":
                self.heartbeats += 1

    async def told(self, message_id: int, count: int, *, seconds: float) -> list[tuple[float, int]]:
        """Return when each of `count` clients received a message (perf_counter), and its port.

        Raise `ClientsFailed` if a client does not receive it in time, or receives it twice.
        """
        deadline = time.perf_counter() + seconds
        told = self._told[message_id]
        while len(told) < count and not self.failures and time.perf_counter() < deadline:
            await asyncio.sleep(0.005)
        self.check()
        ports = [poller.port for _, poller in told]
        if len(ports) != count or len(set(ports)) != count:
            raise ClientsFailed(f"{len(ports)} of {count} clients received {message_id}")
        return [(at, poller.port) for at, poller in self._told.pop(message_id)]

    def check(self) -> None:
        """Raise `ClientsFailed` if anything has failed."""
        if self.failures:
            raise ClientsFailed(f"{len(self.failures)} failures, the first: {self.failures[0]}")


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, and when its request was sent and its response received (perf_counter)."""

    message_id: int
    began: float
    answered: float


class Sender:
    """A client that sends messages over one connection, to one server process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.port = int(writer.get_extra_info("sockname")[1])

    @classmethod
    async def connect(cls, port: int) -> "Sender":
        return cls(*await asyncio.open_connection(HOST, port))

    async def send(self, account: Account, channel: str, content: str) -> Sent:
        form = {"type": "channel", "to": channel, "topic": "live", "content": content}
        began = time.perf_counter()
        answer = await self.post("/api/v1/messages", account, form)
        return Sent(int(str(answer["id"])), began, time.perf_counter())

    async def post(self, path: str, account: Account, form: dict[str, str]) -> dict[str, object]:
        """Return the decoded response. Raise `ClientsFailed` for an error."""
        body = urlencode(form).encode()
        self._writer.write(
            f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(body)}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n".encode()
            + account.header
            + b"\r\n"
            + body
        )
        received = b""
        while (answer := body_of(received)) is None:
            data = await self._reader.read(65536)
            if not data:
                raise ClientsFailed("the connection of a sender broke")
            received += data
        decoded: dict[str, object] = orjson.loads(answer)
        return decoded

    def close(self) -> None:
        self._writer.close()
