"""Attempts for one order: when an expiry is final, and warnings about earlier attempts."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from models.payment import expiry
from models.payment.tables import Invoice
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import LIFETIME, Merchant, pay, set_head
from tests.support.payment.invoices import cancel, create

AFTER = LIFETIME.total_seconds() + 1


def read(api: ContractClient, invoice_id: str) -> dict[str, Any]:
    body: dict[str, Any] = api.get(f"/v1/invoices/{invoice_id}").json()
    return body


def expire(database: Database, invoice_id: str, at: datetime) -> None:
    """Read the chain past the expiry, twice, and run the worker."""

    def work(session: Any) -> None:
        invoice = session.get_one(Invoice, invoice_id)
        invoice.catch_up_block, invoice.rereads = None, 1
        set_head(session, head_number=300, at=at)
        expiry.try_expire_some(session, now=at, limit=10)

    database.run(work)


class TestExpiryFinal:
    def test_expiry_is_final_after_the_chain_was_read_past_it(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        made = create(api).json()
        assert made["expiry_final"] is False
        clock.advance(seconds=AFTER)
        by_clock = read(api, made["id"])
        assert (by_clock["status"], by_clock["expiry_final"]) == ("expired", False)
        (listed,) = api.get("/v1/invoices?status=expired").json()["data"]
        assert listed == by_clock
        expire(database, made["id"], clock.now())
        (listed,) = api.get("/v1/invoices?status=expired").json()["data"]
        assert (listed["status"], listed["expiry_final"]) == ("expired", True)
        assert read(api, made["id"]) == listed
        (told,) = api.get("/v1/events?type=invoice.expired").json()["data"]
        assert told["data"]["invoice"] == listed

    def test_final_expiry_changes_the_etag(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        made = create(api).json()
        clock.advance(seconds=AFTER)
        path = f"/v1/invoices/{made['id']}"
        etag = api.get(path).headers["ETag"]
        assert api.get(path, headers={"If-None-Match": etag}).status_code == 304
        expire(database, made["id"], clock.now())
        assert api.get(path, headers={"If-None-Match": etag}).status_code == 200

    def test_paid_invoice_has_no_final_expiry(
        self, api: ContractClient, database: Database, clock: FrozenClock, now: datetime
    ) -> None:
        made = create(api).json()
        clock.advance(seconds=AFTER)
        pay(database, made["id"], at=now, head_number=110)
        found = read(api, made["id"])
        assert (found["status"], found["expiry_final"]) == ("paid", False)


class TestWarnings:
    def again(self, api: ContractClient, attempt_no: int = 2, **over: Any) -> Any:
        return create(api, f"key-0000000{attempt_no}", attempt_no=attempt_no, **over).json()

    def warned(self, made: dict[str, Any]) -> list[tuple[str, str]]:
        return [(each["code"], each["invoice_id"]) for each in made.get("warnings", ())]

    def test_first_attempt_has_no_warnings(self, api: ContractClient) -> None:
        assert "warnings" not in create(api).json()

    @pytest.mark.parametrize("case", ["unpaid", "clock", "partial", "processing"])
    def test_names_an_attempt_that_may_become_paid(
        self, api: ContractClient, database: Database, clock: FrozenClock, now: datetime, case: str
    ) -> None:
        first = create(api).json()["id"]
        if case == "clock":
            clock.advance(seconds=AFTER)
        elif case == "partial":
            pay(database, first, at=now, amount=1)
        elif case == "processing":
            pay(database, first, at=now)
        made = self.again(api)
        assert self.warned(made) == [("earlier_attempt_open", first)]
        (warning,) = made["warnings"]
        words = {"clock": "expired (not finally)", "partial": "unpaid"}.get(case, case)
        assert warning["message"] == (
            f"Attempt 1 at this order is {words} and may still be paid; fulfill the order once."
        )

    def test_names_a_paid_attempt(
        self, api: ContractClient, database: Database, now: datetime
    ) -> None:
        first = create(api).json()["id"]
        pay(database, first, at=now, head_number=110)
        assert self.warned(self.again(api)) == [("earlier_attempt_paid", first)]

    def test_ended_attempt_has_no_warning(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        first = create(api).json()["id"]
        second = self.again(api)["id"]
        cancel(api, second)
        clock.advance(seconds=AFTER)
        expire(database, first, clock.now())
        assert "warnings" not in self.again(api, 3)

    def test_other_orders_and_projects_are_not_named(
        self, client: ContractClient, api: ContractClient, ben: Merchant
    ) -> None:
        create(api)
        assert "warnings" not in self.again(api, 2, external_order_id="another")
        assert "warnings" not in self.again(client.with_key(ben.key), 3)

    def test_names_at_most_ten_newest_first(self, api: ContractClient) -> None:
        ids = [create(api, f"key-{n:08}", attempt_no=n).json()["id"] for n in range(1, 13)]
        made = create(api, "key-00000013", attempt_no=13).json()
        assert [each["invoice_id"] for each in made["warnings"]] == ids[:1:-1]

    def test_warnings_are_part_of_the_stored_response(
        self, api: ContractClient, database: Database, now: datetime
    ) -> None:
        first = create(api).json()["id"]
        answers = [create(api, "key-00000002", attempt_no=2)]
        pay(database, first, at=now, head_number=110)
        answers.append(create(api, "key-00000002", attempt_no=2))
        assert answers[0].content == answers[1].content
        assert answers[1].headers["Idempotent-Replayed"] == "true"

    def test_warnings_are_in_no_other_response(self, api: ContractClient) -> None:
        create(api)
        made = self.again(api)
        found = read(api, made["id"])
        assert "warnings" not in found
        told = api.get(f"/v1/events?invoice_id={made['id']}").json()["data"]
        assert [each["data"]["invoice"] for each in told] == [found]

    def test_first_attempt_needs_no_additional_statement(self, api: ContractClient) -> None:
        asked: list[str] = []

        def note(_connection: object, _cursor: object, sql: str, *_rest: object) -> None:
            asked.append(sql)

        event.listen(Engine, "before_cursor_execute", note)
        try:
            create(api)
            assert asked, "statements are recorded"
            assert [sql for sql in asked if "attempt_no <" in sql] == []
            create(api, "key-00000002", attempt_no=2)
            assert len([sql for sql in asked if "attempt_no <" in sql]) == 1
        finally:
            event.remove(Engine, "before_cursor_execute", note)


def test_invoice_has_the_derivation_path_of_its_address(
    api: ContractClient, client: ContractClient, ben: Merchant, now: datetime
) -> None:
    """Ben's key belongs to the second account of his wallet, as the key encodes."""
    made = [create(api, f"key-0000000{n}", attempt_no=n).json() for n in (1, 2)]
    made.append(create(client.with_key(ben.key)).json())
    assert [each["derivation_path"] for each in made] == [
        "m/44'/60'/0'/0/0",
        "m/44'/60'/0'/0/1",
        "m/44'/60'/1'/0/0",
    ]
    assert read(api, made[1]["id"])["derivation_path"] == made[1]["derivation_path"]
    assert made[0]["expires_at"] == (now + timedelta(minutes=30)).timestamp() * 1000
