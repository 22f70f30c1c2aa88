"""Requests for pages: their line in the log and their status, which the engine counts.

A page's path may have a secret, such as the token of a checkout, so the line names the route.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from starlette.types import Message, Send

from specd._engine.serving.request_log import Facts

PAGES = "pages"
"""The `service` of pages in the log and in metrics."""
ROUTE = "specd.route"
"""Key of the ASGI scope: the application of pages puts the route of the request there."""
UNROUTED = "-"
CLIENT_GONE = 499


class PageVisit:
    """One request for a page. It lasts until its answer begins, because a client may take as long
    as it wants to read a file.
    """

    def __init__(self, method: str, client: str, request_id: str) -> None:
        self._method, self._client, self._id = method, client, request_id
        self._started = time.perf_counter()
        self.status = CLIENT_GONE
        self._seconds: float | None = None

    async def send(self, send: Send, message: Message) -> None:
        """Pass a message of the answer on, with the id of the request among its headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._seconds = time.perf_counter() - self._started
            identity = (b"request-id", self._id.encode("ascii"))
            message = {**message, "headers": [*message.get("headers", ()), identity]}
        await send(message)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started if self._seconds is None else self._seconds

    def line(self, route: str) -> Facts:
        """Return the request's line in the log."""
        return {
            "event": "request",
            "level": "info",
            "timestamp": datetime.now(UTC),
            "id": self._id,
            "service": PAGES,
            "operation": None if route == UNROUTED else route,
            "method": self._method,
            "status": self.status,
            "actor": None,
            "key": None,
            "address": self._client,
            "ms": int(self.seconds * 1e6) / 1000,
        }
