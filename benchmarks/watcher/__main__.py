"""python -m benchmarks.watcher: the cost of a block for the chain watcher with few and with many
open invoices, on a real local chain (anvil) and both databases.

Each block contains one payment to an open invoice and some transfers of the token to unrelated
addresses.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, Checkout, add_beside, with_ours
from benchmarks.load.figures import beside_table, write_json
from benchmarks.load.processes import free_port
from benchmarks.payment.contestants import prepare_ours
from benchmarks.payment.postgres import create_database, running_postgres
from benchmarks.payment.stock import stock_invoices
from benchmarks.payment.story import METHOD_ID
from demo.chain.anvil import find_anvil, start_anvil
from demo.chain.testnet import Testnet, TestnetError, TestnetUnreachable
from models.payment.invoices import check_order, create_invoice
from models.payment.tables import Project
from specd.db import Database

COUNTS = (1_000, 10_000, 100_000)
MAX_GROWTH = 1.3
LONG = timedelta(days=1)
MEASURE = Path(__file__).with_name("blocks.py")
COLUMNS = {"cpu_ms": "CPU ms", "wall_ms": "ms", "statements": "SQL statements"}
Create = Callable[[str], str]
"""Creates an empty database of this name and returns its URL."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over the blocks. `cpu_ms` is the watcher's process, without database and chain."""

    cpu_ms: float
    wall_ms: float
    statements: float
    questions: float


Costs = Mapping[int, Cost]
"""The costs by the number of open invoices."""


def measure(
    checkout: Checkout, url: str, chain_url: str, count: int, *, blocks: int, strangers: int
) -> Cost:
    """Measure a checkout's watcher, in an empty database that our code fills."""
    prepare_ours(url, watched=False)
    database = Database(url)
    first = database.run(furnish)
    database.dispose()
    paid = stock_invoices(url, like=first, count=count - 1)[: blocks + 1]
    asked = (url, chain_url, json.dumps(paid), str(strangers))
    return Cost(**json.loads(checkout.run(MEASURE.read_text(), *asked)))


def furnish(session: Session) -> str:
    """Create an open invoice of the benchmark's merchant. Return its id."""
    project = session.scalars(select(Project)).one()
    order = check_order(
        session, project_id=project.id, external_order_id="first", attempt_no=1,
        amount="12.50", payment_method_id=METHOD_ID,
    )  # fmt: skip
    now = datetime.now(UTC)
    return create_invoice(
        session, order, xpub=project.xpub, lifetime=LONG, monitoring=LONG, now=now
    ).id


def table(database: str, costs: Costs) -> str:
    lines = [
        f"| {database}: a block with | CPU ms | ms | SQL statements | questions to the chain |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {count:,} open invoices | {it.cpu_ms:.1f} | {it.wall_ms:.1f}"
        f" | {it.statements:g} | {it.questions:g} |"
        for count, it in costs.items()
    ]
    return "\n".join(lines)


def growth(costs: Costs) -> float:
    """Return the ratio of the CPU time of a block with the most open invoices to the fewest."""
    return costs[max(costs)].cpu_ms / costs[min(costs)].cpu_ms


@contextmanager
def running_anvil() -> Iterator[str]:
    """Yield the URL of a local chain with the token."""
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


@contextmanager
def databases(kind: str) -> Iterator[Create]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="specd-watcher-") as place:
            yield lambda name: f"sqlite:///{place}/{name}.db"
    else:
        with running_postgres(port=free_port(), core=None) as prefix:
            yield lambda name: create_database(prefix, name)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.watcher", description=__doc__)
    parser.add_argument("--invoices", type=int, action="append", help="how many are open")
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--strangers", type=int, default=10, help="other transfers in a block")
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-watcher.json"))
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    counts = arguments.invoices or COUNTS
    checkouts = with_ours(arguments.beside)
    figures: dict[str, dict[str, dict[int, Cost]]] = {}
    shown = []
    with running_anvil() as chain_url:
        for kind in arguments.database or ["sqlite", "postgresql"]:
            found = figures[kind] = {checkout.name: {} for checkout in checkouts}
            with databases(kind) as create:
                for count in counts:
                    for number, checkout in enumerate(checkouts):
                        found[checkout.name][count] = measure(
                            checkout, create(f"n{count}_{number}"), chain_url, count,
                            blocks=arguments.blocks, strangers=arguments.strangers,
                        )  # fmt: skip
            each = table(kind, found[HERE.name])
            print(each + "\n")
            if arguments.beside:
                each = compared(kind, found[arguments.beside.name], found[HERE.name])
                print(each + "\n")
            shown.append(each)
    draw_chart("watcher", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=figures)
    most = max(growth(found[HERE.name]) for found in figures.values())
    print(f"A block with the most invoices costs {most:.2f} x one with the fewest.")
    return 0 if most <= MAX_GROWTH else 1


def compared(kind: str, before: Costs, now: Costs) -> str:
    rows = {
        f"{count:,} open invoices": (asdict(before[count]), asdict(cost))
        for count, cost in now.items()
    }
    return beside_table(f"{kind}: a block with", rows, COLUMNS)


if __name__ == "__main__":
    sys.exit(main())
