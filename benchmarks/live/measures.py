"""What is measured of a server: how soon clients are told, and what a client costs that waits."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.live.crowd import Account, Crowd, QueueOf, Sender
from benchmarks.live.servers import Running, settle, spread

WARM_UP = 5
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Told:
    """One client told of one message: milliseconds since its request and since its answer.

    `is_near`: does the process that took the message also serve the client?
    """

    since_request_ms: float
    since_answer_ms: float
    is_near: bool


@dataclass(frozen=True, slots=True)
class Telling:
    """Every client told of every message, by message."""

    messages: tuple[tuple[Told, ...], ...]

    def percentiles(self, *, since: str, near: bool | None = None) -> tuple[float, float] | None:
        """p50 and p99 in milliseconds since the `request` or the `answer`; None: no such client."""
        times = [
            told.since_request_ms if since == "request" else told.since_answer_ms
            for message in self.messages
            for told in message
            if near is None or told.is_near == near
        ]
        return (median(times), quantiles(times, n=100)[98]) if len(times) > 1 else None

    def all_told_ms(self) -> list[float]:
        """How long after its answer everybody knew of a message, for each message."""
        return [max(told.since_answer_ms for told in message) for message in self.messages]


async def measure_telling(
    running: Running,
    queues: Sequence[QueueOf],
    senders: Sequence[Account],
    *,
    channel: str,
    messages: int,
    pause_s: float,
) -> Telling:
    """Send messages, each when everybody knows of the last one, from every process in turn."""
    crowd = Crowd(running.server.port)
    await crowd.join(queues)
    await settle(running)
    lines = await _connect_to_each(running)
    owners = running.connections()
    told: list[tuple[Told, ...]] = []
    try:
        for number in range(-WARM_UP, messages):
            line, account = lines[number % len(lines)], senders[number % len(senders)]
            sent = await line.send(account, channel, f"Message {number}")
            arrivals = await crowd.told(sent.message_id, len(queues), seconds=PATIENCE_S)
            if number >= 0:
                told.append(
                    tuple(
                        Told(
                            since_request_ms=(at - sent.began) * 1000,
                            since_answer_ms=(at - sent.answered) * 1000,
                            is_near=owners[port] == owners[line.port],
                        )
                        for at, port in arrivals
                    )
                )
            await asyncio.sleep(pause_s)
    finally:
        await crowd.leave()
        for line in lines:
            line.close()
    return Telling(tuple(told))


async def _connect_to_each(running: Running) -> list[Sender]:
    """A connection to each process that serves clients, as far as the kernel's choice allows."""
    found: dict[int, Sender] = {}
    workers = set(running.pids()[1:]) or set(running.pids())
    for _ in range(50):
        line = await Sender.connect(running.server.port)
        await asyncio.sleep(0.02)  # until it is accepted
        pid = running.connections().get(line.port)
        if pid is None or found.setdefault(pid, line) is not line:
            line.close()
        if set(found) == workers:
            break
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Waiting:
    """What clients cost while they wait. Shares are of one core, for all processes together.

    `idle_share` is without heartbeats, unless `tainted` of them came while it was measured; where
    the server was not `at_rest`, some clients did not wait yet.
    `statements`: of the database, in a second; None: nobody counts them. `beating_share` is the
    mean over a time in which every client got heartbeats and polled again; `told_s` how long after
    the answer the last of all clients was told of a message at the end.
    """

    clients: int
    processes: list[int]
    kib_each: float
    idle_share: float
    at_rest: bool
    tainted: int
    statements: float | None
    beating_share: float | None
    told_s: float


async def measure_waiting(
    running: Running,
    queues: Sequence[QueueOf],
    sender: Account,
    *,
    channel: str,
    seconds: float,
    beating_s: float,
) -> Waiting:
    """Let all of them wait, watch, then tell all of them: whoever did not wait fails the run."""
    await _warm_up(running, queues[: max(1, len(queues) // 20)], sender, channel)
    before_kib = running.kib()
    crowd = Crowd(running.server.port)
    try:
        await crowd.join(queues)
        at_rest = await settle(running)
        processes = spread((poller.port for poller in crowd.pollers), running.connections())
        statements = running.statements and running.statements()
        heartbeats = crowd.heartbeats
        idle_share = await _watch(running, seconds)
        tainted = crowd.heartbeats - heartbeats
        kib_each = (running.kib() - before_kib) / len(queues)
        if running.statements is not None and statements is not None:
            statements = running.statements() - statements
        beating_share = await _watch(running, beating_s) if beating_s else None
        line = await Sender.connect(running.server.port)
        sent = await line.send(sender, channel, "Enough")
        arrivals = await crowd.told(sent.message_id, len(queues), seconds=PATIENCE_S)
        line.close()
    finally:
        await crowd.leave()
    return Waiting(
        clients=len(queues),
        processes=processes,
        kib_each=kib_each,
        idle_share=idle_share,
        at_rest=at_rest,
        tainted=tainted,
        statements=None if statements is None else statements / seconds,
        beating_share=beating_share,
        told_s=max(at for at, _ in arrivals) - sent.answered,
    )


async def _warm_up(
    running: Running, queues: Sequence[QueueOf], sender: Account, channel: str
) -> None:
    """What a process needs once, for its first clients, is not the cost of a client."""
    crowd = Crowd(running.server.port)
    await crowd.join(queues)
    await settle(running)
    line = await Sender.connect(running.server.port)
    sent = await line.send(sender, channel, "Warm-up")
    await crowd.told(sent.message_id, len(queues), seconds=PATIENCE_S)
    line.close()
    await crowd.leave()
    await settle(running)


async def _watch(running: Running, seconds: float) -> float:
    began, before = time.perf_counter(), running.server.cpu_seconds()
    await asyncio.sleep(seconds)
    return running.core_share(began, before)
