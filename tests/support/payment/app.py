"""The payment service as one ASGI application whose database, clock and chain tests exchange."""

from typing import Any

from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wire.webhooks import Webhooks
from handlers.payment.wiring import build_service
from models.clock import Clock
from models.database import Database
from models.payment.invoices import NewestBlock
from settings import Settings
from tests.support.app import ServiceApp, Swap
from tests.support.receivers import ScriptedReceivers

PUBLIC_URL = "https://pay.example"


class FakeGateway:
    """A chain gateway by script: which chains are configured, and whether they are healthy."""

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


class PaymentApp(ServiceApp):
    """The compiled application and the event loop its requests run on."""

    def __init__(
        self, database: Database, clock: Clock, chain: FakeGateway, **settings: Any
    ) -> None:
        self._database, self._clock, self._chain = Swap(database), Swap(clock), Swap(chain)
        self._settings = Settings(
            database_urls={"payment": "sqlite:///unused.db"},
            public_url=PUBLIC_URL,
            **({"rate_limits": False, "validate_responses": True} | settings),
        )
        self._receivers = Swap(ScriptedReceivers())
        self.webhooks = Webhooks(sender=self._receivers)  # type: ignore[arg-type]
        adapters = PaymentAdapters(
            chain=self._chain,
            webhooks=self.webhooks,
        )
        service = build_service(self._settings, clock=self._clock, adapters=adapters)
        adapters.polls.tail.database = self._database  # type: ignore[assignment]
        super().__init__(service, self._database)

    def play(self, database: Database, clock: Clock, chain: FakeGateway) -> None:
        """Use these from now on."""
        self._database.target, self._clock.target, self._chain.target = database, clock, chain
        self._receivers.target = ScriptedReceivers()

    @property
    def receivers(self) -> ScriptedReceivers:
        """Who is posted to in the present test."""
        receivers: ScriptedReceivers = self._receivers.target
        return receivers
