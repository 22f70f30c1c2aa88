"""Blocks, reorganizations, clocks and simulated faults of the chains of payment methods."""

from datetime import timedelta
from typing import Any

import pytest

from models.payment.test_helpers.faults import Fault, Kind, chain_target, try_take
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import CHAIN_ID
from tests.support.payment.invoices import error

ACTS: list[tuple[str, dict[str, Any]]] = [
    ("blocks", {"count": 3}),
    ("reorganisations", {"depth": 3}),
    ("clock", {"advance_s": 60}),
]
FAULTS = ("faults", {"kind": "lag", "calls": 2, "lag_ms": 50})


def path(act: str, chain_id: int = CHAIN_ID) -> str:
    return f"/v1/test-helpers/chains/{chain_id}/{act}"


def test_mines_blocks(api: ContractClient) -> None:
    head = api.post(path("blocks"), json={"count": 3}).json()
    assert head == {"chain_id": CHAIN_ID, "head_number": 131, "head_time": 1795226465000}
    assert api.post(path("blocks")).json()["head_number"] == 132


def test_moves_the_clock(api: ContractClient) -> None:
    head = api.post(path("clock"), json={"advance_s": 60}).json()
    assert head["head_time"] >= 1795226462000 + 60_000


def test_reorganizes(api: ContractClient, payment_app: PaymentApp) -> None:
    invoice = {"external_order_id": "a", "attempt_no": 1, "amount": "1.5"}
    made = api.post(
        "/v1/invoices",
        json=invoice | {"payment_method_id": "tusd-local"},
        headers={"Idempotency-Key": "key-of-an-invoice"},
    ).json()
    assert api.post(f"/v1/test-helpers/invoices/{made['id']}/payments").status_code == 201
    assert api.post(path("reorganisations"), json={"depth": 1}).json()["head_number"] == 129
    assert payment_app.development.sent == []


def test_simulates_faults_for_a_number_of_calls(api: ContractClient, database: Database) -> None:
    act, body = FAULTS
    answer = api.post(path(act), json=body)
    assert answer.json() == {"chain_id": CHAIN_ID, "kind": "lag", "calls": 2}
    target = chain_target(CHAIN_ID)
    taken = [try_take(database, target) for _ in range(3)]
    assert taken == [*[Fault(Kind.LAG, timedelta(milliseconds=50))] * 2, None]


def test_new_faults_replace_earlier_ones(api: ContractClient, database: Database) -> None:
    for body in ({"kind": "fail", "calls": 7}, {"kind": "refuse", "calls": 1}):
        assert api.post(path("faults"), json=body).status_code == 200
    target = chain_target(CHAIN_ID)
    taken = [try_take(database, target) for _ in range(2)]
    assert taken == [Fault(Kind.REFUSE, timedelta()), None]


@pytest.mark.reaches("chain_not_found")
@pytest.mark.parametrize(("act", "body"), [*ACTS, FAULTS])
def test_chain_without_payment_method_is_not_found(
    api: ContractClient, act: str, body: dict[str, Any], payment_app: PaymentApp
) -> None:
    before = payment_app.development.newest
    answer = api.post(path(act, 11155111), json=body)
    assert error(answer) == (404, "chain_not_found", [])
    assert payment_app.development.newest == before
