"""A service as one ASGI application with a replaceable database and clock."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar
from unittest.mock import patch

import httpx

from specd._engine.http import answering
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.contract.prism import exchanges
from tests.support.contract import operations_of

T = TypeVar("T")
OURSELVES = "127.0.0.1"
"""The client address of requests. A test may act as a proxy that forwards another address."""


class Swap:
    """A proxy whose `target` a test can replace."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


class Listener(Protocol):
    """Records the requests of a test that are sent together, and each response with its
    error code.
    """

    def send(self, requests: Sequence[httpx.Request]) -> None: ...

    def respond(
        self, request: httpx.Request, response: httpx.Response, code: str | None
    ) -> None: ...


class ServiceApp:
    """A compiled application and the event loop of its requests. Compiling takes a second, so there
    is one application per kind of database, which tests use with their databases.
    """

    failed_with: ClassVar[set[str]] = set()
    """The codes (or else statuses) of all error responses in the current test."""

    listeners: ClassVar[list[Listener]] = []

    def __init__(self, service: Service, database: Swap) -> None:
        object.__setattr__(service, "database", database)
        self.service = service
        self.document = service.document
        self._record = os.environ.get(exchanges.VARIABLE)
        self._runner = asyncio.Runner()
        self._transport = httpx.ASGITransport(app=build_app([service], trusted_proxies=[OURSELVES]))

    @cached_property
    def operations(self) -> dict[str, tuple[str, str]]:
        """Return the method and the path template of each operation."""
        return operations_of(self.document)

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        """Return the responses to requests sent simultaneously."""

        async def exchange(request: httpx.Request) -> httpx.Response:
            response = await self._transport.handle_async_request(request)
            await response.aread()
            code = None
            if response.is_error and request.method != "HEAD":
                told = {} if "html" in response.headers["Content-Type"] else response.json()
                code = told.get("code") or str(response.status_code)
                self.failed_with.add(code)
            for listener in self.listeners:
                listener.respond(request, response, code)
            if self._record:
                exchanges.write(Path(self._record), self.service.name, request, response)
            return response

        async def all_of_them() -> list[httpx.Response]:
            return await asyncio.gather(*map(exchange, requests))

        for listener in self.listeners:
            listener.send(requests)
        # No body of a request here is still being sent when the response is written.
        with patch.object(answering, "_LINGER_SECONDS", 0.01):
            return self.run(all_of_them())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        self._runner.close()
