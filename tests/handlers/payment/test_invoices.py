"""create_invoice, get_invoice, cancel_invoice: responses and stored state."""

import threading
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.payment.checkpoints import find_checkpoint, move
from models.payment.invoices import FRESH, NewestBlock
from models.payment.tables import IdempotencyKey, Invoice, InvoiceEvent
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import (
    ADA_DEPOSITS,
    CHAIN_ID,
    PAYER,
    TOKEN,
    Merchant,
    make_invoice,
    make_merchant,
    make_method,
    pay,
    set_head,
)
from tests.support.payment.invoices import (
    NO_SUCH_ID,
    ORDER,
    PATH,
    cancel,
    count,
    create,
    error,
    next_index,
)

FULL_WIDTH = "\uff11\uff12"


class TestCreationBlock:
    """The chain position at creation, so that earlier transfers do not pay the invoice."""

    BLOCK = NewestBlock(250, "0x" + "a" * 64)

    def noted(self, database: Database) -> tuple[int | None, int | None, str | None]:
        with database.reading() as connection:
            row = connection.execute(
                select(Invoice.creation_block, Invoice.creation_head, Invoice.creation_head_hash)
            ).one()
        return (row.creation_block, row.creation_head, row.creation_head_hash)

    def test_block_of_the_chain_without_a_watcher(
        self, api: ContractClient, database: Database, chain: FakeGateway
    ) -> None:
        chain.newest_block = self.BLOCK
        assert create(api).status_code == 201
        assert self.noted(database) == (None, 250, self.BLOCK.hash)

    def test_recent_checkpoint_of_the_watcher(
        self, api: ContractClient, database: Database, chain: FakeGateway, now: datetime
    ) -> None:
        chain.newest_block = self.BLOCK
        database.run(lambda session: set_head(session, head_number=200, at=now))
        assert create(api).status_code == 201
        assert self.noted(database) == (200, None, None)

    def test_later_of_both_with_an_old_checkpoint(
        self,
        api: ContractClient,
        database: Database,
        chain: FakeGateway,
        clock: FrozenClock,
        now: datetime,
    ) -> None:
        chain.newest_block = self.BLOCK
        database.run(lambda session: set_head(session, head_number=200, at=now))
        clock.advance(seconds=FRESH.total_seconds() + 1)
        assert create(api).status_code == 201
        assert self.noted(database) == (200, 250, self.BLOCK.hash)

    def test_checkpoint_if_an_endpoint_lags(
        self,
        api: ContractClient,
        database: Database,
        chain: FakeGateway,
        clock: FrozenClock,
        now: datetime,
    ) -> None:
        chain.newest_block = self.BLOCK
        database.run(lambda session: set_head(session, head_number=300, at=now))
        clock.advance(seconds=3)
        assert create(api).status_code == 201
        assert self.noted(database)[0] == 300

    def test_null_if_unknown(self, api: ContractClient, database: Database) -> None:
        assert create(api).status_code == 201
        assert self.noted(database) == (None, None, None)

    def test_watcher_does_not_advance_before_the_invoice_is_stored(
        self, postgres_url: str, now: datetime
    ) -> None:
        """Otherwise a reorganization found meanwhile would miss the invoice."""
        moved = threading.Event()
        with closing(Database(postgres_url)) as database:
            ada = database.run(lambda session: make_merchant(session, now=now))
            database.run(lambda session: set_head(session, head_number=200, at=now))
            with database.reading() as reader:
                old = find_checkpoint(reader, CHAIN_ID)
            assert old is not None

            def watch() -> None:
                database.run(
                    lambda session: move(session, old, to=old.block, head=old.block, now=now)
                )
                moved.set()

            watcher = threading.Thread(target=watch)

            def sell(session: Session) -> None:
                make_invoice(session, ada, now=now)
                watcher.start()
                assert not moved.wait(0.3)

            database.run(sell)
            watcher.join(10)
            assert moved.is_set()


class TestCreateInvoice:
    def test_returns_201_with_the_complete_invoice(
        self, api: ContractClient, now: datetime
    ) -> None:
        response = create(api)
        assert response.status_code == 201
        body = response.json()
        deposit = ADA_DEPOSITS[0]
        assert body == {
            "id": body["id"],
            "environment": "test",
            "external_order_id": "order-1042",
            "attempt_no": 1,
            "status": "unpaid",
            "exception": "none",
            "payment_method_id": "tusd-local",
            "amount": "12500000",
            "amount_paid": "0",
            "amount_pending": "0",
            "amount_remaining": "12500000",
            "amount_overpaid": "0",
            "chain_id": 31337,
            "token_address": TOKEN,
            "deposit_address": deposit,
            "payment_uri": f"ethereum:{TOKEN}@31337/transfer?address={deposit}&uint256=12500000",
            "confirmations_required": 2,
            "payments": [],
            "created_at": UtcMs.to_ms(now),
            "updated_at": UtcMs.to_ms(now),
            "expires_at": UtcMs.to_ms(now + timedelta(minutes=30)),
            "monitoring_ends_at": UtcMs.to_ms(now + timedelta(minutes=30, hours=24)),
            "paid_at": None,
            "canceled_at": None,
            "expiry_final": False,
            "derivation_path": "m/44'/60'/0'/0/0",
        }

    def test_each_invoice_has_the_next_deposit_address(self, api: ContractClient) -> None:
        addresses = [
            create(api, f"key-0000000{n}", attempt_no=n).json()["deposit_address"]
            for n in (1, 2, 3)
        ]
        assert tuple(addresses) == ADA_DEPOSITS

    def test_appends_one_event(
        self, api: ContractClient, database: Database, now: datetime
    ) -> None:
        invoice_id = create(api).json()["id"]
        with database.reading() as connection:
            event = connection.execute(select(InvoiceEvent.__table__)).one()
        assert event._asdict() == {
            "id": event.id,
            "invoice_id": invoice_id,
            "kind": "created",
            "from_status": None,
            "to_status": "unpaid",
            "exception": "none",
            "facts": "{}",
            "at": now,
        }

    @pytest.mark.parametrize(
        ("amount", "atoms"),
        [
            ("1", "1000000"),
            ("1.5", "1500000"),
            ("1.500000", "1500000"),
            ("0.000001", "1"),
            ("10", "10000000"),
            (
                "115792089237316195423570985008687907853269984665640564039457584007913129.639935",
                str(2**256 - 1),
            ),
        ],
    )
    def test_amount_is_stored_exactly(self, api: ContractClient, amount: str, atoms: str) -> None:
        created = create(api, amount=amount)
        assert (created.status_code, created.json()["amount"]) == (201, atoms)
        assert api.get(f"{PATH}/{created.json()['id']}").json()["amount"] == atoms

    @pytest.mark.parametrize(
        "amount",
        [
            "0",
            "0.000000",
            "9" * 72,
            "115792089237316195423570985008687907853269984665640564039457584007913129.639936",
        ],
        ids=["zero", "zero with decimals", "72 nines", "one atom over uint256"],
    )
    @pytest.mark.reaches("invalid_amount")
    def test_returns_422_invalid_amount_for_an_amount_beyond_the_token(
        self, api: ContractClient, database: Database, amount: str
    ) -> None:
        response = create(api, amount=amount)
        assert error(response) == (422, "invalid_amount", ["/body/amount"])
        assert count(database, Invoice) == 0

    @pytest.mark.parametrize(
        "amount",
        [
            "00.1",
            "1.",
            ".5",
            "1.0000000",
            "1.5\n",
            FULL_WIDTH,
            "+1",
            "-1",
            "1e3",
            " 1",
            "",
            "1,5",
            "0x1",
            "9" * 73,
        ],
    )
    @pytest.mark.reaches("invalid_request")
    def test_returns_422_invalid_request_for_other_text(
        self, api: ContractClient, database: Database, amount: str
    ) -> None:
        response = create(api, amount=amount)
        assert error(response)[:2] == (422, "invalid_request")
        assert set(error(response)[2]) == {"/body/amount"}
        assert count(database, IdempotencyKey) == 0, "the key is unused"

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"external_order_id": ""}, "/body/external_order_id"),
            ({"external_order_id": "x" * 151}, "/body/external_order_id"),
            ({"external_order_id": 7}, "/body/external_order_id"),
            ({"external_order_id": "a\0b"}, "/body/external_order_id"),
            ({"attempt_no": 0}, "/body/attempt_no"),
            ({"attempt_no": 2147483648}, "/body/attempt_no"),
            ({"attempt_no": 10**30}, "/body/attempt_no"),
            ({"attempt_no": 1.0}, "/body/attempt_no"),
            ({"attempt_no": "1"}, "/body/attempt_no"),
            ({"attempt_no": True}, "/body/attempt_no"),
            ({"amount": 1.5}, "/body/amount"),
            ({"amount": None}, "/body/amount"),
            ({"payment_method_id": ""}, "/body/payment_method_id"),
            ({"payment_method_id": "a b"}, "/body/payment_method_id"),
            ({"unknown": 1}, "/body"),
        ],
    )
    def test_returns_422_with_the_location_of_the_error(
        self, api: ContractClient, change: dict[str, Any], pointer: str
    ) -> None:
        status, code, paths = error(create(api, **change))
        assert (status, code, set(paths)) == (422, "invalid_request", {pointer})

    @pytest.mark.parametrize("missing", sorted(ORDER))
    def test_returns_422_for_a_missing_property(self, api: ContractClient, missing: str) -> None:
        body = {name: value for name, value in ORDER.items() if name != missing}
        response = api.post(PATH, json=body, headers={"Idempotency-Key": "key-00000001"})
        assert error(response) == (422, "invalid_request", ["/body"])
        assert missing in response.json()["details"][0]["message"]

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]", b"null", b"\xff", b'{"a":1,"a":1}', b"[" * 10_000]
    )
    def test_returns_422_for_a_body_other_than_a_json_object(
        self, api: ContractClient, content: bytes
    ) -> None:
        headers = {"Idempotency-Key": "key-00000001", "Content-Type": "application/json"}
        response = api.post(PATH, content=content, headers=headers)
        assert error(response)[:2] == (422, "invalid_request")

    def test_accepts_extreme_values_of_every_field(self, api: ContractClient) -> None:
        order_id = "\U0001f4da" * 150
        body = create(api, external_order_id=order_id, attempt_no=2147483647).json()
        assert (body["external_order_id"], body["attempt_no"]) == (order_id, 2147483647)
        assert api.get(f"{PATH}/{body['id']}").json() == body

    @pytest.mark.parametrize(
        "key", ["short", "x" * 101, "spaces in it", "ümlaut-key", "tab\tinside"]
    )
    def test_returns_422_for_a_malformed_key(self, api: ContractClient, key: str) -> None:
        request = api.build("POST", PATH, json=ORDER)
        request.headers = httpx.Headers([*request.headers.raw, (b"Idempotency-Key", key.encode())])
        (response,) = api.at_once(request)
        assert error(response)[:2] == (422, "invalid_request")
        assert set(error(response)[2]) == {"/header/Idempotency-Key"}

    def test_returns_422_without_a_key_and_lists_all_errors(self, api: ContractClient) -> None:
        response = api.post(PATH, json=ORDER | {"attempt_no": 0})
        assert error(response) == (
            422,
            "invalid_request",
            ["/header/Idempotency-Key", "/body/attempt_no"],
        )

    @pytest.mark.reaches("payment_method_not_allowed")
    def test_returns_422_for_an_unknown_payment_method(
        self, api: ContractClient, database: Database, ben: Merchant, now: datetime
    ) -> None:
        database.run(lambda s: make_method(s, ben.project, now=now, method_id="only-bens"))
        response = create(api, payment_method_id="only-bens")
        assert error(response) == (
            422,
            "payment_method_not_allowed",
            ["/body/payment_method_id"],
        )
        assert count(database, Invoice) == 0

    @pytest.mark.reaches("order_attempt_exists")
    def test_returns_409_for_a_repeated_attempt_with_the_first_invoice(
        self, api: ContractClient, database: Database
    ) -> None:
        first = create(api).json()["id"]
        response = create(api, "key-00000002")
        assert error(response) == (409, "order_attempt_exists", ["/body/attempt_no"])
        assert first in response.json()["details"][0]["message"]
        assert response.json()["details"][0]["invoice_id"] == first
        assert count(database, Invoice) == 1
        assert next_index(database) == 1, "a refusal uses no address"

    def test_two_projects_may_use_the_same_order_number(
        self, api: ContractClient, client: ContractClient, ben: Merchant
    ) -> None:
        assert create(api).status_code == 201
        assert create(client.with_key(ben.key)).status_code == 201

    def test_returns_503_without_an_endpoint_and_stores_nothing(
        self, api: ContractClient, database: Database, chain: FakeGateway
    ) -> None:
        chain.configured.clear()
        response = create(api)
        assert error(response) == (503, "chain_not_configured", [])
        assert int(response.headers["Retry-After"]) > 0
        assert (count(database, Invoice), count(database, IdempotencyKey)) == (0, 0)
        chain.configured.add(31337)
        assert create(api).status_code == 201, "the same key works when the chain is available"

    @pytest.mark.reaches("body_too_large")
    def test_returns_413_over_64_kib(self, api: ContractClient) -> None:
        response = create(api, external_order_id="x" * 65_536)
        assert error(response) == (413, "body_too_large", [])

    @pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "multipart/form-data"])
    @pytest.mark.reaches("unsupported_media_type")
    def test_returns_415_for_other_types_than_json(
        self, api: ContractClient, media_type: str
    ) -> None:
        headers = {"Idempotency-Key": "key-00000001", "Content-Type": media_type}
        response = api.post(PATH, content=b"a=1", headers=headers)
        assert error(response) == (415, "unsupported_media_type", [])
        assert response.headers["Accept"] == "application/json"

    def test_returns_431_for_a_long_url(self, api: ContractClient) -> None:
        response = api.get("/v1/payment-methods?x=" + "x" * 9_000)
        assert error(response) == (431, "headers_too_large", [])

    @pytest.mark.reaches("headers_too_large")
    def test_returns_431_for_long_headers(self, api: ContractClient) -> None:
        response = api.post(PATH, json=ORDER, headers={"X-Long": "x" * 20_000})
        assert error(response) == (431, "headers_too_large", [])

    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert create(client).status_code == 401


class TestGetInvoice:
    def test_returns_the_response_of_create(self, api: ContractClient) -> None:
        created = create(api)
        response = api.get(f"{PATH}/{created.json()['id']}")
        assert (response.status_code, response.content) == (200, created.content)

    def test_id_is_accepted_in_any_case(self, api: ContractClient) -> None:
        created = create(api).json()
        assert api.get(f"{PATH}/{created['id'].upper()}").json() == created

    def test_lists_payments_with_their_confirmations(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        created = create(api).json()
        clock.advance(seconds=60)
        at = clock.now()
        payment = pay(database, created["id"], at=at, amount=12_600_000, head_number=101)
        assert api.get(f"{PATH}/{created['id']}").json() == created | {
            "status": "paid",
            "exception": "over",
            "amount_paid": "12600000",
            "amount_remaining": "0",
            "amount_overpaid": "100000",
            "payments": [
                {
                    "tx_hash": payment.tx_hash,
                    "log_index": 0,
                    "block_number": 100,
                    "block_hash": payment.block_hash,
                    "from": PAYER,
                    "amount": "12600000",
                    "confirmations": 2,
                    "status": "confirmed",
                    "late": False,
                    "detected_at": UtcMs.to_ms(at),
                }
            ],
            "updated_at": UtcMs.to_ms(at),
            "paid_at": UtcMs.to_ms(at),
        }

    def test_status_is_processing_while_confirmations_are_missing(
        self, api: ContractClient, database: Database, now: datetime
    ) -> None:
        invoice_id = create(api).json()["id"]
        pay(database, invoice_id, at=now)
        body = api.get(f"{PATH}/{invoice_id}").json()
        shown = {name: body[name] for name in ("status", "amount_paid", "amount_pending")}
        assert shown == {"status": "processing", "amount_paid": "0", "amount_pending": "12500000"}
        assert [p["confirmations"] for p in body["payments"]] == [1]

    def test_expires_by_the_clock_without_a_worker(
        self, api: ContractClient, clock: FrozenClock
    ) -> None:
        created = create(api).json()
        clock.advance(seconds=1800)
        assert api.get(f"{PATH}/{created['id']}").json() == created, "the expiry itself is on time"
        clock.advance(seconds=0.001)
        assert api.get(f"{PATH}/{created['id']}").json() == created | {
            "status": "expired",
            "updated_at": created["expires_at"],
        }

    def test_returns_304_for_the_etag_of_an_unchanged_invoice(
        self, api: ContractClient, database: Database, now: datetime
    ) -> None:
        path = f"{PATH}/{create(api).json()['id']}"
        etag = api.get(path).headers["ETag"]
        assert api.get(path).headers["Cache-Control"] == "private, no-cache"
        for value in (etag, f'"other", W/{etag}', "*"):
            response = api.get(path, headers={"If-None-Match": value})
            assert (response.status_code, response.content) == (304, b"")
        pay(database, path.rsplit("/", 1)[1], at=now)
        response = api.get(path, headers={"If-None-Match": etag})
        assert response.status_code == 200
        assert response.headers["ETag"] != etag

    def test_works_without_a_chain(self, api: ContractClient, chain: FakeGateway) -> None:
        invoice_id = create(api).json()["id"]
        chain.configured.clear()
        assert api.get(f"{PATH}/{invoice_id}").status_code == 200

    @pytest.mark.reaches("invoice_not_found")
    def test_hidden_equals_absent(
        self, api: ContractClient, client: ContractClient, ben: Merchant
    ) -> None:
        adas = create(api).json()["id"]
        answers = [client.with_key(ben.key).get(f"{PATH}/{i}") for i in (adas, NO_SUCH_ID)]
        assert [error(response) for response in answers] == [(404, "invoice_not_found", [])] * 2
        assert len({response.json()["message"] for response in answers}) == 1

    @pytest.mark.parametrize(
        "bad", ["1", "not-a-uuid", NO_SUCH_ID + "0", NO_SUCH_ID[:-1] + "g", "%00", "%ff", "a%0A"]
    )
    def test_returns_422_for_an_invalid_id(self, api: ContractClient, bad: str) -> None:
        status, code, paths = error(api.get(f"{PATH}/{bad}"))
        assert (status, code) == (422, "invalid_request")
        assert set(paths) <= {"/path", "/path/id"}

    @pytest.mark.reaches("unauthorized")
    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert client.get(f"{PATH}/{NO_SUCH_ID}").status_code == 401


class TestCancelInvoice:
    def test_cancels_an_unpaid_invoice(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        created = create(api).json()
        clock.advance(seconds=60)
        response = cancel(api, created["id"])
        at = UtcMs.to_ms(clock.now())
        canceled = created | {"status": "canceled", "updated_at": at, "canceled_at": at}
        assert (response.status_code, response.json()) == (200, canceled)
        assert api.get(f"{PATH}/{created['id']}").json() == canceled
        with database.reading() as connection:
            events = connection.execute(
                select(InvoiceEvent.kind, InvoiceEvent.from_status, InvoiceEvent.to_status)
                .order_by(InvoiceEvent.id)
            ).all()  # fmt: skip
        assert events == [("created", None, "unpaid"), ("canceled", "unpaid", "canceled")]

    @pytest.mark.reaches("invoice_not_cancelable")
    def test_returns_409_the_second_time(self, api: ContractClient) -> None:
        invoice_id = create(api).json()["id"]
        cancel(api, invoice_id)
        response = cancel(api, invoice_id, "key-cancel-2")
        assert error(response) == (409, "invoice_not_cancelable", [])

    @pytest.mark.parametrize("amount", [1, 12_500_000, 99_000_000])
    def test_returns_409_after_a_detected_payment(
        self, api: ContractClient, database: Database, now: datetime, amount: int
    ) -> None:
        invoice_id = create(api).json()["id"]
        pay(database, invoice_id, at=now, amount=amount)
        before = api.get(f"{PATH}/{invoice_id}").json()
        response = cancel(api, invoice_id)
        assert error(response) == (409, "invoice_not_cancelable", [])
        state = "unpaid, partial" if amount == 1 else "processing"
        assert response.json()["message"].endswith(f"this one is {state}.")
        assert api.get(f"{PATH}/{invoice_id}").json() == before

    def test_returns_409_after_the_expiry_without_a_worker(
        self, api: ContractClient, clock: FrozenClock
    ) -> None:
        invoice_id = create(api).json()["id"]
        clock.advance(seconds=1801)
        response = cancel(api, invoice_id)
        assert error(response) == (409, "invoice_not_cancelable", [])
        assert "expired" in response.json()["message"]

    def test_payment_after_the_cancellation_is_late_and_does_not_pay(
        self, api: ContractClient, database: Database, clock: FrozenClock
    ) -> None:
        invoice_id = create(api).json()["id"]
        cancel(api, invoice_id)
        clock.advance(seconds=5)
        pay(database, invoice_id, at=clock.now(), head_number=110)
        body = api.get(f"{PATH}/{invoice_id}").json()
        assert (body["status"], body["exception"]) == ("canceled", "late")
        assert [p["late"] for p in body["payments"]] == [True]

    def test_returns_404_for_an_invoice_of_another_project_without_a_change(
        self, api: ContractClient, client: ContractClient, ben: Merchant
    ) -> None:
        created = create(api).json()
        response = cancel(client.with_key(ben.key), created["id"])
        assert error(response) == (404, "invoice_not_found", [])
        assert api.get(f"{PATH}/{created['id']}").json() == created

    def test_returns_422_for_an_invalid_id(self, api: ContractClient) -> None:
        assert error(cancel(api, "1"))[:2] == (422, "invalid_request")

    def test_returns_422_without_a_key(self, api: ContractClient) -> None:
        response = api.post(f"{PATH}/{NO_SUCH_ID}/cancel")
        assert error(response) == (422, "invalid_request", ["/header/Idempotency-Key"])

    def test_ignores_a_body(self, api: ContractClient) -> None:
        invoice_id = create(api).json()["id"]
        headers = {"Idempotency-Key": "key-cancel-1"}
        response = api.post(f"{PATH}/{invoice_id}/cancel", json={"any": "thing"}, headers=headers)
        assert response.status_code == 200

    def test_works_without_a_chain(self, api: ContractClient, chain: FakeGateway) -> None:
        invoice_id = create(api).json()["id"]
        chain.configured.clear()
        assert cancel(api, invoice_id).status_code == 200

    def test_rejects_missing_credentials(self, client: ContractClient) -> None:
        assert cancel(client, NO_SUCH_ID).status_code == 401


class TestUnknownRoutes:
    @pytest.mark.reaches("not_found")
    def test_returns_404_for_an_unknown_path(self, api: ContractClient) -> None:
        assert error(api.get("/v1/nowhere")) == (404, "not_found", [])

    @pytest.mark.parametrize(
        ("method", "path", "allow"),
        [
            ("DELETE", PATH, "GET, HEAD, OPTIONS, POST"),
            ("PUT", f"{PATH}/{NO_SUCH_ID}", "GET, HEAD, OPTIONS"),
            ("POST", "/v1/payment-methods", "GET, HEAD, OPTIONS"),
        ],
    )
    @pytest.mark.reaches("method_not_allowed")
    def test_returns_405_with_the_allowed_methods(
        self, api: ContractClient, method: str, path: str, allow: str
    ) -> None:
        response = api.request(method, path)
        assert error(response) == (405, "method_not_allowed", [])
        assert response.headers["Allow"] == allow


def test_projects_with_one_xpub_share_its_addresses(
    database: Database, ada: Merchant, now: datetime
) -> None:
    twin = database.run(lambda s: make_merchant(s, now=now, name="Ada's second shop"))
    deposits = [
        database.run(lambda s, m=m: make_invoice(s, m, now=now)).deposit_address  # type: ignore[misc]
        for m in (ada, twin, ada)
    ]
    assert tuple(deposits) == ADA_DEPOSITS
