"""Sends the most expensive requests together to a real server, and measures the delay of another
user's request.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import httpx

from tests.live.running_server import ROOT, RunningServer
from tests.support.chat.people import SECRET

AT_ONCE = 8
TRIES = 7
DELAY_S = 0.1
PROBES = 400
UNDONE = Path(__file__).parent / "undone"
TIMEOUT_S = 60


@dataclass(frozen=True)
class Delays:
    """The seconds of undisturbed requests, and of requests sent together with the most expensive
    ones, with the statuses of these.
    """

    alone: list[float]
    together: list[list[float]]
    statuses: list[int]

    @property
    def worst(self) -> list[float]:
        """Return the delay of the slowest request in each round."""
        usual = statistics.median(self.alone)
        return [max(times) - usual for times in self.together]

    @property
    def is_short(self) -> bool:
        """Return whether most rounds are fast. Other work of the machine can slow single rounds."""
        return statistics.median(self.worst) <= DELAY_S

    def __str__(self) -> str:
        every = sorted(time for times in self.together for time in times)
        at = [every[min(int(len(every) * p), len(every) - 1)] for p in (0.5, 0.95, 0.99)]
        return (
            f"an unrelated request: alone {statistics.median(self.alone) * 1000:.1f} ms "
            f"(at most {max(self.alone) * 1000:.1f}); together "
            f"{AT_ONCE} of the dearest {at[0] * 1000:.1f} ms (median), "
            f"{at[1] * 1000:.1f} ms (95 %), {at[2] * 1000:.1f} ms (99 %) of {len(every)}; "
            "delayed at most by "
            + ", ".join(f"{delay * 1000:.0f}" for delay in self.worst)
            + f" ms in {len(self.together)} tries; answers {sorted(set(self.statuses))}"
        )


@dataclass(frozen=True)
class Plain:
    """A request in a form that can be sent by another process."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes

    @classmethod
    def of(cls, request: httpx.Request) -> Plain:
        path = request.url.raw_path.decode()
        return cls(request.method, path, dict(request.headers), request.content)


def measure(
    directory: Path, database_url: str, dearest: Sequence[httpx.Request], unrelated: httpx.Request
) -> Delays:
    """Serve the database with two processes that roll back all changes, and send both kinds of
    requests, the expensive ones from another process.
    """
    environment = {
        "PYTHONPATH": f"{UNDONE}:{ROOT}",
        "SPECD_CHAT_DATABASE_URL": database_url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_WORKERS": "2",
        "SPECD_VALIDATE_RESPONSES": "false",
        "SPECD_DEVELOPMENT": "true",
    }
    chosen = [Plain.of(dearest[n % len(dearest)]) for n in range(AT_ONCE)]
    probe = Plain.of(unrelated)
    with (
        RunningServer(directory, environment, application="chat") as server,
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as senders,
    ):
        for _ in range(3):  # each process compiles its statements once
            senders.submit(send_together, server.port, chosen).result()
        alone = [_timed(server.port, probe) for _ in range(PROBES)]
        together: list[list[float]] = []
        statuses: list[int] = []
        for _ in range(TRIES):
            sent: Future[list[int]] = senders.submit(send_together, server.port, chosen)
            times: list[float] = []
            while not sent.done() or not times:
                times.append(_timed(server.port, probe))
            together.append(times)
            statuses.extend(sent.result())
    return Delays(alone, together, statuses)


def send_together(port: int, chosen: Sequence[Plain]) -> list[int]:
    """Send all requests together. Return the status of each response."""
    with ThreadPoolExecutor(len(chosen)) as threads:
        return list(threads.map(lambda plain: _send(port, plain), chosen))


def _send(port: int, plain: Plain) -> int:
    """Send a request on a new connection, so that both processes of the server are used."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request(plain.method, plain.path, plain.content or None, plain.headers)
        answer = connection.getresponse()
        while answer.read(1024 * 1024):
            pass
        return answer.status
    finally:
        connection.close()


def _timed(port: int, probe: Plain) -> float:
    started = time.perf_counter()
    assert _send(port, probe) == 200
    return time.perf_counter() - started
