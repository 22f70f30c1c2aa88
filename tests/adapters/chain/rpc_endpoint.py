"""A small HTTP server that acts as an RPC endpoint, healthy or with a chosen fault."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answers = Callable[["Question"], None]


class Question:
    """One request to a fake endpoint, for its script."""

    def __init__(self, handler: BaseHTTPRequestHandler, ended: threading.Event) -> None:
        self._handler = handler
        self._ended = ended
        length = int(handler.headers.get("Content-Length", "0"))
        asked = json.loads(handler.rfile.read(length))
        self.id: Any = asked["id"]
        self.method: str = asked["method"]
        self.params: list[Any] = asked["params"]

    def result(self, value: Any) -> None:
        self.json({"jsonrpc": "2.0", "id": self.id, "result": value})

    def error(self, code: Any, message: Any, *, status: int = 200) -> None:
        self.json(
            {"jsonrpc": "2.0", "id": self.id, "error": {"code": code, "message": message}},
            status=status,
        )

    def json(self, value: Any, *, status: int = 200) -> None:
        self.body(json.dumps(value).encode(), status=status)

    def body(self, body: bytes, *, status: int = 200, **headers: str) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.send_header("Content-Length", str(len(body)))
        self._handler.end_headers()
        self._handler.wfile.write(body)

    def hang(self) -> None:
        """Do not respond until the endpoint is closed."""
        self._ended.wait()

    def drip(self, every_s: float) -> None:
        """Send one byte at a time forever: each read succeeds, and the response never ends."""
        self._handler.send_response(200)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        while not self._ended.wait(every_s):
            self._handler.wfile.write(b"1\r\n \r\n")

    def flood(self, total: int) -> None:
        """Send a valid beginning, followed by spaces."""
        self._handler.send_response(200)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        for _ in range(total // 65536):
            self._handler.wfile.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
        self._handler.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Send less than the declared length."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Length", "1000")
        self._handler.end_headers()
        self._handler.wfile.write(b'{"jsonrpc":')
        self._handler.close_connection = True


class FakeEndpoint:
    """An endpoint with its URL, the received requests, and a replaceable script for responses."""

    def __init__(self, url: str, answers: Answers) -> None:
        self.url = url
        self.answers = answers
        self.asked: list[str] = []


@contextmanager
def serving(answers: Answers, *, secret: str = "") -> Iterator[FakeEndpoint]:
    """Yield an endpoint on a free port.

    Its URL ends in `secret`, as URLs of providers end in a key.
    """
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            question = Question(self, ended)
            endpoint.asked.append(question.method)
            try:
                endpoint.answers(question)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None: ...

    server = Server(("127.0.0.1", 0), Handler)
    endpoint = FakeEndpoint(f"http://127.0.0.1:{server.server_port}/{secret}", answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


BLOCK_HASH = "0x" + "ab" * 32


def healthy(
    *, chain_id: int = 31337, height: int = 100, logs: list[dict[str, Any]] | None = None
) -> Answers:
    """Return the script of a working node."""

    def answer(question: Question) -> None:
        match question.method:
            case "eth_chainId":
                question.result(hex(chain_id))
            case "eth_getBlockByNumber":
                at = question.params[0]
                number = height if at == "latest" else int(at, 16)
                question.result(block(number) if number <= height else None)
            case "eth_getLogs":
                question.result(logs or [])
            case _:
                question.error(-32601, "method not found")

    return answer


def block(number: int) -> dict[str, Any]:
    """Return a block as a node does, with the fields that tests need."""
    return {
        "number": hex(number),
        "hash": "0x" + f"{number:064x}",
        "parentHash": "0x" + f"{number - 1:064x}" if number else "0x" + "0" * 64,
        "timestamp": hex(1_800_000_000 + number),
        "transactions": [],
        "extraData": "0x" + "11" * 97,  # sealed by authorities, as on Polygon and BSC
    }


def transfer_log(token: str, receiver: str, amount: int, number: int, index: int) -> dict[str, Any]:
    """Return a Transfer log as a node does."""
    return {
        "address": token,
        "topics": [
            "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
            "0x" + "0" * 24 + "f39fd6e51aad88f6f4ce6ab8827279cfffb92266",
            "0x" + "0" * 24 + receiver[2:].lower(),
        ],
        "data": f"0x{amount:064x}",
        "blockNumber": hex(number),
        "blockHash": "0x" + f"{number:064x}",
        "transactionHash": "0x" + f"{number * 1000 + index:064x}",
        "transactionIndex": "0x0",
        "logIndex": hex(index),
        "removed": False,
    }
