"""Measurements of a sender: events per second from a backlog, and from commit to receipt."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from benchmarks.load.checkout import Checkout
from benchmarks.peers.webhooks_httpx import post_all
from benchmarks.webhooks.processes import Receivers, Worker
from benchmarks.webhooks.receivers import Arrival
from benchmarks.webhooks.shops import Message, Shops

PATIENCE_S = 90.0


@dataclass(frozen=True, slots=True)
class Burst:
    """A backlog that was sent. `cpu_ms` is the cost per event in the sender's process."""

    events: int
    per_second: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the commit of an event to its receipt. `per_second` is the rate
    of commits.
    """

    events: int
    per_second: float
    p50_ms: float
    p99_ms: float
    slowest_ms: float


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate and the duration of events for a latency measurement."""

    per_second: float
    seconds: float


def measure_worker(
    checkout: Checkout,
    url: str,
    receivers: Receivers,
    count: int,
    directory: Path,
    *,
    events: int,
    pace: Pace,
) -> tuple[Burst, Latency, list[Message]]:
    """Measure a backlog for `count` receivers, then new events. Also return the
    backlog's messages.
    """
    shops = Shops(url, receivers.addresses.taking[:count])
    try:
        shops.write(events)
        messages = shops.messages()
        with Worker(url, directory, checkout) as worker:
            before = worker.cpu_seconds()
            arrivals = receivers.wait(events, seconds=PATIENCE_S)
            cpu_ms = (worker.cpu_seconds() - before) * 1000 / events
            rate = _rate(arrivals)
            committed = shops.trade(pace.per_second, pace.seconds)
            arrivals = receivers.wait(len(committed), seconds=PATIENCE_S)
        return Burst(events, rate, cpu_ms), _latency(committed, arrivals), messages
    finally:
        shops.close()


def measure_among_bad(
    checkout: Checkout,
    url: str,
    receivers: Receivers,
    count: int,
    directory: Path,
    *,
    pace: Pace,
) -> Latency:
    """Return the latency of the working receivers. Of `count` receivers, one hangs, one refuses
    connections and one does not even answer SYN; the worker has to detect which.
    """
    its = receivers.addresses
    taking = its.taking[: count - 3]
    shops = Shops(url, [*taking, its.hanging, its.refusing, its.silent])
    try:
        with Worker(url, directory, checkout):
            shops.write(len(taking))
            receivers.wait(len(taking), seconds=PATIENCE_S)
            shops.write(count - len(taking))  # events for the bad receivers
            committed = shops.trade(pace.per_second, pace.seconds)
            shop_of = shops.shops_of(committed)
            good = {event: at for event, at in committed.items() if shop_of[event] < len(taking)}
            arrivals = receivers.wait(len(good), seconds=PATIENCE_S)
        return _latency(good, arrivals)
    finally:
        shops.close()


def measure_peer(receivers: Receivers, messages: Sequence[Message]) -> Burst:
    """Send the same messages to the same receivers, signed and posted without a database."""
    before = time.process_time()
    post_all(receivers.addresses.taking, messages)
    cpu_ms = (time.process_time() - before) * 1000 / len(messages)
    return Burst(len(messages), _rate(receivers.wait(len(messages), seconds=PATIENCE_S)), cpu_ms)


def _rate(arrivals: Sequence[Arrival]) -> float:
    """Return the arrivals per second, from the first to the last."""
    moments = [arrival.at for arrival in arrivals]
    return (len(moments) - 1) / (max(moments) - min(moments))


def _latency(committed: Mapping[str, float], arrivals: Sequence[Arrival]) -> Latency:
    arrived = {arrival.message_id: arrival.at for arrival in arrivals}
    times = [(arrived[event] - at) * 1000 for event, at in committed.items()]
    took = max(committed.values()) - min(committed.values())
    return Latency(
        events=len(times),
        per_second=(len(times) - 1) / took,
        p50_ms=median(times),
        p99_ms=quantiles(times, n=100)[98],
        slowest_ms=max(times),
    )
