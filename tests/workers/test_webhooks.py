"""Webhooks: every event is sent at least once, in the order of its invoice, and without delaying
others.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
import structlog
from sqlalchemy import select, update
from standardwebhooks.webhooks import Webhook

from adapters.webhooks.sender import Received
from models.payment import event_list
from models.payment.event_list import EventFilter, written_id
from models.payment.settlement import cancel_invoice
from models.payment.webhooks import deliveries, endpoints, schedule, signing_secrets
from models.payment.webhooks.endpoints import Endpoint
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from models.payment.webhooks.vault import WebhookVault
from specd._security_events import asking
from specd.db import Database, UtcMs
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import Merchant, make_endpoint, make_invoice, make_merchant
from tests.support.receivers import TAKEN, Posted, ScriptedReceivers
from workers import webhooks
from workers.webhook_lanes import (
    MAX_BEYOND_SHARES,
    MAX_PER_ENDPOINT,
    MAX_SLOW,
    MOST,
    PER_ENDPOINT,
    Lanes,
)
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

VAULT = WebhookVault(b"the secret of these tests, 32 bytes or more")
OUT_OF_ORDER = Received(500, None, "out of order", None, 7)


class Receivers(ScriptedReceivers):
    """`answers`: responses by URL or event id, instead of `answer`.

    `hanging`: URLs that never respond.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Received] = {}
        self.hanging: set[str] = set()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        received = await super().post(url, headers, body)
        if url in self.hanging:
            await asyncio.Event().wait()
        return self.answers.get(headers["webhook-id"], self.answers.get(url, received))


class Post:
    """Ada's shop, the workers that post to it, and the received messages."""

    def __init__(self, database: Database, clock: FrozenClock) -> None:
        self.database, self.clock, self.receivers = database, clock, Receivers()
        self.ada: Merchant = database.run(lambda s: make_merchant(s, now=clock.now()))
        self.workers: list[WebhookWorker] = []
        self._postings: list[Posting] = []

    def worker(self, vault: WebhookVault = VAULT) -> WebhookWorker:
        posting = Posting(self.receivers, vault, self.clock)
        worker = WebhookWorker(self.database, self.clock, posting)
        self.workers.append(worker)
        self._postings.append(posting)
        return worker

    def endpoint(self, url: str = "https://shop.example/", **over: Any) -> Endpoint:
        now = self.clock.now()
        return self.database.run(
            lambda s: make_endpoint(s, VAULT, self.ada, now=now, url=url, **over)
        )

    def invoice(self) -> str:
        now = self.clock.now()
        return self.database.run(lambda s: make_invoice(s, self.ada, now=now)).id

    def cancel(self, invoice_id: str) -> None:
        now = self.clock.now()
        self.database.run(
            lambda s: cancel_invoice(s, project_id=self.ada.id, invoice_id=invoice_id, now=now)
        )

    def settle(self, *workers: WebhookWorker, seconds: float = 20.0) -> None:
        """Run the workers in turn until there is nothing to do and no response is pending."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            worked = [worker.try_at_once() for worker in workers or self.workers]
            waiting = sum(posting.count for posting in self._postings) - self._hung()
            if not any(worked) and waiting <= 0:
                return
            time.sleep(0.002)
        raise AssertionError("the workers never rest")

    def _hung(self) -> int:
        return sum(posted.url in self.receivers.hanging for posted in self.receivers.posted)

    def got(self, url: str = "https://shop.example/") -> list[tuple[str, str]]:
        """Return (type, invoice) of each message to a URL, in the order of arrival."""
        bodies = [orjson.loads(each.body) for each in self.posted(url)]
        return [(body["type"], body["data"]["invoice"]["id"]) for body in bodies]

    def posted(self, url: str = "https://shop.example/") -> list[Posted]:
        return [each for each in self.receivers.posted if each.url == url]

    def events(self) -> list[tuple[str, str | None, dict[str, Any]]]:
        with self.database.reading() as reader:
            page = event_list.list_events(reader, EventFilter(self.ada.id), after=0, limit=100)
        return [(row.type, row.invoice_id, orjson.loads(row.data)) for row in page.events]

    def event_id(self, number: int) -> str:
        with self.database.reading() as reader:
            page = event_list.list_events(reader, EventFilter(self.ada.id), after=0, limit=100)
        return written_id(page.events[number].id)

    def attempts(self, endpoint: Endpoint) -> list[tuple[int, int | None, datetime | None]]:
        """Return (number, status, next attempt) of each attempt, oldest first."""
        with self.database.reading() as reader:
            rows, _ = deliveries.list_attempts(
                reader, project_id=self.ada.id, endpoint_id=endpoint.id, before=None, limit=100
            )
        rows = reversed(rows)
        return [(row.number, row.status_code, row.next_try_at) for row in rows]

    def outcomes(self) -> list[str | None]:
        with self.database.reading() as reader:
            found = select(WebhookDelivery.outcome).order_by(WebhookDelivery.event_id)
            return list(reader.execute(found).scalars())


@pytest.fixture
def post(database: Database, clock: FrozenClock) -> Iterator[Post]:
    post = Post(database, clock)
    yield post
    post.receivers.hanging.clear()
    for posting in post._postings:
        posting.close()


@pytest.fixture(autouse=True)
def no_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "JITTER", 0.0)


@dataclass
class TracedCaller:
    """The caller of a request with a trace context."""

    traceparent: str | None
    actor_id: str | None = None
    key_id: str | None = None
    client: str = "192.0.2.1"
    request_id: str = "0" * 24


class TestDelivery:
    def test_it_is_part_of_the_trace_of_its_cause(self, post: Post) -> None:
        traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        post.worker()
        post.endpoint()
        with asking(TracedCaller(traceparent)):
            post.invoice()
        with asking(TracedCaller(None)):
            post.invoice()
        post.invoice()
        post.receivers.answer = Received(500, None, "", None, 7)
        post.settle()
        post.receivers.answer = TAKEN
        for _ in range(3):  # an endpoint that failed gets one event at first
            post.clock.advance(seconds=3600)
            post.settle()
        sent: dict[str, list[str | None]] = defaultdict(list)
        for each in post.posted():
            sent[each.headers["webhook-id"]].append(each.headers.get("traceparent"))
        assert len(post.posted()) > len(sent) == 3, "some were tried again"
        assert sorted(map(set, sent.values()), key=str) == [{traceparent}, {None}, {None}]

    def test_an_event_arrives_signed(self, post: Post, database: Database) -> None:
        post.worker()
        endpoint = post.endpoint()
        invoice_id = post.invoice()
        post.settle()
        (posted,) = post.posted()
        ((kind, told_of, data),) = post.events()
        assert (kind, told_of) == ("invoice.created", invoice_id)
        assert orjson.loads(posted.body) == {
            "id": posted.headers["webhook-id"],
            "type": kind,
            "timestamp": post.clock.now().isoformat(timespec="milliseconds")[:-6] + "Z",
            "created_at": UtcMs.to_ms(post.clock.now()),
            "data": data,
        }
        assert posted.headers["webhook-id"] == post.event_id(0)
        with database.reading() as reader:
            sealed = signing_secrets.find_sealed(reader, [endpoint.id], now=post.clock.now())
        (secret,) = signing_secrets.open_sealed(VAULT, endpoint.id, sealed[endpoint.id])
        wanted = Webhook(secret).sign(post.event_id(0), post.clock.now(), posted.body.decode())
        assert posted.headers["webhook-signature"] == wanted
        assert post.attempts(endpoint) == [(1, 204, None)]
        assert post.outcomes() == ["taken"]
        post.settle()
        assert len(post.posted()) == 1

    def test_what_came_before_the_endpoint_is_not_sent(self, post: Post) -> None:
        post.worker()
        post.invoice()
        post.endpoint()
        second = post.invoice()
        post.settle()
        assert post.got() == [("invoice.created", second)]

    def test_only_the_types_that_it_wants(self, post: Post) -> None:
        post.worker()
        post.endpoint(event_types=["invoice.canceled"])
        invoice_id = post.invoice()
        post.cancel(invoice_id)
        post.settle()
        assert post.got() == [("invoice.canceled", invoice_id)]

    def test_another_projects_events_do_not_come(self, post: Post, ben: Merchant) -> None:
        post.worker()
        post.endpoint()
        now = post.clock.now()
        post.database.run(lambda s: make_invoice(s, ben, now=now))
        post.settle()
        assert post.receivers.posted == []

    def test_a_backlog_of_many_invoices(self, post: Post) -> None:
        post.endpoint()
        invoices = [post.invoice() for _ in range(30)]
        for invoice_id in invoices:
            post.cancel(invoice_id)
        post.worker()
        post.settle()
        got = post.got()
        assert sorted(got) == sorted(
            (kind, one) for one in invoices for kind in ("invoice.created", "invoice.canceled")
        )
        for one in invoices:
            kinds = [kind for kind, of in got if of == one]
            assert kinds == ["invoice.created", "invoice.canceled"]

    def test_a_worker_that_cannot_sign_gives_the_endpoint_back(self, post: Post) -> None:
        endpoint = post.endpoint()
        stranger = post.worker(WebhookVault(b"the secret of another machine, 32 bytes or more"))
        invoice_id = post.invoice()
        post.settle(stranger)
        post.settle(stranger)
        assert (post.posted(), post.attempts(endpoint)) == ([], [])
        with post.database.reading() as reader:
            claims = reader.execute(select(WebhookEndpoint.claimed_by)).scalars().all()
        assert claims == [None]
        post.settle(post.worker())
        assert post.got() == [("invoice.created", invoice_id)]
        assert post.attempts(endpoint) == [(1, 204, None)]

    def test_a_worker_that_could_not_sign_looks_again(
        self, post: Post, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(webhooks, "UNSIGNED_S", 0.0)
        endpoint = post.endpoint()
        stranger = post.worker(WebhookVault(b"the secret of another machine, 32 bytes or more"))
        post.invoice()
        stranger.try_at_once()
        stranger.try_at_once()
        assert (post.posted(), post.attempts(endpoint)) == ([], [])
        own = WebhookVault(b"the secret of another machine, 32 bytes or more")
        post.database.run(lambda s: signing_secrets.add_secret(s, own, endpoint.id))
        post.settle(stranger)
        assert post.attempts(endpoint) == [(1, 204, None)]

    def test_the_log_tells_now_and_then_what_became_of_attempts(self, post: Post) -> None:
        post.endpoint()
        with structlog.testing.capture_logs() as logs:
            worker = post.worker()
            for _ in range(3):
                post.invoice()
            post.settle(worker)
            post.receivers.answer = OUT_OF_ORDER
            post.invoice()
            post.settle(worker)
            assert logs == []
            worker.close()
        assert logs == [{"event": "webhooks_posted", "log_level": "info", "taken": 3, "failed": 1}]


class TestFailures:
    def test_is_tried_again_by_the_schedule_and_given_up(self, post: Post) -> None:
        endpoint = post.endpoint()
        post.worker()
        post.receivers.answer = OUT_OF_ORDER
        post.invoice()
        post.settle()
        wanted: list[tuple[int, int | None, datetime | None]] = []
        for number, pause in enumerate(schedule.PAUSES, start=1):
            wanted.append((number, 500, post.clock.now() + pause))
            assert post.attempts(endpoint) == wanted
            post.clock.advance(seconds=pause.total_seconds() - 0.5)
            post.settle()
            assert len(post.posted()) == number
            post.clock.advance(seconds=0.5)
            post.settle()
        assert post.attempts(endpoint) == [*wanted, (10, 500, None)]
        assert post.outcomes() == ["given_up"]

    def test_a_later_event_waits_for_an_earlier_one_of_its_invoice(self, post: Post) -> None:
        post.endpoint()
        post.worker()
        first, second = post.invoice(), post.invoice()
        post.receivers.answers[post.event_id(0)] = OUT_OF_ORDER
        post.cancel(first)
        post.cancel(second)
        post.settle()
        assert ("invoice.canceled", first) not in post.got()
        post.clock.advance(seconds=5)
        post.settle()
        assert set(post.got()) == {
            ("invoice.created", first),
            ("invoice.created", second),
            ("invoice.canceled", second),
        }
        del post.receivers.answers[post.event_id(0)]
        post.clock.advance(seconds=300)
        post.settle()
        assert post.got()[-2:] == [("invoice.created", first), ("invoice.canceled", first)]
        assert post.outcomes() == ["taken"] * 4

    def test_one_that_is_given_up_lets_the_next_pass(self, post: Post) -> None:
        post.endpoint()
        post.worker()
        invoice_id = post.invoice()
        post.receivers.answers[post.event_id(0)] = OUT_OF_ORDER
        post.cancel(invoice_id)
        post.settle()
        for pause in schedule.PAUSES:
            post.clock.advance(seconds=pause.total_seconds())
            post.settle()
        assert post.outcomes() == ["given_up", "taken"]
        assert post.got()[-1] == ("invoice.canceled", invoice_id)

    @pytest.mark.parametrize("status", [429, 503])
    def test_retry_after_is_obeyed_for_all(self, post: Post, status: int) -> None:
        post.endpoint()
        post.worker()
        post.receivers.answer = Received(status, None, "", "60", 5)
        post.invoice()
        post.settle()
        post.receivers.answer = TAKEN
        post.invoice()
        post.clock.advance(seconds=59)
        post.settle()
        assert len(post.posted()) == 1
        post.clock.advance(seconds=1)
        post.settle()
        assert post.outcomes() == ["taken", "taken"]

    def test_gone_disables(self, post: Post) -> None:
        endpoint = post.endpoint()
        other = post.endpoint("https://other.example/")
        post.worker()
        post.receivers.answers["https://shop.example/"] = Received(410, None, "", None, 5)
        post.invoice()
        post.settle()
        with post.database.reading() as reader:
            told = endpoints.access_endpoint(
                reader, project_id=post.ada.id, endpoint_id=endpoint.id
            )
        assert (told.status, told.disabled_reason) == ("disabled", "gone")
        kind, invoice_id, data = post.events()[-1]
        assert (kind, invoice_id) == ("webhook_endpoint.disabled", None)
        assert data["webhook_endpoint"]["id"] == endpoint.id
        assert data["webhook_endpoint"]["disabled_reason"] == "gone"
        types = [orjson.loads(each.body)["type"] for each in post.posted(other.url)]
        assert types == ["invoice.created", "webhook_endpoint.disabled"]
        assert len(post.posted()) == 1

    def test_five_days_of_failures_disable(self, post: Post) -> None:
        endpoint = post.endpoint()
        post.worker()
        post.receivers.answer = OUT_OF_ORDER
        post.invoice()
        post.settle()
        post.clock.advance(seconds=timedelta(days=5).total_seconds() - 1)
        post.settle()
        assert [kind for kind, *_ in post.events()] == ["invoice.created"]
        post.clock.advance(seconds=schedule.PAUSES[-1].total_seconds())
        post.settle()
        kind, _, data = post.events()[-1]
        assert (kind, data["webhook_endpoint"]["disabled_reason"]) == (
            "webhook_endpoint.disabled",
            "failing",
        )
        assert data["webhook_endpoint"]["id"] == endpoint.id

    def test_a_success_begins_the_five_days_anew(self, post: Post) -> None:
        post.endpoint()
        post.worker()
        post.receivers.answer = OUT_OF_ORDER
        post.invoice()
        post.settle()
        post.receivers.answer = TAKEN
        post.clock.advance(seconds=86_400 * 4)
        post.settle()
        post.receivers.answer = OUT_OF_ORDER
        post.clock.advance(seconds=86_400 * 2)
        post.invoice()
        post.settle()
        assert [kind for kind, *_ in post.events()] == ["invoice.created"] * 2

    def test_what_a_disabled_endpoint_missed_comes_once_it_is_enabled(self, post: Post) -> None:
        endpoint = post.endpoint()
        post.worker()

        def turn(status: str) -> None:
            now = post.clock.now()
            post.database.run(
                lambda s: endpoints.change_endpoint(
                    s,
                    project_id=post.ada.id,
                    endpoint_id=endpoint.id,
                    changes={"status": status},
                    now=now,
                )
            )

        turn("disabled")
        invoice_id = post.invoice()
        post.settle()
        assert post.posted() == []
        turn("enabled")
        post.settle()
        assert post.got() == [("invoice.created", invoice_id)]


class TestSeveralWorkers:
    def test_they_share_and_nothing_comes_twice(self, post: Post) -> None:
        urls = [f"https://shop{number}.example/" for number in range(6)]
        for url in urls:
            post.endpoint(url)
        workers = [post.worker() for _ in range(3)]
        invoices = [post.invoice() for _ in range(10)]
        post.settle(*workers)
        for url in urls:
            assert sorted(post.got(url)) == sorted(("invoice.created", one) for one in invoices)

    def test_a_claim_keeps_others_away_until_it_lapses(self, post: Post) -> None:
        post.endpoint()
        post.receivers.hanging.add("https://shop.example/")
        dead, heir = post.worker(), post.worker()
        post.invoice()
        dead.try_at_once()
        for _ in range(100):
            if post.posted():
                break
            time.sleep(0.01)
        post.clock.advance(seconds=9)
        assert not heir.try_at_once()
        post.clock.advance(seconds=1)
        assert heir.try_at_once()
        with post.database.reading() as reader:
            holder = reader.execute(select(WebhookEndpoint.claimed_by)).scalar()
        assert holder == heir._holder

    def test_what_an_heir_has_taken_over_the_first_one_does_not_plan(self, post: Post) -> None:
        endpoint = post.endpoint()
        slow = post.worker()
        post.receivers.answer = OUT_OF_ORDER
        post.invoice()
        slow.try_at_once()
        post.database.run(
            lambda s: s.execute(
                update(WebhookEndpoint).values(
                    claimed_by="heir", claimed_until=post.clock.now() + timedelta(minutes=1)
                )
            )
        )
        post.settle()
        assert post.attempts(endpoint) == [(1, 500, post.clock.now())]
        assert post.outcomes() == [None]

    def test_closing_gives_back(self, post: Post) -> None:
        post.endpoint()
        worker = post.worker()
        post.invoice()
        worker.try_at_once()
        worker.close()
        assert post.outcomes() == ["taken"]
        with post.database.reading() as reader:
            assert reader.execute(select(WebhookEndpoint.claimed_by)).scalar() is None


class TestNobodyIsHeldUp:
    def test_by_one_that_hangs(self, post: Post) -> None:
        post.endpoint("https://hangs.example/")
        post.endpoint()
        post.receivers.hanging.add("https://hangs.example/")
        worker = post.worker()
        invoices = [post.invoice() for _ in range(20)]
        post.settle(worker)
        assert sorted(post.got()) == sorted(("invoice.created", one) for one in invoices)
        assert len(post.posted("https://hangs.example/")) == PER_ENDPOINT

    def test_the_slow_have_half_of_the_room(self) -> None:
        lanes = Lanes()
        lanes.note_failing([f"slow{number}" for number in range(1000)])
        capacity = lanes.capacity()
        begun = 0
        for number in range(1000):
            left = capacity.left(f"slow{number}", is_failing=True)
            capacity.use(f"slow{number}", left, is_failing=True)
            begun += left
        assert begun == MAX_SLOW
        assert capacity.left("quick", is_failing=False) == PER_ENDPOINT

    def test_a_failing_one_has_one_at_a_time(self) -> None:
        lanes = Lanes()
        assert lanes.capacity().left("a", is_failing=False) == PER_ENDPOINT
        lanes.begin("a", 1)
        lanes.end("a", 1, is_taken=False, seconds=0.01)
        assert lanes.capacity().left("a", is_failing=False) == 1
        lanes.begin("a", 2)
        assert (lanes.capacity().left("a", is_failing=False), list(lanes.full_slow())) == (0, ["a"])
        lanes.end("a", 2, is_taken=True, seconds=1.0)
        assert lanes.capacity().left("a", is_failing=False) == PER_ENDPOINT
        assert lanes.count == 0

    def test_one_that_answers_at_once_gets_more_until_it_no_longer_does(self) -> None:
        lanes = Lanes()
        answer(lanes, "a", PER_ENDPOINT)
        assert lanes.capacity().left("a", is_failing=False) == 2 * PER_ENDPOINT
        answer(lanes, "a", 1000)
        assert lanes.capacity().left("a", is_failing=False) == MAX_PER_ENDPOINT
        assert lanes.capacity().left("b", is_failing=False) == PER_ENDPOINT
        answer(lanes, "a", 1, seconds=1.0)
        assert lanes.capacity().left("a", is_failing=False) == PER_ENDPOINT

    def test_what_they_have_beyond_their_shares_leaves_half_of_the_room(self) -> None:
        lanes = Lanes()
        names = [f"quick{number}" for number in range(1000)]
        for name in names:
            answer(lanes, name, MAX_PER_ENDPOINT)
        capacity = lanes.capacity()
        begun = []
        for name in names:
            begun.append(capacity.left(name, is_failing=False))
            capacity.use(name, begun[-1], is_failing=False)
        wide = MAX_BEYOND_SHARES // MAX_PER_ENDPOINT
        assert begun[:wide] == [MAX_PER_ENDPOINT] * wide
        others = (MOST - MAX_BEYOND_SHARES) // PER_ENDPOINT
        assert begun[wide : wide + others] == [PER_ENDPOINT] * others
        assert sum(begun) == MOST


class TestRedelivery:
    """A requested redelivery is sent immediately, and first deliveries keep their order."""

    BROKEN = Received(500, None, "broken", None, 7)

    @pytest.fixture
    def held(self, post: Post) -> Endpoint:
        """An endpoint that rejects the first of two events of an invoice."""
        endpoint = post.endpoint()
        post.worker()
        self.invoice_id = post.invoice()
        post.receivers.answers[post.event_id(0)] = self.BROKEN
        post.settle()
        post.cancel(self.invoice_id)
        post.settle()
        assert [type_ for type_, _ in post.got()] == ["invoice.created"]
        return endpoint

    def redeliver(self, post: Post, endpoint: Endpoint, number: int) -> str:
        return post.database.run(
            lambda session: deliveries.redeliver(
                session,
                project_id=post.ada.id,
                endpoint_id=endpoint.id,
                event_id=event_list.read_id(post.event_id(number)),
                now=post.clock.now(),
            )
        )

    def marks(self, post: Post, endpoint: Endpoint) -> list[tuple[str, bool]]:
        with post.database.reading() as reader:
            rows, _ = deliveries.list_attempts(
                reader, project_id=post.ada.id, endpoint_id=endpoint.id, before=None, limit=100
            )
        return [(row.event_type.removeprefix("invoice."), row.redelivered) for row in rows[::-1]]

    def test_held_back_event_is_sent_now_and_marked(self, post: Post, held: Endpoint) -> None:
        assert self.redeliver(post, held, 1) == "due"
        post.settle()
        assert self.marks(post, held) == [("created", False), ("canceled", True)]
        post.receivers.answers.clear()
        post.clock.advance(seconds=10)
        post.settle()
        assert self.marks(post, held)[2:] == [("created", False)]

    def test_redelivery_ends_a_requested_pause(self, post: Post) -> None:
        endpoint = post.endpoint()
        post.worker()
        post.receivers.answers["https://shop.example/"] = Received(503, None, "", "80000", 7)
        post.invoice()
        post.settle()
        post.receivers.answers.clear()
        self.redeliver(post, endpoint, 0)
        post.settle()
        assert [number for number, _, _ in post.attempts(endpoint)] == [1, 2]

    def test_redelivered_event_keeps_its_place(self, post: Post, held: Endpoint) -> None:
        """It is not delivered, so later events wait, and earlier ones do not."""
        invoice_id = post.invoice()  # another invoice is not delayed
        post.settle()
        assert post.got()[-1] == ("invoice.created", invoice_id)
        post.receivers.answers[post.event_id(1)] = self.BROKEN
        self.redeliver(post, held, 1)
        post.settle()
        post.receivers.answers.pop(post.event_id(0))
        post.clock.advance(seconds=7)
        post.settle()
        its = [type_ for type_, its_id in post.got() if its_id == self.invoice_id]
        assert its.count("invoice.created") == 2
        assert post.outcomes() == ["taken", None, "taken"]

    def test_refused_redelivery_of_a_taken_event_holds_nothing_back(self, post: Post) -> None:
        endpoint = post.endpoint()
        post.worker()
        invoice_id = post.invoice()
        post.settle()
        post.receivers.answers[post.event_id(0)] = self.BROKEN
        self.redeliver(post, endpoint, 0)
        post.settle()
        post.cancel(invoice_id)
        post.settle()
        assert self.marks(post, endpoint) == [
            ("created", False),
            ("created", True),
            ("canceled", False),
        ]
        assert post.outcomes() == ["taken", "taken"]

    def test_narrower_subscription_frees_the_queue(self, post: Post, held: Endpoint) -> None:
        changes: dict[str, object] = {"event_types": ["invoice.canceled"]}
        post.database.run(
            lambda session: endpoints.change_endpoint(
                session,
                project_id=post.ada.id,
                endpoint_id=held.id,
                changes=changes,
                now=post.clock.now(),
            )
        )
        post.settle()
        assert [type_ for type_, _ in post.got()] == ["invoice.created", "invoice.canceled"]
        assert post.outcomes() == ["unwanted", "taken"]
        self.redeliver(post, held, 0)  # requested, although the endpoint is not subscribed
        post.settle()
        assert [type_ for type_, _ in post.got()][2:] == ["invoice.created"]


def answer(lanes: Lanes, endpoint_id: str, count: int, *, seconds: float = 0.01) -> None:
    """Send this number of consecutive successful requests."""
    for number in range(count):
        lanes.begin(endpoint_id, number)
        lanes.end(endpoint_id, number, is_taken=True, seconds=seconds)
