"""python -m benchmarks.tails: how much longer than most the slowest answers take at half load.

For each operation of benchmarks.chat and benchmarks.payment: the most requests a second that
sixteen connections get (one where two requests undo each other), and then p50 and p99 at half of
that rate, kept whether or not answers come (an open loop). Beside them what the server counted
meanwhile: stalls of its event loop and collections of garbage.
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
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import httpx
import uvloop

import logs
from benchmarks.chat.databases import databases, filled, founded
from benchmarks.chat.operations import OPERATIONS
from benchmarks.load.figures import write_json
from benchmarks.load.paced import Connection, Work, flood, pace
from benchmarks.load.processes import Server
from benchmarks.payment.contestants import prepare_ours
from benchmarks.soak.__main__ import serve
from benchmarks.soak.turns import Shop, requests_of

CROWDED = 16
MOST_RATIO = 4.0
STILL_S = 3.0
PAYMENT = ("list", "get", "replay", "create", "cancel")
HISTOGRAMS = {"stalls": "specd_loop_stall_seconds", "pauses": "specd_gc_pause_seconds"}


@dataclass(frozen=True, slots=True)
class Tail:
    """Milliseconds at half of `most` requests a second. `stalls` and `pauses`: how many, and a
    bound in ms that the longest stayed below."""

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
        """Of an invoice of its own: half of what is measured is its creation."""
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
    """Upper bound in seconds -> how many were not longer, so far."""
    text = httpx.get(f"{url}/metrics", timeout=60).text
    found = re.findall(rf'^{histogram}_bucket{{le="([^"]+)"}} (\S+)$', text, re.MULTILINE)
    return {float(bound): int(float(count)) for bound, count in found}


def since(before: Mapping[float, int], now: Mapping[float, int]) -> tuple[int, float]:
    """How many came, and the least bound in ms that holds all of them."""
    came = {bound: now[bound] - before.get(bound, 0) for bound in sorted(now)}
    whole = max(came.values(), default=0)
    bound = next((bound for bound, count in came.items() if count == whole), 0.0)
    return whole, bound * 1000 if whole else 0.0


async def measure(
    server: Server, name: str, work: Work, crowd: int, *, seconds: float, least: int
) -> Tail:
    """`least`: how many requests at half load, also where they take longer than `seconds`."""
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


def run(kind: str, directory: Path, arguments: argparse.Namespace) -> list[Tail]:
    with ExitStack() as stack:
        where = stack.enter_context(databases(kind, directory, stays=arguments.keep is not None))
        stage = founded(where, directory / f"{kind}.json")
        where.create("payment")
        bearer = prepare_ours(where.url("payment"))
        urls = {
            "chat": filled(where, stage, arguments.messages),
            "payment": where.url("payment"),
        }
        own = stack.enter_context(tempfile.TemporaryDirectory(prefix="specd-tails-server-"))
        server = stack.enter_context(serve(urls, Path(own), 1, core=0))
        shop = Shop(bearer)

        async def all_of_them() -> list[Tail]:
            connection = Connection(server.port)
            first = httpx.Response(200, content=await connection.ask(shop.create("first")))
            connection.close()
            requests = {name: requests_of(stage, name) for name in OPERATIONS}
            works = {name: in_turn(it) for name, it in requests.items()}
            works |= payment_works(bearer, first.json()["id"])
            found = []
            for name in arguments.operation or works:
                crowd = 1 if len(requests.get(name, ())) > 1 else CROWDED
                bounds = {"seconds": arguments.seconds, "least": arguments.requests}
                tail = await measure(server, name, works[name], crowd, **bounds)
                print(line(tail), file=sys.stderr)
                found.append(tail)
            return found

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(all_of_them())


def standstills(seconds: float) -> list[float]:
    """How many ms this process, which only looks at the clock, was not run for, each time that was
    a millisecond or longer: what the machine itself adds to the slowest answers."""
    found = []
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        before, now = now, time.perf_counter()
        if now - before >= 0.001:
            found.append((now - before) * 1000)
    return found


def line(tail: Tail) -> str:
    said = " | ".join(
        f"{count} up to {bound:g} ms" if count else "none"
        for count, bound in (tail.stalls, tail.pauses)
    )
    return (
        f"| {tail.name} | {tail.most:,.0f} | {tail.p50_ms:.2f} | {tail.p99_ms:.2f}"
        f" | {tail.ratio:.1f} x{'' if tail.ratio <= MOST_RATIO else ' (over)'}"
        f" | {tail.worst_ms:.1f} | {said} |"
    )


def table(database: str, tails: list[Tail]) -> str:
    head = "requests/s at most | p50 ms at half | p99 ms | p99 / p50 | worst ms | stalls"
    return "\n".join(
        [f"| {database} | {head} | collections |", "|---|" + "---:|" * 7, *map(line, tails)]
    )


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.tails", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6, help="at half load, at the least")
    parser.add_argument("--requests", type=int, default=300, help="at the least, too")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--operation", action="append", choices=[*OPERATIONS, *PAYMENT])
    parser.add_argument("--keep", type=Path, help="as of benchmarks.chat")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-tails.json"))
    return parser.parse_args()


def main() -> int:
    arguments = read_arguments()
    logs.configure("warning")
    os.sched_setaffinity(0, {1})  # the server has the other core
    gc.freeze()
    gc.disable()  # a collection here would look like a slow answer
    kept = arguments.keep
    found = {}
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="specd-tails-") as place:
        still = standstills(STILL_S)
        print(
            f"The machine alone: {len(still) / STILL_S:.1f} standstills of 1 ms and more a second,"
            f" the longest {max(still, default=0):.1f} ms.\n"
        )
        for kind in arguments.database or ["sqlite", "postgresql"]:
            found[kind] = run(kind, Path(place), arguments)
            print(table(kind, found[kind]) + "\n")
    write_json(arguments.out, figures=found)
    return 0 if all(it.ratio <= MOST_RATIO for tails in found.values() for it in tails) else 1


if __name__ == "__main__":
    sys.exit(main())
