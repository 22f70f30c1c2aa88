"""Measures the watcher's cost of a block, in a separate process: `python blocks.py URL CHAIN
INVOICES STRANGERS` pays one of the INVOICES (ids as JSON) in each block, and prints medians as
JSON.

With `--beside`, it runs with the modules of older commits, so it imports only modules that they
contain.
"""

import json
import sys
import time
from collections.abc import Sequence
from secrets import token_hex
from statistics import median
from typing import Any

from sqlalchemy import Engine, event, select

from adapters.chain.rpc_reader import RpcChainReader
from benchmarks.payment.story import CHAIN_ID
from demo.chain.testnet import Testnet
from models.payment.tables import Invoice
from specd import _logs as logs
from specd.db import Clock, Database
from workers.chain_watcher import ChainWatcher


class Counter:
    """Counts SQL statements and calls to the chain since its creation."""

    def __init__(self, reader: RpcChainReader) -> None:
        self.statements = self.questions = 0
        for name in ("head", "block", "transfers", "transfers_in"):
            setattr(reader, name, self._counted(getattr(reader, name)))
        event.listen(Engine, "before_cursor_execute", self._count)

    def _count(self, *_: Any) -> None:
        self.statements += 1

    def _counted(self, question: Any) -> Any:
        def ask(*arguments: Any) -> Any:
            self.questions += 1
            return question(*arguments)

        return ask


def watch(watcher: ChainWatcher) -> None:
    """Run steps until there is no more work."""
    while watcher.try_watch_one():
        pass


def measure(url: str, chain_url: str, invoices: Sequence[str], strangers: int) -> dict[str, float]:
    """Return the medians over a block for each invoice except the first. `cpu_ms` is this process,
    without database and chain.
    """
    chain = Testnet(chain_url)
    database = Database(url)
    reader = RpcChainReader([chain_url], CHAIN_ID, 10.0, lambda: watcher.least_head())
    watcher = ChainWatcher(database, reader, Clock(), chain_id=CHAIN_ID)
    counter = Counter(reader)
    try:
        watch(watcher)
        costs = [one_block(database, chain, watcher, counter, paid, strangers) for paid in invoices]
    finally:
        chain.close()
        reader.close()
        database.dispose()
    return {name: median(cost[name] for cost in costs[1:]) for name in costs[0]}


def one_block(
    database: Database,
    chain: Testnet,
    watcher: ChainWatcher,
    counter: Counter,
    paid: str,
    strangers: int,
) -> dict[str, float]:
    """Return the cost of all steps until the block is stored."""
    with database.reading() as books:
        address = books.scalar(select(Invoice.deposit_address).where(Invoice.id == paid))
    chain.call("evm_setAutomine", False)
    for receiver in (address, *(f"0x{token_hex(20)}" for _ in range(strangers))):
        chain.submit_pay(str(receiver), 5_000_000)
    chain.mine()
    chain.call("evm_setAutomine", True)
    before = (counter.statements, counter.questions)
    cpu, wall = time.process_time(), time.perf_counter()
    watch(watcher)
    cost = {
        "cpu_ms": (time.process_time() - cpu) * 1000,
        "wall_ms": (time.perf_counter() - wall) * 1000,
        "statements": counter.statements - before[0],
        "questions": counter.questions - before[1],
    }
    with database.reading() as books:
        pending = books.scalar(select(Invoice.amount_pending).where(Invoice.id == paid))
    assert pending == 5_000_000, "the payment is not recorded"
    return cost


if __name__ == "__main__":
    logs.configure("warning")
    database_url, chain_rpc, ids, others = sys.argv[1:]
    print(json.dumps(measure(database_url, chain_rpc, json.loads(ids), int(others))))
