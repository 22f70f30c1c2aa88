"""python -m benchmarks.payment: new databases, both services, five operations, ratios."""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx

from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import add_beside
from benchmarks.load.figures import Figures, figures_beside, figures_table, write_json
from benchmarks.load.processes import Server
from benchmarks.load.rounds import alternate
from benchmarks.load.wrk import Load, run_wrk
from benchmarks.payment.contestants import OURS, PEER, Contestant, contestants
from benchmarks.payment.postgres import create_database, running_postgres
from benchmarks.payment.stock import stock_invoices
from benchmarks.payment.story import METHOD_ID, ORDER, StoryDiffers, StoryResult, tell

TITLES = {
    "list": "GET payment methods",
    "get": "GET an invoice",
    "replay": "POST an invoice again with its Idempotency-Key",
    "create": "POST an invoice with a new Idempotency-Key",
    "cancel": "POST cancel with a new Idempotency-Key",
}
POSTGRES_PORT = 8713
CANCELS_PER_SECOND = 5000  # more invoices are prepared than can be canceled


@dataclass(frozen=True, slots=True)
class Bench:
    """A running, seeded and checked contestant, and the input of its load."""

    url: str
    bearer: str
    told: StoryResult
    directory: Path


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.payment", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="length of one load")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1, help="of each service")
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--operation", action="append", choices=list(TITLES))
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-payment.json"))
    return parser.parse_args()


def load_once(
    operation: str,
    server: Server,
    seconds: float,
    *,
    bench: Bench,
    connections: int,
    core: int | None,
) -> Load:
    tag = uuid4().hex[:12]
    bearer = ["Authorization", f"Bearer {bench.bearer}"]
    path = ""
    match operation:
        case "list":
            script, path = "fixed.lua", "/v1/payment-methods"
            arguments = ["GET", "", *bearer]
        case "get":
            script, path = "fixed.lua", f"/v1/invoices/{bench.told.invoice_id}"
            arguments = ["GET", "", *bearer]
        case "replay":
            script, path = "fixed.lua", "/v1/invoices"
            key = ["Idempotency-Key", bench.told.idempotency_key]
            json_body = ["Content-Type", "application/json"]
            arguments = ["POST", json.dumps(ORDER), *bearer, *key, *json_body]
        case "create":
            script, path = "create.lua", "/v1/invoices"
            arguments = [bench.bearer, METHOD_ID, tag]
        case "cancel":
            count = round(CANCELS_PER_SECOND * seconds)
            ids = stock_invoices(bench.url, like=bench.told.invoice_id, count=count)
            file = bench.directory / f"cancel-{tag}"
            file.write_text("\n".join(ids) + "\n")
            script, arguments = "cancel.lua", [bench.bearer, str(file), tag]
    return run_wrk(
        server.url + path,
        script=script,
        arguments=arguments,
        seconds=seconds,
        connections=connections,
        core=core,
    )


def check(server: Server, bearer: str) -> StoryResult:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        try:
            return tell(client.request, bearer)
        except StoryDiffers as error:
            sys.exit(f"{server.name} does not do the same work, so nothing was measured:\n{error}")
        except httpx.HTTPError as error:
            sys.exit(f"{server.name} failed: {error}; its log ends with:\n{server.log_end()}")


def measure(
    urls: Mapping[str, str], operations: Sequence[str], arguments: argparse.Namespace
) -> dict[str, dict[str, Figures]]:
    """Measure all operations on one kind of database. `urls` is by contestant."""
    pinned = arguments.workers == 1
    benches: dict[str, Bench] = {}

    def once(operation: str, server: Server, seconds: float) -> Load:
        bench, connections = benches[server.name], arguments.connections
        core = 1 if pinned else None
        return load_once(
            operation, server, seconds, bench=bench, connections=connections, core=core
        )

    def start(contestant: Contestant, directory: Path) -> Server:
        url = urls[contestant.name]
        bearer = contestant.prepare(url)
        workers, core = arguments.workers, 0 if pinned else None
        server = contestant.serve(url, directory, port=contestant.port, workers=workers, core=core)
        stack.enter_context(server)
        benches[contestant.name] = Bench(url, bearer, check(server, bearer), directory)
        return server

    with tempfile.TemporaryDirectory(prefix="specd-benchmark-") as name, ExitStack() as stack:
        them = contestants(arguments.beside)
        servers = [start(contestant, Path(name)) for contestant in them]
        alternate(servers, operations, rounds=1, seconds=1, load_once=once)  # warm-up
        rounds, seconds = arguments.rounds, arguments.seconds
        measured = alternate(servers, operations, rounds=rounds, seconds=seconds, load_once=once)
    return measured.tabulated(operations, [contestant.name for contestant in them])


def ratios_table(tables: Mapping[str, Mapping[str, Mapping[str, Figures]]]) -> str:
    """Return the ratios of our requests/s to the peer's. Above one is faster."""
    operations = list(next(iter(tables.values())))
    lines = ["| requests/s against the peer | " + " | ".join(operations) + " |"]
    lines.append("|---|" + "---:|" * len(operations))
    for database, table in tables.items():
        ratios = [table[it][OURS].per_second / table[it][PEER].per_second for it in operations]
        lines.append(f"| {database} | " + " | ".join(f"{it:.2f} x" for it in ratios) + " |")
    return "\n".join(lines)


def main() -> int:
    arguments = read_arguments()
    operations = arguments.operation or list(TITLES)
    them = contestants(arguments.beside)
    kinds = arguments.database or ["sqlite", "postgresql"]
    tables = {}
    if "sqlite" in kinds:
        with tempfile.TemporaryDirectory(prefix="specd-sqlite-") as name:
            urls = {it.name: f"sqlite:///{name}/{it.database}.db" for it in them}
            tables["SQLite"] = measure(urls, operations, arguments)
    if "postgresql" in kinds:
        core = 1 if arguments.workers == 1 else None
        with running_postgres(port=POSTGRES_PORT, core=core) as prefix:
            urls = {it.name: create_database(prefix, it.database) for it in them}
            tables["PostgreSQL"] = measure(urls, operations, arguments)
    shown = [
        figures_table(f"{database}: {TITLES[operation]}", row)
        for database, table in tables.items()
        for operation, row in table.items()
    ]
    print("\n\n".join([*shown, ratios_table(tables)]))
    if arguments.beside is not None:
        shown = [
            figures_beside(
                database,
                {TITLES[operation]: row for operation, row in table.items()},
                arguments.beside.name,
                OURS,
            )
            for database, table in tables.items()
        ]
        print("\n" + "\n\n".join(shown))
    draw_chart("payment", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=tables, arguments=vars(arguments) | {"out": ""})
    return 0


if __name__ == "__main__":
    sys.exit(main())
