"""list_events and get_event: contents, order and waiting."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from models.payment import keys
from models.payment.retention import RULES
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant, make_invoice, pay

PATH = "/v1/events"
WAIT_S = 30
"""The maximum wait of a request."""
NO_SUCH_ID = "evt_7fffffffffffffff"


@pytest.fixture
def invoice_ids(database: Database, ada: Merchant, now: datetime) -> list[str]:
    """Create two invoices of Ada's, pay the first, and return their ids."""
    ids = [database.run(lambda s: make_invoice(s, ada, now=now)).id for _ in range(2)]
    pay(database, ids[0], at=now, block_number=100, head_number=100)
    pay(database, ids[0], at=now, amount=1, block_number=101, head_number=101)
    return ids


def page(api: ContractClient, **query: Any) -> dict[str, Any]:
    answer = api.get(f"{PATH}?{urlencode(query, doseq=True)}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def types(api: ContractClient, **query: Any) -> list[str]:
    return [event["type"] for event in page(api, **query)["data"]]


@contextmanager
def run_soon(work: Callable[[], object]) -> Iterator[None]:
    """Run `work` after a moment, in another thread."""
    thread = threading.Timer(0.3, work)
    thread.start()
    yield
    thread.join()


class TestListEvents:
    @pytest.mark.reaches("events_gone")
    def test_gap_is_reported(
        self,
        api: ContractClient,
        database: Database,
        invoice_ids: list[str],
        ben: Merchant,
        now: datetime,
    ) -> None:
        """Only a reader that is behind a deleted event of the same project receives the report."""
        ids = [event["id"] for event in page(api)["data"]]
        (rule,) = (rule for rule in RULES if rule.table == "event")
        late = now + timedelta(seconds=1)
        database.run(lambda s: make_invoice(s, ben, now=now))
        for gone in range(1, len(ids) + 1):
            assert database.run(lambda session: rule.delete_expired(session, late, 1))
            for after in ids:
                query = urlencode({"after": after, "type": "invoice.paid"})
                answer = api.get(f"{PATH}?{query}")
                if after < ids[gone - 1]:
                    assert (answer.status_code, answer.json()["code"]) == (410, "events_gone")
                else:
                    assert answer.status_code == 200
            assert [event["id"] for event in page(api)["data"]] == ids[gone:]
        assert database.run(lambda session: rule.delete_expired(session, late, 1)), (
            "this event is Ben's"
        )
        assert page(api, after=ids[-1])["data"] == []

    def test_after_beyond_all_events_is_rejected(
        self, api: ContractClient, database: Database, invoice_ids: list[str], now: datetime
    ) -> None:
        newest = page(api)["data"][-1]["id"]
        above = f"evt_{int(newest[4:], 16) + 1:016x}"
        for query in ({}, {"wait_s": 1}, {"type": "invoice.paid"}):
            answer = api.get(f"{PATH}?{urlencode({'after': above, **query})}")
            assert (answer.status_code, answer.json()["code"]) == (404, "event_not_found")
        assert page(api, after=newest)["data"] == []
        (rule,) = (rule for rule in RULES if rule.table == "event")
        late = now + timedelta(seconds=1)
        assert database.run(lambda session: rule.delete_expired(session, late, 1000))
        assert page(api, after=newest)["data"] == [], "it was the newest event"

    def test_empty_list(self, api: ContractClient) -> None:
        assert page(api) == {"data": [], "has_more": False, "next_cursor": None}

    def test_returns_complete_events_oldest_first(
        self, api: ContractClient, invoice_ids: list[str], now: datetime
    ) -> None:
        body = page(api)
        events = body["data"]
        assert [(event["type"], event["invoice_id"]) for event in events] == [
            ("invoice.created", invoice_ids[0]),
            ("invoice.created", invoice_ids[1]),
            ("invoice.payment_received", invoice_ids[0]),
            ("invoice.processing", invoice_ids[0]),
            ("invoice.payment_received", invoice_ids[0]),
            ("invoice.paid", invoice_ids[0]),
        ]
        assert sorted(event["id"] for event in events) == [event["id"] for event in events]
        assert {event["created_at"] for event in events} == {UtcMs.to_ms(now)}
        assert events[1]["data"] == {"invoice": api.get(f"/v1/invoices/{invoice_ids[1]}").json()}
        assert [event["data"]["invoice"]["status"] for event in events] == [
            "unpaid",
            "unpaid",
            "processing",
            "processing",
            "paid",
            "paid",
        ]
        payments = api.get(f"/v1/invoices/{invoice_ids[0]}").json()["payments"]
        (received,) = events[2]["data"]["invoice"]["payments"]
        assert events[2]["data"]["payment"] == received
        assert received | {"confirmations": 2, "status": "confirmed"} == payments[0]
        assert (body["has_more"], body["next_cursor"]) == (False, events[-1]["id"])

    def test_reader_receives_each_event_once(
        self, api: ContractClient, invoice_ids: list[str]
    ) -> None:
        all_events = page(api)["data"]
        found: list[dict[str, Any]] = []
        query: dict[str, Any] = {"limit": 3}
        body: dict[str, Any] = {"has_more": True}
        while body["has_more"]:
            body = page(api, **query)
            found += body["data"]
            query["after"] = body["next_cursor"]
        assert found == all_events
        before_commit = page(api, **query)
        assert before_commit == {"data": [], "has_more": False, "next_cursor": all_events[-1]["id"]}

    def test_filters(self, api: ContractClient, invoice_ids: list[str]) -> None:
        assert types(api, type="invoice.paid") == ["invoice.paid"]
        assert types(api, type="invoice.reorged") == []
        assert types(api, invoice_id=invoice_ids[1].upper()) == ["invoice.created"]
        assert types(api, invoice_id=invoice_ids[0]) == [
            "invoice.created",
            "invoice.payment_received",
            "invoice.processing",
            "invoice.payment_received",
            "invoice.paid",
        ]
        assert types(api, invoice_id=invoice_ids[1], type="invoice.paid") == []
        first = page(api)["data"][0]["id"]
        assert types(api, after=first, type="invoice.created") == ["invoice.created"]

    def test_several_types(self, api: ContractClient, invoice_ids: list[str]) -> None:
        both = ["invoice.paid", "invoice.created"]
        all_events = [event for event in page(api)["data"] if event["type"] in both]
        assert len(all_events) == 3
        assert page(api, type=both)["data"] == all_events
        assert page(api, type=[*both, *both])["data"] == all_events
        assert page(api, type=both, invoice_id=invoice_ids[0])["data"] == [
            all_events[0],
            all_events[2],
        ]
        first = page(api, type=both, limit=2)
        assert (first["data"], first["has_more"]) == (all_events[:2], True)
        following = page(api, type=both, after=first["next_cursor"])
        assert (following["data"], following["has_more"]) == (all_events[2:], False)

    @pytest.mark.parametrize(
        ("query", "path"),
        [
            ("limit=0", "/query/limit"),
            ("limit=101", "/query/limit"),
            ("wait_s=31", "/query/wait_s"),
            ("wait_s=-1", "/query/wait_s"),
            ("type=invoice.lost", "/query/type/0"),
            ("type=invoice.paid&type=", "/query/type/1"),
            ("invoice_id=x", "/query/invoice_id"),
            ("after=1", "/query/after"),
            ("after=evt_8000000000000000", "/query/after"),
        ],
    )
    def test_rejects_invalid_parameters(self, api: ContractClient, query: str, path: str) -> None:
        answer = api.get(f"{PATH}?{query}")
        assert answer.status_code == 422
        assert answer.json()["code"] == "invalid_request"
        assert {detail["path"] for detail in answer.json()["details"]} == {path}

    def test_hides_other_projects(
        self, client: ContractClient, invoice_ids: list[str], ben: Merchant
    ) -> None:
        stranger = client.with_key(ben.key)
        assert types(stranger) == []
        assert types(stranger, invoice_id=invoice_ids[0]) == []

    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert client.get(f"{PATH}?wait_s=30").status_code == 401


class TestWaiting:
    def test_available_events_are_returned_immediately(
        self, api: ContractClient, invoice_ids: list[str]
    ) -> None:
        began = time.monotonic()
        assert len(types(api, wait_s=WAIT_S)) == 6
        assert time.monotonic() - began < WAIT_S

    def test_event_ends_the_wait(
        self, api: ContractClient, invoice_ids: list[str], database: Database, now: datetime
    ) -> None:
        last = page(api)["next_cursor"]
        began = time.monotonic()
        with run_soon(lambda: pay(database, invoice_ids[1], at=now, block_number=200)):
            body = page(api, after=last, wait_s=WAIT_S)
        kinds = [event["type"] for event in body["data"]]
        assert kinds == ["invoice.payment_received", "invoice.processing"]
        assert body["next_cursor"] == body["data"][1]["id"] > last
        assert 0.2 < time.monotonic() - began < WAIT_S

    def test_first_event_of_a_project_ends_the_wait(
        self, api: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        with run_soon(lambda: database.run(lambda session: make_invoice(session, ada, now=now))):
            assert types(api, wait_s=30) == ["invoice.created"]

    def test_only_matching_events_end_the_wait(
        self, api: ContractClient, invoice_ids: list[str], database: Database, now: datetime
    ) -> None:
        def work() -> None:
            pay(database, invoice_ids[1], at=now, amount=1, block_number=200)
            time.sleep(0.3)
            pay(database, invoice_ids[1], at=now, block_number=201, head_number=210)

        with run_soon(work):
            body = page(api, type="invoice.overpaid", wait_s=30)
        assert [event["invoice_id"] for event in body["data"]] == [invoice_ids[1]]

    def test_wait_ends_without_an_event(
        self,
        api: ContractClient,
        invoice_ids: list[str],
        database: Database,
        ben: Merchant,
        now: datetime,
    ) -> None:
        last = page(api)["next_cursor"]
        began = time.monotonic()
        with run_soon(lambda: database.run(lambda session: make_invoice(session, ben, now=now))):
            body = page(api, after=last, wait_s=1)
        assert body == {"data": [], "has_more": False, "next_cursor": last}
        assert 0.9 < time.monotonic() - began < WAIT_S

    def test_many_requests_wait_simultaneously(
        self, api: ContractClient, invoice_ids: list[str], database: Database, now: datetime
    ) -> None:
        last = page(api)["next_cursor"]
        polls = [api.build("GET", f"{PATH}?after={last}&wait_s=30") for _ in range(40)]
        with run_soon(lambda: pay(database, invoice_ids[1], at=now, block_number=200)):
            answers = api.at_once(*polls)
        bodies = [answer.json() for answer in answers]
        assert [len(body["data"]) for body in bodies] == [2] * 40
        assert all(body == bodies[0] for body in bodies)

    def test_revoked_key_receives_no_more_events(
        self,
        api: ContractClient,
        invoice_ids: list[str],
        database: Database,
        ada: Merchant,
        now: datetime,
    ) -> None:
        last = page(api)["next_cursor"]

        def work() -> None:
            key_id = keys.id_of(ada.key)
            assert key_id is not None
            database.run(lambda session: keys.revoke_key(session, key_id=key_id, now=now))
            pay(database, invoice_ids[1], at=now, block_number=200)

        with run_soon(work):
            answer = api.get(f"{PATH}?after={last}&wait_s=30")
        assert answer.status_code == 401


class TestGetEvent:
    def test_returns_the_event_as_in_the_list(
        self, api: ContractClient, invoice_ids: list[str]
    ) -> None:
        listed = page(api)["data"]
        assert listed
        for event in listed:
            answer = api.get(f"{PATH}/{event['id']}")
            assert (answer.status_code, answer.json()) == (200, event)

    @pytest.mark.reaches("event_not_found")
    def test_event_of_another_project_is_not_found(
        self, api: ContractClient, client: ContractClient, invoice_ids: list[str], ben: Merchant
    ) -> None:
        event_id = page(api)["data"][0]["id"]
        hidden = client.with_key(ben.key).get(f"{PATH}/{event_id}")
        absent = api.get(f"{PATH}/{NO_SUCH_ID}")
        for answer in (hidden, absent):
            assert answer.status_code == 404
            assert answer.json() == {
                "code": "event_not_found",
                "message": "There is no such event in this project; check the id.",
                "request_id": answer.headers["Request-Id"],
                "details": [],
            }

    @pytest.mark.parametrize("event_id", ["1", "evt_1", "evt_000000000000000G", "evt_" + "f" * 16])
    def test_rejects_an_invalid_id(self, api: ContractClient, event_id: str) -> None:
        answer = api.get(f"{PATH}/{event_id}")
        assert answer.status_code == 422
        assert [detail["path"] for detail in answer.json()["details"]] == ["/path/id"]

    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert client.get(f"{PATH}/{NO_SUCH_ID}").status_code == 401
