"""Webhooks with killed workers, receivers that fail at random, and followers of the events.

`scripts/webhook-storm` runs it at full size; test_webhook_storm.py runs a part of it.
"""

from __future__ import annotations

import asyncio
import math
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from adapters.webhooks.sender import WebhookSender
from models.payment import event_list
from models.payment.event_list import EventFilter, written_id
from models.payment.settlement import cancel_invoice
from models.payment.tables import Event
from models.payment.webhooks import schedule
from models.payment.webhooks.vault import WebhookVault
from specd._workers.loop import WorkerPool
from specd.db import Clock, Database
from specd.workers import Worker
from tests.live.delivery import Workers
from tests.support.payment.factories import Merchant, make_endpoint, make_invoice, make_merchant
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

CLOCK = Clock()
VAULT = WebhookVault(b"the secret of this storm, 32 bytes or more")
ENDPOINTS = 3
PAUSES = (timedelta(seconds=0.05),) * 5 + (timedelta(seconds=0.3),) * 95
"""Retry delays of the storm, which are not hours."""
CLAIM_S = 1.0
TIMEOUT_S = 0.5
STALLED_S = 60.0
"""How long the storm waits without a delivery."""


def run_worker(url: str) -> None:
    """One process of the real worker, until it is killed."""
    schedule.PAUSES = PAUSES
    database = Database(url, lock_timeout_s=30)
    sender = WebhookSender([ip_network("127.0.0.0/8")], timeout_s=TIMEOUT_S)
    posting = Posting(sender, VAULT, CLOCK)
    worker = WebhookWorker(database, CLOCK, posting, claim_s=CLAIM_S)
    pool = WorkerPool()
    pool.run_until_signal([Worker("webhooks", worker.try_round, poll_s=0.0, close=worker.close)])


@dataclass
class Receiver:
    """An HTTP server that fails at random: 15 % of responses are 500, 10 % resets, 5 % hang."""

    failing: float = 0.3
    seed: int = 1
    port: int = 0
    arrivals: list[tuple[str, str, bool]] = field(default_factory=list)
    """Path, event and whether it was accepted, in the order of arrival."""
    answer: Callable[[bytes], bytes] = lambda body: b""
    """The response to an accepted body."""

    @contextmanager
    def running(self) -> Iterator[Receiver]:
        """Serves in a separate thread."""
        loop, ready = asyncio.new_event_loop(), threading.Event()
        choose = random.Random(self.seed)

        async def serve() -> None:
            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                try:
                    while await self._answer_one(reader, writer, choose):
                        pass
                except (ConnectionError, asyncio.IncompleteReadError):
                    pass
                finally:
                    writer.close()

            server = await asyncio.start_server(answer, "127.0.0.1", self.port)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(serve(), loop).result()
        ready.wait()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _answer_one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, choose: random.Random
    ) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines[1:])}
        body = await reader.readexactly(int(headers["content-length"]))
        path, event = lines[0].split(" ")[1], headers["webhook-id"]
        lot = choose.random() / self.failing if self.failing else 1.0
        self.arrivals.append((path, event, lot >= 1))
        if lot >= 1:
            answer = self.answer(body)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        elif lot < 0.5:
            writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        elif lot < 5 / 6:
            writer.transport.abort()
            return False
        else:
            await asyncio.sleep(TIMEOUT_S * 2)
            return False
        return True


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Followers:
    """Readers of the events, each beginning at the first event."""

    def __init__(self, database: Database, project_id: str, count: int) -> None:
        self._database, self._wanted = database, EventFilter(project_id)
        self._stopping = threading.Event()
        self.read: list[list[int]] = [[] for _ in range(count)]
        self._threads = [threading.Thread(target=self._follow, args=(one,)) for one in self.read]

    def __enter__(self) -> Followers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _follow(self, read: list[int]) -> None:
        while True:
            is_last = self._stopping.is_set()
            with self._database.reading() as reader:
                page = event_list.list_events(
                    reader, self._wanted, after=read[-1] if read else 0, limit=100
                )
            read += [row.id for row in page.events]
            if not page.events and is_last:
                return
            if not page.has_more:
                self._stopping.wait(0.1)


@dataclass(frozen=True, slots=True)
class Report:
    """The fate of the events.

    `doubled`: deliveries that were accepted more than once; `disordered`: events that arrived
    before an earlier event of their invoice was accepted; `misread`: followers that did not read
    each event once and in order.
    """

    events: int
    requests: int
    kills: int
    lost: int
    doubled: int
    disordered: int
    misread: int
    seconds: float


def run_storm(
    url: str, *, transitions: int, workers: int, kill_every_s: float | None, followers: int,
    seed: int, kill_for_s: float = math.inf,
) -> Report:  # fmt: skip
    """Write transitions, two of each invoice, while they are delivered.

    Events that a slow machine has not posted after `kill_for_s` are posted without kills.
    """
    database = Database(url, lock_timeout_s=30, pool_size=16)
    ada = database.run(lambda session: make_merchant(session, now=CLOCK.now()))
    began = time.monotonic()
    try:
        with Receiver(seed=seed).running() as receiver:
            paths = [f"/{number}" for number in range(ENDPOINTS)]
            database.run(lambda session: _make_endpoints(session, ada, receiver.port, paths))
            with (
                Followers(database, ada.id, followers) as readers,
                Workers(url, workers, kill_every_s, seed, target=run_worker) as living,
            ):
                invoice_of = _write(database, ada, transitions)
                wanted = len(invoice_of) * ENDPOINTS
                _wait(receiver, wanted, began + kill_for_s)
                living.spare()
                _wait(receiver, wanted, math.inf)
                time.sleep(CLAIM_S)
            return _judge(
                receiver.arrivals, invoice_of, paths, readers.read, living.kills,
                time.monotonic() - began,
            )  # fmt: skip
    finally:
        database.dispose()


def _make_endpoints(session: Session, ada: Merchant, port: int, paths: list[str]) -> None:
    for path in paths:
        url = f"http://127.0.0.1:{port}{path}"
        make_endpoint(session, VAULT, ada, now=CLOCK.now(), url=url)


def _write(database: Database, ada: Merchant, transitions: int) -> dict[str, str]:
    """Create invoices and cancel them. Return the events with their invoices, in order."""
    made: list[str] = []
    for number in range(transitions // 2):
        now = CLOCK.now()
        made.append(database.run(lambda session, at=now: make_invoice(session, ada, now=at)).id)
        if number >= 20:
            _cancel(database, ada, made[number - 20])
    for invoice_id in made[-20:]:
        _cancel(database, ada, invoice_id)
    with database.reading() as reader:
        rows = reader.execute(select(Event.id, Event.invoice_id).order_by(Event.id)).all()
        assert len(rows) == reader.execute(select(func.count(Event.id))).scalar()
    return {written_id(event_id): str(invoice_id) for event_id, invoice_id in rows}


def _cancel(database: Database, ada: Merchant, invoice_id: str) -> None:
    now = CLOCK.now()
    database.run(
        lambda session: cancel_invoice(session, project_id=ada.id, invoice_id=invoice_id, now=now)
    )


def _wait(receiver: Receiver, wanted: int, until: float) -> None:
    """Wait until everything is delivered, or nothing more is for a while, or the time is over."""
    count, since = -1, time.monotonic()
    while time.monotonic() < min(since + STALLED_S, until):
        taken = len({(path, event) for path, event, ok in receiver.arrivals if ok})
        if taken >= wanted:
            return
        if taken != count:
            count, since = taken, time.monotonic()
        time.sleep(0.2)


def _judge(
    arrivals: list[tuple[str, str, bool]],
    invoice_of: dict[str, str],
    paths: list[str],
    read: list[list[int]],
    kills: int,
    seconds: float,
) -> Report:
    events_of: dict[str, list[str]] = defaultdict(list)
    for event, invoice in invoice_of.items():
        events_of[invoice].append(event)
    taken: Counter[tuple[str, str]] = Counter()
    disordered = 0
    for path, event, ok in arrivals:
        before = events_of[invoice_of[event]]
        disordered += any(not taken[path, one] for one in before[: before.index(event)])
        taken[path, event] += ok
    whole = list(invoice_of)
    return Report(
        events=len(invoice_of),
        requests=len(arrivals),
        kills=kills,
        lost=sum(not taken[path, event] for path in paths for event in invoice_of),
        doubled=sum(count > 1 for count in taken.values()),
        disordered=disordered,
        misread=sum([written_id(one) for one in each] != whole for each in read),
        seconds=round(seconds, 1),
    )
