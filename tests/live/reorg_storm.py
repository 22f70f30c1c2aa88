"""`scripts/reorg_storm`: random reorganizations of a real chain with random payments.

Two watchers with different habits read at random times. Regularly and at the end, the stored
payments must equal a recount of the chain's logs, which shares no code with the watcher.
"""

import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.chain.reader import TRANSFER_TOPIC, Transfer
from demo.chain.anvil import find_anvil
from demo.chain.testnet import TOKEN
from specd.db import Database
from tests.live.campaign_databases import databases
from tests.live.chain_fixture import NO_ANVIL, LocalChain, running_anvil
from tests.live.shop import Shop
from tests.workers.ledger import watch
from tests.workers.recount import differences

DEEPEST = 10
COMPARE_EVERY = 20
AMOUNTS = (100, 400, 600, 1000)


@dataclass
class Report:
    """The actions of a storm, and its errors at the end."""

    reorgs: int = 0
    invoices: int = 0
    payments: int = 0
    dropped: int = 0
    mined_again: int = 0
    comparisons: int = 0
    height: int = 0
    states: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Storm:
    """One shop on one chain, and the random generator."""

    def __init__(self, database: Database, chain: LocalChain, *, seed: int) -> None:
        self.chain = chain
        self.dice = random.Random(seed)
        self.shop = Shop(database, chain)
        self.report = Report()
        self._watchers = [self.shop.watcher(), self.shop.watcher(log_range=7, many=2)]
        self._first = chain.mine(2)

    def rage(self, reorgs: int) -> Report:
        """Run this number of reorganizations and return the report."""
        for number in range(1, reorgs + 1):
            self._trade()
            self._look()
            self._reorganise()
            self._look()
            if number % COMPARE_EVERY == 0:
                self._compare()
        self.chain.mine(3)
        self._compare()
        report = self.report
        report.invoices = len(self.shop.invoices)
        report.height = self.chain.height
        report.states = Counter(self.shop.state(each).status for each in self.shop.invoices)
        report.rows = Counter(
            status for each in self.shop.invoices for status, _ in self.shop.payments(each)
        )
        return report

    def _trade(self) -> None:
        """Create invoices, some short-lived, and payments, alone in a block or several together."""
        for _ in range(self.dice.randint(0, 2)):
            lifetime = timedelta(seconds=self.dice.choice([20, 60, 1800, 1800]))
            self.shop.invoice(self.dice.choice(AMOUNTS), lifetime=lifetime)
        payers = self.dice.randint(0, 3) if self.shop.invoices else 0
        together = self.dice.random() < 0.4
        if together:
            self.chain.hold_blocks()
        for _ in range(payers):
            invoice = self.dice.choice(self.shop.invoices[-12:])
            amount = self.dice.choice(AMOUNTS)
            pay = self.chain.submit_pay if together else self.chain.pay
            pay(invoice.deposit_address, amount)
            self.report.payments += 1
        if together:
            self.chain.mine()
            self.chain.resume_blocks()
        if self.dice.random() < 0.2:
            self.shop.pass_time(self.dice.randint(1, 30))
        if self.dice.random() < 0.5:
            self.chain.mine(self.dice.randint(1, 3))

    def _look(self) -> None:
        """Let either watcher take a few steps or none, so that some branches are never read."""
        for _ in range(self.dice.randint(0, 3)):
            self.dice.choice(self._watchers).try_watch_one()

    def _reorganise(self) -> None:
        """Drop 1 to 10 blocks.

        All, some or none of their transactions return, immediately or later.
        """
        depth = self.dice.randint(1, max(1, min(DEEPEST, self.chain.height - self._first)))
        while self.chain.height - self._first < depth:
            self.chain.mine()
        raw = self.chain.raw_transactions_above(self.chain.height - depth)
        self.chain.reorg(depth)
        self.report.reorgs += 1
        self.report.dropped += len(raw)
        # They have one payer, so a later transaction needs its predecessors: only a beginning can
        # return.
        again = self.dice.choice([len(raw), len(raw), self.dice.randint(0, len(raw)), 0])
        if again and self.dice.random() < 0.3:
            self._look()
        for transaction in raw[:again]:
            self.chain.call("eth_sendRawTransaction", transaction)
        self.report.mined_again += again

    def _compare(self) -> None:
        """Let all workers finish, and recount."""
        self._wait_for_an_empty_pool()
        head = self.chain.height
        logs = self.chain.call(
            "eth_getLogs",
            {
                "fromBlock": "0x0",
                "toBlock": hex(head),
                "address": TOKEN,
                "topics": [TRANSFER_TOPIC],
            },
        )
        owners = {each.deposit_address.lower(): each.deposit_address for each in self.shop.invoices}
        transfers = [_transfer(log, owners) for log in logs]
        numbers = {head, *(each.block_number for each in transfers)}
        stamps = {
            number: datetime.fromtimestamp(int(self._block(number)["timestamp"], 16), UTC)
            for number in numbers
        }
        behind = (stamps[head] - self.shop.clock.now()).total_seconds()
        self.shop.clock.advance(seconds=max(0.0, behind))
        watch(self._watchers[0])
        self.shop.expire()
        self.report.comparisons += 1
        wrong = differences(self.shop, self.shop.invoices, transfers, stamps, head=head)
        self.report.wrong += [
            f"after {self.report.reorgs} reorgs, invoice {key}: stored {stored}, on chain {right}"
            for key, (stored, right) in wrong.items()
        ]
        if self.shop.checkpoint() != head:
            self.report.wrong.append(f"read up to {self.shop.checkpoint()}, the head is {head}")

    def _wait_for_an_empty_pool(self) -> None:
        """Mine pending transactions.

        Anvil responds before it mines. A transaction that stays pending has been replaced.
        """
        deadline = time.monotonic() + 10
        while int(self.chain.call("txpool_status")["pending"], 16):
            if time.monotonic() > deadline:
                raise AssertionError("anvil does not mine what is pending")
            time.sleep(0.01)

    def _block(self, number: int) -> dict[str, Any]:
        return dict(self.chain.call("eth_getBlockByNumber", hex(number), False))


def _transfer(log: dict[str, Any], owners: dict[str, str]) -> Transfer:
    receiver = "0x" + log["topics"][2][-40:]
    return Transfer(
        token=TOKEN,
        sender="0x" + log["topics"][1][-40:],
        receiver=owners.get(receiver, receiver),
        amount=int(log["data"], 16),
        tx_hash=log["transactionHash"],
        log_index=int(log["logIndex"], 16),
        block_number=int(log["blockNumber"], 16),
        block_hash=log["blockHash"],
    )


def run(url: str, *, reorgs: int, seed: int) -> Report:
    """Run a storm on a migrated, empty database with a new anvil."""
    database = Database(url)
    try:
        with running_anvil() as chain:
            return Storm(database, chain, seed=seed).rage(reorgs)
    finally:
        database.dispose()


def main(argv: list[str]) -> int:
    reorgs, seed = (int(text) for text in (argv + ["200", "1"][len(argv) :]))
    if find_anvil(os.environ.get("SPECD_ANVIL", "")) is None:
        print(NO_ANVIL, file=sys.stderr)
        return 2
    held = True
    for number, (name, url) in enumerate(databases("payment")):
        held = _show(name, url, reorgs, seed + number) and held
    return 0 if held else 1


def _show(name: str, url: str, reorgs: int, seed: int) -> bool:
    began = time.monotonic()
    report = run(url, reorgs=reorgs, seed=seed)
    print(
        f"{name}, seed {seed}: {report.reorgs} reorgs of depth 1-{DEEPEST} in "
        f"{time.monotonic() - began:.0f} s, {report.payments} payments to {report.invoices} "
        f"invoices, {report.dropped} dropped, {report.mined_again} mined again, height "
        f"{report.height}\n  invoices {dict(report.states)}, payment rows {dict(report.rows)}\n"
        f"  {report.comparisons} recounts, {len(report.wrong)} differences",
        flush=True,
    )
    for line in report.wrong[:20]:
        print("   ", line)
    return report.reorgs == reorgs and not report.wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
