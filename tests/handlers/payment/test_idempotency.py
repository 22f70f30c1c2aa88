"""One effect per key: replays, races, crashes and refusals, on both databases."""

import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

import httpx
import psycopg
import pytest

from models.payment.tables import IdempotencyKey, Invoice, InvoiceEvent
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import Merchant, pay
from tests.support.payment.invoices import ORDER, PATH, cancel, count, create, error, next_index

KEY = "key-00000001"


def outcome(response: httpx.Response) -> tuple[int, bytes]:
    return response.status_code, response.content


class TestReplay:
    def test_first_response_is_replayed_byte_for_byte(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        first = create(api)
        clock.advance(seconds=60)
        pay(database, first.json()["id"], at=clock.now(), head_number=105)
        again = create(api)
        assert outcome(again) == outcome(first), "even though the invoice is paid"
        assert "Idempotent-Replayed" not in first.headers
        assert again.headers["Idempotent-Replayed"] == "true"
        assert count(database, Invoice) == 1
        assert next_index(database) == 1

    def test_cancellation_is_replayed(self, api: ContractClient, database: Database) -> None:
        invoice_id = create(api).json()["id"]
        first, again = cancel(api, invoice_id), cancel(api, invoice_id.upper())
        assert (outcome(again), again.headers["Idempotent-Replayed"]) == (outcome(first), "true")
        assert count(database, InvoiceEvent) == 2

    @pytest.mark.parametrize(
        "change",
        [{"amount": "0"}, {"payment_method_id": "unknown"}],
        ids=["invalid_amount", "payment_method_not_allowed"],
    )
    def test_definitive_refusal_is_replayed(
        self, api: ContractClient, database: Database, change: dict[str, Any]
    ) -> None:
        first, again = create(api, **change), create(api, **change)
        assert first.status_code == 422
        assert (outcome(again), again.headers["Idempotent-Replayed"]) == (outcome(first), "true")
        assert (count(database, Invoice), next_index(database)) == (0, 0)

    def test_existing_attempt_and_refused_cancellation_are_replayed(
        self, api: ContractClient
    ) -> None:
        invoice_id = create(api).json()["id"]
        cancel(api, invoice_id)
        for first, again in (
            (create(api, "key-other-1"), create(api, "key-other-1")),
            (cancel(api, invoice_id, "key-other-2"), cancel(api, invoice_id, "key-other-2")),
        ):
            assert first.status_code == 409
            assert (outcome(again), again.headers["Idempotent-Replayed"]) == (
                outcome(first),
                "true",
            )

    def test_order_and_spacing_of_the_body_are_ignored(self, api: ContractClient) -> None:
        first = create(api)
        body = (
            b'{ "payment_method_id":"tusd-local", "amount":"12.5",\n "attempt_no":1,'
            b' "external_order_id":"order-1042" }'
        )
        headers = {"Idempotency-Key": KEY, "Content-Type": "application/json; charset=utf-8"}
        assert outcome(api.post(PATH, content=body, headers=headers)) == outcome(first)


class TestReuse:
    @pytest.mark.parametrize("change", [{"amount": "12.50"}, {"attempt_no": 2}])
    def test_key_with_another_body_is_rejected(
        self, api: ContractClient, database: Database, change: dict[str, Any]
    ) -> None:
        first = create(api)
        assert error(create(api, **change)) == (422, "idempotency_key_reused", [])
        assert outcome(create(api)) == outcome(first), "the first response is still replayed"
        assert count(database, Invoice) == 1

    def test_key_with_another_operation_is_rejected(self, api: ContractClient) -> None:
        invoice_id = create(api).json()["id"]
        assert error(cancel(api, invoice_id, KEY)) == (422, "idempotency_key_reused", [])
        assert api.get(f"{PATH}/{invoice_id}").json()["status"] == "unpaid"

    @pytest.mark.reaches("idempotency_key_reused")
    def test_key_with_another_invoice_is_rejected(self, api: ContractClient) -> None:
        one, two = (create(api, f"key-0000000{n}", attempt_no=n).json()["id"] for n in (1, 2))
        assert cancel(api, one).status_code == 200
        assert error(cancel(api, two)) == (422, "idempotency_key_reused", [])

    def test_other_project_may_use_the_same_key(
        self, api: ContractClient, client: ContractClient, ben: Merchant
    ) -> None:
        adas, bens = create(api), create(client.with_key(ben.key))
        assert (adas.status_code, bens.status_code) == (201, 201)
        assert adas.json()["id"] != bens.json()["id"]


class TestUnusedKey:
    """A request that fails before its decision leaves the key unused."""

    def test_validation_failure_leaves_the_key_unused(self, api: ContractClient) -> None:
        assert create(api, amount="1.").status_code == 422
        assert create(api).status_code == 201

    def test_missing_invoice_leaves_the_key_unused(self, api: ContractClient) -> None:
        missing = cancel(api, "00000000-0000-4000-8000-000000000000", KEY)
        assert error(missing) == (404, "invoice_not_found", [])
        assert create(api).status_code == 201

    @pytest.mark.reaches("internal_error")
    def test_internal_error_stores_nothing_and_can_be_retried(
        self, api: ContractClient, database: Database, chain: FakeGateway
    ) -> None:
        working, chain.configured = chain.configured, None  # type: ignore[assignment]
        response = create(api)
        assert error(response) == (500, "internal_error", [])
        assert (count(database, IdempotencyKey), count(database, Invoice)) == (0, 0)
        chain.configured = working
        assert create(api).status_code == 201


class TestRaces:
    def test_sixteen_concurrent_requests_create_one_invoice_with_one_response(
        self, api: ContractClient, database: Database
    ) -> None:
        request = {"json": ORDER, "headers": {"Idempotency-Key": KEY}}
        answers = api.at_once(*(api.build("POST", PATH, **request) for _ in range(16)))
        assert Counter(map(outcome, answers)) == {outcome(answers[0]): 16}
        assert answers[0].status_code == 201
        assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
        assert (count(database, Invoice), next_index(database)) == (1, 1)

    def test_eight_keys_for_one_attempt_create_one_invoice_and_seven_refusals(
        self, api: ContractClient, database: Database
    ) -> None:
        answers = api.at_once(
            *(
                api.build("POST", PATH, json=ORDER, headers={"Idempotency-Key": f"key-0000000{n}"})
                for n in range(8)
            )
        )
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 7}
        assert (count(database, Invoice), next_index(database)) == (1, 1)
        assert count(database, IdempotencyKey) == 8, "each refusal is stored"

    def test_eight_concurrent_orders_have_eight_addresses(
        self, api: ContractClient, database: Database
    ) -> None:
        answers = api.at_once(
            *(
                api.build(
                    "POST",
                    PATH,
                    json=ORDER | {"attempt_no": n},
                    headers={"Idempotency-Key": f"key-0000000{n}"},
                )
                for n in range(1, 9)
            )
        )
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["deposit_address"] for answer in answers}) == 8
        assert next_index(database) == 8

    def test_eight_concurrent_cancellations_cancel_once(
        self, api: ContractClient, database: Database
    ) -> None:
        invoice_id = create(api).json()["id"]
        answers = api.at_once(
            *(
                api.build(
                    "POST",
                    f"{PATH}/{invoice_id}/cancel",
                    headers={"Idempotency-Key": f"key-cancel-{n}"},
                )
                for n in range(8)
            )
        )
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 7}
        assert count(database, InvoiceEvent) == 2

    @pytest.mark.impatient
    @pytest.mark.reaches("idempotency_in_progress")
    def test_returns_409_while_the_first_request_runs(
        self, api: ContractClient, database: Database, database_url: str, ada: Merchant
    ) -> None:
        if database.dialect == "sqlite":
            pytest.skip("SQLite has one writer: the second request waits, or fails with 503")
        with psycopg.connect(database_url.replace("+psycopg", "")) as other:
            other.execute(
                "INSERT INTO idempotency_key"
                " (project_id, key, operation, fingerprint, status, body, created_at)"
                " VALUES (%s, %s, 'create_invoice', 'f', 0, '', 0)",
                (ada.id, KEY),
            )
            response = create(api)
            assert error(response) == (409, "idempotency_in_progress", [])
            assert response.headers["Retry-After"] == "1"
            other.rollback()
        assert create(api).status_code == 201, "after the first request has ended"

    @pytest.mark.impatient
    @pytest.mark.reaches("database_unavailable")
    def test_returns_503_while_another_writer_is_active(
        self, api: ContractClient, database: Database, database_url: str
    ) -> None:
        if database.dialect == "postgresql":
            pytest.skip("PostgreSQL has many writers")
        path = database_url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            response = create(api)
            assert error(response) == (503, "database_unavailable", [])
            assert response.headers["Retry-After"] == "1"
            other.execute("ROLLBACK")
        assert create(api).status_code == 201
