"""python -m benchmarks.engine.profile: the time of a request by function, without an HTTP server.

It calls the ASGI application in this process with a prepared scope, so only the framework is
measured. It prints microseconds per request (best of five) for every peer, then our own time by
function (cProfile, scaled down to the time without it). Log lines go to standard error: use
`2>/dev/null` or a file.
"""

import argparse
import asyncio
import cProfile
import gc
import pstats
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.engine.operations import OPERATIONS, Request
from benchmarks.engine.peers import OURS, PEERS, Peer

REPEATS = 5
Message = MutableMapping[str, Any]
Once = Callable[[], Awaitable[int]]


def as_scope(request: Request) -> dict[str, Any]:
    """Return the ASGI scope that uvicorn creates for the request as wrk sends it."""
    headers = {"host": "127.0.0.1:8700", **{k.lower(): v for k, v in request.headers.items()}}
    if request.body:
        headers["content-length"] = str(len(request.body))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", 8700),
    }


def caller(app: Any, request: Request) -> Once:
    """Return a function that sends the request to the application once and returns the status."""
    template, body = as_scope(request), request.body.encode()

    async def once() -> int:
        status = 0

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]

        scope = {**template, "headers": list(template["headers"]), "state": {}}
        await app(scope, receive, send)
        return status

    return once


async def seconds_of(once: Once, count: int) -> float:
    gc.collect()
    started = time.process_time()
    for _ in range(count):
        await once()
    return time.process_time() - started


async def best_us(once: Once, count: int) -> float:
    await seconds_of(once, count // 4)
    return min([await seconds_of(once, count) for _ in range(REPEATS)]) / count * 1e6


async def profiled(once: Once, count: int) -> pstats.Stats:
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(count):
        await once()
    profiler.disable()
    return pstats.Stats(profiler)


def by_function(stats: pstats.Stats, us: float, lines: int) -> str:
    """Return the functions with the most time in their own code, scaled to a total of `us`."""
    rows = [
        (own, cumulative, calls, place)
        for place, (_, calls, own, cumulative, _) in stats.stats.items()  # type: ignore[attr-defined]
    ]
    scale = us / sum(own for own, *_ in rows)
    most = max(calls for own, cumulative, calls, (_, _, name) in rows if name == "once")
    table = ["| own us | with callees us | calls/request | function |", "|---:|---:|---:|---|"]
    for own, cumulative, calls, (file, line, name) in sorted(rows, reverse=True)[:lines]:
        where = "" if file == "~" else f"{'/'.join(Path(file).parts[-2:])}:{line} "
        numbers = f"{own * scale:.2f} | {cumulative * scale:.2f} | {calls / most:.1f}"
        table.append(f"| {numbers} | {where}{name.replace('|', ' ')} |")
    return "\n".join(table)


async def with_lifespan(app: Any, work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` between start-up and shutdown of the application."""
    inbox: asyncio.Queue[Message] = asyncio.Queue()
    outbox: asyncio.Queue[Message] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    task = asyncio.create_task(app(scope, inbox.get, outbox.put))
    await inbox.put({"type": "lifespan.startup"})
    await outbox.get()
    await work()
    await inbox.put({"type": "lifespan.shutdown"})
    await task


async def measure(peer: Peer, count: int, lines: int, totals: dict[str, list[float]]) -> None:
    module, _, name = peer.app.partition(":")
    app = getattr(import_module(module), name)

    async def work() -> None:
        for operation in OPERATIONS:
            once = caller(app, operation.request)
            if await once() != operation.status:
                sys.exit(f"{peer.name} {operation.name}: not answered with {operation.status}")
            us = await best_us(once, count)
            totals.setdefault(peer.name, []).append(us)
            if peer.name == OURS and lines:
                print(f"\n**{operation.title}: {us:.1f} us**\n")
                print(by_function(await profiled(once, count), us, lines))

    await with_lifespan(app, work)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.engine.profile", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="requests of one measurement")
    parser.add_argument("--lines", type=int, default=30, help="functions shown; 0 for none")
    parser.add_argument("--ours", action="store_true", help="without the peers")
    arguments = parser.parse_args()
    totals: dict[str, list[float]] = {}
    for peer in PEERS:
        if peer.name == OURS or not arguments.ours:
            uvloop.run(measure(peer, arguments.count, arguments.lines, totals))
    print("\n| us per request, in process | " + " | ".join(it.name for it in OPERATIONS) + " |")
    print("|---|" + "---:|" * len(OPERATIONS))
    for name, row in totals.items():
        print(f"| {name} | " + " | ".join(f"{us:.1f}" for us in row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
