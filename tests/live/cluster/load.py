"""The load: invoices with idempotency keys, immediate and scheduled messages, readers.

Each client repeats a request until it has a final response, or sends it once if `tries_once`.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
from sqlalchemy import func, select

from demo.seed import METHOD_ID, seed
from models.chat.tables import Message
from models.payment.event_list import written_id
from models.payment.lifecycle import PAID
from models.payment.tables import Event, Invoice
from specd.db import Clock, Database
from tests.live.chain_fixture import LocalChain
from tests.live.cluster.topology import MACHINES, Cluster, until
from tests.live.event_storm import ONLY, Reader
from tests.live.http_receiver import Receiver
from tests.support.chat import people
from tests.support.chat.channels import make_channel
from tests.support.chat.queues import open_queue_of

CREATORS = 16
READERS = 4
RETRY = (409, 429, 502, 503, 504)
ANSWER_S = 30.0
DUE_S = 25
ATOMS = 1_500_000
PAID_OF = 10
"""One invoice of this number is paid."""
SETTLES_S = 120.0
"""The time in which readers and workers must catch up after the recovery."""


@dataclass
class Seen:
    """The responses to clients.

    `acknowledged`: the order of an invoice or the content of a message, with its id.
    """

    acknowledged: dict[str, Any] = field(default_factory=dict)
    took: list[tuple[float, float]] = field(default_factory=list)
    """The start of each successful request by the monotonic clock, with its seconds."""
    statuses: Counter[int] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    without_retry_after: int = 0
    last_success: float = field(default_factory=time.monotonic)
    longest_gap_s: float = 0.0

    def note_success(self, asked_at: float) -> None:
        now = time.monotonic()
        self.took.append((asked_at, now - asked_at))
        self.longest_gap_s = max(self.longest_gap_s, now - self.last_success)
        self.last_success = now

    def note(self, answer: httpx.Response) -> None:
        self.statuses[answer.status_code] += 1
        if answer.status_code == 503 and "Retry-After" not in answer.headers:
            self.without_retry_after += 1

    @property
    def unexpected(self) -> dict[int, int]:
        """Statuses that must not occur while a part of the cluster is unavailable."""
        return {s: n for s, n in self.statuses.items() if s not in (200, 201, 409, 503)}


class Shop(Receiver):
    """A merchant's server. `events` are the ids of events in the order of arrival."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[str] = []

    def take(self, headers: dict[str, str], body: bytes) -> None:
        self.events.append(headers["webhook-id"])


class Load:
    """All clients. They run inside the context."""

    def __init__(
        self,
        cluster: Cluster,
        chain: LocalChain,
        *,
        tries_once: bool = False,
        pause_s: float = 0,
        readers: int = READERS,
        read_pause_s: float = 0,
        schedulers: int = 1,
        claimants: int = 1,
    ) -> None:
        """`pause_s`: between two requests of each client.

        `readers`: the number of clients that read all events; `read_pause_s`: between two polls of
        each. `schedulers`: the number of clients that schedule messages. `claimants`: the number of
        CREATORS that request the same invoice with the same key.
        """
        self._chain, self._schedulers = chain, schedulers
        self._read_pause_s, self._claimants = read_pause_s, claimants
        self._claimed_twice: list[str] = []
        self.paid: set[str] = set()
        self._cluster, self._tries_once, self._pause_s = cluster, tries_once, pause_s
        self.invoices, self.messages, self.scheduled = Seen(), Seen(), Seen()
        self.readers: list[Reader] = []
        self._stopping = threading.Event()
        self._draining = threading.Event()
        self._wanted: set[int] = set()
        self._thread = threading.Thread(target=self._run)
        self._failures: list[Exception] = []
        self._paying = threading.Lock()
        payment, chat = (Database(cluster.database_url(each)) for each in ("payment", "chat"))
        now = Clock().now()
        self._access = payment.run(lambda session: seed(session, stored=None, now=now))
        self._cast = chat.run(lambda session: people.make_cast(session, now=now))
        members = [self._cast.hamlet, self._cast.othello, self._cast.cordelia, self._cast.prospero]
        self._channel = chat.run(
            lambda s: make_channel(s, self._cast, f"square {now.timestamp()}", subscribers=members)
        )
        for number in range(readers):
            member = members[number % len(members)]
            opened = partial(open_queue_of, member=member, now=now, event_types=ONLY)
            queue_id = chat.run(opened)
            self.readers.append(Reader(member, queue_id))
        for database in (payment, chat):
            database.dispose()

    def __enter__(self) -> Load:
        self.shop = Shop().__enter__()
        answer = httpx.post(
            f"http://{MACHINES['a']}:8080/v1/webhook-endpoints",
            headers={
                "Authorization": f"Bearer {self._access.key}", "Idempotency-Key": "cluster-shop",
            },
            json={"url": self.shop.url, "event_types": ["*"]},
            timeout=30,
        )  # fmt: skip
        answer.raise_for_status()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        if self._failures:
            self.shop.__exit__()
            raise self._failures[0]

    def _run(self) -> None:
        try:
            asyncio.run(self._play())
        except Exception as error:
            self._failures.append(error)

    # --- clients ------------------------------------------------------------------------------

    async def _play(self) -> None:
        trusted = ssl.create_default_context(cafile=str(self._cluster.certificate))
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx.AsyncClient(
            base_url=self._cluster.url, verify=trusted, limits=limits, timeout=ANSWER_S
        ) as client:
            readers = [asyncio.create_task(self._read(client, each)) for each in self.readers]
            schedulers = [self._schedule(client, each) for each in range(self._schedulers)]
            creators = [self._create(client, each // self._claimants) for each in range(CREATORS)]
            await asyncio.gather(*creators, self._write(client), *schedulers)
            self._wanted = await asyncio.to_thread(self._settled)
            self._draining.set()
            await asyncio.gather(*readers)

    async def _ask(self, seen: Seen, send: Any) -> httpx.Response | None:
        """Return the final response, or None if the load ends or the only attempt has failed."""
        while not self._stopping.is_set():
            asked_at = time.monotonic()
            try:
                answer: httpx.Response = await send()
            except httpx.TransportError as error:
                seen.broken[type(error).__name__] += 1
            else:
                seen.note(answer)
                if answer.is_success:
                    seen.note_success(asked_at)
                    return answer
                if answer.status_code not in RETRY:
                    return None
            if self._tries_once:
                return None
            await asyncio.sleep(max(self._pause_s, 0.05))
        return None

    async def _create(self, client: httpx.AsyncClient, first: int) -> None:
        for number in range(first, 10**9, CREATORS // self._claimants):
            if self._stopping.is_set():
                return
            key = f"cluster-{number:07d}"
            order = {
                "external_order_id": f"order-{number}",
                "attempt_no": 1,
                "amount": "1.5",
                "payment_method_id": METHOD_ID,
            }
            headers = {"Authorization": f"Bearer {self._access.key}", "Idempotency-Key": key}
            answer = await self._ask(
                self.invoices,
                partial(client.post, "/v1/invoices", headers=headers, json=order),
            )
            if answer is not None:
                invoice = answer.json()
                is_first = f"order-{number}" not in self.invoices.acknowledged
                known = self.invoices.acknowledged.setdefault(f"order-{number}", invoice["id"])
                if known != invoice["id"]:
                    self._claimed_twice.append(f"the key of order-{number} made {known}, too")
                if number % PAID_OF == 0 and is_first:
                    await asyncio.to_thread(self._pay, invoice["deposit_address"])
                    self.paid.add(invoice["id"])
            await asyncio.sleep(self._pause_s)

    def _pay(self, address: str) -> None:
        with self._paying:  # the payer's transactions have consecutive numbers
            self._chain.pay(address, ATOMS)

    def reorganise(self, depth: int) -> None:
        """Replace the newest blocks of the chain. Their transactions return in a later block."""
        with self._paying:
            again = self._chain.raw_transactions_above(self._chain.height - depth)
            self._chain.reorg(depth)
            for transaction in again:
                self._chain.call("eth_sendRawTransaction", transaction)

    async def _write(self, client: httpx.AsyncClient) -> None:
        for number in range(10**9):
            if self._stopping.is_set():
                return
            content = f"now {number}"
            form = {"type": "channel", "to": self._channel, "topic": "t", "content": content}
            answer = await self._ask(
                self.messages,
                partial(self._post, client, "/messages", form, f"message-{number:07d}"),
            )
            if answer is not None:
                self.messages.acknowledged[content] = answer.json()["id"]
            await asyncio.sleep(self._pause_s)

    async def _schedule(self, client: httpx.AsyncClient, first: int) -> None:
        """Schedule messages that become due after the longest outage."""
        for number in range(first, 10**9, self._schedulers):
            if self._stopping.is_set():
                return
            due = int((Clock().now() + timedelta(seconds=DUE_S)).timestamp())
            content = f"later {number}"
            form = {
                "type": "channel", "to": self._channel, "topic": "t", "content": content,
                "scheduled_delivery_timestamp": due,
            }  # fmt: skip
            answer = await self._ask(
                self.scheduled,
                partial(self._post, client, "/scheduled_messages", form, f"later-{number:07d}"),
            )
            if answer is not None:
                self.scheduled.acknowledged[content] = answer.json()["scheduled_message_id"]
            await asyncio.sleep(max(self._pause_s, 0.05))

    async def _post(
        self, client: httpx.AsyncClient, path: str, form: dict[str, Any], key: str
    ) -> httpx.Response:
        hamlet = self._cast.hamlet
        return await client.post(
            f"/api/v1{path}",
            data=form,
            headers={"Host": hamlet.host, "Idempotency-Key": key},
            auth=(hamlet.email, hamlet.key),
        )

    async def _read(self, client: httpx.AsyncClient, reader: Reader) -> None:
        """Poll until all sent messages have arrived."""
        ends_at = None
        while True:
            if self._draining.is_set():
                ends_at = ends_at or time.monotonic() + SETTLES_S
                if self._wanted <= set(reader.message_ids):
                    return
                if time.monotonic() > ends_at:
                    return
            try:
                answer = await client.get(
                    "/api/v1/events",
                    params={
                        "queue_id": reader.queue_id,
                        "last_event_id": reader.last_event_id,
                        "dont_block": str(self._draining.is_set()).lower(),
                    },
                    headers={"Host": reader.member.host},
                    auth=(reader.member.email, reader.member.key),
                    timeout=75,
                )
            except httpx.TransportError:
                await asyncio.sleep(0.05)
                continue
            if not reader.note(answer):
                if reader.refusals:
                    return
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.1 if self._draining.is_set() else self._read_pause_s)

    # --- afterwards ---------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """Return everything that was lost, doubled or reordered. Call it once, after the load."""
        found = list(self._claimed_twice)
        database = Database(self._cluster.database_url("payment"))
        with suppress(TimeoutError):
            until(lambda: self._are_paid(database), "the payments", SETTLES_S)
        unpaid = self.paid - self._paid_in(database)
        if unpaid:
            found.append(f"{len(unpaid)} of {len(self.paid)} payments were not found")
        with database.reading() as reader:
            rows = reader.execute(
                select(Invoice.external_order_id, Invoice.id, Invoice.deposit_address).where(
                    Invoice.project_id == self._access.project_id
                )
            ).all()
        found += self._webhook_faults(database)
        database.dispose()
        self.shop.__exit__()
        stored = {order: id_ for order, id_, _ in rows}
        for order, id_ in self.invoices.acknowledged.items():
            if stored.get(order) != id_:
                found.append(
                    f"the invoice of {order} was acknowledged as {id_}: {stored.get(order)}"
                )
        if len(stored) != len(rows) or len({address for *_, address in rows}) != len(rows):
            found.append("an order has two invoices, or an address")
        ids: dict[str, int] = {}
        for content, number, id_ in self._sent():
            ids[content] = id_
            if number != 1:
                found.append(f"{content} was sent {number} times")
        for content, id_ in self.messages.acknowledged.items():
            if ids.get(content) != id_:
                found.append(f"{content} was acknowledged as {id_}: {ids.get(content)}")
        unsent = self.scheduled.acknowledged.keys() - ids.keys()
        if unsent:
            found.append(f"{len(unsent)} scheduled messages were not sent")
        return found + self._reader_faults(set(ids.values()))

    def _sent(self) -> Sequence[tuple[str, int, int]]:
        """Return content, number and id of all messages of the load."""
        query = (
            select(Message.content, func.count(), func.min(Message.id))
            .where(Message.realm_id == self._cast.realm_id)
            .where(Message.content.like("now %") | Message.content.like("later %"))
            .group_by(Message.content)
        )
        with (
            closing(Database(self._cluster.database_url("chat"))) as database,
            database.reading() as reader,
        ):
            return [(content, number, id_) for content, number, id_ in reader.execute(query)]

    def _settled(self) -> set[int]:
        """Return the ids of all messages after the due ones have been sent."""

        def find() -> set[int]:
            sent = {content: id_ for content, _, id_ in self._sent()}
            is_settled = self.scheduled.acknowledged.keys() <= sent.keys()
            return set(sent.values()) if is_settled else set()

        with suppress(TimeoutError):
            return set(until(find, "what is due", SETTLES_S))
        return {id_ for *_, id_ in self._sent()}

    def _are_paid(self, database: Database) -> bool:
        self._chain.mine(1)
        return self.paid <= self._paid_in(database)

    def _paid_in(self, database: Database) -> set[str]:
        paid = select(Invoice.id).where(Invoice.status == PAID)
        with database.reading() as reader:
            return set(reader.execute(paid).scalars())

    def _webhook_faults(self, database: Database) -> list[str]:
        """Check that each event arrives, and those of an invoice in order."""
        rows: list[tuple[str, str]] = []

        def have_arrived() -> bool:
            query = select(Event.id, Event.invoice_id).where(
                Event.project_id == self._access.project_id
            )
            with database.reading() as reader:
                found = reader.execute(query.order_by(Event.id)).all()
            rows[:] = [(written_id(id_), str(invoice_id)) for id_, invoice_id in found]
            return {id_ for id_, _ in rows} <= set(self.shop.events)

        with suppress(TimeoutError):
            until(have_arrived, "the webhooks", SETTLES_S)
        first = {id_: place for place, id_ in reversed(list(enumerate(self.shop.events)))}
        lost = [id_ for id_, _ in rows if id_ not in first]
        arrivals: dict[str, list[int]] = defaultdict(list)
        for id_, invoice_id in rows:
            if id_ in first:
                arrivals[invoice_id].append(first[id_])
        disordered = [each for each in arrivals.values() if each != sorted(each)]
        found = []
        if lost or not rows:
            found.append(f"{len(lost)} of {len(rows)} events did not arrive at the shop")
        if disordered:
            found.append(f"the events of {len(disordered)} invoices arrived in another order")
        return found

    def _reader_faults(self, ids: set[int]) -> list[str]:
        found = []
        order = self.readers[0].message_ids
        for number, reader in enumerate(self.readers):
            seen = Counter(reader.message_ids)
            if reader.refusals:
                found.append(f"reader {number} was refused: {reader.refusals[0]}")
            twice = [id_ for id_, times in seen.items() if times > 1]
            if twice:
                found.append(f"reader {number} was told {len(twice)} messages twice")
            if ids - seen.keys():
                found.append(f"reader {number} missed {len(ids - seen.keys())} messages")
            if reader.event_ids != sorted(reader.event_ids):
                found.append(f"reader {number} was told events that do not ascend")
            if reader.message_ids != order:
                found.append(f"reader {number} was told another order than reader 0")
        return found


def timings(cluster: Cluster, chain: LocalChain, count: int = 200) -> dict[str, list[float]]:
    """Return seconds of requests to machine a alone, and of events from it to a reader at b."""
    load = Load(cluster, chain)
    sender, reader = (f"http://{MACHINES[name]}:8080" for name in ("a", "b"))
    took: dict[str, list[float]] = {"create": [], "get": [], "send": [], "event": []}
    key = {"Authorization": f"Bearer {load._access.key}"}
    hamlet, listening = load._cast.hamlet, load.readers[1]
    with httpx.Client(base_url=sender, timeout=30) as a, httpx.Client(base_url=reader) as b:
        arrivals: dict[int, float] = {}

        def listen() -> None:
            while len(arrivals) < count:
                answer = b.get(
                    "/api/v1/events",
                    params={
                        "queue_id": listening.queue_id,
                        "last_event_id": listening.last_event_id,
                    },
                    headers={"Host": listening.member.host},
                    auth=(listening.member.email, listening.member.key),
                    timeout=100,
                )
                now = time.monotonic()
                for event in answer.json()["events"]:
                    listening.last_event_id = event["id"]
                    if event["type"] == "message":
                        arrivals[event["message"]["id"]] = now

        def timed(name: str, send: Callable[[], httpx.Response]) -> httpx.Response:
            began = time.monotonic()
            answer = send()
            took[name].append(time.monotonic() - began)
            answer.raise_for_status()
            return answer

        thread = threading.Thread(target=listen)
        thread.start()
        for number in range(count):
            order = {
                "external_order_id": f"timed-{number}",
                "attempt_no": 1,
                "amount": "1.5",
                "payment_method_id": METHOD_ID,
            }
            headers = {**key, "Idempotency-Key": f"timed-{number:07d}"}
            made = timed("create", partial(a.post, "/v1/invoices", headers=headers, json=order))
            path = f"/v1/invoices/{made.json()['id']}"
            timed("get", partial(a.get, path, headers=key))
            form = {
                "type": "channel", "to": load._channel, "topic": "t", "content": f"timed {number}",
            }  # fmt: skip
            message = timed(
                "send",
                partial(
                    a.post, "/api/v1/messages", data=form, headers={"Host": hamlet.host},
                    auth=(hamlet.email, hamlet.key),
                ),
            )  # fmt: skip
            sent, id_ = time.monotonic(), message.json()["id"]
            until(partial(arrivals.get, id_), "an event", 30)
            took["event"].append(max(arrivals[id_] - sent, 0.0))
        thread.join()
    return took
