"""python -m benchmarks.tails: the slowest responses at half load, compared with the median.

For each operation of benchmarks.chat and benchmarks.payment, it measures the maximum rate of
sixteen connections (of one, if two requests undo each other), and then p50 and p99 at half of that
rate, kept regardless of responses (an open loop). It also prints the server's own counts: stalls of
its event loop and garbage collections.
"""

import argparse
import asyncio
import gc
import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles

import httpx
import uvloop

from benchmarks.chat.databases import TITLES, databases, filled_for
from benchmarks.chat.operations import OPERATIONS
from benchmarks.chat.realm import Stage
from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, add_beside
from benchmarks.load.figures import beside_table, write_json
from benchmarks.load.paced import Connection, Work, flood, pace
from benchmarks.load.processes import Server
from benchmarks.payment.contestants import prepare_of
from benchmarks.soak.__main__ import serve
from benchmarks.soak.turns import Shop, requests_of
from specd import _logs as logs

CROWDED = 16
MAX_RATIO = 4.0
STILL_S = 3.0
SYNCS = 500
PAYMENT = ("list", "get", "replay", "create", "cancel")
COLUMNS = {
    "most": "requests/s at most",
    "p50_ms": "p50 ms at half",
    "p99_ms": "p99 ms",
    "worst_ms": "worst ms",
}
HISTOGRAMS = {"stalls": "specd_loop_stall_seconds", "pauses": "specd_gc_pause_seconds"}


@dataclass(frozen=True, slots=True)
class Tail:
    """Milliseconds at half of `most` requests a second. `stalls` and `pauses` are pairs of a count
    and an upper bound in ms for the longest.
    """

    name: str
    most: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    stalls: tuple[int, float]
    pauses: tuple[int, float]

    @property
    def ratio(self) -> float:
        return self.p99_ms / self.p50_ms


def in_turn(requests: list[bytes]) -> Work:
    coming = itertools.cycle(requests)
    return lambda connection: connection.ask(next(coming))


def payment_works(bearer: str, invoice_id: str) -> dict[str, Work]:
    shop = Shop(bearer)
    numbers = itertools.count()

    async def cancel(connection: Connection) -> None:
        """Create and cancel an invoice, so half of the measured time is the creation."""
        made = await connection.ask(shop.create(f"cancel-{os.getpid()}-{next(numbers)}"))
        await connection.ask(shop.cancel(httpx.Response(200, content=made).json()["id"]))

    return {
        "list": in_turn([shop.methods()]),
        "get": in_turn([shop.get(invoice_id)]),
        "replay": in_turn([shop.create("first")]),
        "create": lambda link: link.ask(shop.create(f"create-{os.getpid()}-{next(numbers)}")),
        "cancel": cancel,
    }


def counts(url: str, histogram: str) -> dict[float, int]:
    """Return how many values were not longer than each upper bound in seconds, so far."""
    text = httpx.get(f"{url}/metrics", timeout=60).text
    found = re.findall(rf'^{histogram}_bucket{{le="([^"]+)"}} (\S+)$', text, re.MULTILINE)
    return {float(bound): int(float(count)) for bound, count in found}


def since(before: Mapping[float, int], now: Mapping[float, int]) -> tuple[int, float]:
    """Return how many values were added, and the lowest bound in ms that covers all of them."""
    came = {bound: now[bound] - before.get(bound, 0) for bound in sorted(now)}
    whole = max(came.values(), default=0)
    bound = next((bound for bound, count in came.items() if count == whole), 0.0)
    return whole, bound * 1000 if whole else 0.0


async def measure(
    server: Server, name: str, work: Work, crowd: int, *, seconds: float, least: int
) -> Tail:
    """Measure one operation. At half load, send at least `least` requests, even after `seconds`."""
    await flood(server.port, work, seconds=min(0.5, seconds), connections=crowd)
    most = await flood(server.port, work, seconds=min(2, seconds), connections=crowd)
    await asyncio.sleep(1)
    before = {part: counts(server.url, it) for part, it in HISTOGRAMS.items()}
    rate = most / 2
    length = max(seconds, least / rate)
    times = await pace(server.port, work, per_second=rate, seconds=length, connections=crowd)
    told = {part: since(before[part], counts(server.url, it)) for part, it in HISTOGRAMS.items()}
    parts = quantiles(times, n=100, method="inclusive")
    return Tail(name, most, parts[49], parts[98], max(times), told["stalls"], told["pauses"])


def run(kind: str, directory: Path, arguments: argparse.Namespace) -> dict[str, list[Tail]]:
    """Return the results by the name of the checkout. Checkouts take turns for each operation."""
    with ExitStack() as stack:
        where = stack.enter_context(databases(kind, directory, stays=arguments.keep is not None))
        stage, chats = filled_for(where, directory, arguments.beside, arguments.messages)
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="specd-tails-server-")))
        measured = []
        for number, (checkout, chat) in enumerate(chats.items()):
            where.create(f"payment{number}")
            urls = {"chat": chat, "payment": where.url(f"payment{number}")}
            bearer = prepare_of(checkout, urls["payment"])
            server = stack.enter_context(serve(urls, own, 1, core=0, checkout=checkout))
            measured.append((server, bearer))

        async def all_of_them() -> dict[str, list[Tail]]:
            works = [(server, await works_of(server, stage, bearer)) for server, bearer in measured]
            found: dict[str, list[Tail]] = {server.name: [] for server, _ in works}
            bounds = {"seconds": arguments.seconds, "least": arguments.requests}
            for name in arguments.operation or [*OPERATIONS, *PAYMENT]:
                in_pairs = name in OPERATIONS and len(requests_of(stage, name)) > 1
                crowd = 1 if in_pairs else CROWDED
                for server, work in works:
                    tail = await measure(server, name, work[name], crowd, **bounds)
                    print(line(tail), file=sys.stderr)
                    found[server.name].append(tail)
            return found

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(all_of_them())


async def works_of(server: Server, stage: Stage, bearer: str) -> dict[str, Work]:
    """Return the work of each operation of both services, for a server that has just started."""
    connection = Connection(server.port)
    first = await connection.ask(Shop(bearer).create("first"))
    connection.close()
    works = {name: in_turn(requests_of(stage, name)) for name in OPERATIONS}
    return works | payment_works(bearer, httpx.Response(200, content=first).json()["id"])


def standstills(seconds: float) -> list[float]:
    """Return how long this process, which only reads the clock, was suspended each time, in ms, if
    at least a millisecond: the delay that the machine itself adds to the slowest responses.
    """
    found = []
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        before, now = now, time.perf_counter()
        if now - before >= 0.001:
            found.append((now - before) * 1000)
    return found


def syncs(directory: Path) -> list[float]:
    """Return the times in ms to sync 16 KiB to disk, the minimum delay of a commit."""
    found = []
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(16 << 10))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            found.append((time.perf_counter() - began) * 1000)
            time.sleep(0.005)
    return found


def line(tail: Tail) -> str:
    said = " | ".join(
        f"{count} up to {bound:g} ms" if count else "none"
        for count, bound in (tail.stalls, tail.pauses)
    )
    return (
        f"| {tail.name} | {tail.most:,.0f} | {tail.p50_ms:.2f} | {tail.p99_ms:.2f}"
        f" | {tail.ratio:.1f} x{'' if tail.ratio <= MAX_RATIO else ' (over)'}"
        f" | {tail.worst_ms:.1f} | {said} |"
    )


def table(database: str, tails: list[Tail]) -> str:
    head = "requests/s at most | p50 ms at half | p99 ms | p99 / p50 | worst ms | stalls"
    return "\n".join(
        [f"| {database} | {head} | collections |", "|---|" + "---:|" * 7, *map(line, tails)]
    )


def compared(database: str, before: tuple[str, list[Tail]], now: tuple[str, list[Tail]]) -> str:
    pairs = zip(before[1], now[1], strict=True)
    rows = {old.name: (asdict(old), asdict(new)) for old, new in pairs}
    return beside_table(f"{database}, {before[0]} and now", rows, COLUMNS)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.tails", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6, help="at half load, at the least")
    parser.add_argument("--requests", type=int, default=300, help="at the least, too")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--database", action="append", choices=list(TITLES))
    parser.add_argument("--operation", action="append", choices=[*OPERATIONS, *PAYMENT])
    parser.add_argument("--keep", type=Path, help="as of benchmarks.chat")
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-tails.json"))
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    logs.configure("warning")
    os.sched_setaffinity(0, {1})  # the server has the other core
    gc.freeze()
    gc.disable()  # a collection here would look like a slow response
    kept = arguments.keep
    found = {}
    shown = []
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="specd-tails-") as place:
        still = standstills(STILL_S)
        print(
            f"The machine alone: {len(still) / STILL_S:.1f} standstills of 1 ms and more a second,"
            f" the longest {max(still, default=0):.1f} ms."
        )
        parts = quantiles(kept_after := syncs(Path(place)), n=100, method="inclusive")
        print(
            f"Its disk alone keeps 16 KiB after {parts[49]:.1f} ms (p50), {parts[98]:.1f} ms (p99)"
            f" and {max(kept_after):.1f} ms at worst.\n"
        )
        for kind in arguments.database or list(TITLES):
            found[kind] = run(kind, Path(place), arguments)
            each = [table(f"{TITLES[kind]}, {name}", it) for name, it in found[kind].items()]
            print("\n\n".join(each) + "\n")
            if arguments.beside:
                each = [compared(TITLES[kind], *found[kind].items())]
                print(each[0] + "\n")
            shown += each
    draw_chart("tails", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=found)
    ours = [tail for tails in found.values() for tail in tails[HERE.name]]
    return 0 if all(tail.ratio <= MAX_RATIO for tail in ours) else 1


if __name__ == "__main__":
    sys.exit(main())
