"""The webhook backlog that operators see."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from models.payment.webhooks import backlog, fan_out, outcomes, queue
from models.payment.webhooks.backlog import Backlog, find_backlog
from models.payment.webhooks.outcomes import Attempt, Reply
from models.payment.webhooks.tables import WebhookEndpoint
from models.payment.webhooks.vault import WebhookVault
from specd.db import Database
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import Merchant, make_endpoint, make_invoice

VAULT = WebhookVault(b"the secret of these tests, 32 bytes or more")
NOTHING = Backlog(due=0, failing=0, oldest=timedelta(0))


class Shop:
    """Ada's shop with one endpoint and a sequential worker."""

    def __init__(self, database: Database, clock: FrozenClock, ada: Merchant) -> None:
        self._database, self._clock, self._ada = database, clock, ada
        self.endpoint_id = database.run(lambda s: make_endpoint(s, VAULT, ada, now=clock.now())).id

    def sell(self) -> None:
        now = self._clock.now()
        self._database.run(lambda s: make_invoice(s, self._ada, now=now))

    def claim(self) -> list[int]:
        """Claim the endpoint as the worker does, and return the ids of due events."""

        def work(session: Any) -> list[int]:
            now = self._clock.now()
            until = now + timedelta(seconds=10)
            rows = queue.claim(session, [self.endpoint_id], holder="w", until=until, now=now)
            fan_out.advance(session, rows.values(), now=now)
            (row,) = rows.values()
            picked = queue.pick(session, row, under_way=[], limit=10, now=now)
            return [message.event_id for message in picked]

        return self._database.run(work)

    def answer(self, event_id: int, status: int) -> None:
        def work(session: Any) -> None:
            now = self._clock.now()
            reply = Reply(now, 7, status, None, "")
            attempt = Attempt(self.endpoint_id, event_id, "invoice.created", reply)
            until = now + timedelta(seconds=10)
            rows = queue.claim(session, [self.endpoint_id], holder="w", until=until, now=now)
            outcomes.record_attempts(session, rows, [attempt], holder="w", now=now)

        self._database.run(work)

    def change(self, **values: object) -> None:
        self._database.run(lambda s: s.execute(update(WebhookEndpoint).values(**values)))

    def backlog(self) -> Backlog:
        with self._database.reading() as reader:
            return find_backlog(reader, now=self._clock.now())


@pytest.fixture
def shop(database: Database, clock: FrozenClock, ada: Merchant) -> Shop:
    return Shop(database, clock, ada)


def test_event_counts_until_it_is_delivered(shop: Shop, clock: FrozenClock) -> None:
    assert shop.backlog() == NOTHING
    shop.sell()
    clock.advance(seconds=3)
    assert shop.backlog() == Backlog(due=0, failing=0, oldest=timedelta(seconds=3))
    (event_id,) = shop.claim()
    clock.advance(seconds=2)
    assert shop.backlog() == Backlog(due=1, failing=0, oldest=timedelta(seconds=2))
    shop.answer(event_id, 204)
    assert shop.backlog() == NOTHING


def test_failing_event_is_counted_but_not_in_the_delay(shop: Shop, clock: FrozenClock) -> None:
    shop.sell()
    (event_id,) = shop.claim()
    shop.answer(event_id, 500)
    assert shop.backlog() == Backlog(due=0, failing=1, oldest=timedelta(0))
    clock.advance(seconds=60)
    shop.sell()
    assert shop.backlog() == Backlog(due=1, failing=1, oldest=timedelta(0))


def test_paused_or_disabled_endpoint_has_no_backlog(shop: Shop, clock: FrozenClock) -> None:
    shop.sell()
    shop.claim()
    clock.advance(seconds=5)
    shop.change(paused_until=clock.now() + timedelta(seconds=1))
    assert shop.backlog() == NOTHING
    shop.change(paused_until=None, status="disabled", failing_since=clock.now())
    assert shop.backlog() == NOTHING


def test_number_of_counted_events_is_limited(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        shop.sell()
    shop.claim()
    monkeypatch.setattr(backlog, "MAX_COUNTED", 2)
    assert shop.backlog().due == 2
