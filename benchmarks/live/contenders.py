"""The measured servers: the chat service on each database, and the in-memory peer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.live.crowd import Account, QueueOf, Sender
from benchmarks.live.servers import Running, ours, peer
from benchmarks.live.stage import Stage, queues_by
from benchmarks.load.checkout import HERE, Checkout
from benchmarks.peers.live_fastapi import PASSWORD


class Contender(Protocol):
    """A server that can be started, and its clients' queues."""

    @property
    def name(self) -> str: ...
    @property
    def processes(self) -> int: ...
    @property
    def senders(self) -> Sequence[Account]: ...
    def serve(self) -> AbstractContextManager[Running]: ...
    async def open(self, running: Running, count: int) -> list[QueueOf]: ...


@dataclass(frozen=True)
class Specd:
    """The service of a checkout with its production configuration."""

    database: str
    stage: Stage
    directory: Path
    processes: int
    statements: Callable[[], int] | None = None
    checkout: Checkout = HERE

    @property
    def name(self) -> str:
        return f"{self.checkout.name}, {self.database}"

    @property
    def senders(self) -> Sequence[Account]:
        """The subscribers of `stage`, in turn, so that each stays below the rate limit."""
        return [account for _, account in self.stage.people[:100]]

    @contextmanager
    def serve(self) -> Iterator[Running]:
        with ours(self.stage.url, self.directory, self.processes, self.checkout) as server:
            yield Running(server, self.statements)

    async def open(self, running: Running, count: int) -> list[QueueOf]:
        if self.checkout == HERE:
            return self.stage.queues(count)
        return queues_by(self.checkout, self.stage, self.directory, count)


@dataclass(frozen=True)
class Peer:
    """The peer has its queues in memory, so its API opens them."""

    directory: Path
    name = "FastAPI, in memory"
    processes = 1
    senders = (Account("sender@bench.example", PASSWORD),)

    @contextmanager
    def serve(self) -> Iterator[Running]:
        with peer(self.directory) as server:
            yield Running(server)

    async def open(self, running: Running, count: int) -> list[QueueOf]:
        line = await Sender.connect(running.server.port)
        account = Account("reader@bench.example", PASSWORD)
        answers = [await line.post("/api/v1/register", account, {}) for _ in range(count)]
        line.close()
        return [QueueOf(account, str(answer["queue_id"])) for answer in answers]
