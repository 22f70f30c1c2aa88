"""The payment service as one ASGI application whose database, clock and chain tests exchange."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import httpx

from handlers.payment.wiring import PaymentAdapters, build_service
from models.clock import Clock
from models.database import Database
from models.payment.errors import ChainNotConfigured, ChainUnavailable
from server.app import build_app
from settings import Settings

T = TypeVar("T")

PUBLIC_URL = "https://pay.example"


class FakeGateway:
    """A chain gateway by script: which chains are configured, and whether they are healthy."""

    def __init__(self) -> None:
        self.configured = {31337}
        self.is_healthy = True
        self.before_answer: list[Any] = []

    def is_configured(self, chain_id: int) -> bool:
        return chain_id in self.configured

    async def check(self, chain_id: int) -> None:
        if not self.is_configured(chain_id):
            raise ChainNotConfigured(chain_id=chain_id)
        while self.before_answer:
            self.before_answer.pop(0)()
        if not self.is_healthy:
            raise ChainUnavailable(chain_id=chain_id)


class Relay:
    """Stands for whatever `target` is at the moment."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


class PaymentApp:
    """The compiled application and the event loop its requests run on."""

    def __init__(
        self, database: Database, clock: Clock, chain: FakeGateway, **settings: Any
    ) -> None:
        self._database, self._clock, self._chain = Relay(database), Relay(clock), Relay(chain)
        self._settings = Settings(
            payment_database_url="sqlite:///unused.db",
            public_url=PUBLIC_URL,
            validate_responses=True,
            **({"rate_limits": False} | settings),
        )
        adapters = PaymentAdapters(chain=self._chain)  # type: ignore[arg-type]
        service = build_service(self._settings, clock=self._clock, adapters=adapters)
        object.__setattr__(service, "database", self._database)
        self.service = service
        self.document = service.document
        self._runner = asyncio.Runner()
        self._transport = httpx.ASGITransport(app=build_app([service]))  # type: ignore[arg-type]

    def play(self, database: Database, clock: Clock, chain: FakeGateway) -> None:
        """Use these from now on."""
        self._database.target, self._clock.target, self._chain.target = database, clock, chain

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        """The answers to requests sent at the same time."""

        async def exchange(request: httpx.Request) -> httpx.Response:
            response = await self._transport.handle_async_request(request)
            await response.aread()
            return response

        async def all_of_them() -> list[httpx.Response]:
            return await asyncio.gather(*map(exchange, requests))

        return self.run(all_of_them())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        self._runner.close()
