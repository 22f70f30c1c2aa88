"""A merchant that follows the documents exactly, without other information.

Orders are paid exactly, over, in parts, late, twice, after the expiry and through a reorganization.
One merchant reads GET /v1/events, fulfills on `invoice.paid`, once for each order, and adds up
payments; another lists GET /v1/invoices. Both must account for every atom on the chain, and nothing
else.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import CHAIN_ID, TOKEN
from workers.chain_watcher import ChainWatcher
from workers.payment import expire_invoices

AMOUNT = 1_500_000
HALF_AN_HOUR = timedelta(minutes=30)


class Shop:
    """The merchant: creates invoices, reads events after the last one, and keeps its own
    accounts.
    """

    def __init__(self, api: ContractClient) -> None:
        self.api = api
        self.fulfilled: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self._attempts: Counter[str] = Counter()
        self._cursor: str | None = None

    def order(self, name: str) -> dict[str, Any]:
        """Create the next attempt for an order."""
        self._attempts[name] += 1
        number = self._attempts[name]
        answer = self.api.post(
            "/v1/invoices",
            json={
                "external_order_id": name,
                "attempt_no": number,
                "amount": "1.5",
                "payment_method_id": "tusd-local",
            },
            headers={"Idempotency-Key": f"{name}:{number}:create"},
        )
        assert answer.status_code == 201
        made: dict[str, Any] = answer.json()
        return made

    def read_events(self) -> None:
        """Read as documented: after the stored id, each event once, until there are no more."""
        has_more = True
        while has_more:
            after = f"&after={self._cursor}" if self._cursor else ""
            page = self.api.get(f"/v1/events?limit=7{after}").json()
            for event in page["data"]:
                self._handle(event)
            self._cursor, has_more = page["next_cursor"], page["has_more"]

    def _handle(self, event: dict[str, Any]) -> None:
        invoice = event["data"]["invoice"]
        order = invoice["external_order_id"]
        if event["type"] == "invoice.payment_received":
            self.held[invoice["id"]] += int(event["data"]["payment"]["amount"])
        elif event["type"] == "invoice.payment_reorged":
            self.held[invoice["id"]] -= int(event["data"]["payment"]["amount"])
        elif event["type"] == "invoice.paid":
            self.reasons[order] += 1
            if not self.fulfilled[order]:
                self.fulfilled[order] += 1
        counted = int(invoice["amount_paid"]) + int(invoice["amount_pending"])
        if not event["type"].startswith("invoice.payment_"):  # then those of one change are read
            assert self.held[invoice["id"]] == counted, event["type"]

    def list_invoices(self) -> Iterator[dict[str, Any]]:
        cursor = ""
        while True:
            page = self.api.get(f"/v1/invoices?limit=3{cursor}").json()
            yield from page["data"]
            if not page["has_more"]:
                return
            cursor = f"&cursor={page['next_cursor']}"


class World:
    """The shop, the chain, and the workers of the service."""

    def __init__(self, database: Database, api: ContractClient, clock: FrozenClock) -> None:
        self.shop, self.chain, self.clock = Shop(api), FakeChain(), clock
        self._watcher = ChainWatcher(
            database,
            self.chain,
            clock,
            chain_id=CHAIN_ID,
            read_anew_every=timedelta(0),
            ended_every=timedelta(0),
        )
        self._expire = partial(expire_invoices, database, clock)
        self.work()

    def work(self) -> None:
        """Run the workers until there is nothing to do, then let the merchant read the events."""
        quiet = 0
        for _ in range(200):
            is_busy = self._watcher.try_watch_one() | self._expire()
            quiet = 0 if is_busy else quiet + 1
            if quiet == 2:
                break
        else:
            raise AssertionError("the workers do not come to an end")
        self.shop.read_events()

    def send(self, invoice: dict[str, Any], atoms: int = AMOUNT) -> None:
        """Mine a transfer without running the watcher."""
        self._tick()
        self.chain.pay(invoice["deposit_address"], atoms, token=TOKEN, at=self.clock.now())

    def pay(self, invoice: dict[str, Any], atoms: int = AMOUNT) -> None:
        self.send(invoice, atoms)
        self.work()

    def mine(self, blocks: int = 3) -> None:
        for _ in range(blocks):
            self._tick()
            self.chain.mine(at=self.clock.now())
        self.work()

    def _tick(self) -> None:
        """Return the time of the next block: after the last one, and not in the future."""
        behind = self.chain.head().timestamp - self.clock.now()
        self.clock.advance(seconds=max(0.0, behind.total_seconds()) + 1)

    def on_chain(self) -> Counter[str]:
        """Return the balance of each address, counted from the blocks."""
        held: Counter[str] = Counter()
        for transfer in self.chain.canonical_transfers():
            held[transfer.receiver] += transfer.amount
        return held

    def check_books(self) -> dict[str, dict[str, Any]]:
        """Check that events alone and the list alone agree with the chain, with the last attempt of
        each order.
        """
        on_chain = self.on_chain()
        orders: dict[str, dict[str, Any]] = {}
        listed = list(self.shop.list_invoices())
        for invoice in listed:
            address = invoice["deposit_address"]
            counted = int(invoice["amount_paid"]) + int(invoice["amount_pending"])
            living = [p for p in invoice["payments"] if p["status"] != "orphaned"]
            assert counted == on_chain[address] == sum(int(p["amount"]) for p in living)
            assert self.shop.held[invoice["id"]] == on_chain[address]
            orders.setdefault(invoice["external_order_id"], invoice)
        assert sum(on_chain.values()) == sum(self.shop.held.values())
        assert set(self.shop.fulfilled.values()) <= {1}
        paid = {i["external_order_id"] for i in listed if i["status"] == "paid"}
        assert paid <= set(self.shop.fulfilled)
        return orders


@pytest.fixture
def chain() -> FakeGateway:
    """The server's view of the chain, which is only whether it is configured."""
    return FakeGateway()


@pytest.fixture
def world(database: Database, api: ContractClient, clock: FrozenClock) -> World:
    return World(database, api, clock)


def test_every_way_to_pay_an_order(world: World) -> None:
    shop = world.shop
    exact, over, parts, late, twice, gone = (
        shop.order(name)
        for name in ("exact-01", "over-0001", "parts-001", "late-0001", "twice-001", "reorg-001")
    )
    world.pay(exact)
    world.pay(over, AMOUNT + 200_000)
    world.pay(parts, 500_000)
    world.pay(parts, 400_000)
    world.mine()
    world.pay(over, 5_000_000)
    world.pay(parts, 600_000)
    world.pay(gone)
    world.mine()
    assert shop.fulfilled == {"exact-01": 1, "over-0001": 1, "parts-001": 1, "reorg-001": 1}
    world.check_books()

    # Deeper than the confirmations: paid is revoked, and the transaction returns.
    world.chain.reorg(4)
    world.work()
    world.check_books()
    world.mine()
    orders = world.check_books()
    assert orders["reorg-001"]["status"] == "paid"
    assert shop.reasons["reorg-001"] == 2
    assert shop.fulfilled["reorg-001"] == 1

    # The clock expires an attempt whose payment is in an unread block.
    world.send(twice)
    world.clock.advance(seconds=HALF_AN_HOUR.total_seconds() + 1)
    (open_one,) = shop.api.get("/v1/invoices?external_order_id=twice-001").json()["data"]
    assert (open_one["status"], open_one["expiry_final"]) == ("expired", False)
    again = shop.order("twice-001")
    assert [w["invoice_id"] for w in again["warnings"]] == [twice["id"]]
    world.work()
    world.pay(again)
    world.mine()
    orders = world.check_books()
    assert shop.reasons["twice-001"] == 2
    assert shop.fulfilled["twice-001"] == 1

    # Late payments, twice. The next attempt is created when the expiry is final, and is paid.
    (ended,) = shop.api.get("/v1/invoices?external_order_id=late-0001").json()["data"]
    assert (ended["status"], ended["expiry_final"]) == ("expired", True)
    world.pay(late, 1_000_000)
    world.pay(late, 2_000_000)
    world.mine()
    assert shop.held[late["id"]] == 3_000_000
    assert "late-0001" not in shop.fulfilled
    second = shop.order("late-0001")
    assert "warnings" not in second
    world.pay(second)
    world.mine()
    orders = world.check_books()
    assert orders["late-0001"]["status"] == "paid"
    assert set(shop.fulfilled) == set(orders)


def test_money_that_a_reorganisation_takes_for_good(world: World) -> None:
    """A second overpayment is dropped: status and exception are unchanged, and the accounts are
    correct.
    """
    invoice = world.shop.order("order-001")
    world.pay(invoice, AMOUNT + 100)
    world.mine()
    world.pay(invoice, 700)
    assert world.shop.held[invoice["id"]] == AMOUNT + 800
    world.chain.reorg(1, lose=True)
    world.work()
    world.mine()
    assert world.shop.held[invoice["id"]] == AMOUNT + 100
    orders = world.check_books()
    assert (orders["order-001"]["status"], orders["order-001"]["exception"]) == ("paid", "over")
    assert world.shop.reasons == {"order-001": 1}
