"""Serves an application from one process, without gunicorn, for mocks and for `--reload`."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson
from uvicorn import Config, Server

from specd._engine.errors import NonConformingResponse
from specd._engine.response import Response
from specd._engine.serving.app import stop_waiting
from specd._engine.serving.protocol import Protocol
from specd._engine.serving.worker import Worker

BACKLOG = 2048
STOP_S = 12
"""How long a stopping process waits for its last responses. It is longer than the time limit for
the head of a request.
"""


def listen(bind: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT. Raise `OSError`."""
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, int(port)), family=family, backlog=BACKLOG)


class OneRequest(Protocol):
    """A connection for one request, for a process that will be replaced by another.

    An idle connection would be closed at the replacement, when a request could be in transit. A
    connection without a request yet stays open at the end, because its request is in transit.
    """

    def _may_be_whole(self) -> bool:
        return False  # only uvicorn's cycle ends the connection

    def shutdown(self) -> None:
        stop_waiting(self.app)
        if self.cycle is not None:
            super().shutdown()


class _Announcing(Server):
    """A server that calls `announce` when it has started."""

    announce: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self.announce()


def run(
    app: Any, listener: socket.socket, *, announce: Callable[[], None], one_request: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT. With `one_request`, each connection ends after its first
    response.
    """
    options: dict[str, Any] = {**Worker.CONFIG_KWARGS, "log_config": None, "backlog": BACKLOG}
    if one_request:
        options |= {"http": OneRequest, "headers": [("Connection", "close")]}
    server = _Announcing(Config(app, timeout_graceful_shutdown=STOP_S, **options))
    server.announce = announce
    server.run(sockets=[listener])


def explaining(current: Callable[[], str]) -> Callable[[Exception, Response], None]:
    """Return a function that adds reasons to the `details` of an error's response: that the
    document does not allow the response, and the mistake that `current` returns, if any.
    """

    def explain(error: Exception, response: Response) -> None:
        reasons = []
        if isinstance(error, NonConformingResponse):
            reasons.append(f"The document does not allow the answer: {error.detail}")
        if mistake := current():
            reasons.append(f"An older version answers: {mistake}")
        if not reasons:
            return
        body = None
        with suppress(ValueError):  # an error table may write something else than JSON
            body = orjson.loads(response.body)
        if isinstance(body, dict):
            known = body.get("details")
            added = [{"path": "", "message": reason} for reason in reasons]
            body["details"] = [*(known if isinstance(known, list) else ()), *added]
            response.body = orjson.dumps(body)

    return explain
