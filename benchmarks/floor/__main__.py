"""python -m benchmarks.floor: the CPU time of operations compared with their floor.

Each request passes through the complete server in this process, without a network, and then through
uvicorn's protocol to an application that only sends the same statements to the driver, fetches
their rows and encodes the same response. `--lines` shows our time by function (cProfile).
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.floor.changes import measure_changes, measure_orders
from benchmarks.floor.places import Databases, Files, Place
from benchmarks.floor.reads import measure_reads
from benchmarks.floor.requests import CHANGES, ORDERS, READS, TITLES
from benchmarks.floor.turns import Row
from benchmarks.load.charts import draw_chart
from benchmarks.load.figures import write_json
from benchmarks.payment.postgres import running_postgres
from specd import _logs as logs

POSTGRES_PORT = 8724
GOALS = {"sqlite": 2.5, "postgresql": 3.0}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.floor", description=__doc__)
    parser.add_argument("--database", action="append", choices=list(GOALS))
    parser.add_argument("--operation", action="append", choices=list(TITLES))
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="length of one round's part")
    parser.add_argument("--lines", type=int, default=0, help="functions of the profile to show")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-floor.json"))
    return parser.parse_args()


def table(database: str, rows: Sequence[Row]) -> str:
    goal = GOALS[database]
    lines = [
        f"**{database}** (goal: {goal:g} x)",
        "",
        "| operation | statements | bytes | CPU us | floor us | ratio | |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        verdict = "" if row.ratio <= goal else "over"
        numbers = f"{row.statements} | {row.bytes:,} | {row.ours_us:,.0f} | {row.floor_us:,.0f}"
        title = TITLES[row.operation]
        lines.append(f"| {title} | {numbers} | {row.ratio:.2f} x | {verdict} |")
    return "\n".join(lines)


def run(place: Place, directory: Path, arguments: argparse.Namespace) -> list[Row]:
    """Measure the requested operations on one kind of database."""
    wanted = arguments.operation or [*READS, *CHANGES, *ORDERS]
    rows: list[Row] = []
    if reads := [name for name in wanted if name in READS]:
        rows += measure_reads(place, directory, reads, arguments)
    if changes := [name for name in wanted if name in CHANGES]:
        rows += measure_changes(place, directory, changes, arguments)
    if orders := [name for name in wanted if name in ORDERS]:
        rows += measure_orders(place, directory, orders, arguments)
    return rows


def main() -> int:
    arguments = read_arguments()
    logs.configure("warning")
    figures = {}
    with tempfile.TemporaryDirectory(prefix="specd-floor-") as name:
        directory = Path(name)
        for database in arguments.database or list(GOALS):
            if database == "sqlite":
                figures[database] = run(Files(directory), directory, arguments)
            else:
                with running_postgres(port=POSTGRES_PORT, core=None) as prefix:
                    figures[database] = run(Databases(prefix), directory, arguments)
    shown = [table(database, rows) for database, rows in figures.items()]
    print("\n\n".join(shown) + "\n")
    draw_chart("floor", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures={name: list(map(asdict, it)) for name, it in figures.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
