"""A server with recorded responses of a service, which Prism uses as the service."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.contract.prism.exchanges import Exchange

WHICH = "X-Exchange"
"""The header with the number of the exchange."""
HOP_BY_HOP = ("connection", "content-length", "transfer-encoding", "date", "server", "host")


@contextmanager
def upstream(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield the address of the server."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            told = exchanges[int(self.headers[WHICH])]
            self.send_response_only(told.status)
            for name, value in told.response_headers:
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            if told.status != 204:
                self.send_header("Content-Length", str(len(told.response_body)))
            self.end_headers()
            self.wfile.write(told.response_body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def handle(self) -> None:
            with suppress(ConnectionResetError):  # Prism was stopped
                super().handle()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
