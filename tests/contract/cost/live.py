"""The dearest requests at a real server, all at once: what they do to somebody else's request."""

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
            f"an unrelated request: alone {statistics.median(self.alone) * 1000:.1f} ms "
            f"(at most {max(self.alone) * 1000:.1f}); beside "
            f"{AT_ONCE} of the dearest {at[0] * 1000:.1f} ms (median), "
            f"{at[1] * 1000:.1f} ms (95 %), {at[2] * 1000:.1f} ms (99 %) of {len(every)}; "
            "delayed at most by "
            + ", ".join(f"{delay * 1000:.0f}" for delay in self.worst)
            + f" ms in {len(self.beside)} tries; answers {sorted(set(self.statuses))}"
        )


@dataclass(frozen=True)
class Plain:
    """A request as it is sent, for another process to send."""

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
    """Serve the database with two processes, in which nothing is kept, and send both kinds of
    requests; the dear ones from a process of their own.
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
            senders.submit(send_at_once, server.port, chosen).result()
        alone = [_timed(server.port, probe) for _ in range(PROBES)]
        beside: list[list[float]] = []
        statuses: list[int] = []
        for _ in range(TRIES):
            sent: Future[list[int]] = senders.submit(send_at_once, server.port, chosen)
            times: list[float] = []
            while not sent.done() or not times:
                times.append(_timed(server.port, probe))
            beside.append(times)
            statuses.extend(sent.result())
    return Delays(alone, beside, statuses)


def send_at_once(port: int, chosen: Sequence[Plain]) -> list[int]:
    """The status of each answer."""
    with ThreadPoolExecutor(len(chosen)) as threads:
        return list(threads.map(lambda plain: _send(port, plain), chosen))


def _send(port: int, plain: Plain) -> int:
    """On a connection of its own, so that both processes of the server get their part."""
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
