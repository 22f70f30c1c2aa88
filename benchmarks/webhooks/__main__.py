"""python -m benchmarks.webhooks: events to their receivers, on both databases, compared with a
peer.

It measures the events per second from a backlog, to one receiver and to a hundred, and the time
from the commit of an event to its receipt. Both are repeated with additional receivers that hang,
refuse connections or do not respond at all. The peer posts the same messages with httpx, without a
database.
"""

import argparse
import logging
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import structlog

from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, Checkout, add_beside, with_ours
from benchmarks.load.figures import write_json
from benchmarks.load.processes import free_port
from benchmarks.payment.postgres import create_database, running_postgres
from benchmarks.webhooks.measures import (
    Burst,
    Pace,
    measure_among_bad,
    measure_peer,
    measure_worker,
)
from benchmarks.webhooks.processes import Receivers, running_receivers
from benchmarks.webhooks.report import BAD_ONES, Line, goal, line_of, table

GOAL_MS = 1000
PEER = "httpx, no database"
Create = Callable[[str], str]
"""Creates an empty database of this name and returns its URL."""


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.webhooks", description=__doc__)
    parser.add_argument("--receivers", type=int, default=100)
    parser.add_argument("--events", type=int, default=2_000, help="of a backlog")
    parser.add_argument("--rate", type=float, default=100, help="events per second as they come")
    parser.add_argument("--seconds", type=float, default=10, help="in which events come")
    parser.add_argument("--bad-seconds", type=float, default=30, help="with failing receivers")
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--no-peer", action="store_true")
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-webhooks.json"))
    return parser.parse_args()


class Run:
    """Measures and collects the lines of the table."""

    def __init__(
        self, arguments: argparse.Namespace, directory: Path, receivers: Receivers
    ) -> None:
        self._arguments, self._directory, self._receivers = arguments, directory, receivers
        self._peer: dict[int, Burst] = {}
        self.lines: list[Line] = []

    def measure(self, checkouts: Sequence[Checkout], database: str, create: Create) -> None:
        """Measure everything on one kind of database, for each checkout's worker in turn."""
        its = self._arguments
        for count in (1, its.receivers):
            for number, checkout in enumerate(checkouts):
                url = create(f"shops{count}_{number}")
                self._measure(checkout, f"{checkout.name}, {database}", url, count)
        where = f"{its.receivers}, of which {BAD_ONES}: the others"
        for number, checkout in enumerate(checkouts):
            latency = measure_among_bad(
                checkout, create(f"bad_{number}"), self._receivers, its.receivers,
                self._directory, pace=Pace(its.rate, its.bad_seconds),
            )  # fmt: skip
            sender = f"{checkout.name}, {database}"
            self._tell(Line(sender, where, latency=latency, is_judged=checkout is HERE))

    def _measure(self, checkout: Checkout, sender: str, url: str, count: int) -> None:
        """Measure with `count` receivers. The peer posts the first checkout's events."""
        its = self._arguments
        burst, latency, messages = measure_worker(
            checkout, url, self._receivers, count, self._directory,
            events=its.events, pace=Pace(its.rate, its.seconds),
        )  # fmt: skip
        if count not in self._peer and not its.no_peer:
            self._peer[count] = measure_peer(self._receivers, messages)
            self._tell(Line(PEER, str(count), self._peer[count]))
        peer = self._peer.get(count)
        share = burst.per_second / peer.per_second if peer else None
        self._tell(Line(sender, str(count), burst, latency, share))

    def _tell(self, line: Line) -> None:
        """Add a line and print it."""
        self.lines.append(line)
        print(line_of(line), file=sys.stderr, flush=True)


def main() -> int:
    arguments = read_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # also stops the started processes
    quiet = structlog.make_filtering_bound_logger(logging.WARNING)
    structlog.configure(wrapper_class=quiet)
    checkouts = with_ours(arguments.beside)
    with tempfile.TemporaryDirectory(prefix="specd-webhooks-") as name:
        directory = Path(name)
        with running_receivers(arguments.receivers, directory) as receivers:
            run = Run(arguments, directory, receivers)
            for database, create in databases(arguments.database, directory):
                run.measure(checkouts, database, create)
    print(table(run.lines), end="\n\n")
    said, reached = goal(
        run.lines,
        receivers=arguments.receivers,
        bound_ms=GOAL_MS,
        per_second=arguments.rate,
    )
    print(said)
    draw_chart("webhooks", table(run.lines), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=run.lines)
    return 0 if reached else 1


def databases(wanted: list[str] | None, directory: Path) -> Iterator[tuple[str, Create]]:
    """Yield one kind after another. Each exists while it is measured."""
    if "sqlite" in (wanted or ["sqlite"]):
        yield "SQLite", lambda name: f"sqlite:///{directory / name}.db"
    if "postgresql" in (wanted or ["postgresql"]):
        with running_postgres(port=free_port(), core=None) as prefix:
            yield "PostgreSQL", lambda name: create_database(prefix, name)


if __name__ == "__main__":
    sys.exit(main())
