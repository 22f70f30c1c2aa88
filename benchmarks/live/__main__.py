"""python -m benchmarks.live: clients that wait for events, on both databases, compared with a peer.

It measures the delay of a message to clients, with one server process and with two, the cost of
10,000 waiting clients, and the time until 1,000 clients have received a message. The peer is a
plain implementation with FastAPI: queues in memory, one process, no database.
"""

import argparse
import logging
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import structlog
import uvloop

from benchmarks.live.contenders import Contender, Peer, Specd
from benchmarks.live.measures import Telling, Waiting, measure_telling, measure_waiting
from benchmarks.live.report import (
    Figures,
    fan_out_table,
    goals_table,
    latencies_of,
    latency_table,
    waiting_table,
)
from benchmarks.live.stage import HALL, STAGE, found_by
from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, add_beside
from benchmarks.load.figures import write_json
from benchmarks.load.processes import free_port
from benchmarks.payment.postgres import connect, create_database, running_postgres

NEAR_CLIENTS, SUBSCRIBERS, FAN_OUTS = 100, 1_000, 10
MEASURES = ("latency", "fan-out", "waiting")
COUNTER = "pg_stat_statements"


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.live", description=__doc__)
    parser.add_argument("--clients", type=int, default=10_000, help="number of waiting clients")
    parser.add_argument("--messages", type=int, default=200, help="whose latency is measured")
    parser.add_argument("--idle", type=float, default=10, help="seconds to watch clients wait")
    parser.add_argument("--beating", type=float, default=60, help="and to watch them poll again")
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--measure", action="append", choices=MEASURES)
    add_beside(parser)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-live.json"))
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    allow_files(arguments.clients)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # also stops the started processes
    quiet = structlog.make_filtering_bound_logger(logging.WARNING)
    structlog.configure(wrapper_class=quiet)
    with tempfile.TemporaryDirectory(prefix="specd-live-") as name:
        measured = [
            measure(contender, arguments) for contender in contenders(arguments, Path(name))
        ]
    latencies = latency_table(measured, min(NEAR_CLIENTS, arguments.clients))
    print(latencies, end="\n\n")
    print(fan_out_table(measured, min(SUBSCRIBERS, arguments.clients)), end="\n\n")
    print(waiting_table(measured), end="\n\n")
    goals, reached = goals_table(measured)
    print(goals)
    draw_chart("live", latencies, arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=measured)
    return 0 if reached else 1


def allow_files(clients: int) -> None:
    """Raise the limit of open files. Each client is a file here and one in a server process."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < clients + 500:
        sys.exit(f"{clients:,} clients need as many open files; `ulimit -Hn` says {most:,}.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def contenders(arguments: argparse.Namespace, directory: Path) -> Iterator[Contender]:
    """Yield one contender after another. A database exists while its contenders are measured."""
    databases = arguments.database or ["sqlite", "postgresql"]
    if not arguments.no_peer:
        yield Peer(directory)
    people = min(arguments.clients, SUBSCRIBERS)
    names = {HERE: "chat"} | ({arguments.beside: "beside"} if arguments.beside else {})
    if "sqlite" in databases:
        urls = {it: f"sqlite:///{directory / name}.db" for it, name in names.items()}
        stages = {it: found_by(it, url, people, NEAR_CLIENTS) for it, url in urls.items()}
        for processes in (1, 2):
            for it, stage in stages.items():
                yield Specd("SQLite", stage, directory, processes, checkout=it)
    if "postgresql" in databases:
        with counting_postgres() as (prefix, count):
            urls = {it: create_database(prefix, name) for it, name in names.items()}
            stages = {it: found_by(it, url, people, NEAR_CLIENTS) for it, url in urls.items()}
            for processes in (1, 2):
                for it, stage in stages.items():
                    statements = partial(count, names[it])
                    yield Specd("PostgreSQL", stage, directory, processes, statements, it)


@contextmanager
def counting_postgres() -> Iterator[tuple[str, Callable[[str], int]]]:
    """Yield a server's URL prefix, and a function that counts the statements run in a database."""
    with running_postgres(port=free_port(), core=None, preload=COUNTER) as prefix:
        with connect(prefix) as connection:
            connection.execute(f"CREATE EXTENSION {COUNTER}".encode())

        def count(name: str) -> int:
            asked = (
                f"SELECT coalesce(sum(calls), 0)::bigint FROM {COUNTER}"
                " JOIN pg_database ON pg_database.oid = dbid WHERE datname = %s"
            )
            with connect(prefix) as connection:
                ((calls,),) = connection.execute(asked.encode(), [name]).fetchall()
            return int(calls)

        yield prefix, count


def measure(contender: Contender, arguments: argparse.Namespace) -> Figures:
    """Run all measurements of one contender, each with a server that has just started."""
    wanted = arguments.measure or MEASURES
    figures = Figures(contender.name, contender.processes, [], [])
    if "latency" in wanted:
        clients = min(NEAR_CLIENTS, arguments.clients)
        telling = uvloop.run(
            tell(contender, STAGE, clients, messages=arguments.messages, pause_s=0.1)
        )
        figures.latencies = latencies_of(telling, contender.processes)
        say(figures, latency_table([figures], clients))
    if "fan-out" in wanted:
        clients = min(SUBSCRIBERS, arguments.clients)
        telling = uvloop.run(tell(contender, HALL, clients, messages=FAN_OUTS, pause_s=1.0))
        figures.all_told_ms = telling.all_told_ms()
        say(figures, fan_out_table([figures], clients))
    is_largest = isinstance(contender, Peer) or contender.processes > 1
    if "waiting" in wanted and is_largest:
        figures.waiting = uvloop.run(wait(contender, arguments))
        say(figures, waiting_table([figures]))
    return figures


def say(figures: Figures, table: str) -> None:
    """Print the last lines of a table during the run."""
    lines = [line for line in table.splitlines() if line.startswith(f"| {figures.title}")]
    print("\n".join(lines), file=sys.stderr, flush=True)


async def tell(
    contender: Contender, channel: str, clients: int, *, messages: int, pause_s: float
) -> Telling:
    with contender.serve() as running:
        queues = await contender.open(running, clients)
        return await measure_telling(
            running, queues, contender.senders, channel=channel, messages=messages, pause_s=pause_s
        )


async def wait(contender: Contender, arguments: argparse.Namespace) -> Waiting:
    with contender.serve() as running:
        queues = await contender.open(running, arguments.clients)
        return await measure_waiting(
            running,
            queues,
            contender.senders[0],
            channel=HALL,
            seconds=arguments.idle,
            beating_s=arguments.beating,
        )


if __name__ == "__main__":
    sys.exit(main())
