"""Deleting a large topic while other users read, and workers and servers are killed.

`scripts/topic-deletion` runs it at full size; test_topic_deletion.py runs a part of it.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
from sqlalchemy import exists, func, insert, select
from sqlalchemy.orm import Session

from models.chat.messages.search import index_messages
from models.chat.tables import (
    Event,
    Message,
    MessageArchive,
    MessageRemoval,
    Topic,
    UserMessage,
)
from specd._workers.loop import WorkerPool
from specd.db import Clock, Database
from specd.workers import Worker
from tests.live.delivery import Workers
from tests.live.fire import Killer
from tests.live.running_server import RunningServer
from tests.support.chat.channels import make_channel
from tests.support.chat.people import SECRET, Cast
from workers.backlog import message_removals, stale_search
from workers.chat import NICENESS

CLOCK = Clock()
READ_EVERY_S = 0.05
READERS = 2
KEPT = 500
"""Messages of the topic that is read and kept."""
DEADLINE_S = 1200
CHUNK = 5000


def run_worker(url: str) -> None:
    """One process of the real workers, until it is killed."""
    database, pool = Database(url), WorkerPool()
    removals = message_removals(database, CLOCK, rest=pool.stopping.wait)
    search = stale_search(database, rest=pool.stopping.wait)
    pool.run_until_signal([
        Worker("message_removal", removals.try_some, poll_s=0.5, niceness=NICENESS),
        Worker("search_index", search.try_some, poll_s=0.5, niceness=NICENESS),
    ])  # fmt: skip


def fill(database: Database, cast: Cast, messages: int) -> int:
    """Create a channel of three users with a topic of `messages` and one of `KEPT` messages.

    Return the channel's id.
    """
    people = [cast.hamlet, cast.othello, cast.cordelia]
    channel_id = database.run(lambda s: make_channel(s, cast, "stage", subscribers=people))

    def write(session: Session, topic: str, number: int) -> None:
        row = {
            "realm_id": cast.realm_id, "sender_id": cast.hamlet.id, "channel_id": channel_id,
            "topic": topic, "topic_key": topic, "content": "Words, words, words.",
            "rendered_content": "<p>Words, words, words.</p>", "sent_at": CLOCK.now(),
        }  # fmt: skip
        made = insert(Message).returning(Message.id)
        ids = list(session.execute(made, [row] * number).scalars())
        copies = [{"user_id": who.id, "message_id": i, "flags": 1} for i in ids for who in people]
        session.execute(insert(UserMessage), copies)
        index_messages(session, [(i, topic, "Words, words, words.") for i in ids])

    def end(session: Session) -> None:
        newest = (
            select(Message.topic_key, func.max(Message.id))
            .where(Message.channel_id == channel_id)
            .group_by(Message.topic_key)
        )
        rows = [
            {"channel_id": channel_id, "topic_key": key, "name": key, "max_id": max_id}
            for key, max_id in session.execute(newest).all()
        ]
        session.execute(insert(Topic), rows)

    database.run(lambda s: write(s, "swords", KEPT))
    for first in range(0, messages, CHUNK):
        number = min(CHUNK, messages - first)
        database.run(lambda s, n=number: write(s, "ghost", n))
    database.run(end)
    return channel_id


class Readers:
    """Threads that read the other topic at a steady pace, with the time of each response in ms
    since it was due.
    """

    def __init__(self, url: str, cast: Cast, channel_id: int) -> None:
        self._url, self._cast, self._channel_id = url, cast, channel_id
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._read, daemon=True) for _ in range(READERS)]
        self.took: list[tuple[float, float]] = []
        self.wrong: Counter[str] = Counter()

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def p99(self, after: float, until: float) -> float:
        """Return the times of the reads that were due in that period."""
        took = [ms for due, ms in self.took if after <= due <= until]
        return statistics.quantiles(took, n=100)[-1]

    def _read(self) -> None:
        who = self._cast.othello
        narrow = [
            {"operator": "channel", "operand": self._channel_id},
            {"operator": "topic", "operand": "swords"},
        ]
        query = {"anchor": "newest", "num_before": 50, "num_after": 0}
        query["narrow"] = orjson.dumps(narrow).decode()
        with httpx.Client(
            base_url=f"{self._url}/api/v1", headers={"Host": who.host}, auth=(who.email, who.key)
        ) as client:
            due = time.monotonic()
            while not self._stopped.wait(max(due - time.monotonic(), 0)):
                try:
                    answer = client.get("/messages", params=query, timeout=20)
                    if len(answer.json()["messages"]) != 50:
                        self.wrong["messages of the other topic are missing"] += 1
                    self.took.append((due, (time.monotonic() - due) * 1000))
                except httpx.TransportError:
                    self.wrong["broken"] += 1
                due = max(due + READ_EVERY_S, time.monotonic())


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a deletion.

    `torn`: checks at which a message and its dependent rows were inconsistent. `wrong`: violated
    expectations at the end. Times in ms.
    """

    messages: int
    seconds: float
    incomplete: int
    kills: int
    looks: int
    torn: list[str]
    wrong: list[str]
    p99_idle: float
    p99_meanwhile: float


def run_deletion(
    url: str,
    cast: Cast,
    directory: Path,
    *,
    messages: int,
    idle_s: float,
    kill_every_s: float | None,
) -> Report:
    """Delete a topic of this number of messages by repeated requests until one is complete."""
    database = Database(url)
    channel_id = fill(database, cast, messages)
    environment = {
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_VALIDATE_RESPONSES": "false",
    }
    torn: list[str] = []
    looks = incomplete = 0
    with (
        RunningServer(directory, environment, application="chat") as server,
        Workers(url, 1, kill_every_s, 1, run_worker) as crew,
        Killer(server, kill_every_s * 3 if kill_every_s else DEADLINE_S, seed=1) as killer,
        Readers(server.url, cast, channel_id) as readers,
    ):
        time.sleep(1)
        began_idle = time.monotonic()
        time.sleep(idle_s)
        began = time.monotonic()
        while not _ask(server.url, cast, channel_id) and time.monotonic() < began + DEADLINE_S:
            incomplete += 1
            if kill_every_s is not None:
                looks += 1
                torn += _torn(database, channel_id)
        ended = time.monotonic()
        p99_idle, p99_meanwhile = readers.p99(began_idle, began), readers.p99(began, ended)
        kills = crew.kills + killer.kills
    wrong = _torn(database, channel_id) + _judge(database, channel_id, messages)
    if kill_every_s is None:
        wrong += list(readers.wrong)
    database.dispose()
    return Report(
        messages=messages,
        seconds=ended - began,
        incomplete=incomplete,
        kills=kills,
        looks=looks,
        torn=torn,
        wrong=wrong,
        p99_idle=p99_idle,
        p99_meanwhile=p99_meanwhile,
    )


def _ask(url: str, cast: Cast, channel_id: int) -> bool:
    """Send one request. Return whether the response reports completion."""
    who = cast.cordelia
    try:
        answer = httpx.post(
            f"{url}/api/v1/streams/{channel_id}/delete_topic",
            data={"topic_name": "ghost"},
            headers={"Host": who.host},
            auth=(who.email, who.key),
            timeout=60,
        )
    except httpx.TransportError:
        time.sleep(0.2)
        return False
    body: dict[str, Any] = answer.json()
    return bool(body.get("complete"))


def _torn(database: Database, channel_id: int) -> list[str]:
    """Return what is partially deleted at this moment."""
    gone = MessageArchive.id == Message.id
    orphans = select(func.count()).where(
        ~exists().where(Message.id == UserMessage.message_id).correlate(UserMessage)
    )
    newest = (
        select(Message.topic_key, func.max(Message.id))
        .where(Message.channel_id == channel_id)
        .group_by(Message.topic_key)
    )
    listed = select(Topic.topic_key, Topic.max_id).where(Topic.channel_id == channel_id)
    told = select(Event.payload).where(Event.type == "delete_message")
    with database.snapshot(may_take_long=True) as reader:
        both = reader.execute(select(func.count()).select_from(Message).where(exists().where(gone)))
        found = ["a message is there and gone"] if both.scalar() else []
        if reader.execute(orphans.select_from(UserMessage)).scalar():
            found.append("a copy of a message that is gone")
        if sorted(reader.execute(newest)) != sorted(reader.execute(listed)):
            found.append("a topic whose newest message is gone")
        archived = sorted(reader.execute(select(MessageArchive.id)).scalars())
        payloads = reader.execute(told).scalars()
        said = sorted(i for payload in payloads for i in orjson.loads(payload)["message_ids"])
    if said != archived:
        found.append("a message that went, and clients were told otherwise")
    return found


def _judge(database: Database, channel_id: int, messages: int) -> list[str]:
    counts = {
        "left in the topic": (select(func.count()).where(Message.topic_key == "ghost"), 0),
        "in the other topic": (select(func.count()).where(Message.topic_key == "swords"), KEPT),
        "archived": (select(func.count()).select_from(MessageArchive), messages),
        "removals left": (select(func.count()).select_from(MessageRemoval), 0),
    }
    with database.reading() as reader:
        found = {name: reader.execute(count).scalar() for name, (count, _) in counts.items()}
    return [
        f"{name}: {found[name]}, not {wanted}"
        for name, (_, wanted) in counts.items()
        if found[name] != wanted
    ]
