"""`specd chain` and `specd payment pay`, run as processes and in this process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from demo.chain.testnet import PAYER, TOKEN
from models.payment import invoices, receivers
from settings import Settings
from specd.commands import open_database
from specd.db import Clock
from tests.adapters.chain.rpc_endpoint import Question, healthy, serving
from tests.cli.runner import XPUB, Specd
from tests.live.chain_fixture import (
    LocalChain,
    find_anvil_or_skip,
    free_port,
    running_anvil,
    running_pyevm,
)
from tests.live.running_server import ROOT
from tests.support import warm
from tests.support.databases import place_migrated

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def specd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Specd:
    for name in Settings().describe({}):
        monkeypatch.delenv(name.variable, raising=False)
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.setenv("SPECD_CHAIN_PORT", str(free_port()))
    return Specd(capsys)


@dataclass(frozen=True, slots=True)
class Bill:
    invoice_id: str
    deposit_address: str


def open_invoice(specd: Specd, amount: str, *, chain_id: int = 31337, token: str = TOKEN) -> Bill:
    """Return the bill of one open invoice in a migrated database."""
    place_migrated(Settings.from_env().data_dir / "payment.db", "payment")
    project = specd.json("payment", "create-project", "--name", "Shop", "--xpub", XPUB)
    specd.json(
        "payment", "create-method", "--project", project["project_id"], "--id", "tusd",
        "--chain-id", str(chain_id), "--token", token, "--symbol", "TUSD", "--unchecked",
    )  # fmt: skip
    with open_database("payment", Settings.from_env()) as database:
        view = database.run(
            lambda session: invoices.create_invoice(
                session,
                invoices.check_order(
                    session,
                    project_id=project["project_id"],
                    external_order_id="order-1",
                    attempt_no=1,
                    amount=amount,
                    payment_method_id="tusd",
                ),
                xpub=XPUB,
                lifetime=timedelta(minutes=30),
                monitoring=timedelta(days=1),
                now=Clock().now(),
            )
        )
    return Bill(view.id, view.deposit_address)


@pytest.fixture(params=[running_anvil, running_pyevm], ids=["anvil", "py-evm"])
def chain(
    request: pytest.FixtureRequest, specd: Specd, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalChain]:
    with request.param() as chain:
        monkeypatch.setenv("SPECD_CHAIN_PORT", chain.url.rpartition(":")[2])
        yield chain


class TestPay:
    def test_sends_the_amount_due(self, specd: Specd, chain: LocalChain) -> None:
        bill = open_invoice(specd, "12.5")
        sent = specd.json("payment", "pay", bill.invoice_id)
        assert sent == {
            "tx_hash": sent["tx_hash"],
            "invoice_id": bill.invoice_id,
            "amount": "12500000",
            "chain_id": 31337,
            "token_address": TOKEN,
            "deposit_address": bill.deposit_address,
        }
        receipt = chain.call("eth_getTransactionReceipt", sent["tx_hash"])
        assert receipt["status"] == "0x1"
        assert chain.balance(bill.deposit_address) == 12_500_000

    def test_sends_parts_then_the_remainder_then_refuses(
        self, specd: Specd, chain: LocalChain
    ) -> None:
        bill = open_invoice(specd, "12.5")
        assert specd.json("payment", "pay", bill.invoice_id, "--amount", "2.25")["amount"] == (
            "2250000"
        )
        assert specd.json("payment", "pay", bill.invoice_id)["amount"] == "10250000"
        assert "--amount" in specd.refusal("payment", "pay", bill.invoice_id)
        specd.json("payment", "pay", bill.invoice_id, "--amount", "0.000001")
        assert chain.balance(bill.deposit_address) == 12_500_001

    def test_pays_the_largest_invoice(self, specd: Specd, chain: LocalChain) -> None:
        most = "115792089237316195423570985008687907853269984665640564039457584007913129.639935"
        bill = open_invoice(specd, most)
        assert specd.json("payment", "pay", bill.invoice_id)["amount"] == str(2**256 - 1)
        assert chain.balance(PAYER) == 0

    def test_reports_insufficient_funds(self, specd: Specd, chain: LocalChain) -> None:
        bill = open_invoice(specd, "1")
        chain.pay(bill.deposit_address, 2**256 - 1)
        assert "failed" in specd.refusal("payment", "pay", bill.invoice_id, "--amount", "5")

    def test_reports_a_missing_token_contract(self, specd: Specd, chain: LocalChain) -> None:
        bill = open_invoice(specd, "1", token="0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9")
        assert "no token" in specd.refusal("payment", "pay", bill.invoice_id)

    def test_skips_dead_endpoints(
        self, specd: Specd, chain: LocalChain, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bill = open_invoice(specd, "1")
        monkeypatch.setenv("SPECD_CHAIN_RPC_TIMEOUT_S", "2")
        with serving(Question.hang) as hanging:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", f"{hanging.url},{chain.url}")
            specd.json("payment", "pay", bill.invoice_id)
        assert chain.balance(bill.deposit_address) == 1_000_000


class TestPayElsewhere:
    def test_pays_on_a_development_chain_of_another_id(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bill = open_invoice(specd, "1.5", chain_id=80002)
        with running_anvil(chain_id=80002) as chain:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", f"80002={chain.url}")
            assert specd.json("payment", "pay", bill.invoice_id)["chain_id"] == 80002
            assert chain.balance(bill.deposit_address) == 1_500_000

    def test_rejects_a_node_that_does_not_sign(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bill = open_invoice(specd, "1", chain_id=80002)

        def answers(question: Question) -> None:
            question.result(hex(80002) if question.method == "eth_chainId" else [])

        with serving(answers) as endpoint:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", endpoint.url)
            assert "does not sign" in specd.refusal("payment", "pay", bill.invoice_id)
            assert "eth_sendTransaction" not in endpoint.asked


class TestPayRefusals:
    @pytest.mark.parametrize(
        "amount", ["0", "-1", "1.", ".5", "00.1", "1.0000000", "1e3", "\uff11", "9" * 72, "x"]
    )
    def test_invalid_amount_is_rejected(self, amount: str, specd: Specd, tmp_path: Path) -> None:
        place_migrated(tmp_path / "var" / "payment.db", "payment")
        specd.refusal("payment", "pay", NOBODY, f"--amount={amount}")

    @pytest.mark.parametrize("invoice", [NOBODY, "x", "'; DROP TABLE invoice", "\u0661"])
    def test_unknown_invoice_is_rejected(self, invoice: str, specd: Specd, tmp_path: Path) -> None:
        place_migrated(tmp_path / "var" / "payment.db", "payment")
        specd.refusal("payment", "pay", invoice)

    def test_missing_database_is_reported(self, specd: Specd) -> None:
        assert "specd migrate" in specd.refusal("payment", "pay", NOBODY)

    def test_missing_chain_is_reported(self, specd: Specd) -> None:
        assert "specd chain" in specd.refusal("payment", "pay", open_invoice(specd, "1").invoice_id)

    def test_invoice_on_another_chain_is_rejected(self, specd: Specd) -> None:
        bill = open_invoice(specd, "1", chain_id=80002)
        assert "80002" in specd.refusal("payment", "pay", bill.invoice_id)

    def test_endpoint_of_another_chain_is_rejected(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bill = open_invoice(specd, "1")
        with serving(healthy(chain_id=1), secret="s3cr3t") as endpoint:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", endpoint.url)
            refusal = specd.refusal("payment", "pay", bill.invoice_id)
            assert "eth_sendTransaction" not in endpoint.asked
        assert "chain id 1;" in refusal
        assert "s3cr3t" not in refusal


class TestWeather:
    def test_mines_blocks(self, specd: Specd, chain: LocalChain) -> None:
        height = chain.height
        assert specd.json("chain", "mine", "3") == {"mined": 3, "head": height + 3}
        assert chain.height == height + 3

    def test_reorganizes_the_chain(self, specd: Specd, chain: LocalChain) -> None:
        chain.pay("0x00000000000000000000000000000000000000A1", 5)
        height = chain.mine(1)
        assert specd.json("chain", "reorg", "--depth", "2") == {"depth": 2, "head": height}
        assert chain.balance("0x00000000000000000000000000000000000000A1") == 0

    def test_rejects_a_reorganization_deeper_than_the_chain(
        self, specd: Specd, chain: LocalChain
    ) -> None:
        height = chain.height
        assert str(height) in specd.refusal("chain", "reorg", "--depth", str(height + 1))
        assert chain.height == height

    @pytest.mark.parametrize(
        "words",
        [
            ("mine", "0"),
            ("mine", "-1"),
            ("mine", "x"),
            ("mine",),
            ("reorg",),
            ("reorg", "--depth", "0"),
            ("rain",),
        ],
    )
    def test_rejects_invalid_input(self, words: tuple[str, ...], specd: Specd) -> None:
        specd.refusal("chain", *words)

    def test_reports_a_missing_chain(self, specd: Specd) -> None:
        assert "specd chain" in specd.refusal("chain", "mine", "1")

    def test_does_not_change_another_chain(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serving(healthy(chain_id=1)) as endpoint:
            specd.refusal("chain", "--port", endpoint.url.split(":")[2].strip("/"), "mine", "1")
            assert set(endpoint.asked) == {"eth_chainId"}


@contextmanager
def running_specd_chain(
    data_dir: Path, port: int, anvil: str, *options: str
) -> Iterator[tuple[LocalChain, subprocess.Popen[str], dict[str, Any]]]:
    """Run `specd chain` as a process. Yield the chain, the process and the announced line."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SPECD_")}
    process = warm.Popen(
        [sys.executable, "-m", "specd._cli.main", "chain", "--port", str(port), "--json", *options],
        cwd=ROOT,
        env={**env, "PYTHONPATH": str(ROOT), "SPECD_DATA_DIR": str(data_dir), "SPECD_ANVIL": anvil},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        announced = json.loads(process.stdout.readline() or "{}")
        chain = LocalChain(f"http://127.0.0.1:{port}")
        yield chain, process, announced
        chain.close()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def eventually(fact: Callable[[], bool], *, within_s: float = 20) -> bool:
    deadline = time.monotonic() + within_s
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


ANNA = "0x00000000000000000000000000000000000000A1"


class TestForeground:
    @pytest.fixture(params=["anvil", "py-evm"])
    def engine(self, request: pytest.FixtureRequest) -> str:
        return str(find_anvil_or_skip()) if request.param == "anvil" else "none"

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_serves_until_stopped(
        self, engine: str, number: signal.Signals, tmp_path: Path
    ) -> None:
        port = free_port()
        with running_specd_chain(tmp_path, port, engine) as (chain, process, announced):
            assert announced == {
                "url": chain.url,
                "chain_id": 31337,
                "engine": "py-evm" if engine == "none" else "anvil",
                "token": TOKEN,
                "payer": PAYER,
            }
            chain.pay(ANNA, 5)
            process.send_signal(number)
            assert process.wait(20) == 0
            assert not listens(port)
            assert process.stderr is not None
            assert process.stderr.read() == ""

    def test_mines_the_confirmations_of_a_payment(self, engine: str, tmp_path: Path) -> None:
        options = ("--block-time", "0.3")
        with running_specd_chain(tmp_path, free_port(), engine, *options) as (chain, _, _):
            chain.pay(ANNA, 5)
            height = chain.height
            assert eventually(lambda: chain.height >= height + 3)

    def test_ends_the_chain_when_killed(self, engine: str, tmp_path: Path) -> None:
        port = free_port()
        with running_specd_chain(tmp_path, port, engine) as (_, process, _):
            process.kill()
            assert eventually(lambda: not listens(port))

    def test_anvil_keeps_its_chain_until_a_fresh_start(self, tmp_path: Path) -> None:
        port, anvil = free_port(), str(find_anvil_or_skip())
        with running_specd_chain(tmp_path, port, anvil) as (chain, process, _):
            paid = chain.pay(ANNA, 5)
            block = chain.call("eth_getTransactionReceipt", paid)["blockHash"]
            process.terminate()
            assert process.wait(20) == 0
        with running_specd_chain(tmp_path, port, anvil) as (chain, process, _):
            assert chain.balance(ANNA) == 5
            [log] = chain.call("eth_getLogs", {"address": TOKEN, "blockHash": block})
            assert log["transactionHash"] == paid
            chain.pay(ANNA, 1)
            process.terminate()
            assert process.wait(20) == 0
        with running_specd_chain(tmp_path, port, anvil, "--fresh") as (chain, _, _):
            assert chain.balance(ANNA) == 0

    def test_reports_a_used_port(self, specd: Specd, chain: LocalChain) -> None:
        port = chain.url.rpartition(":")[2]
        assert port in specd.refusal("chain", "--port", port)

    def test_reports_an_anvil_that_does_not_start(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SPECD_ANVIL", str(tmp_path / "anvil"))
        assert "SPECD_ANVIL" in specd.refusal("chain")

    def test_reports_a_program_that_is_not_anvil(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_ANVIL", "/bin/true")
        assert "ended at once" in specd.refusal("chain")

    @pytest.mark.parametrize("saved", ["", "{", '{"block": 1}'])
    def test_sets_an_unreadable_saved_chain_aside(self, saved: str, tmp_path: Path) -> None:
        state = tmp_path / "chain.json"
        state.write_text(saved)
        with running_specd_chain(
            tmp_path, free_port(), str(find_anvil_or_skip()), "--state", str(state)
        ) as (chain, process, _):
            assert chain.has_code(TOKEN)
            process.terminate()
            _, output = process.communicate(timeout=20)
        assert "this chain is new" in output
        assert (tmp_path / "chain.unreadable").read_text() == saved
        assert state.exists()


class TestReadingAgain:
    """Rescans that the commands request from the watcher. tests/live/test_chain_campaign.py tests
    their execution.
    """

    def test_rescan_of_an_invoice_is_requested(self, specd: Specd) -> None:
        bill = open_invoice(specd, "1")
        join(bill)
        assert newcomers() == []
        assert specd.json("payment", "rescan", bill.invoice_id.upper()) == {"invoices": 1}
        assert newcomers() == [bill.invoice_id]
        assert "no such invoice" in specd.refusal("payment", "rescan", NOBODY)

    def test_rescan_of_a_chain_from_a_block_is_requested(
        self, specd: Specd, chain: LocalChain, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bill = open_invoice(specd, "1")
        join(bill)
        chain.mine(3)
        monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", chain.url)
        arguments = ("payment", "rescan", "--chain", "31337", "--from-block")
        assert "no block 99" in specd.refusal(*arguments, "99")
        assert newcomers() == []
        assert specd.json(*arguments, "2") == {"invoices": 1}
        assert newcomers() == [bill.invoice_id]

    def test_unread_chain_cannot_be_forgotten(self, specd: Specd) -> None:
        open_invoice(specd, "1")
        assert "nothing to forget" in specd.refusal("chain", "forget", "31337")


def join(bill: Bill) -> None:
    """Mark the invoice as synchronized with the chain."""
    with open_database("payment", Settings.from_env()) as database:
        ids = [bill.invoice_id]
        database.run(lambda session: receivers.note_caught_up(session, ids, next_block=None))


def newcomers() -> list[str]:
    with open_database("payment", Settings.from_env()) as database, database.reading() as reader:
        found = receivers.find_newcomers(reader, 31337, limit=9)
    return [each.receiver.invoice_id for each in found]
