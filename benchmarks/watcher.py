"""python -m benchmarks.watcher: what a block costs the chain watcher with few and with many open
invoices, on a real local chain (anvil) and both databases.

Each block holds one payment to an open invoice and some transfers of the token to strangers.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from statistics import median
from typing import Any

from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session

import logs
from adapters.chain.rpc_reader import RpcChainReader
from benchmarks.load.figures import write_json
from benchmarks.load.processes import free_port
from benchmarks.payment.contestants import prepare_ours
from benchmarks.payment.postgres import create_database, running_postgres
from benchmarks.payment.stock import stock_invoices
from benchmarks.payment.story import CHAIN_ID, METHOD_ID
from demo.chain.anvil import find_anvil, start_anvil
from demo.chain.testnet import Testnet, TestnetError, TestnetUnreachable
from models.clock import SystemClock
from models.database import Database
from models.payment.invoices import check_order, create_invoice
from models.payment.tables import Invoice, Project
from workers.chain_watcher import ChainWatcher

COUNTS = (1_000, 10_000, 100_000)
MOST_GROWTH = 1.3
LONG = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over the blocks. `cpu_ms` is this process, without database and chain."""

    invoices: int
    cpu_ms: float
    wall_ms: float
    statements: float
    questions: float


class Counter:
    """Counts SQL statements and questions to the chain since it was made."""

    def __init__(self, reader: RpcChainReader) -> None:
        self.statements = self.questions = 0
        for name in ("head", "block", "transfers"):
            setattr(reader, name, self._counted(getattr(reader, name)))
        event.listen(Engine, "before_cursor_execute", self._count)

    def _count(self, *_: Any) -> None:
        self.statements += 1

    def _counted(self, question: Any) -> Any:
        def ask(*arguments: Any) -> Any:
            self.questions += 1
            return question(*arguments)

        return ask

    def close(self) -> None:
        event.remove(Engine, "before_cursor_execute", self._count)


def furnish(database: Database, name: str) -> str:
    """One open invoice of the benchmark's merchant; its id."""

    def work(session: Session) -> str:
        project = session.scalars(select(Project)).one()
        order = check_order(
            session, project_id=project.id, external_order_id=name, attempt_no=1,
            amount="12.50", payment_method_id=METHOD_ID,
        )  # fmt: skip
        now = datetime.now(UTC)
        return create_invoice(
            session, order, xpub=project.xpub, lifetime=LONG, monitoring=LONG, now=now
        ).id

    return database.run(work)


def watch(watcher: ChainWatcher) -> None:
    """Steps until nothing is left to do."""
    while watcher.try_watch_one():
        pass


def measure(url: str, chain_url: str, count: int, blocks: int, strangers: int) -> Cost:
    """Of `blocks` blocks after one that is not counted, in a fresh database."""
    prepare_ours(url)
    chain = Testnet(chain_url)
    database = Database(url)
    reader = RpcChainReader([chain_url], CHAIN_ID, 10.0, lambda: watcher.least_head)
    watcher = ChainWatcher(database, reader, SystemClock(), chain_id=CHAIN_ID, log_range=1000)
    counter = Counter(reader)
    try:
        first = furnish(database, "first")
        watch(watcher)
        ids = stock_invoices(url, like=first, count=count - 1)
        costs = [
            one_block(database, chain, watcher, counter, paid, strangers)
            for paid in ids[: blocks + 1]
        ]
    finally:
        chain.close()
        counter.close()
        reader.close()
        database.dispose()
    return Cost(count, *(median(column) for column in zip(*costs[1:], strict=True)))


def one_block(
    database: Database,
    chain: Testnet,
    watcher: ChainWatcher,
    counter: Counter,
    paid: str,
    strangers: int,
) -> tuple[float, float, int, int]:
    """CPU ms, ms, statements and questions of all steps until the block is in the books."""
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
    spent = (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000
    counted = counter.statements - before[0], counter.questions - before[1]
    with database.reading() as books:
        pending = books.scalar(select(Invoice.amount_pending).where(Invoice.id == paid))
    assert pending == 5_000_000, "the payment is not in the books"
    return (*spent, *counted)


def table(database: str, costs: Sequence[Cost]) -> str:
    lines = [
        f"| {database}: a block with | CPU ms | ms | SQL statements | questions to the chain |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {it.invoices:,} open invoices | {it.cpu_ms:.1f} | {it.wall_ms:.1f}"
        f" | {it.statements:g} | {it.questions:g} |"
        for it in costs
    ]
    return "\n".join(lines)


def growth(costs: Sequence[Cost]) -> float:
    """What a block costs with the most invoices, against the fewest."""
    return costs[-1].cpu_ms / costs[0].cpu_ms


@contextmanager
def running_anvil() -> Iterator[str]:
    """The URL of a local chain with the token on it."""
    binary = find_anvil(os.environ.get("SPECD_ANVIL", ""))
    if binary is None:
        raise TestnetError("anvil is not installed: set SPECD_ANVIL")
    port = free_port()
    process = start_anvil(binary, port=port)
    chain = Testnet(f"http://127.0.0.1:{port}")
    try:
        for _ in range(100):
            with suppress(TestnetUnreachable):
                chain.ensure_token()
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        chain.close()
        process.terminate()
        process.communicate()


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.watcher", description=__doc__)
    parser.add_argument("--invoices", type=int, action="append", help="how many are open")
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--strangers", type=int, default=10, help="other transfers in a block")
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-watcher.json"))
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    kinds = arguments.database or ["sqlite", "postgresql"]
    counts = arguments.invoices or COUNTS
    figures: dict[str, list[Cost]] = {}
    logs.configure("warning")
    with running_anvil() as chain_url, ExitStack() as stack:
        for kind in kinds:
            if kind == "sqlite":
                place = stack.enter_context(tempfile.TemporaryDirectory(prefix="specd-watcher-"))
                urls = [f"sqlite:///{place}/{count}.db" for count in counts]
            else:
                prefix = stack.enter_context(running_postgres(port=free_port(), core=None))
                urls = [create_database(prefix, f"n{count}") for count in counts]
            figures[kind] = [
                measure(url, chain_url, count, arguments.blocks, arguments.strangers)
                for url, count in zip(urls, counts, strict=True)
            ]
            print(table(kind, figures[kind]) + "\n")
    write_json(arguments.out, figures=figures)
    most = max(growth(costs) for costs in figures.values())
    print(f"A block with the most invoices costs {most:.2f} x one with the fewest.")
    return 0 if most <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
