"""python -m benchmarks.engine.wire: CPU of a request in the server's process, without a network.

The server's protocol gets the bytes of a request and writes the response to an in-memory transport.
Log lines go to a file, and metrics have their multi-process form. `--beside DIRECTORY` measures
another checkout of this repository in turn, with the Python of this one.

It prints microseconds of processor time per request, the median of all rounds, and the ratio of the
two checkouts, the median of the rounds' ratios. Processor time is valid even under other load.
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a child imports all modules from its checkout
    from benchmarks.load.checkout import Checkout

CHILD = "--child"
PER_TURN = 4
"""Requests per turn of the event loop, as from sixteen busy connections."""
Round = dict[str, float]


class Wire(asyncio.Transport):
    """A connection whose client reads immediately."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written = data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0


def raw(request: Any) -> bytes:
    """Return the request as wrk sends it."""
    headers = {"Host": "127.0.0.1:8700", **request.headers}
    if request.body:
        headers["Content-Length"] = str(len(request.body))
    lines = [f"{request.method} {request.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    text = "\r\n".join(lines) + "\r\n\r\n" + request.body
    return bytes(text, "utf-8")


async def seconds_of(protocol: Any, data: bytes, count: int) -> float:
    gc.collect()
    started = time.process_time()
    for _ in range(count // PER_TURN):
        for _ in range(PER_TURN):
            protocol.data_received(data)
        await asyncio.sleep(0)
    return time.process_time() - started


async def answer_rounds(count: int) -> None:
    """Run one round for each line of standard input. Called in the measured process."""
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from benchmarks.engine.app import app
    from benchmarks.engine.operations import OPERATIONS
    from specd._engine.serving.protocol import Protocol

    config = Config(app, http=Protocol, lifespan="off", proxy_headers=False, access_log=False)
    config.load()
    state = ServerState()
    state.default_headers = [(b"date", b"Sun, 22 Nov 2026 00:00:00 GMT")]
    protocol = Protocol(config, state, {})
    wire = Wire()
    protocol.connection_made(wire)
    for operation in OPERATIONS:
        protocol.data_received(raw(operation.request))
        await asyncio.sleep(0)  # a response may be written at the end of the turn
        if not wire.written.startswith(b"HTTP/1.1 %d " % operation.status):
            sys.exit(f"{operation.name}: {wire.written!r}")
    for line in sys.stdin:
        del line
        taken = {}
        for operation in OPERATIONS:
            seconds = await seconds_of(protocol, raw(operation.request), count)
            taken[operation.name] = seconds * 1e6 / count
        print(json.dumps(taken), flush=True)


class Measured:
    """A checkout's process, which measures on request."""

    def __init__(self, checkout: "Checkout", count: int, directory: Path) -> None:
        command = [sys.executable, "-P", __file__, CHILD, str(count)]
        self.log = (directory / f"{checkout.name}.log").open("wb")
        self.process = subprocess.Popen(
            command,
            cwd=checkout.root,
            env=checkout.environment({"PROMETHEUS_MULTIPROC_DIR": str(directory)}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def __enter__(self) -> "Measured":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()

    def round(self) -> Round:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(Path(self.log.name).read_text())
        taken: Round = json.loads(line)
        return taken


def rounds_of(checkouts: Sequence["Checkout"], count: int, rounds: int) -> list[list[Round]]:
    """Run `rounds` rounds of all checkouts in turn, each in a separate process."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        measured = [stack.enter_context(Measured(it, count, Path(directory))) for it in checkouts]
        for each in measured:
            each.round()  # warm-up
        return [[each.round() for each in measured] for _ in range(rounds)]


def table(names: Sequence[str], rounds: Sequence[Sequence[Round]]) -> str:
    operations = list(rounds[0][0])
    lines = ["| us per request | " + " | ".join(operations) + " |"]
    lines.append("|---|" + "---:|" * len(operations))
    for name, taken in zip(names, zip(*rounds, strict=True), strict=True):
        figures = [f"{median(it[operation] for it in taken):.1f}" for operation in operations]
        lines.append(f"| {name} | " + " | ".join(figures) + " |")
    if len(names) > 1:
        ratios = [f"{median(a[it] / b[it] for a, b in rounds):.3f}" for it in operations]
        lines.append(f"| {names[0]} / {names[1]} | " + " | ".join(ratios) + " |")
    return "\n".join(lines)


def main() -> int:
    from benchmarks.load.checkout import add_beside, with_ours

    parser = argparse.ArgumentParser(prog="benchmarks.engine.wire", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="requests of one measurement")
    parser.add_argument("--starts", type=int, default=5, help="number of process starts")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of one start")
    add_beside(parser)
    arguments = parser.parse_args()
    checkouts = with_ours(arguments.beside)
    rounds = []
    for _ in range(arguments.starts):
        rounds += rounds_of(checkouts, arguments.count, arguments.rounds)
    print(table([checkout.name for checkout in checkouts], rounds))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        import uvloop

        sys.exit(uvloop.run(answer_rounds(int(sys.argv[2]))))
    sys.exit(main())
