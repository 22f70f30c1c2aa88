"""A real server, worker and chain, with endpoints that misbehave like those of providers.

`tests/workers` runs the same stories with a scripted chain.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from demo.chain.testnet import CHAIN_ID
from models.payment.addresses import derive_deposit_address
from models.payment.tables import Invoice
from specd.db import Clock, Database
from tests.live.chain_fixture import LocalChain, running_anvil
from tests.live.hostile_rpc import Forward, HostileRpc, Refusal, hostile_rpc
from tests.live.running_server import UNVERIFIED, RunningServer
from tests.live.test_chain_campaign import worker
from tests.support.payment.factories import (
    ADA_XPUB,
    Merchant,
    make_invoice,
    make_key,
    make_method,
    make_project,
)

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


class Shop:
    """A merchant's view of a running server."""

    def __init__(self, server: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        self._api = httpx.Client(base_url=server, headers=headers, verify=UNVERIFIED)
        self._sold = 0

    def sell(self) -> dict[str, Any]:
        self._sold += 1
        order = {
            "external_order_id": f"sold-{self._sold}",
            "attempt_no": 1,
            "amount": "10",
            "payment_method_id": "tusd",
        }
        answer = self._api.post(
            "/v1/invoices", json=order, headers={"Idempotency-Key": str(uuid.uuid4())}
        )
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def state(self, invoice: dict[str, Any]) -> tuple[str, str]:
        found = self._api.get(f"/v1/invoices/{invoice['id']}").json()
        return found["status"], found["exception"]

    def told(self, invoice: dict[str, Any]) -> list[str]:
        events = self._api.get("/v1/events", params={"limit": 100}).json()["data"]
        return [
            each["type"].removeprefix("invoice.")
            for each in events
            if each["data"].get("invoice", {}).get("id") == invoice["id"]
        ]

    def waits_until(
        self, invoice: dict[str, Any], status: str, *, within_s: float, mine: LocalChain
    ) -> None:
        """Wait until the invoice has the status, while blocks are mined."""
        until = time.monotonic() + within_s
        while self.state(invoice)[0] != status:
            assert time.monotonic() < until, (self.state(invoice), self.told(invoice))
            time.sleep(0.5)
            mine.mine()


class Street:
    """An anvil with a hostile proxy in front of it."""

    def __init__(self, chain: LocalChain, proxy: HostileRpc) -> None:
        self.chain, self.proxy = chain, proxy


@contextmanager
def street(*, chain_id: int = CHAIN_ID) -> Iterator[Street]:
    with running_anvil(chain_id=chain_id) as chain, hostile_rpc(chain.url) as proxy:
        yield Street(chain, proxy)


@contextmanager
def open_shop(
    database: Database,
    database_url: str,
    tmp_path: Path,
    *urls: str,
    chain_id: int = CHAIN_ID,
    before: Callable[[Any, Merchant], object] = lambda *_: None,
) -> Iterator[Shop]:
    now = Clock().now()

    def write(session: Any) -> str:
        project = make_project(session, now=now)
        key = make_key(session, project, now=now)
        method = make_method(session, project, now=now, method_id="tusd", chain_id=chain_id)
        before(session, Merchant(project=project, key=key, method=method))
        return key

    key = database.run(write)
    rpc = ",".join(urls)
    environment = {"SPECD_PAYMENT_DATABASE_URL": database_url, "SPECD_CHAIN_RPC_URLS": rpc}
    with ExitStack() as stack:
        server = stack.enter_context(RunningServer(tmp_path, environment))
        stack.enter_context(worker(database_url, rpc))
        yield Shop(server.url, key)


def until(condition: Callable[[], object], *, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_two_payments_of_a_block_count_when_each_transaction_numbers_its_logs(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    def renumber(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, params)
        if method == "eth_getLogs":
            seen: dict[str, int] = {}
            for log in answer:
                number = seen[log["transactionHash"]] = seen.get(log["transactionHash"], -1) + 1
                log["logIndex"] = hex(number)
        return answer

    with street() as its, open_shop(database, database_url, tmp_path, its.proxy.url) as shop:
        its.proxy.meddle = renumber
        invoice = shop.sell()
        its.chain.hold_blocks()
        for atoms in (6_000_000, 4_000_000):
            its.chain.submit_pay(invoice["deposit_address"], atoms)
        its.chain.mine()
        shop.waits_until(invoice, "paid", within_s=30, mine=its.chain)


def test_a_new_invoice_is_paid_although_the_blocks_of_many_are_pruned(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    with street() as its:

        def prune(method: str, params: list[Any], forward: Forward) -> Any:
            oldest = its.chain.height - 30
            is_range = method == "eth_getLogs" and "fromBlock" in params[0]
            if is_range and int(params[0]["fromBlock"], 16) <= oldest:
                raise Refusal(4444, "pruned history unavailable")
            return forward(method, params)

        def abandon(session: Any, merchant: Merchant) -> None:
            now = Clock().now()
            for number in range(205):
                make_invoice(
                    session,
                    merchant,
                    now=now,
                    payment_method_id="tusd",
                    external_order_id=f"cart-{number}",
                    is_reread=False,
                )
            ended = now - timedelta(minutes=1)
            session.execute(
                update(Invoice).values(
                    catch_up_block=None,
                    creation_block=1,
                    expires_at=ended,
                    monitoring_ends_at=ended,
                )
            )

        its.chain.mine(60)
        its.proxy.meddle = prune
        with open_shop(database, database_url, tmp_path, its.proxy.url, before=abandon) as shop:
            for _ in range(40):  # the watcher checks invoices whose monitoring has ended
                time.sleep(1)
                its.chain.mine()
            invoice = shop.sell()
            its.chain.pay(invoice["deposit_address"], 10_000_000)
            shop.waits_until(invoice, "paid", within_s=30, mine=its.chain)


@pytest.mark.parametrize("first_null", [1, 2, 5, 8])
def test_a_balancer_that_lacks_blocks_takes_nothing_back(
    database: Database, database_url: str, tmp_path: Path, first_null: int
) -> None:
    asked = [-1]

    with street() as its:

        def balance(method: str, params: list[Any], forward: Forward) -> Any:
            if asked[0] >= 0:
                if method == "eth_getBlockByNumber" and params[0] not in ("latest", "0x0"):
                    asked[0] += 1
                    if first_null <= asked[0] < first_null + 2:
                        return None
                if method == "eth_getLogs":
                    if "blockHash" in params[0]:
                        raise Refusal(-32000, "unknown block")
                    last = min(int(params[0]["toBlock"], 16), its.chain.height - 8)
                    if int(params[0]["fromBlock"], 16) > last:
                        return []
                    params = [params[0] | {"toBlock": hex(last)}]
            return forward(method, params)

        its.proxy.meddle = balance
        with open_shop(database, database_url, tmp_path, its.proxy.url) as shop:
            time.sleep(1)
            shop.sell()  # without payable invoices the watcher only polls every 25 s
            invoice = shop.sell()
            its.chain.pay(invoice["deposit_address"], 10_000_000)
            shop.waits_until(invoice, "paid", within_s=30, mine=its.chain)
            asked[0] = 0
            for count in (1, 6, 1, 7, 1, 6, 1, 1):
                its.chain.mine(count)
                time.sleep(0.7)
            assert asked[0] > 5, "the watcher has met the endpoint that lacks blocks"
            assert "payment_reorged" not in shop.told(invoice)
            assert shop.state(invoice)[0] == "paid"


def test_money_that_came_before_an_invoice_pays_nothing_on_an_idle_chain(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    chain_id = 424242
    with (
        street(chain_id=chain_id) as its,
        open_shop(
            database,
            database_url,
            tmp_path,
            f"{chain_id}={its.proxy.url}",
            chain_id=chain_id,
        ) as shop,
    ):
        time.sleep(33)
        its.chain.pay(derive_deposit_address(ADA_XPUB, 0), 10_000_000)
        time.sleep(3)
        invoice = shop.sell()
        for _ in range(10):
            time.sleep(1)
            its.chain.mine()
        assert shop.state(invoice) == ("unpaid", "none")


def test_a_fallback_on_another_branch_waits_for_the_endpoint_that_is_silent(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    """The first endpoint returns its state from before the chain changed for the second one."""
    kept: dict[str, Any] = {}
    mode = ["live"]

    with street() as its, hostile_rpc(its.chain.url) as second:

        def first(method: str, params: list[Any], forward: Forward) -> Any:
            if mode[0] == "silent":
                raise Refusal(429, "too many requests", status=429)
            if mode[0] == "kept" and method in ("eth_getBlockByNumber", "eth_getLogs"):
                if method == "eth_getLogs":
                    return []
                return kept.get(params[0])
            return forward(method, params)

        its.proxy.meddle = first
        with open_shop(database, database_url, tmp_path, its.proxy.url, second.url) as shop:
            time.sleep(1)
            its.chain.mine(3)
            invoice = shop.sell()
            its.chain.pay(invoice["deposit_address"], 10_000_000)
            shop.waits_until(invoice, "paid", within_s=30, mine=its.chain)
            time.sleep(2)
            height = its.chain.height
            for number in (*map(hex, range(height + 1)), "latest"):
                kept[number] = its.chain.call("eth_getBlockByNumber", number, False)
            mode[0] = "kept"
            time.sleep(1)
            its.chain.call("anvil_reorg", 6, [])
            its.chain.mine(3)
            time.sleep(4)
            assert shop.state(invoice)[0] == "paid"
            mode[0] = "silent"
            time.sleep(15)
            assert shop.state(invoice)[0] == "paid"
            assert "payment_reorged" not in shop.told(invoice)
            mode[0] = "kept"
            time.sleep(8)
            assert shop.state(invoice)[0] == "paid"
