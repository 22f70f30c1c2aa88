"""Merchants that follow the documents exactly, in every scenario of the catalog."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from models.payment.test_helpers.scenarios import CATALOGUE
from specd.db import Database
from tests.live.small_shop import FAULTS, SmallShop
from tests.support.contract import ContractClient
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.merchants import (
    EventMerchant,
    ExportMerchant,
    ListMerchant,
    PaymentKey,
)
from tests.support.payment.mistakes import FAILING
from tests.workers.scenario_world import scenario_world


@pytest.fixture
def chain() -> FakeGateway:
    """The server's view of the chain, which is only whether it is configured."""
    return FakeGateway()


def on_chain(chain: FakeChain, address: str) -> dict[PaymentKey, int]:
    """Return the received atoms of an address, counted from the blocks."""
    return {
        (each.block_hash, each.tx_hash, each.log_index): each.amount
        for each in chain.canonical_transfers()
        if each.receiver == address
    }


def settled(invoice: dict[str, Any]) -> dict[str, Any]:
    """Return an invoice without the fields that change with each block without changing
    `updated_at`.
    """
    payments = [each | {"confirmations": None} for each in invoice["payments"]]
    return invoice | {"payments": payments}


@pytest.mark.parametrize(
    ("database_url", "names"),
    [
        pytest.param("sqlite", [*CATALOGUE], id="sqlite"),
        pytest.param("postgresql", [*CATALOGUE][::3], id="postgresql-every third"),
        pytest.param("postgresql", [*CATALOGUE], id="postgresql", marks=pytest.mark.exhaustive),
    ],
    indirect=["database_url"],
)
def test_events_the_list_and_the_export_each_account_for_every_atom(
    payment_app: PaymentApp,
    api: ContractClient,
    database: Database,
    clock: FrozenClock,
    names: Sequence[str],
) -> None:
    shop, events, copy = SmallShop(), EventMerchant(api), ListMerchant(api, limit=20)
    export = ExportMerchant(api)
    with scenario_world(payment_app, api, database, clock, shop) as world:
        for name in names:
            run = world.run(name, after_each=copy.read)
            assert run["state"] == "passed", (name, run["failure"])
            order, due = run["external_order_id"], run["expected"]["fulfilments"]
            events.read()
            for merchant in (events, copy):
                assert merchant.fulfilled[order] == due, (name, merchant)
                assert merchant.owed(order) == int(run["amount_to_return"]), (name, merchant)
            assert shop.fulfilled[order] == due
            if name == "out_of_order":
                told = world.told(run["invoice_id"])
                assert told.index("invoice.paid") < told.index("invoice.payment_received")
        listed = {each["id"]: each for each in copy.list()}
        assert {id_: settled(each) for id_, each in copy.copy.items()} == {
            id_: settled(each) for id_, each in listed.items()
        }, "the copy lacks a change"
        export.read()
        total: Counter[str] = Counter()
        for invoice_id, invoice in listed.items():
            arrived = on_chain(world.chain, invoice["deposit_address"])
            for merchant in (events, copy, export):
                assert merchant.payments[invoice_id] == arrived, merchant
            total[invoice["external_order_id"]] += sum(arrived.values())
        assert +shop.arrived == +total
        assert sum(total.values()) == sum(t.amount for t in world.chain.canonical_transfers())
        assert events.fulfilled == copy.fulfilled


@pytest.mark.exhaustive
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("fault", FAULTS)
def test_mistake_fails_its_scenarios_and_no_other(
    payment_app: PaymentApp,
    api: ContractClient,
    database: Database,
    clock: FrozenClock,
    fault: str,
) -> None:
    with scenario_world(payment_app, api, database, clock, SmallShop(fault)) as world:
        runs = {name: world.run(name) for name in CATALOGUE}
    assert {name for name, run in runs.items() if run["state"] == "failed"} == FAILING[fault], {
        name: run["failure"] for name, run in runs.items() if run["failure"]
    }
