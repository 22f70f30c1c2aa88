"""The dearest requests at a real server, all at once: what they do to somebody else's request."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.chat_cast import SECRET
from tests.live.running_server import RunningServer

AT_ONCE = 8
TRIES = 5
DELAY_S = 0.1
PROBES = 40


@dataclass(frozen=True)
class Delays:
    """Of all tries: how long a request took in seconds that met nobody, and those that met the
    dearest ones; what the dearest ones were answered.
    """

    alone: list[float]
    beside: list[list[float]]
    statuses: list[int]

    @property
    def worst(self) -> list[float]:
        """Of each try, by how much the slowest request was delayed."""
        usual = statistics.median(self.alone)
        return [max(times) - usual for times in self.beside]

    @property
    def is_short(self) -> bool:
        """In most tries: a machine that does something else now and then is no finding."""
        return statistics.median(self.worst) <= DELAY_S

    def __str__(self) -> str:
        every = sorted(time for times in self.beside for time in times)
        at = [every[min(int(len(every) * p), len(every) - 1)] for p in (0.5, 0.95, 0.99)]
        return (
            f"an unrelated request: alone {statistics.median(self.alone) * 1000:.1f} ms; beside "
            f"{AT_ONCE} of the dearest {at[0] * 1000:.1f} ms (median), "
            f"{at[1] * 1000:.1f} ms (95 %), {at[2] * 1000:.1f} ms (99 %) of {len(every)}; "
            "delayed at most by "
            + ", ".join(f"{delay * 1000:.0f}" for delay in self.worst)
            + f" ms in {len(self.beside)} tries; answers {sorted(set(self.statuses))}"
        )


def measure(
    directory: Path, database_url: str, dearest: Sequence[httpx.Request], unrelated: httpx.Request
) -> Delays:
    """Serve the database with two processes and send both kinds of requests."""
    environment = {
        "SPECD_CHAT_DATABASE_URL": database_url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_WORKERS": "2",
        "SPECD_VALIDATE_RESPONSES": "false",
        "SPECD_DEVELOPMENT": "true",
    }
    chosen = [dearest[n % len(dearest)] for n in range(AT_ONCE)]
    with (
        RunningServer(directory, environment, application="chat") as server,
        ThreadPoolExecutor(AT_ONCE) as threads,
    ):
        for request in chosen:  # each process compiles its statements once
            for _ in range(2):
                _send(server, request)
        alone = [_timed(server, unrelated) for _ in range(PROBES)]
        beside: list[list[float]] = []
        statuses: list[int] = []
        for _ in range(TRIES):
            sent = [threads.submit(_send, server, request) for request in chosen]
            times: list[float] = []
            while not all(one.done() for one in sent) or len(times) < AT_ONCE:
                times.append(_timed(server, unrelated))
            beside.append(times)
            statuses.extend(one.result() for one in sent)
    return Delays(alone, beside, statuses)


def _send(server: RunningServer, request: httpx.Request) -> int:
    """On a connection of its own, so that both processes get their part."""
    path = request.url.raw_path.decode()
    with httpx.Client(timeout=60) as client:
        answer = client.request(
            request.method, server.url + path, headers=request.headers, content=request.content
        )
    return answer.status_code


def _timed(server: RunningServer, request: httpx.Request) -> float:
    started = time.perf_counter()
    assert _send(server, request) == 200
    return time.perf_counter() - started
