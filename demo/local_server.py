"""Serves simulated external services on this machine, for tests and the demo.

A service is a function that converts a request to a reply. The server can also simulate faults.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import werkzeug
from werkzeug.test import EnvironBuilder

LONGEST_BODY = 1024 * 1024
HANG_S = 30.0
FAULTS = ("none", "forbidden", "down", "garbage", "redirect", "flood", "break", "hang")
"""The simulated faults of a server."""


class Request(werkzeug.Request):
    """A received request."""

    @property
    def document(self) -> Any:
        """The body as JSON, or None if it is not JSON."""
        return self.get_json(force=True, silent=True)

    @property
    def credentials(self) -> tuple[str | None, str | None] | None:
        """The name and password of HTTP Basic authentication, or None."""
        sent = self.authorization
        return (sent.username, sent.password) if sent and sent.type == "basic" else None

    @property
    def bearer(self) -> str | None:
        sent = self.authorization
        return sent.token if sent and sent.type == "bearer" else None


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. The body is `document` as JSON, or `body` if there is no document."""

    status: int = 200
    document: Any = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Counterpart = Callable[[Request], Reply]


class LocalServer:
    """A server for one service on 127.0.0.1. With `port` 0, it uses a free port. Raise OSError if
    it cannot listen.

    `fault` is one of `FAULTS`, and may be changed at any time.
    """

    def __init__(self, counterpart: Counterpart, port: int = 0, *, fault: str = "none") -> None:
        self.fault = fault
        self._closing = threading.Event()
        self._server = _Server(self, counterpart, port)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        """Serve in a new thread."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop serving and release the port."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def hang(self) -> None:
        """Wait for a long time, or until the server is closed."""
        self._closing.wait(HANG_S)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, owner: LocalServer, counterpart: Counterpart, port: int) -> None:
        self.owner = owner
        self.counterpart = counterpart
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing, because clients disconnect early when faults are simulated."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_DELETE = do_GET

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > LONGEST_BODY:
            self.close_connection = True
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        match self.server.owner.fault:
            case "hang":
                self.server.owner.hang()
                self.close_connection = True
            case "break":
                self.close_connection = True
            case "forbidden":
                self._send(Reply(403, {"result": "error", "msg": "No", "code": "FORBIDDEN"}))
            case "down":
                self._send(Reply(503, body=b"<h1>Down</h1>"))
            case "garbage":
                self._send(Reply(200, body=b"<h1>Welcome to the hotel's network</h1>"))
            case "redirect":
                self._send(Reply(302, headers={"Location": "http://127.0.0.1:1/"}))
            case "flood":
                self._send(Reply(200, body=b'{"result": "' + b"x" * 1_000_000))
            case _:
                headers = list(self.headers.items())
                builder = EnvironBuilder(self.path, method=self.command, headers=headers, data=body)
                self._send(self.server.counterpart(Request(builder.get_environ())))

    def _send(self, reply: Reply) -> None:
        content, kind = reply.body, "text/html; charset=utf-8"
        if reply.document is not None:
            content, kind = orjson.dumps(reply.document), "application/json"
        self.send_response(reply.status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because URLs contain secret codes and states."""
