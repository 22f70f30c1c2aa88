"""Calls an ASGI application in this process at the level of bytes, without an HTTP library."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import orjson

Headers = Sequence[tuple[str, str]]


@dataclass
class Answer:
    """A response: status, headers in order (with lowercase names), body."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key == name.lower()]
        assert len(values) <= 1, f"{name} was sent {len(values)} times"
        return values[0] if values else None

    @property
    def paths(self) -> list[str]:
        """Return the paths of the violations, in a service of `tests/specd/engine`."""
        return [detail["path"] for detail in self.json["details"]]


class Client:
    """A client of an application. `send` is synchronous, and `exchange` is for tests that are
    coroutines.
    """

    def __init__(self, app: Any, prefix: str = "") -> None:
        self.app = app
        self.prefix = prefix

    def send(self, method: str, target: str, **options: Any) -> Answer:
        return asyncio.run(self.exchange(method, target, **options))

    def get(self, target: str, **options: Any) -> Answer:
        return self.send("GET", target, **options)

    def post(self, target: str, **options: Any) -> Answer:
        return self.send("POST", target, **options)

    async def exchange(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        value: Any = None,
        form: Iterable[tuple[str, str]] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        chunks: Iterable[bytes] | None = None,
        receive: Callable[[], Awaitable[dict[str, Any]]] | None = None,
    ) -> Answer:
        """Send a request. `target` is raw, with its query. `chunks` are sent without a length."""
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        if value is not None:
            body, content_type = orjson.dumps(value), content_type or "application/json"
        if form is not None:
            body = urlencode(list(form)).encode()
            content_type = content_type or "application/x-www-form-urlencoded"
        if content_type is not None:
            raw.append((b"content-type", content_type.encode("latin-1")))
        if chunks is not None:
            raw.append((b"transfer-encoding", b"chunked"))
        elif body is not None and all(name != b"content-length" for name, _ in raw):
            raw.append((b"content-length", str(len(body)).encode()))
        path, _, query = (self.prefix + target).partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote(path, safe="/%:@!$&'()*+,;=~\x00").encode("latin-1"),
            "query_string": query.encode("utf-8"),
            "root_path": "",
            "headers": raw,
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 80),
        }
        return await call(self.app, scope, receive or _messages(body, chunks))


def _messages(
    body: bytes | None, chunks: Iterable[bytes] | None
) -> Callable[[], Awaitable[dict[str, Any]]]:
    parts = iter([body or b""] if chunks is None else chunks)
    following: list[bytes | None] = [next(parts, None)]

    async def receive() -> dict[str, Any]:
        if not following:
            return {"type": "http.disconnect"}
        now = following.pop()
        if now is not None and chunks is not None:
            following.append(next(parts, None))
        return {
            "type": "http.request",
            "body": now or b"",
            "more_body": bool(following) and following[0] is not None,
        }

    return receive


async def call(app: Any, scope: dict[str, Any], receive: Any) -> Answer:
    """Run an ASGI exchange, and check that the application follows the order of messages."""
    answer = Answer()
    finished = False

    async def send(message: dict[str, Any]) -> None:
        nonlocal finished
        if message["type"] == "http.response.start":
            assert answer.status == 0, "a second response was started"
            answer.status = message["status"]
            answer.headers = [(n.decode(), v.decode("latin-1")) for n, v in message["headers"]]
        else:
            assert answer.status, "the body was sent before the start"
            assert not finished, "a message was sent after the end"
            answer.body += message.get("body", b"")
            finished = not message.get("more_body", False)

    await app(scope, receive, send)
    assert finished or answer.status == 0, "the response was not completed"
    return answer
