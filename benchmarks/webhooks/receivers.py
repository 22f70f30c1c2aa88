"""Receivers of webhooks in a separate process. Each has a port, and records what arrives when.

They understand only the HTTP/1.1 that `httpcore` and `httpx` send. The benchmark sends its requests
to the first port: `GET /addresses`, `GET /count` (different messages so far), and `GET /arrivals`,
which returns everything since the last call.
"""

import argparse
import asyncio
import re
import socket
from dataclasses import asdict, dataclass

import orjson

from benchmarks.webhooks.moments import now

HOST = "127.0.0.1"
TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_MESSAGE_ID = re.compile(rb"\r\nwebhook-id: ([^\r]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that arrived: its receiver, its id, and the time (`moments.now`)."""

    receiver: int
    message_id: str
    at: float


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the working receivers, and of one receiver of each kind that fails."""

    taking: tuple[str, ...]
    hanging: str
    refusing: str
    silent: str


class Receiver(asyncio.Protocol):
    """One connection. It acknowledges messages; the hanging one reads them and never responds."""

    def __init__(self, number: int, arrivals: list[Arrival], *, answers: bool = True) -> None:
        self._number, self._arrivals, self._answers = number, arrivals, answers
        self._received = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        at = now()
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length, message_id = _LENGTH.search(head), _MESSAGE_ID.search(head)
        assert length is not None, head
        assert message_id is not None, head
        if len(body) < int(length[1]):
            return
        self._received = b""
        if self._answers:
            self._arrivals.append(Arrival(self._number, message_id[1].decode(), at))
            self._transport.write(TAKEN)


class Desk(asyncio.Protocol):
    """Responds to the benchmark. One request for each connection."""

    def __init__(self, addresses: Addresses, arrivals: list[Arrival]) -> None:
        self._addresses, self._arrivals = addresses, arrivals

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ")[1]
        if path == b"/addresses":
            body = orjson.dumps(asdict(self._addresses))
        elif path == b"/count":
            body = orjson.dumps(len({(one.receiver, one.message_id) for one in self._arrivals}))
        else:
            body = orjson.dumps([asdict(one) for one in self._arrivals])
            self._arrivals.clear()
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self._transport.write(head.encode() + body)
        self._transport.close()


def silent_socket() -> tuple[socket.socket, list[socket.socket]]:
    """Return a socket with a full queue, so that the kernel answers no further SYN, and the sockets
    that fill it.
    """
    silent = socket.socket()
    silent.bind((HOST, 0))
    silent.listen(0)
    waiting = [socket.socket() for _ in range(3)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(silent.getsockname())
    return silent, waiting


async def serve(port: int, count: int) -> None:
    """Serve `count` working receivers and the failing ones until the process is stopped."""
    loop, arrivals = asyncio.get_running_loop(), list[Arrival]()

    async def receive(number: int, *, answers: bool = True) -> str:
        def receiver() -> Receiver:
            return Receiver(number, arrivals, answers=answers)

        server = await loop.create_server(receiver, HOST, 0)
        return _address(server.sockets[0])

    silent, waiting = silent_socket()
    with socket.socket() as closed:  # bound but not listening: connections are refused
        closed.bind((HOST, 0))
        addresses = Addresses(
            taking=tuple([await receive(number) for number in range(count)]),
            hanging=await receive(count, answers=False),
            refusing=_address(closed),
            silent=_address(silent),
        )
        desk = await loop.create_server(lambda: Desk(addresses, arrivals), HOST, port)
        try:
            await desk.serve_forever()
        finally:
            for one in (silent, *waiting):
                one.close()


def _address(its: socket.socket) -> str:
    return f"http://{HOST}:{its.getsockname()[1]}/webhooks"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, arguments.count))
