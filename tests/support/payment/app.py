"""The payment service as one ASGI application with a replaceable database, clock and chain."""

from collections.abc import Sequence
from typing import Any, cast

from adapters.chain.development import Head, NodeRefuses, Sent
from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wire.webhooks import Webhooks
from handlers.payment.wiring import build_service
from models.payment.invoices import NewestBlock
from settings import Settings
from specd.db import Clock, Database
from tests.support.app import ServiceApp, Swap
from tests.support.payment.factories import CHAIN_ID, make_hash
from tests.support.receivers import ScriptedReceivers

PUBLIC_URL = "https://pay.example"
_USUAL: dict[str, Any] = {
    "rate_limits": False,
    "validate_responses": True,
    "payment_test_helpers": "on",
}


class FakeGateway:
    """A scripted chain gateway: which chains are configured, and whether they are healthy."""

    def __init__(self) -> None:
        self.configured = {31337}
        self.is_healthy = True
        self.before_answer: list[Any] = []
        self.newest_block: NewestBlock | None = None

    def find_newest_block(self, chain_id: int) -> NewestBlock | None:
        return self.newest_block

    def is_configured(self, chain_id: int) -> bool:
        return chain_id in self.configured

    async def check(self, chain_id: int) -> None:
        if not self.is_configured(chain_id):
            raise NoEndpoint(chain_id)
        while self.before_answer:
            self.before_answer.pop(0)()
        if not self.is_healthy:
            raise ChainUnreachable(chain_id)


class FakeDevelopmentChains:
    """Records actions on the chain. `refusal` is why its node rejects the next actions."""

    def __init__(self) -> None:
        self.refusal: str | None = None
        self.known = {CHAIN_ID, CHAIN_ID + 1}
        self.is_silent = False
        self.newest = Head(128, 1795226462)
        self.sent: list[tuple[str, Sent]] = []

    async def head(self, chain_id: int) -> Head:
        self._answer(chain_id)
        return self.newest

    async def balance(self, chain_id: int, token: str, address: str) -> int:
        self._answer(chain_id)
        return sum(sent.amount for to, sent in self.sent if to == address)

    async def pay(
        self,
        chain_id: int,
        token: str,
        to: str,
        amounts: Sequence[int],
        *,
        payer: int = 0,
        after_s: int | None = None,
    ) -> list[Sent]:
        self._answer(chain_id)
        made = []
        for amount in amounts:
            self._mine(1, after_s)
            tx_hash = make_hash("sent", len(self.sent))
            made.append(Sent(tx_hash, f"0x{payer:040x}", amount, self.newest.number))
            self.sent.append((to, made[-1]))
        return made

    async def mine(self, chain_id: int, count: int, *, after_s: int | None = None) -> Head:
        self._answer(chain_id)
        return self._mine(count, after_s)

    async def reorganise(self, chain_id: int, depth: int) -> Head:
        self._answer(chain_id)
        kept = self.newest.number - depth
        self.sent = [each for each in self.sent if (each[1].block_number or 0) <= kept]
        return self.newest

    async def advance(self, chain_id: int, seconds: int) -> Head:
        self._answer(chain_id)
        return self._mine(1, self.newest.time_s + seconds)

    def _mine(self, count: int, after_s: int | None = None) -> Head:
        first = max(self.newest.time_s, after_s or 0) + 1
        self.newest = Head(self.newest.number + count, first + count - 1)
        return self.newest

    def _answer(self, chain_id: int) -> None:
        if chain_id not in self.known:
            raise NoEndpoint(chain_id)
        if self.is_silent:
            raise ChainUnreachable(chain_id)
        if self.refusal is not None:
            raise NodeRefuses(self.refusal)


class PaymentApp(ServiceApp):
    """The compiled application, and the event loop of its requests."""

    def __init__(
        self, database: Database, clock: Clock, chain: FakeGateway, **settings: Any
    ) -> None:
        self._database, self._clock, self._chain = Swap(database), Swap(clock), Swap(chain)
        self._settings = Settings(
            database_urls={"payment": "sqlite:///unused.db"},
            public_url=PUBLIC_URL,
            **(_USUAL | settings),
        )
        self._receivers = Swap(ScriptedReceivers())
        self._development = Swap(FakeDevelopmentChains())
        self.webhooks = Webhooks(sender=self._receivers)  # type: ignore[arg-type]
        adapters = PaymentAdapters(
            chain=self._chain,
            development=self._development,
            webhooks=self.webhooks,
        )
        clock = cast(Clock, self._clock)
        service = build_service(self._settings, clock=clock, adapters=adapters)
        adapters.polls.tail.database = self._database  # type: ignore[assignment]
        super().__init__(service, self._database)

    def play(self, database: Database, clock: Clock, chain: FakeGateway) -> None:
        """Use this database, clock and chain from now on."""
        self._database.target, self._clock.target, self._chain.target = database, clock, chain
        self._receivers.target = ScriptedReceivers()
        self._development.target = FakeDevelopmentChains()

    @property
    def receivers(self) -> ScriptedReceivers:
        """Return the webhook receivers of the current test."""
        receivers: ScriptedReceivers = self._receivers.target
        return receivers

    @property
    def development(self) -> FakeDevelopmentChains:
        """Return the development chains of the current test."""
        development: FakeDevelopmentChains = self._development.target
        return development
