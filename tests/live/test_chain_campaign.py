"""Invoices on a real chain: all kinds of payments, failures and reorganizations.

`scripts/reorg_storm` is the long campaign, of which a part runs here.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from adapters.chain.reader import ChainReplaced
from demo.chain.testnet import CHAIN_ID
from models.payment import rescans
from models.payment.addresses import derive_deposit_address
from specd._db import migrate
from specd.db import Database
from tests.live.chain_fixture import LocalChain, anvil, running_anvil
from tests.live.reorg_storm import Storm
from tests.live.running_server import ROOT, RunningServer
from tests.live.shop import Shop
from tests.support import warm
from tests.support.payment.factories import ADA_XPUB, make_key
from tests.workers.ledger import State, watch

__all__ = ["anvil"]  # a fixture


@pytest.fixture
def shop(database: Database, anvil: LocalChain) -> Shop:
    return Shop(database, anvil)


class TestPaying:
    def test_every_way_to_pay_or_not_to(self, shop: Shop, anvil: LocalChain) -> None:
        other_token = anvil.deploy_second_token()
        contract = anvil.deploy_payer_contract(10_000)
        in_creation_block = derive_deposit_address(ADA_XPUB, 0)
        watcher = shop.watcher()
        anvil.pay(in_creation_block, 1000)
        watch(watcher)
        assert shop.checkpoint() == anvil.height

        created = shop.invoice()
        assert created.deposit_address == in_creation_block
        exact, parts, over, under, wrong, native, zero, twice, by_contract = (
            shop.invoice() for _ in range(9)
        )
        anvil.pay(exact.deposit_address, 1000)
        anvil.pay(parts.deposit_address, 400)
        anvil.pay(over.deposit_address, 1500)
        anvil.pay(under.deposit_address, 999)
        anvil.pay(wrong.deposit_address, 1000, token=other_token)
        anvil.pay_native(native.deposit_address, 1000)
        anvil.pay(zero.deposit_address, 0)
        anvil.pay_twice_by_contract(contract, twice.deposit_address, 300, 700)
        anvil.pay_by_contract(contract, by_contract.deposit_address, 1000)
        watch(watcher)
        assert shop.state(by_contract) == State("processing", "none", 0, 1000)
        assert shop.state(parts) == State("unpaid", "partial", 400, 0)
        anvil.pay(parts.deposit_address, 600)
        anvil.mine()
        watch(watcher)

        nothing = State("unpaid", "none", 0, 0)
        assert {
            "creation block": shop.state(created),
            "exact": shop.state(exact),
            "parts": shop.state(parts),
            "over": shop.state(over),
            "under": shop.state(under),
            "wrong token": shop.state(wrong),
            "native coin": shop.state(native),
            "zero value": shop.state(zero),
            "two in one transaction": shop.state(twice),
            "by a contract": shop.state(by_contract),
        } == {
            "creation block": nothing,
            "exact": State("paid", "none", 1000, 0),
            "parts": State("paid", "none", 1000, 0),
            "over": State("paid", "over", 1500, 0),
            "under": State("unpaid", "partial", 999, 0),
            "wrong token": nothing,
            "native coin": nothing,
            "zero value": nothing,
            "two in one transaction": State("paid", "none", 1000, 0),
            "by a contract": State("paid", "none", 1000, 0),
        }
        assert shop.payments(twice) == [("confirmed", 300), ("confirmed", 700)]
        assert shop.payments(zero) == shop.payments(wrong) == []

    def test_what_time_does(self, shop: Shop, anvil: LocalChain) -> None:
        watcher = shop.watcher()
        watch(watcher)
        under, late, canceled, none = (shop.invoice() for _ in range(4))
        shop.cancel(canceled)
        anvil.pay(under.deposit_address, 999)
        shop.pass_time(1801)
        anvil.pay(late.deposit_address, 1000)
        anvil.pay(canceled.deposit_address, 1000)
        anvil.mine()
        watch(watcher)
        shop.expire()
        assert shop.state(under) == State("expired", "partial", 999, 0)
        assert shop.state(late) == State("expired", "late", 1000, 0)
        assert shop.state(canceled) == State("canceled", "late", 1000, 0)
        assert shop.state(none) == State("expired", "none", 0, 0)

    def test_downtime_over_an_on_time_payment_and_past_the_expiry(
        self, shop: Shop, anvil: LocalChain
    ) -> None:
        watch(shop.watcher())
        invoice = shop.invoice()
        anvil.pay(invoice.deposit_address, 1000)
        shop.pass_time(7200)
        anvil.mine(3)
        shop.expire()
        watch(shop.watcher())
        shop.expire()
        assert shop.state(invoice) == State("paid", "none", 1000, 0)

    @pytest.mark.parametrize(
        "database_url", ["sqlite"], indirect=True
    )  # most of the time is spent in anvil
    def test_two_thousand_blocks_behind_with_a_range_limit(
        self, shop: Shop, anvil: LocalChain
    ) -> None:
        watch(shop.watcher())
        invoices = [shop.invoice(lifetime=timedelta(hours=9)) for _ in range(5)]
        for invoice in invoices:
            anvil.mine(399)
            anvil.pay(invoice.deposit_address, 1000)
        anvil.mine()
        watch(shop.watcher(log_range=500))
        assert {shop.state(each) for each in invoices} == {State("paid", "none", 1000, 0)}
        assert shop.checkpoint() == anvil.height


class TestReorganisations:
    def test_dropped_before_its_confirmation_and_mined_again_counts_once(
        self, shop: Shop, anvil: LocalChain
    ) -> None:
        watcher = shop.watcher()
        anvil.mine(5)
        watch(watcher)
        invoice = shop.invoice()
        sent = anvil.pay(invoice.deposit_address, 1000)
        raw = anvil.call("eth_getRawTransactionByHash", sent)
        watch(watcher)
        anvil.reorg(1)
        watch(watcher)
        assert shop.state(invoice) == State("unpaid", "reorged", 0, 0)
        assert anvil.call("eth_sendRawTransaction", raw) == sent
        within(
            10, lambda: anvil.balance(invoice.deposit_address) == 1000
        )  # it is mined a little later
        anvil.mine()
        watch(watcher)
        assert shop.state(invoice) == State("paid", "none", 1000, 0)
        assert shop.payments(invoice) == [("orphaned", 1000), ("confirmed", 1000)]

    def test_deeper_than_the_confirmations_takes_paid_back(
        self, shop: Shop, anvil: LocalChain
    ) -> None:
        watcher = shop.watcher()
        anvil.mine(5)
        watch(watcher)
        invoice = shop.invoice()
        anvil.pay(invoice.deposit_address, 1000)
        anvil.mine(4)
        watch(watcher)
        assert shop.state(invoice).status == "paid"
        anvil.reorg(7)
        watch(watcher)
        assert shop.state(invoice) == State("unpaid", "reorged", 0, 0)

    def test_a_new_chain_is_taken_up_by_an_operator_s_word(self, database: Database) -> None:
        with running_anvil() as first:
            shop = Shop(database, first)
            watcher = shop.watcher()
            first.mine(40)
            invoice = shop.invoice()
            first.pay(invoice.deposit_address, 1000)
            first.mine()
            watch(watcher)
            assert shop.state(invoice).status == "paid"
            port = int(first.url.rpartition(":")[2])
        # Block 0 of a chain that begins within the same second would be equal.
        deadline = time.monotonic() + 5
        began = int(time.time())
        while int(time.time()) == began:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        with running_anvil(port=port) as second:
            shop.chain = second
            second.advance_clock(60)  # a younger chain, not a lagging one
            second.mine(3)
            watcher = shop.watcher()
            for _ in range(3):
                with pytest.raises(ChainReplaced):
                    watcher.try_watch_one()
            assert shop.state(invoice).status == "paid", "nothing changes without a word"
            dropped = database.run(lambda session: rescans.forget_chain(session, CHAIN_ID))
            assert dropped == 1
            watch(watcher)
            assert shop.state(invoice) == State("unpaid", "reorged", 0, 0)
            second.pay(invoice.deposit_address, 1000)
            second.mine()
            watch(watcher)
            assert shop.state(invoice) == State("paid", "none", 1000, 0)
            assert shop.checkpoint() == second.height

    def test_a_slice_of_the_storm(self, database: Database, anvil: LocalChain) -> None:
        report = Storm(database, anvil, seed=5).rage(10)
        assert report.wrong == []
        assert report.reorgs == 10
        assert report.dropped > 0


class TestProcesses:
    """`specd worker` as users run it: signals, killed leaders, endpoints that hang or have the
    wrong chain.
    """

    @pytest.fixture
    def database_url(self, sqlite_url: str) -> str:
        return sqlite_url

    def test_a_hanging_first_endpoint_does_not_hide_a_payment(
        self, shop: Shop, anvil: LocalChain, database_url: str
    ) -> None:
        with hanging_endpoint() as hanging, worker(database_url, f"{hanging},{anvil.url}"):
            invoice = shop.invoice()
            anvil.pay(invoice.deposit_address, 1000)
            began = time.monotonic()
            within(30, lambda: shop.state(invoice).status == "processing")
            print(f"seen after {time.monotonic() - began:.1f} s")
            anvil.mine()
            within(30, lambda: shop.state(invoice).status == "paid")

    def test_wrong_chains_and_main_nets_are_never_read(
        self, shop: Shop, anvil: LocalChain, database_url: str
    ) -> None:
        binary_chain = anvil.call("eth_chainId")
        assert int(binary_chain, 16) == CHAIN_ID
        invoice = shop.invoice()
        anvil.pay(invoice.deposit_address, 1000)
        anvil.mine()
        anvil.call("anvil_setChainId", 1)
        with worker(database_url, anvil.url) as process:
            within(30, lambda: "reports chain id 1" in process.log())
            assert shop.checkpoint() is None
            anvil.call("anvil_setChainId", CHAIN_ID)
            within(30, lambda: shop.state(invoice).status == "paid")

    def test_a_killed_leader_is_replaced_within_thirty_seconds(
        self, shop: Shop, anvil: LocalChain, database_url: str
    ) -> None:
        with worker(database_url, anvil.url) as first:
            within(30, lambda: shop.checkpoint() is not None)
            with worker(database_url, anvil.url) as second:
                within(30, lambda: "worker_started" in second.log())
                first.kill()
                invoice = shop.invoice()
                anvil.pay(invoice.deposit_address, 1000)
                anvil.mine()
                within(30, lambda: shop.state(invoice).status == "paid")

    def test_reads_work_while_every_endpoint_is_down(
        self, shop: Shop, database_url: str, tmp_path: Path
    ) -> None:
        key = shop.database.run(
            lambda session: make_key(session, shop.merchant.project, now=shop.clock.now())
        )
        dead = f"http://127.0.0.1:{closed_port()}"
        environment = {"SPECD_PAYMENT_DATABASE_URL": database_url, "SPECD_CHAIN_RPC_URLS": dead}
        invoice = shop.invoice()
        with (
            RunningServer(tmp_path, environment | {"SPECD_WORKERS": "1"}) as server,
            worker(database_url, dead) as process,
        ):
            within(30, lambda: "worker_step_failed" in process.log())
            answer = httpx.get(
                f"{server.url}/v1/invoices/{invoice.id}", headers={"Authorization": f"Bearer {key}"}
            )
            assert (answer.status_code, answer.json()["status"]) == (200, "unpaid")


class Worker:
    """A running `specd worker` with all workers."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log

    def log(self) -> str:
        assert self._process.poll() is None, self._log.read_text()[-3000:]
        return self._log.read_text()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(5)


@contextmanager
def worker(database_url: str, rpc_urls: str) -> Iterator[Worker]:
    """Start it with only the settings that a user would set. It must end cleanly on SIGTERM."""
    directory = Path(database_url.removeprefix("sqlite:///")).parent
    migrate.upgrade(f"sqlite:///{directory}/chat.db", "chat")
    log = directory / f"worker-{time.monotonic_ns()}.log"
    environment = {name: value for name, value in os.environ.items() if name[:6] != "SPECD_"}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "SPECD_DATA_DIR": str(directory),
        "SPECD_PAYMENT_DATABASE_URL": database_url,
        "SPECD_CHAIN_RPC_URLS": rpc_urls,
        "SPECD_CHAIN_POLL_S": "0.2",
    }
    with log.open("wb") as out:
        process = warm.Popen(
            [sys.executable, "-m", "specd._cli.main", "worker"],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=out,
        )
    try:
        yield Worker(process, log)
        if process.poll() is None:
            process.terminate()
            assert process.wait(15) == 0, log.read_text()[-3000:]
    finally:
        process.kill()
        process.wait(5)


@contextmanager
def hanging_endpoint() -> Iterator[str]:
    """The URL of a server that accepts connections and requests and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def within(seconds: float, is_so: Callable[[], bool]) -> None:
    """Wait until the condition is true, and fail after a time limit."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not so within {seconds:g} s"
        time.sleep(0.05)
