"""Shops whose invoices create the delivered events. Each has a project and one endpoint."""

import itertools
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.payment.story import CHAIN_ID, METHOD_ID, TOKEN, XPUB
from benchmarks.webhooks.moments import now
from models.payment import invoices, methods, projects
from models.payment.event_list import written_id
from models.payment.tables import Event
from models.payment.webhooks import endpoints
from models.payment.webhooks.vault import WebhookVault
from models.webhooks import signing
from specd._db.migrate import upgrade
from specd.db import Database

SECRET = "the secret of the webhook benchmark, 32 bytes and more"
WRITERS = 4
"""Threads that create invoices at a fixed rate, so that none waits for another's commit."""
AT_ONCE = 50
"""Invoices per unit of work if its duration is not measured."""


@dataclass(frozen=True, slots=True)
class Message:
    """An event as a sender posts it, unsigned, and the number of its shop."""

    shop: int
    id: str
    body: bytes


class Shops:
    """The shops of one database, with the numbers of their receivers."""

    def __init__(self, url: str, addresses: Sequence[str]) -> None:
        """Create the shops in an empty database."""
        self.url, self._numbers = url, itertools.count()
        upgrade(url, "payment")
        self._database = Database(url, lock_timeout_s=60)
        self._projects: tuple[str, ...] = self._database.run(
            lambda session: tuple(_found(session, address) for address in addresses)
        )

    def close(self) -> None:
        self._database.dispose()

    def write(self, count: int) -> None:
        """Create `count` invoices, of each shop in turn, as fast as possible."""
        for start in range(0, count, AT_ONCE):
            self._create(min(AT_ONCE, count - start))

    def trade(self, per_second: float, seconds: float) -> dict[str, float]:
        """Create invoices at this rate, of each shop in turn, each in a separate unit of work.

        Return the commit time of each event.
        """
        began, committed = now(), dict[str, float]()

        def sell() -> None:
            (invoice_id,) = self._create(1)
            committed[invoice_id] = now()

        with ThreadPoolExecutor(WRITERS) as writers:
            for number in range(round(per_second * seconds)):
                time.sleep(max(0.0, began + number / per_second - now()))
                writers.submit(sell)
        return {
            written_id(event_id): committed[invoice_id]
            for event_id, invoice_id in self._events()
            if invoice_id in committed
        }

    def messages(self) -> list[Message]:
        """Return all events so far."""
        shops = {project: number for number, project in enumerate(self._projects)}
        asked = select(Event.id, Event.project_id, Event.type, Event.at, Event.data)
        with self._database.reading() as reader:
            return [
                Message(
                    shops[project],
                    written_id(event_id),
                    signing.write_message(written_id(event_id), type_, at, orjson.Fragment(data)),
                )
                for event_id, project, type_, at, data in reader.execute(asked.order_by(Event.id))
            ]

    def shops_of(self, events: Mapping[str, float]) -> dict[str, int]:
        """Return the number of each event's shop."""
        return {one.id: one.shop for one in self.messages() if one.id in events}

    def _events(self) -> list[tuple[int, str | None]]:
        with self._database.reading() as reader:
            rows = reader.execute(select(Event.id, Event.invoice_id))
            return [(event_id, invoice_id) for event_id, invoice_id in rows]

    def _create(self, count: int) -> list[str]:
        numbers = list(itertools.islice(self._numbers, count))

        def work(session: Session) -> list[str]:
            return [
                _create(session, self._projects[number % len(self._projects)], number)
                for number in numbers
            ]

        return self._database.run(work)


def _found(session: Session, address: str) -> str:
    at = datetime.now(UTC)
    project = projects.create_project(session, name="Benchmark", xpub=XPUB, now=at)
    methods.create_method(
        session,
        project_id=project.id,
        method_id=METHOD_ID,
        chain_id=CHAIN_ID,
        token_address=TOKEN,
        token_symbol="TUSD",
        confirmations_required=2,
        now=at,
    )
    endpoints.create_endpoint(
        session,
        WebhookVault(SECRET.encode()),
        project_id=project.id,
        url=address,
        event_types=[endpoints.ALL],
        description="",
        quota=1,
        now=at,
    )
    return project.id


def _create(session: Session, project_id: str, number: int) -> str:
    order = invoices.check_order(
        session,
        project_id=project_id,
        external_order_id=f"order-{number}",
        attempt_no=1,
        amount="12.50",
        payment_method_id=METHOD_ID,
    )
    view = invoices.create_invoice(
        session,
        order,
        xpub=XPUB,
        lifetime=timedelta(minutes=30),
        monitoring=timedelta(days=1),
        now=datetime.now(UTC),
    )
    return view.id
