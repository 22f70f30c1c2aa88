"""Requests for pages: their log lines and statuses, which the engine counts.

A page's path may contain a secret, such as the token of a temporary link, so the line contains the
route.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from starlette.types import Message, Send

from specd._engine.serving.request_log import Facts

PAGES = "pages"
"""The `service` of pages in the log and in metrics."""
ROUTE = "specd.route"
"""The key of the ASGI scope in which the application of pages sets the route of the request."""
UNROUTED = "-"
CLIENT_GONE = 499


class PageVisit:
    """One request for a page. Its time ends when its response begins, because a client may take any
    time to read a file.
    """

    def __init__(self, method: str, client: str, request_id: str) -> None:
        self._method, self._client, self._id = method, client, request_id
        self._started = time.perf_counter()
        self.status = CLIENT_GONE
        self._seconds: float | None = None

    async def send(self, send: Send, message: Message) -> None:
        """Pass on a message of the response, and add the id of the request to its headers."""
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
        """Return the facts of the request's log line."""
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
