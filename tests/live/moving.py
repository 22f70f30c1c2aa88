"""A move of a large organization between two real installations while people use it.

`scripts/move` runs it at full size; test_move.py runs a part of it. Writers send numbered messages
with idempotency keys, and resend unacknowledged ones. Readers poll event queues, and register again
if their queue has expired. Scheduled messages become due during the complete move.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
from sqlalchemy import select

from benchmarks.chat import realm as bench
from models.chat.identity.api_keys import KeyMaker
from models.chat.organization.realms import create_realm
from models.chat.tables import Channel, Message, Realm, Subscription, User
from specd._db import migrate
from specd.db import Clock, Database
from tests.live.cells import Router, find_programs
from tests.live.running_server import ROOT, RunningServer, free_port
from tests.support import warm

WRITTEN_EVERY_S = 0.1
SCHEDULED_EVERY_S = 0.3
RETRY_S = 0.2
ANSWER_S = 100
PATIENCE_S = 120
AFTER_S = 3.0
"""How long clients run before and after the move."""
CHANNEL = "stage"
ACME = "acme.example"
"""The replaced host in docs/deploy/cluster/hosts.map."""
RETRIED = (429, 500, 502, 503)
"""A 500 is an error, and the request is sent again anyway."""


class Cell:
    """An installation: a server and workers with a database and a folder."""

    def __init__(
        self, name: str, url: str, folder: Path, *, public_url: str, secret: bytes
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name, self.url, self.folder = name, url, folder
        self.environment = {
            "SPECD_DATA_DIR": str(folder),
            "SPECD_CHAT_DATABASE_URL": url,
            "SPECD_PUBLIC_URL": public_url,
            "SPECD_CHAT_SECRET": secret.decode(),
            "SPECD_CHAT_UPLOAD_DIR": str(folder / "chat"),
            "SPECD_CHAT_EXPORT_DIR": str(folder / "exports"),
            "SPECD_VALIDATE_RESPONSES": "false",
        }
        self.server = RunningServer(folder, self.environment, application="chat")

    @contextmanager
    def running(self) -> Iterator[None]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        environment = {**plain, "PYTHONPATH": str(ROOT), **self.environment}
        argv = [sys.executable, "-m", "specd._cli.main", "worker", "scheduled_delivery",
                "search_index", "message_removal", "bot_webhooks", "outbox"]  # fmt: skip
        with self.server, (self.folder / "worker.log").open("ab") as log:
            worker = warm.Popen(argv, cwd=ROOT, env=environment, stdout=log, stderr=log)
            try:
                yield
            finally:
                worker.terminate()
                worker.wait(20)


class Site:
    """Two installations with their databases, and HAProxy, which routes clients first to one and
    after the move to the other. A context manager.
    """

    def __init__(
        self, one: str, two: str, folder: Path, *, host: str, is_used: bool,
        secret: bytes = bench.SECRET,
    ) -> None:  # fmt: skip
        """Migrate the databases.

        `host` is that of the moving organization. If `is_used`, the target has another
        organization, so that the moving one gets new ids. Skip the test if a program is missing.
        """
        find_programs("haproxy", "socat")
        self._folder, self._host, port = folder, host, free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.cells = [
            Cell(name, database_url, folder / name, public_url=self.url, secret=secret)
            for name, database_url in (("one", one), ("two", two))
        ]
        self._router = Router(
            folder / "router",
            {cell.name: cell.server.port for cell in self.cells},
            hosts=[(f"{ACME} one", f"{host} one")],
            port=port,
            is_plain=True,
        )
        for cell in self.cells:
            migrate.upgrade(cell.url, "chat")
        self._is_used = is_used
        if is_used:
            _found_another(two, secret)

    def __enter__(self) -> Site:
        with ExitStack() as stack:
            for cell in self.cells:
                stack.enter_context(cell.running())
            stack.enter_context(self._router)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def move(self) -> dict[str, Any]:
        """Move the organization by the command of docs/moving.md. Return its output."""
        source, target = self.cells
        settings = self._folder / "one.env"
        settings.write_text("".join(f"{k}={v}\n" for k, v in source.environment.items()))
        plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        done = warm.run(
            [sys.executable, "-m", "specd._cli.main", "chat", "move", "--host", self._host,
             "--from-env", str(settings), "--switch-command",
             self._router.switch_command(self._host, "two"), "--json"],
            cwd=ROOT, env={**plain, "PYTHONPATH": str(ROOT), **target.environment},
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        assert told["keeps_ids"] is not self._is_used
        return told


def _found_another(url: str, secret: bytes) -> None:
    with closing(Database(url)) as database:
        database.run(
            lambda session: create_realm(
                session, KeyMaker(secret), name="Globex", host="globex.example",
                owner_email="hank@globex.example", owner_name="Hank", now=Clock().now(),
            )
        )  # fmt: skip


@dataclass
class Reader:
    """A user with an event queue. `heard`: contents in the order of arrival."""

    email: str
    key: str
    heard: list[str] = field(default_factory=list)
    registered: int = 0
    queue_id: str | None = None
    last: int = -1


@dataclass
class Outcome:
    """The result of a move."""

    stopped_s: float
    seconds: float
    sent: int
    refused: Counter[str]
    wrong: list[str]
    told: dict[str, Any]

    def __str__(self) -> str:
        return (
            f"{'the same' if self.told['keeps_ids'] else 'new'} ids,"
            f" stopped {self.stopped_s:.2f} s of {self.seconds:.0f} s,"
            f" {self.told['changes']} changes in {self.told['rounds']} rounds;"
            f" {self.sent} messages sent meanwhile; answers but 200: {dict(self.refused)}"
        )


LISTENER = """
import sys, zulip
client = zulip.Client(site=sys.argv[1], email=sys.argv[2], api_key=sys.argv[3])
client.call_on_each_message(lambda message: print(message["content"], flush=True))
"""


@contextmanager
def listening(url: str, who: tuple[str, str], out: Path) -> Iterator[None]:
    """The unmodified client from PyPI, which writes its events to a file."""
    argv = [sys.executable, "-c", LISTENER, url, *who]
    with out.open("wb") as told, out.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(argv, stdout=told, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)


class People:
    """The users who write and read meanwhile."""

    def __init__(self, url: str, database: Database, *, writers: int, readers: int) -> None:
        self.url, self.ending = url, threading.Event()
        self.sent: list[str] = []
        """Contents of acknowledged messages."""
        self.scheduled: list[str] = []
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []
        keys = KeyMaker(bench.SECRET)
        with database.reading() as reader:
            rows = reader.execute(
                select(User.delivery_email, User.api_key_nonce, User.api_key_sha256)
                .join(Subscription, Subscription.user_id == User.id)
                .join(Channel, Channel.id == Subscription.channel_id)
                .where(Channel.name == CHANNEL, User.delivery_email.like("user%"))
                .order_by(User.id)
                .limit(max(writers, readers))
            ).all()
        self.accounts = [
            (row.delivery_email, str(keys.find_key(row.api_key_nonce, row.api_key_sha256)))
            for row in rows
        ]
        self._writers = writers
        self.readers = [Reader(*self.accounts[n]) for n in range(readers)]
        self._failures: list[Exception] = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> People:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self._thread.join()
        if self._failures:
            raise self._failures[0]

    def _run(self) -> None:
        try:
            asyncio.run(self._play())
        except Exception as error:
            self._failures.append(error)

    async def _play(self) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx.AsyncClient(base_url=self.url, limits=limits, timeout=ANSWER_S) as client:
            reading = [asyncio.create_task(self._read(client, each)) for each in self.readers]
            await asyncio.gather(
                *(self._write(client, number) for number in range(self._writers)),
                self._schedule(client),
            )
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline and any(
                not set(self.sent) <= set(each.heard) for each in self.readers
            ):
                await asyncio.sleep(RETRY_S)
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)

    async def _ask(
        self, client: httpx.AsyncClient, method: str, path: str, who: tuple[str, str], **more: Any
    ) -> httpx.Response:
        """Return the final response. Repeat temporary rejections and failures."""
        while True:
            try:
                answer = await client.request(method, f"/api/v1{path}", auth=who, **more)
            except httpx.TransportError as error:
                self.refused[type(error).__name__] += 1
            else:
                if answer.status_code not in RETRIED:
                    return answer
                is_ours = answer.headers["Content-Type"] == "application/json"
                code = answer.json().get("code") if is_ours else answer.text.strip()
                self.refused[f"{answer.status_code} {code}"] += 1
                if answer.status_code != 503 or "Retry-After" not in answer.headers:
                    self.wrong.append(f"{path}: {answer.status_code} {answer.text[:200]}")
            await asyncio.sleep(RETRY_S)

    async def _write(self, client: httpx.AsyncClient, writer: int) -> None:
        number = 0
        while not self.ending.is_set():
            text = f"w{writer} m{number}"
            answer = await self._ask(
                client, "POST", "/messages", self.accounts[writer],
                data={"type": "channel", "to": CHANNEL, "topic": f"of {writer}", "content": text},
                headers={"Idempotency-Key": _key_of(text)},
            )  # fmt: skip
            if answer.status_code != 200:
                self.wrong.append(f"{text}: {answer.status_code} {answer.text[:200]}")
                return
            self.sent.append(text)
            number += 1
            await asyncio.sleep(WRITTEN_EVERY_S)

    async def _schedule(self, client: httpx.AsyncClient) -> None:
        number, who = 0, self.accounts[0]
        own_id = 0
        while not self.ending.is_set():
            if not own_id:
                own_id = (await self._ask(client, "GET", "/users/me", who)).json()["user_id"]
            text = f"s m{number}"
            at = int(time.time()) + 2 + number % 3
            answer = await self._ask(
                client, "POST", "/scheduled_messages", who,
                data={"type": "direct", "to": f"[{own_id}]", "content": text,
                      "scheduled_delivery_timestamp": at},
                headers={"Idempotency-Key": _key_of(text)},
            )  # fmt: skip
            if answer.status_code == 200:
                self.scheduled.append(text)
            else:  # too late now, or with an id from before the move
                own_id = 0
            number += 1
            await asyncio.sleep(SCHEDULED_EVERY_S)

    async def _read(self, client: httpx.AsyncClient, reader: Reader) -> None:
        who = (reader.email, reader.key)
        while True:
            if reader.queue_id is None:
                asked = await self._ask(
                    client, "POST", "/register", who,
                    data={"event_types": '["message"]', "fetch_event_types": "[]"},
                )  # fmt: skip
                told = asked.json()
                reader.queue_id, reader.last = told["queue_id"], told["last_event_id"]
                reader.registered += 1
                await self._catch_up(client, reader)
            answer = await self._ask(
                client, "GET", "/events", who,
                params={"queue_id": reader.queue_id, "last_event_id": reader.last},
            )  # fmt: skip
            told = answer.json()
            if told.get("code") == "BAD_EVENT_QUEUE_ID":
                reader.queue_id = None
                continue
            for event in told["events"]:
                reader.last = max(reader.last, event["id"])
                if event["type"] == "message":
                    self._hear(reader, event["message"]["content"])

    async def _catch_up(self, client: httpx.AsyncClient, reader: Reader) -> None:
        narrow = json.dumps([["channel", CHANNEL]])
        params = {"anchor": "newest", "num_before": 4000, "num_after": 0, "narrow": narrow}
        asked = await self._ask(
            client, "GET", "/messages", (reader.email, reader.key), params=params
        )
        for message in asked.json()["messages"]:
            self._hear(reader, message["content"])

    def _hear(self, reader: Reader, content: str) -> None:
        text = content.removeprefix("<p>").removesuffix("</p>")
        if text.startswith("w") and text not in reader.heard[-5000:]:
            reader.heard.append(text)


def _key_of(text: str) -> str:
    return f"{text} of the move".replace(" ", "-")


def faults(people: People, cell: Cell, *, registered: int) -> list[str]:
    """Return everything that was lost, doubled or reordered at the target.

    `registered`: how often each reader has opened a queue.
    """
    wrong = list(people.wrong)
    database = Database(cell.url)
    with database.reading() as reader:
        realm_id = reader.execute(select(Realm.id).where(Realm.host == bench.HOST)).scalar_one()
        rows = reader.execute(
            select(Message.content)
            .outerjoin(Channel, Channel.id == Message.channel_id)
            .where(
                Message.realm_id == realm_id,
                Message.content.like("w%") | Message.content.like("s m%"),
            )
            .order_by(Message.id)
        ).scalars()
        contents = list(rows)
    database.dispose()
    counted = Counter(contents)
    wrong += [f"{text} is there {times} times" for text, times in counted.items() if times > 1]
    wrong += [f"{text} is lost" for text in (*people.sent, *people.scheduled) if not counted[text]]
    written = [text for text in contents if text.startswith("w")]
    wrong += _out_of_order(written, "the target")
    for number, each in enumerate(people.readers):
        wrong += [f"reader {number} missed {text}" for text in set(people.sent) - set(each.heard)]
        wrong += _out_of_order(each.heard, f"reader {number}")
        if each.registered != registered:
            wrong.append(f"reader {number} registered {each.registered} times")
    return wrong


def _out_of_order(contents: list[str], where: str) -> list[str]:
    last: dict[str, int] = {}
    wrong = []
    for text in contents:
        writer, _, number = text.partition(" m")
        if int(number) <= last.get(writer, -1):
            wrong.append(f"{where}: {text} after {last[writer]}")
        last[writer] = int(number)
    return wrong


def move(
    one: str, two: str, folder: Path, *, is_used: bool, messages: int, recent: int, writers: int,
    readers: int, after_s: float = AFTER_S,
) -> Outcome:  # fmt: skip
    """Move an organization between two empty databases; `is_used` as in `Site`.

    `after_s`: how long clients run before and after the move.
    """
    site = Site(one, two, folder, host=bench.HOST, is_used=is_used)
    with patch.object(bench, "RECENT", recent):
        bench.fill(one, bench.found(one), messages)
    database = Database(one)
    people = People(site.url, database, writers=writers, readers=readers)
    database.dispose()
    heard = folder / "zulip.out"
    with site:
        began = time.monotonic()
        with listening(people.url, people.accounts[0], heard), people:
            time.sleep(after_s)
            told = site.move()
            listened = heard.stat().st_size
            deadline = time.monotonic() + PATIENCE_S
            time.sleep(after_s)
            while heard.stat().st_size == listened and time.monotonic() < deadline:
                time.sleep(RETRY_S)
        seconds = time.monotonic() - began
        registered = 1 if told["keeps_ids"] else 2
        deadline = time.monotonic() + PATIENCE_S
        wrong = faults(people, site.cells[1], registered=registered)
        while wrong and time.monotonic() < deadline and all("lost" in each for each in wrong):
            time.sleep(RETRY_S)  # some messages are still scheduled
            wrong = faults(people, site.cells[1], registered=registered)
        if not 0 < listened < heard.stat().st_size:
            wrong.append("the client of PyPI was told nothing before the move or after it")
    return Outcome(told["stopped_s"], seconds, len(people.sent), people.refused, wrong, told)
