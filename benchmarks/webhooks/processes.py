"""The worker as in production, and the receivers, in separate processes."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.load.checkout import Checkout
from benchmarks.load.processes import Server, free_port
from benchmarks.webhooks.receivers import Addresses, Arrival
from benchmarks.webhooks.shops import SECRET

LOOK_S = 0.1


class NotAllArrived(Exception):
    """Not all messages arrived in time, so the figures are meaningless."""


class Worker(Server):
    """`specd worker webhooks`. It does not listen; its log shows when it is ready."""

    def __init__(self, url: str, directory: Path, checkout: Checkout) -> None:
        self._said = directory / "worker.log"
        env = {
            "SPECD_DATA_DIR": str(directory / "worker"),
            "SPECD_PAYMENT_DATABASE_URL": url,
            "SPECD_PAYMENT_SECRET": SECRET,
            "SPECD_WEBHOOK_NETWORKS": "127.0.0.0/8",
        }
        command = [sys.executable, "-m", "specd._cli.main", "worker", "webhooks"]
        super().__init__(
            "worker", command, port=free_port(), log=self._said, env=env, checkout=checkout
        )

    def is_ready(self) -> bool:
        return b"worker_started" in self._said.read_bytes()


class Receivers:
    """A process with `count` receivers, which reports what arrived."""

    def __init__(self, server: Server) -> None:
        self._desk = httpx.Client(base_url=server.url, trust_env=False, timeout=30)
        found = self._desk.get("/addresses").json()
        self.addresses = Addresses(**found | {"taking": tuple(found["taking"])})

    def wait(self, count: int, *, seconds: float) -> list[Arrival]:
        """Return the first arrival of each message in order, once `count` messages have arrived.
        Later calls do not repeat them. Raise `NotAllArrived`.
        """
        deadline = time.monotonic() + seconds
        while (so_far := self._desk.get("/count").json()) < count:
            if time.monotonic() > deadline:
                raise NotAllArrived(f"{so_far:,} of {count:,} after {seconds:.0f} s")
            time.sleep(LOOK_S)
        first: dict[tuple[int, str], Arrival] = {}
        for told in self._desk.get("/arrivals").json():
            arrival = Arrival(**told)
            first.setdefault((arrival.receiver, arrival.message_id), arrival)
        return list(first.values())

    def close(self) -> None:
        self._desk.close()


@contextmanager
def running_receivers(count: int, directory: Path) -> Iterator[Receivers]:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.webhooks.receivers", str(port), str(count)]
    with Server("receivers", command, port=port, log=directory / "receivers.log") as server:
        receivers = Receivers(server)
        try:
            yield receivers
        finally:
            receivers.close()
