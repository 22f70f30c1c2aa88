"""Scheduled delivery with killed workers, and with senders who change messages at the last moment.

`scripts/delivery` runs it at full size; test_delivery.py runs a part of it.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from models.chat.identity.actors import find_actor
from models.chat.scheduling.errors import ScheduledMessageAlreadySent
from models.chat.scheduling.scheduled_messages import (
    Changes,
    delete_scheduled_message,
    edit_scheduled_message,
)
from models.chat.tables import Event, Message, ScheduledMessage, UserMessage
from specd._workers.loop import WorkerPool
from specd.db import Clock, Database
from specd.workers import Worker
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from workers.scheduled_delivery import ScheduledDelivery

CLOCK = Clock()
KINDS = ("delete", "put off", "rewrite")
PRELOADED = [
    f"tests.live.{name}" for name in ("bot_storm", "delivery", "topic_deletion", "webhook_storm")
]
"""The imports of the test process's only fork server: the first storm determines them for all later
ones.
"""
SUBSCRIBERS = 2


def run_worker(url: str) -> None:
    """One process of the real worker, until it is killed."""
    database = Database(url)
    late = timedelta(seconds=600)
    delivery = ScheduledDelivery(database, CLOCK, late_window=late)
    worker = Worker("scheduled_delivery", delivery.try_deliver_one, poll_s=0.25)
    WorkerPool().run_until_signal([worker])


class Workers:
    """Processes of the worker, of which one is killed every `kill_every_s` and replaced.

    They are forked from a process that has imported everything and opened nothing, because a worker
    that lives less than a second must not spend it on imports.
    """

    def __init__(
        self,
        url: str,
        count: int,
        kill_every_s: float | None,
        seed: int,
        target: Callable[[str], None] = run_worker,
    ) -> None:
        self._url, self._count, self._kill_every_s = url, count, kill_every_s
        self._target = target
        self._context = multiprocessing.get_context("forkserver")
        assert target.__module__ in PRELOADED
        self._context.set_forkserver_preload(PRELOADED)
        self._random = random.Random(seed)
        self._stopped = threading.Event()
        self._has_killed = threading.Event()
        self._thread = threading.Thread(target=self._kill, daemon=True)
        self._living: list[Any] = []
        self.kills = 0

    def __enter__(self) -> Workers:
        self._living = [self._start() for _ in range(self._count)]
        self._thread.start()
        return self

    def spare(self) -> None:
        """Stop killing."""
        self._stopped.set()
        self._thread.join()

    def wait_for_a_kill(self) -> None:
        assert self._has_killed.wait(60)

    def wait(self) -> list[int]:
        """Wait until all have ended by themselves, within a time limit. Return how they ended."""
        for process in self._living:
            process.join(60)
        return [process.exitcode for process in self._living]

    def __exit__(self, *_: object) -> None:
        self.spare()
        for process in self._living:
            process.terminate()
        for process in self._living:
            process.join(10)
            process.kill()

    def _start(self) -> Any:
        process = self._context.Process(target=self._target, args=(self._url,), daemon=True)
        process.start()
        return process

    def _kill(self) -> None:
        while self._kill_every_s is not None and not self._stopped.wait(self._kill_every_s):
            place = self._random.randrange(self._count)
            self._living[place].kill()
            self._living[place].join()
            self.kills += 1
            self._has_killed.set()
            self._living[place] = self._start()


def fill(database: Database, cast: Cast, times: list[datetime]) -> list[int]:
    """Schedule messages of Hamlet's to a channel of two, one for each time. Return their ids."""

    def work(session: Session) -> list[int]:
        people = (cast.hamlet, cast.othello)
        name = f"Denmark {times[0].timestamp()}"
        channel_id = make_channel(session, cast, name, subscribers=people)
        rows = [
            {
                "realm_id": cast.realm_id,
                "sender_id": cast.hamlet.id,
                "channel_id": channel_id,
                "topic": f"topic {number % 20}",
                "content": f"message {number}",
                "rendered_content": "",
                "scheduled_at": at,
                "next_try_at": at,
                "created_at": at,
            }
            for number, at in enumerate(times)
        ]
        made = insert(ScheduledMessage).returning(ScheduledMessage.id, sort_by_parameter_order=True)
        return list(session.scalars(made, rows))

    return database.run(work)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a delivery.

    `spared`: messages that were pending at the end of the killing, and were sent without kills.
    `torn`: messages without all copies, or with inconsistent rows and events.
    """

    messages: int
    kills: int
    spared: int
    lost: int
    doubled: int
    early: int
    torn: int
    seconds: float
    median_late_s: float
    worst_late_s: float


def run_delivery(
    url: str,
    cast: Cast,
    *,
    messages: int,
    workers: int,
    spread_s: float,
    kill_every_s: float | None,
    seed: int,
    kill_for_s: float = 180,
    deadline_s: float = 500,
) -> Report:
    """Deliver messages that become due over `spread_s` seconds, beginning in two seconds.

    Messages that a slow machine has not sent after `kill_for_s` are sent without kills. None may be
    lost.
    """
    database = Database(url)
    began = CLOCK.now() + timedelta(seconds=2)
    times = [began + timedelta(seconds=spread_s * n / messages) for n in range(messages)]
    random.Random(seed).shuffle(times)
    ids = fill(database, cast, times)
    start = time.monotonic()
    with Workers(url, workers, kill_every_s, seed) as crew:
        _wait(database, ids, start + kill_for_s)
        spared = _pending(database, ids)
        crew.spare()
        _wait(database, ids, start + deadline_s)
        seconds = time.monotonic() - start
    report = _judge(database, ids, crew.kills, spared, seconds)
    database.dispose()
    return report


def _wait(database: Database, ids: list[int], until: float) -> None:
    while _pending(database, ids) and time.monotonic() < until:
        time.sleep(0.1)


def _pending(database: Database, ids: list[int]) -> int:
    first, last = min(ids), max(ids)
    with database.reading() as reader:
        count = select(func.count()).where(
            ScheduledMessage.state == "pending", ScheduledMessage.id.between(first, last)
        )
        return int(reader.execute(count).scalar_one())


def _judge(database: Database, ids: list[int], kills: int, spared: int, seconds: float) -> Report:
    first, last = min(ids), max(ids)
    with database.reading() as reader:
        rows = {
            row.id: row
            for row in reader.execute(
                select(ScheduledMessage).where(ScheduledMessage.id.between(first, last))
            )
        }
        sent = reader.execute(
            select(Message).where(Message.scheduled_message_id.between(first, last))
        ).all()
        copies = dict(
            reader.execute(
                select(UserMessage.message_id, func.count()).group_by(UserMessage.message_id)
            ).all()
        )
        events = select(func.count()).where(Event.type == "scheduled_messages")
        removals = int(reader.execute(events).scalar_one())
    # By content, which the workers copy. The column whose uniqueness is tested would hide a fault.
    contents = Counter(row.content for row in sent)
    late = [(row.sent_at - rows[row.scheduled_message_id].scheduled_at) for row in sent]
    lateness = sorted(each.total_seconds() for each in late) or [float("nan")]
    torn = sum(copies.get(row.id, 0) != SUBSCRIBERS for row in sent)
    torn += sum(rows[row.scheduled_message_id].message_id != row.id for row in sent)
    return Report(
        messages=len(ids),
        kills=kills,
        spared=spared,
        lost=sum(contents[rows[each].content] == 0 for each in ids),
        doubled=sum(count - 1 for count in contents.values()),
        early=sum(each < 0 for each in lateness),
        torn=torn + abs(removals - len(sent)),
        seconds=round(seconds, 1),
        median_late_s=round(statistics.median(lateness), 3),
        worst_late_s=round(lateness[-1], 3),
    )


@dataclass(frozen=True, slots=True)
class Race:
    """One change with one delivery: whether the change was accepted, and what was sent."""

    kind: str
    accepted: bool
    sent: tuple[str, ...]

    @property
    def consistent(self) -> bool:
        if not self.accepted:
            return self.sent == ("original",)
        return self.sent == (("edited",) if self.kind == "rewrite" else ())


def run_races(url: str, cast: Cast, *, races: int, workers: int, seed: int) -> list[Race]:
    """Change each message at the moment when it is due."""
    database = Database(url)
    chance = random.Random(seed)
    began = CLOCK.now() + timedelta(seconds=3)
    times = [began + timedelta(seconds=0.05 * n) for n in range(races)]
    ids = fill(database, cast, times)
    # The worker polls every quarter of a second, so the change happens somewhere in between.
    moments = [at + timedelta(seconds=chance.uniform(-0.02, 0.3)) for at in times]
    kinds = [KINDS[n % len(KINDS)] for n in range(races)]
    with Workers(url, workers, None, seed), ThreadPoolExecutor(4) as pool:
        accepted = list(
            pool.map(
                lambda n: _try_change(database, cast, ids[n], kinds[n], moments[n]), range(races)
            )
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and _pending(database, ids) > sum(
            taken and kind == "put off" for taken, kind in zip(accepted, kinds, strict=True)
        ):
            time.sleep(0.1)
    with database.reading() as reader:
        wanted = select(Message.scheduled_message_id, Message.content)
        found = reader.execute(wanted.where(Message.scheduled_message_id.in_(ids))).all()
    database.dispose()
    return [
        Race(
            kinds[n],
            accepted[n],
            tuple("edited" if text == "edited" else "original" for of, text in found if of == each),
        )
        for n, each in enumerate(ids)
    ]


def _try_change(
    database: Database, cast: Cast, message_id: int, kind: str, moment: datetime
) -> bool:
    time.sleep(max(0.0, (moment - CLOCK.now()).total_seconds()))

    def work(session: Session) -> None:
        now = CLOCK.now()
        hamlet = find_actor(session, cast.hamlet.id)
        assert hamlet is not None
        if kind == "delete":
            delete_scheduled_message(session, hamlet, message_id, now=now)
            return
        later = int(now.timestamp()) + 3600
        changes = (
            Changes(content="edited") if kind == "rewrite" else Changes(delivery_timestamp=later)
        )
        edit_scheduled_message(session, hamlet, message_id, changes, client="", now=now)

    try:
        database.run(work)
    except ScheduledMessageAlreadySent:
        return False
    return True
