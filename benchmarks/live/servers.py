"""The measured servers, and the kernel's data about their processes."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.live.stage import SECRET
from benchmarks.load.checkout import HERE, Checkout
from benchmarks.load.processes import Server, free_port

QUIET = 0.10
"""A server that uses less than this share of a core is at rest."""


@dataclass(frozen=True, slots=True)
class Running:
    """A measured server. `statements` returns how many its database has run, or None."""

    server: Server
    statements: Callable[[], int] | None = None

    def pids(self) -> list[int]:
        """Return its processes: gunicorn's arbiter first, then the workers."""
        arbiter = self.server.pid
        children = Path(f"/proc/{arbiter}/task/{arbiter}/children").read_text()
        return [arbiter, *sorted(map(int, children.split()))]

    def kib(self) -> int:
        """Return the memory of all processes, with shared pages counted in part (PSS)."""
        return sum(pss(pid) for pid in self.pids())

    def core_share(self, began: float, cpu_before: float) -> float:
        """Return the share of a core since `began`."""
        return (self.server.cpu_seconds() - cpu_before) / (time.perf_counter() - began)

    def connections(self) -> dict[int, int]:
        """Return the process of each connection, by the port of its client."""
        owner = {}
        for pid in self.pids():
            for link in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(FileNotFoundError):
                    owner[os.readlink(link)] = pid
        found = {}
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].partition(":")[2], 16) == self.server.port:
                socket = f"socket:[{fields[9]}]"
                if socket in owner:
                    found[int(fields[2].partition(":")[2], 16)] = owner[socket]
        return found


def pss(pid: int) -> int:
    """Return the memory of a process in KiB, with shared pages counted in part."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise AssertionError("the kernel tells no Pss")


async def settle(running: Running, *, seconds: float = 33.0) -> bool:
    """Wait until the server is at rest, but not longer than `seconds`, because heartbeats of
    waiting clients begin later. Return whether it is at rest.
    """
    deadline = time.perf_counter() + seconds
    calm = 0
    while calm < 3 and time.perf_counter() < deadline:
        began, before = time.perf_counter(), running.server.cpu_seconds()
        await asyncio.sleep(0.5)
        calm = calm + 1 if running.core_share(began, before) < QUIET else 0
    return calm >= 3


def ours(url: str, directory: Path, processes: int, checkout: Checkout = HERE) -> Server:
    """Start a server as in production: gunicorn.conf.py, with limits and logs."""
    port = free_port()
    env: Mapping[str, str] = {
        "SPECD_BIND": f"127.0.0.1:{port}",
        "SPECD_WORKERS": str(processes),
        "SPECD_DATA_DIR": str(directory / f"server-{port}"),
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:chat"]
    log = directory / f"server-{port}.log"
    return Server(checkout.name, command, port=port, log=log, env=env, checkout=checkout)


def peer(directory: Path) -> Server:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "benchmarks.peers.live_fastapi:app"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop"]
    command += ["--http", "httptools", "--no-access-log", "--log-level", "warning"]
    return Server("FastAPI, in memory", command, port=port, log=directory / "peer.log")


def spread(ports: Iterable[int], owners: Mapping[int, int]) -> list[int]:
    """Return how many of these connections each process has."""
    counts: dict[int, int] = {}
    for port in ports:
        counts[owners[port]] = counts.get(owners[port], 0) + 1
    return sorted(counts.values())
