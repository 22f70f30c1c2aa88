"""python -m benchmarks.chat: a realm of a thousand people, a million messages, both databases."""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path

from benchmarks.chat.databases import TITLES, databases, filled, filled_for, founded
from benchmarks.chat.measures import Figures, check, measure, serve
from benchmarks.chat.operations import FLAT, OPERATIONS, SIZES
from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, add_beside
from benchmarks.load.figures import beside_table, write_json
from specd import _logs as logs


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.chat", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="length of one load")
    parser.add_argument("--messages", type=int, default=SIZES[-1])
    parser.add_argument("--database", action="append", choices=list(TITLES))
    parser.add_argument("--operation", action="append", choices=list(OPERATIONS))
    parser.add_argument("--rounds", type=int, default=1, help="of loads, sizes in turn")
    parser.add_argument("--keep", type=Path, help="a directory where the databases stay")
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-chat.json"))
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    logs.configure("warning")
    figures: dict[str, object] = {}
    shown: list[str] = []
    kept = arguments.keep
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="specd-chat-") as place:
        Path(place).mkdir(parents=True, exist_ok=True)
        for kind in arguments.database or list(TITLES):
            told = run_beside if arguments.beside else run
            figures[TITLES[kind]], tables = told(kind, Path(place), arguments)
            shown += tables
            print("\n\n".join(tables) + "\n")
    draw_chart("chat", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=figures)
    return 0


def run(
    kind: str, directory: Path, arguments: argparse.Namespace
) -> tuple[dict[int, dict[str, Figures]], list[str]]:
    """Measure each size on a copy of one realm, each with a separate server. Also return tables."""
    sizes = sorted({size for size in SIZES if size < arguments.messages} | {arguments.messages})
    with ExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="specd-chat-servers-")))
        where = stack.enter_context(databases(kind, directory, stays=arguments.keep is not None))
        stage = founded(where, directory / f"{kind}.json")
        servers = {}
        for size in sizes:
            url = filled(where, stage, size)
            servers[size] = stack.enter_context(serve(url, own))
            check(servers[size], stage, size)
        wanted = {
            name: [size for size in sizes if name in FLAT or size in largest(servers)]
            for name in arguments.operation or OPERATIONS
        }
        measured = measure(servers, stage, wanted, arguments.seconds, arguments.rounds)
    tables = [figures_table(TITLES[kind], measured[size], size) for size in largest(measured)]
    return measured, [*tables, flatness_table(TITLES[kind], measured)]


def run_beside(
    kind: str, directory: Path, arguments: argparse.Namespace
) -> tuple[dict[str, dict[str, Figures]], list[str]]:
    """Measure only the largest size, for both checkouts."""
    other, messages = arguments.beside, arguments.messages
    with ExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="specd-chat-servers-")))
        where = stack.enter_context(databases(kind, directory, stays=arguments.keep is not None))
        stage, urls = filled_for(where, directory, other, messages)
        servers = {}
        for checkout, url in urls.items():
            servers[checkout.name] = stack.enter_context(serve(url, own, checkout))
            check(servers[checkout.name], stage, messages)
        wanted = {name: list(servers) for name in arguments.operation or OPERATIONS}
        measured = measure(servers, stage, wanted, arguments.seconds, arguments.rounds)
    rows = {
        OPERATIONS[name].title: (before, measured[HERE.name][name])
        for name, before in measured[other.name].items()
    }
    title = f"{TITLES[kind]}, {messages:,} messages, {other.name} and now"
    return measured, [beside_table(title, rows)]


def largest(sizes: Mapping[int, object]) -> list[int]:
    """Return the sizes at which all operations are measured: a million and more, and
    the largest.
    """
    return [size for size in sizes if size >= SIZES[-1] or size == max(sizes)]


def figures_table(database: str, table: dict[str, Figures], messages: int) -> str:
    lines = [
        f"**{database}, {messages:,} messages**",
        "",
        "| operation | requests/s | p50 ms | p99 ms | CPU us/request | goal for p50 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, it in table.items():
        operation = OPERATIONS[name]
        goal = "" if operation.p50_below_ms is None else f"{operation.p50_below_ms:g} ms"
        lines.append(
            f"| {operation.title} | {it['per_second']:,.0f} | {it['p50_ms']:.2f} |"
            f" {it['p99_ms']:.2f} | {it['cpu_us']:,.0f} | {goal} |"
        )
    return "\n".join(lines)


def flatness_table(database: str, tables: dict[int, dict[str, Figures]]) -> str:
    """Return p50 by the number of messages, and the ratio of the largest to the smallest."""
    sizes = sorted(tables)
    lines = [
        f"| {database}, p50 ms at | " + " | ".join(f"{size:,}" for size in sizes) + " | growth |",
        "|---|" + "---:|" * (len(sizes) + 1),
    ]
    for name in next(iter(sorted(tables.items(), reverse=True)))[1]:
        times = [tables[size][name]["p50_ms"] for size in sizes if name in tables[size]]
        if len(times) > 1:
            cells = "| " * (len(sizes) - len(times)) + " | ".join(f"{it:.2f}" for it in times)
            lines.append(f"| {name} | {cells} | {times[-1] / times[0]:.2f} x |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
