"""Events with writers and readers on separate queues, at a server whose processes are killed.

`scripts/event-storm` runs it at full size; tests/live/test_event_storm.py runs a part of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from specd.db import Clock, Database
from tests.live.fire import Killer
from tests.live.held_transactions import HeldTransactions
from tests.live.running_server import RunningServer, free_port
from tests.support.chat.channels import make_channel
from tests.support.chat.people import SECRET, Cast, Member, make_cast
from tests.support.chat.queues import open_queue_of

PATIENCE_S = 2400.0
"""How long clients retry. A busy machine may start processes more slowly than they are killed."""
POLL_S = 70.0


@dataclass
class Reader:
    """One client with its queue and the received events."""

    member: Member
    queue_id: str
    last_event_id: int = -1
    event_ids: list[int] = field(default_factory=list)
    message_ids: list[int] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def note(self, answer: httpx.Response) -> bool:
        """Record the response to a poll. Return whether to poll again immediately."""
        if answer.status_code == 400:
            self.refusals.append(answer.text)
        if answer.status_code != 200:
            return False
        for event in answer.json()["events"]:
            self.last_event_id = event["id"]
            if event["type"] == "message":
                self.event_ids.append(event["id"])
                self.message_ids.append(event["message"]["id"])
        return True


@dataclass(frozen=True)
class Storm:
    """The result of a storm. `sent`: ids of acknowledged messages."""

    sent: frozenset[int]
    readers: list[Reader]
    kills: int
    seconds: float

    def faults(self) -> list[str]:
        """Return all errors of the readers. It is empty if nothing was lost or doubled."""
        found = []
        order = self.readers[0].message_ids
        for number, reader in enumerate(self.readers):
            ids = reader.message_ids
            if reader.refusals:
                found.append(f"reader {number} was refused: {reader.refusals[0]}")
            if len(set(ids)) != len(ids):
                found.append(f"reader {number} was told {len(ids) - len(set(ids))} messages twice")
            if self.sent - set(ids):
                found.append(f"reader {number} missed {len(self.sent - set(ids))} messages")
            if reader.event_ids != sorted(set(reader.event_ids)):
                found.append(f"reader {number} was told ids that do not ascend")
            if ids != order:
                found.append(f"reader {number} was told another order than reader 0")
        return found


def run_storm(
    url: str,
    directory: Path,
    *,
    writers: int,
    messages: int,
    readers: int,
    processes: int,
    kill_every_s: float,
    kill_server_after_s: float | None = None,
    held: int = 0,
) -> Storm:
    """Let `writers` send `messages` each while `readers` poll, on a migrated, empty chat database.

    In addition, each sender with slow transactions sends `held` messages (PostgreSQL only).
    """
    database = Database(url)
    now = Clock().now()
    cast = database.run(lambda session: make_cast(session, now=now))
    members = [cast.hamlet, cast.othello, cast.cordelia, cast.iago, cast.prospero]
    square = database.run(lambda s: make_channel(s, cast, "square", subscribers=members))
    listening = []
    for number in range(readers):
        member = members[number % len(members)]
        queue_id = database.run(lambda s, m=member: open_queue_of(s, m, now, event_types=ONLY))
        listening.append(Reader(member, queue_id))
    database.dispose()
    port = free_port()
    environment = {
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_WORKERS": str(processes),
        "SPECD_VALIDATE_RESPONSES": "false",
    }

    def start() -> RunningServer:
        return RunningServer(directory, environment, application="chat", port=port)

    began = time.monotonic()
    with start() as server:
        fire = _Fire(server, start, kill_every_s, kill_server_after_s)
        with fire, HeldTransactions(url, cast.othello, square, held, seed=1) as slow:
            total = writers * messages + slow.count(held)
            sent = asyncio.run(_play(server.url, cast, square, writers, messages, listening, total))
    return Storm(frozenset(sent | slow.sent), listening, fire.kills, time.monotonic() - began)


ONLY = frozenset({"message"})


class _Fire:
    """Kills processes, and once the complete server, which is restarted at its port."""

    def __init__(
        self, server: RunningServer, start: Any, every_s: float, whole_after_s: float | None
    ) -> None:
        self._server, self._start, self._every_s = server, start, every_s
        self._whole_after_s = whole_after_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._again: RunningServer | None = None
        self.kills = 0

    def __enter__(self) -> _Fire:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        if self._again is not None:
            self._again.stop()

    def _run(self) -> None:
        before = Killer(self._server, self._every_s, seed=1)
        with before:
            if self._whole_after_s is None:
                self._stopped.wait()
            else:
                self._stopped.wait(self._whole_after_s)
        self.kills += before.kills
        if self._stopped.is_set():
            return
        os.killpg(self._server.pid, signal.SIGKILL)
        self.kills += 1
        self._again = self._start().__enter__()
        after = Killer(self._again, self._every_s, seed=2)
        with after:
            self._stopped.wait()
        self.kills += after.kills


async def _play(
    url: str,
    cast: Cast,
    square: int,
    writers: int,
    messages: int,
    listening: list[Reader],
    total: int,
) -> set[int]:
    sent: set[int] = set()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(
        base_url=f"{url}/api/v1", headers={"Host": cast.hamlet.host}, limits=limits, timeout=POLL_S
    ) as client:
        deadline = time.monotonic() + PATIENCE_S
        await asyncio.gather(
            *(
                _write(client, cast.hamlet, square, w, messages, sent, deadline)
                for w in range(writers)
            ),
            *(_read(client, reader, total, deadline) for reader in listening),
        )
    return sent


async def _write(
    client: httpx.AsyncClient,
    who: Member,
    square: int,
    writer: int,
    messages: int,
    sent: set[int],
    deadline: float,
) -> None:
    for number in range(messages):
        form = {"type": "channel", "to": square, "topic": "t", "content": f"{writer}/{number}"}
        headers = {"Idempotency-Key": f"storm-{writer:03d}-{number:06d}"}
        while time.monotonic() < deadline:
            try:
                answer = await client.post(
                    "/messages", data=form, headers=headers, auth=(who.email, who.key), timeout=20
                )
            except httpx.TransportError:
                await asyncio.sleep(0.02)
                continue
            if answer.status_code == 200:
                sent.add(answer.json()["id"])
                break
            await asyncio.sleep(0.02)


async def _read(client: httpx.AsyncClient, reader: Reader, total: int, deadline: float) -> None:
    """Poll until all messages of the storm have arrived, as a client does."""
    while len(reader.message_ids) < total and time.monotonic() < deadline:
        query: dict[str, Any] = {
            "queue_id": reader.queue_id,
            "last_event_id": reader.last_event_id,
        }
        try:
            answer = await client.get(
                "/events", params=query, auth=(reader.member.email, reader.member.key)
            )
        except httpx.TransportError:
            await asyncio.sleep(0.05)
            continue
        if not reader.note(answer):
            if reader.refusals:
                return
            await asyncio.sleep(0.05)
