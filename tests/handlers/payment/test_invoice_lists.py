"""list_invoices: contents and order of a page, and the following pages."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy.orm import Session

from models.payment import invoice_list
from models.payment.settlement import cancel_invoice
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import LIFETIME, Merchant, make_invoice, make_method, pay

PATH = "/v1/invoices"
END = {"has_more": False, "next_cursor": None}
Make = Callable[..., list[str]]


@pytest.fixture
def make(database: Database, ada: Merchant, now: datetime) -> Make:
    """Create invoices of Ada's at intervals of a second and return their ids, oldest first."""

    def make(count: int = 1, *, at: datetime = now, **over: Any) -> list[str]:
        def work(session: Session) -> list[str]:
            times = [at + timedelta(seconds=second) for second in range(count)]
            return [make_invoice(session, ada, now=time, **over).id for time in times]

        return database.run(work)

    return make


def ids(api: ContractClient, **query: Any) -> list[str]:
    """Return the invoices of a single, last page."""
    body = page(api, **query)
    assert (body["has_more"], body["next_cursor"]) == (False, None)
    return [invoice["id"] for invoice in body["data"]]


def page(api: ContractClient, **query: Any) -> dict[str, Any]:
    answer = api.get(f"{PATH}?{urlencode(query, doseq=True)}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


class TestPages:
    def test_empty_list(self, api: ContractClient) -> None:
        assert page(api) == {"data": [], **END}

    def test_lists_complete_invoices(self, api: ContractClient, make: Make) -> None:
        (invoice_id,) = make()
        assert page(api) == {"data": [api.get(f"{PATH}/{invoice_id}").json()], **END}

    def test_paid_invoice_has_its_payments(
        self, api: ContractClient, make: Make, database: Database, now: datetime
    ) -> None:
        first, second = make(2)
        for block_number, invoice_id in ((100, first), (101, first), (102, second)):
            amount = 5_000_000 if invoice_id == first else 12_500_000
            pay(database, invoice_id, at=now, amount=amount, block_number=block_number)
        wanted = [api.get(f"{PATH}/{one}").json() for one in (second, first)]
        assert [len(invoice["payments"]) for invoice in wanted] == [1, 2]
        assert page(api)["data"] == wanted

    def test_newest_is_first(self, api: ContractClient, make: Make) -> None:
        made = make(3)
        assert ids(api) == ids(api, order="desc") == made[::-1]
        assert ids(api, order="asc") == made

    @pytest.mark.parametrize("order", ["desc", "asc"])
    def test_equal_times_are_ordered_by_id(
        self, api: ContractClient, make: Make, now: datetime, order: str
    ) -> None:
        made = [make(at=now)[0] for _ in range(5)]
        found, cursor = [], {}
        while True:
            body = page(api, limit=2, order=order, **cursor)
            found += [invoice["id"] for invoice in body["data"]]
            if not body["has_more"]:
                break
            cursor = {"cursor": body["next_cursor"]}
        assert found == sorted(made, reverse=order == "desc")

    def test_default_limit_is_twenty(self, api: ContractClient, make: Make) -> None:
        made = make(21)
        body = page(api)
        assert [invoice["id"] for invoice in body["data"]] == made[:0:-1]
        assert body["has_more"] is True
        assert ids(api, cursor=body["next_cursor"]) == [made[0]]
        assert len(ids(api, limit=100)) == 21

    def test_full_last_page_has_no_cursor(self, api: ContractClient, make: Make) -> None:
        assert len(ids(api, limit=2)) == 0
        make(2)
        assert len(ids(api, limit=2)) == 2

    @pytest.mark.parametrize(
        ("query", "path"),
        [
            ("limit=0", "/query/limit"),
            ("limit=101", "/query/limit"),
            ("limit=x", "/query/limit"),
            ("status=open", "/query/status/0"),
            ("exception=none", "/query/exception/0"),
            ("deposit_address=0x1", "/query/deposit_address"),
            ("tx_hash=0x1", "/query/tx_hash"),
            ("payment_method_id=a%20b", "/query/payment_method_id"),
            ("payment_method_id=" + "a" * 65, "/query/payment_method_id"),
            ("updated_from=-1", "/query/updated_from"),
            ("updated_from=9007199254740992", "/query/updated_from"),
            ("order=up", "/query/order"),
            ("created_from=-1", "/query/created_from"),
            ("created_to=soon", "/query/created_to"),
            ("external_order_id=", "/query/external_order_id"),
            ("cursor=a%2Bb", "/query/cursor"),
        ],
    )
    def test_rejects_invalid_parameters(self, api: ContractClient, query: str, path: str) -> None:
        answer = api.get(f"{PATH}?{query}")
        assert answer.status_code == 422
        assert answer.json()["code"] == "invalid_request"
        assert [detail["path"] for detail in answer.json()["details"]] == [path]

    def test_many_payments_shorten_the_page(
        self,
        api: ContractClient,
        make: Make,
        database: Database,
        now: datetime,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        made = make(3)
        for block_number, invoice_id in enumerate([*made, *made], start=100):
            pay(database, invoice_id, at=now, amount=1, block_number=block_number)
        monkeypatch.setattr(invoice_list, "MAX_PAYMENTS", 4)
        body = page(api)
        assert [invoice["id"] for invoice in body["data"]] == [made[2], made[1]]
        assert ids(api, cursor=body["next_cursor"]) == [made[0]]
        monkeypatch.setattr(invoice_list, "MAX_PAYMENTS", 1)
        assert [invoice["id"] for invoice in page(api)["data"]] == [made[2]]

    def test_hides_other_projects(self, client: ContractClient, make: Make, ben: Merchant) -> None:
        make(2)
        assert page(client.with_key(ben.key)) == {"data": [], **END}

    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert client.get(PATH).status_code == 401


class TestFilters:
    def test_by_order(self, api: ContractClient, make: Make) -> None:
        make(2)
        tries = [make(external_order_id="Ä 1", attempt_no=number)[0] for number in (1, 2)]
        assert sorted(ids(api, external_order_id="Ä 1")) == sorted(tries)
        assert ids(api, external_order_id="ä 1") == []
        assert sorted(ids(api, external_order_id="Ä 1", status=["unpaid", "paid"])) == sorted(tries)
        assert ids(api, external_order_id="Ä 1", status=["expired", "canceled"]) == []

    def test_from_is_inclusive_and_before_exclusive(
        self, api: ContractClient, make: Make, now: datetime
    ) -> None:
        made = make(4)
        second = UtcMs.to_ms(now + timedelta(seconds=1))
        assert ids(api, created_from=second) == made[:0:-1]
        assert ids(api, created_to=second) == [made[0]]
        assert ids(api, created_from=second, created_to=second + 1) == [made[1]]
        assert ids(api, created_from=second + 1, created_to=second) == []

    def test_by_status(
        self,
        api: ContractClient,
        make: Make,
        database: Database,
        ada: Merchant,
        now: datetime,
        clock: FrozenClock,
    ) -> None:
        late, unpaid, processing, paid, canceled = make(5)
        pay(database, paid, at=now, block_number=100, head_number=101)
        pay(database, processing, at=now, block_number=101)
        cancel = {"project_id": ada.id, "invoice_id": canceled, "now": now}
        database.run(lambda session: cancel_invoice(session, **cancel))
        clock.advance(seconds=LIFETIME.total_seconds() + 0.5)
        read = {one: api.get(f"{PATH}/{one}").json()["status"] for one in (late, unpaid)}
        assert read == {late: "expired", unpaid: "unpaid"}
        assert ids(api, status="unpaid") == [unpaid]
        assert ids(api, status="processing") == [processing]
        assert ids(api, status="paid") == [paid]
        assert ids(api, status="canceled") == [canceled]
        assert ids(api, status="expired") == [late]
        assert ids(api, status=["paid", "expired"]) == [paid, late]
        assert ids(api, status=["expired", "unpaid"]) == [unpaid, late]
        assert ids(api, status=["unpaid", "unpaid"]) == [unpaid]

    def test_by_exception(
        self, api: ContractClient, make: Make, database: Database, now: datetime
    ) -> None:
        usual, partial, over, over_later = make(4)
        amounts = {usual: 12_500_000, partial: 1, over: 12_500_001, over_later: 99_000_000}
        for block_number, (invoice_id, amount) in enumerate(amounts.items(), start=100):
            pay(
                database,
                invoice_id,
                at=now,
                amount=amount,
                block_number=block_number,
                head_number=120,
            )
        assert ids(api, exception="partial") == [partial]
        assert ids(api, exception="over") == [over_later, over]
        assert ids(api, exception=["late", "over", "partial"]) == [over_later, over, partial]
        assert ids(api, exception=["over", "partial"], status="paid") == [over_later, over]
        assert ids(api, exception="reorged") == []
        order = api.get(f"{PATH}/{over}").json()["external_order_id"]
        assert ids(api, exception="over", external_order_id=order) == [over]
        assert ids(api, exception="late", external_order_id=order) == []
        first = page(api, exception=["over", "partial"], limit=1)
        assert [invoice["id"] for invoice in first["data"]] == [over_later]
        cursor = first["next_cursor"]
        assert ids(api, exception=["partial", "over"], cursor=cursor) == [over, partial]

    def test_by_deposit_address(self, api: ContractClient, make: Make) -> None:
        wanted, other = (api.get(f"{PATH}/{one}").json() for one in make(2))
        address = wanted["deposit_address"]
        for spelled in (address, address.lower(), "0x" + address[2:].upper()):
            assert ids(api, deposit_address=spelled) == [wanted["id"]]
        assert ids(api, deposit_address=address, status="paid") == []
        assert ids(api, deposit_address=address, exception="over") == []
        order = other["external_order_id"]
        assert ids(api, deposit_address=address, external_order_id=order) == []

    def test_by_transaction(
        self, api: ContractClient, make: Make, database: Database, now: datetime
    ) -> None:
        usual, over, other = make(3)
        hashes = {}
        for block_number, invoice_id in enumerate((usual, over), start=100):
            amount = 12_500_000 if invoice_id == usual else 99_000_000
            paid = pay(
                database, invoice_id, at=now, amount=amount, block_number=block_number,
                head_number=120,
            )  # fmt: skip
            hashes[invoice_id] = paid.tx_hash
        for spelled in (hashes[over], "0x" + hashes[over][2:].upper()):
            assert ids(api, tx_hash=spelled) == [over]
        assert ids(api, tx_hash=hashes[usual], exception="over") == []
        assert ids(api, tx_hash=hashes[over], exception="over", status="paid") == [over]
        order = api.get(f"{PATH}/{other}").json()["external_order_id"]
        assert ids(api, tx_hash=hashes[over], external_order_id=order) == []
        address = api.get(f"{PATH}/{over}").json()["deposit_address"]
        assert ids(api, tx_hash=hashes[over], deposit_address=address) == [over]
        assert ids(api, tx_hash=f"0x{0:064x}") == []

    def test_by_payment_method(
        self, api: ContractClient, make: Make, database: Database, ada: Merchant, now: datetime
    ) -> None:
        first, second = make(2)
        database.run(lambda session: make_method(session, ada, now=now, method_id="late"))
        other = make(payment_method_id="late")[0]
        assert ids(api, payment_method_id="tusd-local") == [second, first]
        assert ids(api, payment_method_id="tusd-local", order="asc") == [first, second]
        assert ids(api, payment_method_id="late") == [other]
        assert ids(api, payment_method_id="late", status="paid") == []
        assert ids(api, payment_method_id="late", exception="late") == []
        assert ids(api, payment_method_id="absent") == []

    def test_by_last_change(
        self,
        api: ContractClient,
        make: Make,
        database: Database,
        ada: Merchant,
        now: datetime,
        clock: FrozenClock,
    ) -> None:
        first, second, third = make(3)
        at = now + timedelta(minutes=5)
        pay(database, first, at=at, amount=1)
        since = UtcMs.to_ms(at)
        assert ids(api, updated_from=since) == [first]
        assert ids(api, updated_from=since + 1) == []
        assert ids(api, updated_from=0) == [first, third, second]
        assert ids(api, updated_from=0, order="asc") == [second, third, first]
        assert ids(api, updated_from=0, created_to=UtcMs.to_ms(now) + 1) == [first]
        assert ids(api, updated_from=since, exception="partial") == [first]
        assert ids(api, updated_from=since, status="paid") == []
        clock.advance(seconds=LIFETIME.total_seconds() + 1.5)  # the worker has not run yet
        assert ids(api, updated_from=since, order="asc") == [first, second]
        assert ids(api, updated_from=since, status="expired") == [second, first]
        read = [api.get(f"{PATH}/{each}").json()["updated_at"] for each in (first, second)]
        assert read == sorted(read)
        assert ids(api, updated_from=read[1]) == [second]

    def test_invoice_changed_meanwhile_is_listed_again(
        self, api: ContractClient, make: Make, database: Database, now: datetime
    ) -> None:
        first, second, third = make(3)
        filters = {"updated_from": UtcMs.to_ms(now), "order": "asc"}
        body = page(api, limit=2, **filters)
        assert [invoice["id"] for invoice in body["data"]] == [first, second]
        pay(database, first, at=now + timedelta(minutes=1), amount=1)
        assert ids(api, cursor=body["next_cursor"], **filters) == [third, first]

    def test_combined_filters(self, api: ContractClient, make: Make, now: datetime) -> None:
        made = make(3)
        start = UtcMs.to_ms(now)
        query = {"status": ["unpaid"], "created_from": start + 1, "limit": 1}
        body = page(api, **query)
        assert [invoice["id"] for invoice in body["data"]] == [made[2]]
        assert ids(api, **query, cursor=body["next_cursor"]) == [made[1]]


class TestCursors:
    def test_new_invoices_do_not_change_later_pages(
        self, api: ContractClient, make: Make, now: datetime
    ) -> None:
        made = make(4)
        first = page(api, limit=2)
        make(3, at=now + timedelta(minutes=1))
        assert ids(api, limit=2, cursor=first["next_cursor"]) == made[1::-1]

    def test_limit_may_change(self, api: ContractClient, make: Make) -> None:
        made = make(4)
        cursor = page(api, limit=1)["next_cursor"]
        assert ids(api, limit=50, cursor=cursor) == made[2::-1]

    def test_cursor_belongs_to_its_filters_and_project(
        self, api: ContractClient, client: ContractClient, make: Make, ben: Merchant
    ) -> None:
        make(2)
        filters = {"status": ["paid", "unpaid"], "created_from": 0}
        cursor = page(api, limit=1, **filters)["next_cursor"]
        assert len(ids(api, cursor=cursor, status=["unpaid", "paid"], created_from=0)) == 1
        for other in (
            {},
            {"status": "unpaid", "created_from": 0},
            {**filters, "created_from": 1},
            {**filters, "created_to": 2**53 - 1},
            {**filters, "external_order_id": "order-1"},
            {**filters, "exception": "over"},
            {**filters, "deposit_address": f"0x{0:040x}"},
            {**filters, "tx_hash": f"0x{0:064x}"},
            {**filters, "payment_method_id": "paid"},
            {**filters, "updated_from": 0},
            {**filters, "order": "asc"},
        ):
            refused(api, cursor, **other)
        refused(client.with_key(ben.key), cursor, **filters)

    @pytest.mark.reaches("invalid_cursor")
    def test_invalid_cursor_is_rejected(self, api: ContractClient, make: Make) -> None:
        make(2)
        cursor = page(api, limit=1)["next_cursor"]
        assert len(cursor) == 43
        for broken in (cursor[:-1], cursor + "A", "A" * 43, "A", cursor[1:] + cursor[0], "_" * 43):
            refused(api, broken)


def refused(api: ContractClient, cursor: str, **query: Any) -> None:
    answer = api.get(f"{PATH}?{urlencode({**query, 'cursor': cursor}, doseq=True)}")
    assert answer.status_code == 422
    body = answer.json()
    assert body == {
        "code": "invalid_cursor",
        "message": "The cursor does not belong to this list with these filters in this order; send "
        "next_cursor unchanged, or start without one.",
        "request_id": answer.headers["Request-Id"],
        "details": [
            {
                "path": "/query/cursor",
                "message": "is not a cursor of this list with these filters in this order",
            }
        ],
    }
