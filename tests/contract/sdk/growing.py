"""A proxy that changes responses of a server like a later version.

A record, and the first item of a list, get an undocumented property, and configured values of
enumerations. A list also keeps the original item after the changed one, to show that readers
continue.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

NEW = "added_later"
LISTS = ("data", "events", "messages")
VALUES = ("code", "status", "type")
"""Members whose values are enumerations that may grow."""
_HOP = {"connection", "content-length", "content-encoding", "date", "server", "transfer-encoding"}


def value_like(value: object) -> str:
    """Return a new value of an enumeration, in the notation of the known one."""
    return NEW.upper() if isinstance(value, str) and value.isupper() else NEW


def grown(answer: dict[str, Any], *, values: tuple[str, ...] = VALUES) -> dict[str, Any]:
    """Return the response of a later version, whose members in `values` have a new value."""
    lists = [name for name in LISTS if isinstance(answer.get(name), list)]
    if not lists:
        new = {name: value_like(answer[name]) for name in values if name in answer}
        return {**answer, **new, NEW: {"a": 1}}
    longer = {
        name: [grown(first, values=values) for first in answer[name][:1]] + answer[name]
        for name in lists
    }
    return {**answer, **longer, NEW: {"a": 1}}


@contextmanager
def growing(
    base_url: str, *, values: tuple[str, ...] = VALUES
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the address of the proxy for a server, and its responses so far."""
    answers: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            names = {n: v for n, v in self.headers.items() if n.lower() not in {*_HOP, "host"}}
            got = httpx.request(self.command, base_url + self.path, headers=names, content=body)
            content = got.content
            if content and isinstance(got.json(), dict):
                answers.append(grown(got.json(), values=values))
                content = json.dumps(answers[-1]).encode()
            self.send_response(got.status_code)
            for name, value in got.headers.items():
                if name not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", answers
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
