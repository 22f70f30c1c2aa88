"""A proxy between the product and a node that behaves like load balancers, gateways and limited
plans.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

Forward = Callable[[str, list[Any]], Any]
Meddle = Callable[[str, list[Any], Forward], Any]


class Refusal(Exception):
    """The proxy responds with an error. `status` is the HTTP status."""

    def __init__(self, code: int, message: str, *, status: int = 200) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


class HostileRpc:
    """Its URL, and the function that responds instead of the node, and may forward."""

    def __init__(self, url: str, meddle: Meddle) -> None:
        self.url, self.meddle = url, meddle


def honest(method: str, params: list[Any], forward: Forward) -> Any:
    """Return the node's response."""
    return forward(method, params)


@contextmanager
def hostile_rpc(target: str, meddle: Meddle = honest) -> Iterator[HostileRpc]:
    """A proxy in front of the node at `target`, on a free port."""
    client = httpx.Client(timeout=10)

    def forward(method: str, params: list[Any]) -> Any:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = client.post(target, json=asked).json()
        if "error" in answer:
            raise Refusal(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer, status = {"jsonrpc": "2.0", "id": asked["id"]}, 200
            try:
                answer["result"] = proxy.meddle(asked["method"], asked["params"], forward)
            except Refusal as refusal:
                status = refusal.status
                answer["error"] = {"code": refusal.code, "message": refusal.message}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 429:
                self.send_header("Retry-After", "5")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = HostileRpc(f"http://127.0.0.1:{server.server_port}/", meddle)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        client.close()
