"""Measurements of a server: the latency of events, and the cost of a waiting client."""

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
    """One message received by one client: milliseconds since its request and since its response.

    `is_near` means that the process that accepted the message also serves the client.
    """

    since_request_ms: float
    since_answer_ms: float
    is_near: bool


@dataclass(frozen=True, slots=True)
class Telling:
    """All receptions by all clients, by message."""

    messages: tuple[tuple[Told, ...], ...]

    def percentiles(self, *, since: str, near: bool | None = None) -> tuple[float, float] | None:
        """Return p50 and p99 in milliseconds since the `request` or the `answer`, or None if there
        are too few clients.
        """
        times = [
            told.since_request_ms if since == "request" else told.since_answer_ms
            for message in self.messages
            for told in message
            if near is None or told.is_near == near
        ]
        return (median(times), quantiles(times, n=100)[98]) if len(times) > 1 else None

    def all_told_ms(self) -> list[float]:
        """Return the time from the response until the last client had the message, for each
        message.
        """
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
    """Send messages from every process in turn, each after all clients have the previous one."""
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
    """Return a connection to each serving process, as far as the kernel's choice allows."""
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
    """The cost of waiting clients. Shares are of one core, for all processes together.

    `idle_share` excludes heartbeats, unless `tainted` of them came during the measurement. If the
    server was not `at_rest`, some clients were not waiting yet. `statements` is the number of
    database statements per second, or None if they are not counted. `beating_share` is the mean
    over a time in which every client got heartbeats and polled again. `told_s` is the time from the
    response until the last client had a message at the end.
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
    """Measure clients that wait, then send them a message. The run fails if one does not get it."""
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
    """Warm up the processes, so that one-time costs do not count as costs of a client."""
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
