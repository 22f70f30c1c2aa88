"""An ASGI middleware for tests."""

from __future__ import annotations

from typing import Any


class Mark:
    """A middleware that adds its name to each response and rejects the path `/stop`."""

    def __init__(self, app: Any, name: str = "mark") -> None:
        self._app = app
        self._name = name.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def mark(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"x-mark", self._name))
            await send(message)

        if scope.get("path") == "/stop":
            await mark({"type": "http.response.start", "status": 418, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, mark)
