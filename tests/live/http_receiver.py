"""An HTTP server in a thread that records received posts."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """The maximum number of connections in the queue; more are refused. The default is 5."""


class Receiver:
    """Returns 204 for every POST. A context manager.

    `got` has the headers of each, with names in lower case, and `bodies` the bodies.
    """

    def __init__(self) -> None:
        self.got: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204)
                self.end_headers()
                receiver.take({name.lower(): value for name, value in self.headers.items()}, body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, headers: dict[str, str], body: bytes) -> None:
        """Record one request."""
        self.bodies.append(body)
        self.got.append(headers)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
