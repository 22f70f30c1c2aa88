"""python -m benchmarks.floor: the CPU time of reads of the chat service beside their floor.

Each request goes through the whole server in this process, only without a network, and then through
uvicorn's protocol to an application that does nothing but send the same statements to the driver,
fetch their rows and encode the same answer. `--lines` shows where our time goes (cProfile).
"""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import orjson
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

import logs
from benchmarks.chat.operations import API, OPERATIONS, Operation, headers
from benchmarks.chat.realm import SECRET, Stage, fill, found
from benchmarks.floor.floor import Floor, connect, record
from benchmarks.floor.profiling import on_this_thread, profile
from benchmarks.floor.wire import Ask, Connection
from benchmarks.load.figures import write_json
from benchmarks.payment.postgres import create_database, running_postgres
from handlers.chat.wiring import compose
from models.migrate import upgrade
from server.serving.app import build_app
from server.serving.protocol import Protocol
from settings import Settings

POSTGRES_PORT = 8724
GOALS = {"sqlite": 2.5, "postgresql": 3.0}
READS = [name for name, operation in OPERATIONS.items() if operation.is_read]


@dataclass(frozen=True, slots=True)
class Row:
    """CPU time of one operation, in microseconds per request; medians over the rounds."""

    operation: str
    statements: int
    bytes: int
    ours_us: float
    floor_us: float

    @property
    def ratio(self) -> float:
        return self.ours_us / self.floor_us


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.floor", description=__doc__)
    parser.add_argument("--database", action="append", choices=list(GOALS))
    parser.add_argument("--operation", action="append", choices=READS)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="length of one round's part")
    parser.add_argument("--lines", type=int, default=0, help="functions of the profile to show")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-floor.json"))
    return parser.parse_args()


def request_of(operation: Operation, stage: Stage) -> bytes:
    method, _ = operation.arguments(stage)
    given = headers(stage)
    lines = [f"{method} {API}{operation.path(stage)} HTTP/1.1", "Host: 127.0.0.1:8700"]
    lines += [f"{name}: {value}" for name, value in zip(given[::2], given[1::2], strict=True)]
    return "\r\n".join([*lines, "", ""]).encode()


async def spent_us(ask: Ask, count: int) -> float:
    """CPU time of this process and all its threads for one request, of so many."""
    began = time.process_time()
    for _ in range(count):
        await ask()
    return (time.process_time() - began) / count * 1e6


async def count_for(ask: Ask, seconds: float) -> int:
    """How many requests take about so long, of an application that is warm."""
    await spent_us(ask, 20)
    return max(5, round(seconds * 1e6 / await spent_us(ask, 10)))


async def measure(settings: Settings, stage: Stage, arguments: argparse.Namespace) -> list[Row]:
    """The service answers each operation once while its statements are noted, then as often as the
    floor, in turn.
    """
    watched = compose(settings)
    assert watched.database is not None
    with watched.database.reading() as connection:
        statements = record(connection.engine)
    observed = Connection(build_app([watched]), Protocol)
    app = build_app([compose(settings)])
    if arguments.lines:
        on_this_thread(app)
    ours = Connection(app, Protocol)
    driver = connect(settings.database_urls["chat"])
    gc.collect()
    gc.freeze()  # as a server does before its first request
    rows = []
    for name in arguments.operation or READS:
        request = request_of(OPERATIONS[name], stage)
        await observed.ask(request)
        statements.clear()
        head, _, body = (await observed.ask(request)).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            sys.exit(f"{name}: {head.decode()}\n{body[:300].decode()}")
        floor = Connection(Floor(driver, tuple(statements), body), HttpToolsProtocol)
        again = (await floor.ask(request)).partition(b"\r\n\r\n")[2]
        assert orjson.loads(again) == orjson.loads(body)

        asks: list[Ask] = [partial(ours.ask, request), partial(floor.ask, request)]
        counts = [await count_for(ask, arguments.seconds) for ask in asks]
        spent: tuple[list[float], list[float]] = ([], [])
        for _ in range(arguments.rounds):
            for times, ask, count in zip(spent, asks, counts, strict=True):
                times.append(await spent_us(ask, count))
        row = Row(name, len(statements), len(body), median(spent[0]), median(spent[1]))
        rows.append(row)
        print(f"{name:<14}{row.ours_us:>8,.0f} us  {row.ratio:.2f} x", file=sys.stderr)
        if arguments.lines:
            print(await profile(asks[0], counts[0], arguments.lines))
    return rows


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
        title = OPERATIONS[row.operation].title
        lines.append(f"| {title} | {numbers} | {row.ratio:.2f} x | {verdict} |")
    return "\n".join(lines)


def run(url: str, directory: Path, arguments: argparse.Namespace) -> list[Row]:
    logs.configure("warning")
    upgrade(url, "chat")
    stage = found(url)
    fill(url, stage, arguments.messages)
    settings = Settings.from_env(
        {
            "SPECD_DATA_DIR": str(directory / "server"),
            "SPECD_CHAT_DATABASE_URL": url,
            "SPECD_CHAT_SECRET": SECRET.decode(),
            "SPECD_RATE_LIMITS": "false",
            "SPECD_LOG_LEVEL": "warning",
        }
    )
    return uvloop.run(measure(settings, stage, arguments))


def main() -> int:
    arguments = read_arguments()
    figures = {}
    with tempfile.TemporaryDirectory(prefix="specd-floor-") as name:
        directory = Path(name)
        for database in arguments.database or list(GOALS):
            if database == "sqlite":
                url = f"sqlite:///{directory / 'chat.db'}"
                figures[database] = run(url, directory, arguments)
            else:
                with running_postgres(port=POSTGRES_PORT, core=None) as prefix:
                    url = create_database(prefix, "floor")
                    figures[database] = run(url, directory, arguments)
    for database, rows in figures.items():
        print(table(database, rows) + "\n")
    write_json(arguments.out, figures={name: list(map(asdict, it)) for name, it in figures.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
