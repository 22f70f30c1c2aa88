"""A service as one ASGI application whose database, clock and other ground tests exchange."""

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
"""Where requests come from; a test may play a proxy that tells of another address."""


class Swap:
    """A proxy whose `target` a test can replace."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


class Listener(Protocol):
    """Notes what tests send, together, and each response with the code of its error."""

    def send(self, requests: Sequence[httpx.Request]) -> None: ...

    def respond(
        self, request: httpx.Request, response: httpx.Response, code: str | None
    ) -> None: ...


class ServiceApp:
    """A compiled application, and the event loop its requests run on. Compiling takes a second, so
    one is made per kind of database and played over each test's own.
    """

    failed_with: ClassVar[set[str]] = set()
    """The codes (or statuses, where there is none) of all errors answered in the present test."""

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
        """The method and the path template of each operation."""
        return operations_of(self.document)

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        """The answers to requests sent at the same time."""

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
        # No body of a request here is still on its way when it is answered.
        with patch.object(answering, "_LINGER_SECONDS", 0.01):
            return self.run(all_of_them())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        self._runner.close()
