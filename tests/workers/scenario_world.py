"""A shop, its project, a scripted chain and all workers of the service, in this process."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from standardwebhooks import webhooks as standardwebhooks

from adapters.webhooks.sender import Received
from models.payment.test_helpers import runs
from models.payment.webhooks import schedule
from specd.db import Database
from tests.live.small_shop import SmallShop
from tests.support.contract import ContractClient
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PaymentApp
from tests.support.payment.chain_in_memory import ChainInMemory
from tests.support.payment.factories import CHAIN_ID
from tests.support.receivers import Posted, ScriptedReceivers
from workers.chain_watcher import ChainWatcher
from workers.payment import expire_invoices, find_posting_fault
from workers.scenario_runs import ScenarioRunner
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

HOST = "https://shop.example"
MAX_ROUNDS = 200
PATIENCE_S = 60.0


class ShopOnTheNetwork(ScriptedReceivers):
    """A network with one receiver: posts to `HOST` reach the shop."""

    def __init__(self, shop: Flask) -> None:
        super().__init__()
        self.shop = shop

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        self.posted.append(Posted(url, headers, body))
        sent = dict(headers) | {"content-type": "application/json"}
        answer = self.shop.test_client().post(url.removeprefix(HOST), data=body, headers=sent)
        return Received(answer.status_code, None, answer.get_data(as_text=True), None, 1)


class ScenarioWorld:
    """Runs scenarios for one shop, which receives webhooks and is queried at `/judge`."""

    def __init__(
        self,
        app: PaymentApp,
        api: ContractClient,
        database: Database,
        clock: FrozenClock,
        shop: SmallShop,
    ) -> None:
        self.api, self.clock, self.chain = api, clock, FakeChain(started_at=clock.now())
        self._database = database
        network = self.network = ShopOnTheNetwork(shop.app)
        app._receivers.target = network
        self._watcher = ChainWatcher(
            database,
            self.chain,
            clock,
            chain_id=CHAIN_ID,
            read_anew_every=timedelta(seconds=1),
            ended_every=timedelta(0),
        )
        self._expire = partial(expire_invoices, database, clock)
        self._posting = Posting(
            network, app.webhooks.vault, clock, find_fault=partial(find_posting_fault, database)
        )
        self._webhooks = WebhookWorker(database, clock, self._posting)
        self._runner = ScenarioRunner(database, clock, ChainInMemory(self.chain), network)
        made = self._post("/v1/webhook-endpoints", url=f"{HOST}/webhooks", event_types=["*"])
        shop.secret = made["secret"]
        self.work()

    def close(self) -> None:
        self._posting.close()

    def run(self, name: str, *, after_each: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Run a scenario on a new order and return the finished run."""
        run = self._post(f"/v1/test-helpers/scenarios/{name}/runs", shop_url=f"{HOST}/judge")
        for _ in range(MAX_ROUNDS):
            self.clock.advance(seconds=2)
            self.work()
            while self._runner.try_some():
                pass
            after_each()
            with self._database.reading() as reader:
                if not runs.find_to_do(reader, limit=1):
                    ended: dict[str, Any] = self.api.get(
                        f"/v1/test-helpers/runs/{run['id']}"
                    ).json()
                    return ended
        raise AssertionError(f"{name} does not end: {run}")

    def told(self, invoice_id: str) -> list[str]:
        """Return the types of the messages about an invoice, in the order of posting."""
        bodies = [
            json.loads(each.body) for each in self.network.posted if each.url == f"{HOST}/webhooks"
        ]
        return [each["type"] for each in bodies if each["data"]["invoice"]["id"] == invoice_id]

    def work(self) -> None:
        """Run the workers until there is nothing to do."""
        ends_at, quiet = time.monotonic() + PATIENCE_S, 0
        while quiet < 2:
            quiet = 0 if self._watcher.try_watch_one() | self._expire() else quiet + 1
            assert time.monotonic() < ends_at, "the workers never rest"
        while self._webhooks.try_at_once() or self._posting.count:
            time.sleep(0.001)
            assert time.monotonic() < ends_at, "the webhooks never rest"

    def _post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.api.post(path, json=body, headers={"Idempotency-Key": "scenario-world"})
        assert answer.is_success, answer.text
        made: dict[str, Any] = answer.json()
        return made


@contextmanager
def scenario_world(
    app: PaymentApp, api: ContractClient, database: Database, clock: FrozenClock, shop: SmallShop
) -> Iterator[ScenarioWorld]:
    """A world whose shop also verifies signatures by the frozen clock."""

    class FrozenDatetime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return clock.now()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standardwebhooks, "datetime", FrozenDatetime)
        patch.setattr(schedule, "JITTER", 0.0)
        world = ScenarioWorld(app, api, database, clock, shop)
        try:
            yield world
        finally:
            world.close()
