"""Idempotency and cancellation against a real server whose workers are killed.

`scripts/fire` runs it at full size; tests/live/test_fire.py runs a part of it.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from demo.seed import XPUB
from models.payment import keys as api_keys
from models.payment import methods, projects
from models.payment.tables import Invoice
from specd.db import Clock, Database
from tests.live.running_server import RunningServer
from tests.support.fake_chain import FakeChain
from workers.chain_watcher import ChainWatcher

RETRY = (409, 503)
PATIENCE_S = 300
"""How long a client retries. A busy machine may start workers more slowly than they are killed."""


@dataclass
class Answers:
    """The responses to the copies of one key."""

    bodies: set[bytes] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: int = 0


class Killer:
    """Kills a random worker every `every_s` seconds until it is stopped."""

    def __init__(self, server: RunningServer, every_s: float, seed: int) -> None:
        self._server = server
        self._every_s = every_s
        self._random = random.Random(seed)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.kills = 0

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._every_s):
            pids = self._server.worker_pids()
            if pids:
                try:
                    os.kill(self._random.choice(pids), signal.SIGKILL)
                    self.kills += 1
                except ProcessLookupError:
                    pass


async def _insist(
    client: httpx.AsyncClient, url: str, answers: Answers, *, deadline_s: float, **request: Any
) -> None:
    """Send one request until it has a final response, as a merchant's backend does."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        try:
            answer = await client.post(url, **request)
        except httpx.TransportError:
            answers.broken += 1
            await asyncio.sleep(0.02)
            continue
        answers.statuses[answer.status_code] += 1
        if answer.status_code in RETRY or answer.status_code >= 500:
            await asyncio.sleep(0.02)
            continue
        answers.bodies.add(answer.content)
        return
    answers.statuses[0] += 1


async def storm(
    url: str, key: str, *, keys: int, copies: int, method: str, at_once: int = 4
) -> list[Answers]:
    """Send `keys` idempotency keys, each from `copies` clients simultaneously.

    Return the responses by key.
    """
    results = [Answers() for _ in range(keys)]
    turn = asyncio.Semaphore(at_once)
    limits = httpx.Limits(max_connections=at_once * copies, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=20) as client:

        async def one_key(number: int) -> None:
            request = {
                "headers": {
                    "Authorization": f"Bearer {key}",
                    "Idempotency-Key": f"storm-{number:06d}",
                },
                "json": {
                    "external_order_id": f"storm-{number}",
                    "attempt_no": 1,
                    "amount": "1.5",
                    "payment_method_id": method,
                },
            }
            async with turn:
                await asyncio.gather(
                    *(
                        _insist(
                            client,
                            f"{url}/v1/invoices",
                            results[number],
                            deadline_s=PATIENCE_S,
                            **request,
                        )
                        for _ in range(copies)
                    )
                )

        await asyncio.gather(*(one_key(number) for number in range(keys)))
    return results


@dataclass(frozen=True)
class Race:
    """The result of one race between a cancellation and a payment."""

    cancel_status: int
    status: str
    exception: str

    @property
    def consistent(self) -> bool:
        """Return whether exactly one side won, and the invoice agrees."""
        if self.cancel_status == 200:
            return self.status == "canceled" and self.exception in ("none", "late")
        return self.cancel_status == 409 and self.status in ("processing", "paid")


class Payer:
    """A scripted chain and the product's watcher, for payments that are detected."""

    def __init__(self, database: Database, *, chain_id: int, token: str) -> None:
        self._token = token
        self._chain = FakeChain(started_at=datetime.now(UTC) - timedelta(minutes=5))
        self._watcher = ChainWatcher(database, self._chain, Clock(), chain_id=chain_id)

    def notice(self) -> None:
        """Run the watcher until it has nothing to do."""
        while self._watcher.try_watch_one():
            pass

    def pay(self, invoice: dict[str, Any], after_s: float) -> None:
        """Pay an invoice in full after a moment, and run the watcher."""
        time.sleep(after_s)
        self._chain.pay(
            invoice["deposit_address"],
            int(invoice["amount"]),
            token=self._token,
            at=datetime.now(UTC),
        )
        self.notice()


def race_cancel(
    url: str, key: str, payer: Payer, *, races: int, method: str, seed: int
) -> list[Race]:
    """Cancel each of `races` invoices over HTTP while a payment of it is being detected."""
    chance = random.Random(seed)
    headers = {"Authorization": f"Bearer {key}"}
    ended = []
    with httpx.Client(base_url=url, headers=headers, timeout=20) as client:
        for number in range(races):
            invoice = client.post(
                "/v1/invoices",
                headers={"Idempotency-Key": f"race-new-{number:06d}"},
                json={
                    "external_order_id": f"race-{number}",
                    "attempt_no": 1,
                    "amount": "2",
                    "payment_method_id": method,
                },
            ).json()
            payer.notice()
            paying = threading.Thread(target=payer.pay, args=(invoice, chance.random() * 0.01))
            paying.start()
            time.sleep(chance.random() * 0.02)
            canceled = client.post(
                f"/v1/invoices/{invoice['id']}/cancel",
                headers={"Idempotency-Key": f"race-end-{number:06d}"},
            )
            paying.join()
            last = client.get(f"/v1/invoices/{invoice['id']}").json()
            ended.append(Race(canceled.status_code, last["status"], last["exception"]))
    return ended


TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
CHAIN_ID = 31337
METHOD = "tusd-local"
NO_RPC = "http://127.0.0.1:9"


@dataclass(frozen=True)
class StormReport:
    """The result of a storm."""

    keys: int
    requests: int
    invoices: int
    kills: int
    broken: int
    split_keys: list[str]
    stuck_keys: list[str]


@contextmanager
def _merchant(
    database_url: str, data_dir: Path, workers: int
) -> Iterator[tuple[RunningServer, Database, str]]:
    """A server with one project, and its key."""
    database = Database(database_url)
    now = datetime.now(UTC)

    def found(session: Session) -> str:
        project = projects.create_project(session, name="Fire", xpub=XPUB, now=now)
        methods.create_method(
            session,
            project_id=project.id,
            method_id=METHOD,
            chain_id=CHAIN_ID,
            token_address=TOKEN,
            token_symbol="TUSD",
            confirmations_required=2,
            now=now,
        )
        return api_keys.create_key(session, project_id=project.id, now=now)[1]

    key = database.run(found)
    environment = {
        "SPECD_PAYMENT_DATABASE_URL": database_url,
        "SPECD_CHAIN_RPC_URLS": NO_RPC,
        "SPECD_WORKERS": str(workers),
    }
    try:
        with RunningServer(data_dir, environment) as server:
            yield server, database, key
    finally:
        database.dispose()


def run_storm(
    database_url: str,
    data_dir: Path,
    *,
    keys: int,
    copies: int,
    kill_every_s: float,
    seed: int,
    workers: int = 4,
) -> StormReport:
    """Send `keys` x `copies` identical requests while a worker is killed every `kill_every_s`
    seconds.
    """
    with _merchant(database_url, data_dir, workers) as (server, database, key):
        with Killer(server, kill_every_s, seed) as killer:
            results = asyncio.run(storm(server.url, key, keys=keys, copies=copies, method=METHOD))
        with database.reading() as books:
            invoices = books.execute(select(func.count()).select_from(Invoice)).scalar_one()
    return StormReport(
        keys=keys,
        requests=sum(sum(answers.statuses.values()) for answers in results),
        invoices=invoices,
        kills=killer.kills,
        broken=sum(answers.broken for answers in results),
        split_keys=[
            f"storm-{number:06d}: {dict(answers.statuses)}"
            for number, answers in enumerate(results)
            if len(answers.bodies) != 1
        ],
        stuck_keys=[
            f"storm-{number:06d}: {dict(answers.statuses)}"
            for number, answers in enumerate(results)
            if answers.statuses[0] or answers.statuses[201] != copies
        ],
    )


def run_cancel_races(database_url: str, data_dir: Path, *, races: int, seed: int) -> list[Race]:
    """Create `races` invoices, and cancel each over HTTP while its payment is being detected."""
    with _merchant(database_url, data_dir, 2) as (server, database, key):
        payer = Payer(database, chain_id=CHAIN_ID, token=TOKEN)
        return race_cancel(server.url, key, payer, races=races, method=METHOD, seed=seed)
