"""Metrics of the payment service at `/metrics`, except those of requests."""

from datetime import timedelta

import httpx
from sqlalchemy.orm import Session

from models.payment import leases
from models.payment.tables import ChainHead
from specd.db import Database
from tests.support.contract import HOST, ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import Merchant, make_invoice
from tests.support.payment.webhooks import create


def test_webhook_backlog(
    api: ContractClient,
    payment_app: PaymentApp,
    database: Database,
    ada: Merchant,
    clock: FrozenClock,
) -> None:
    create(api)
    database.run(lambda session: make_invoice(session, ada, now=clock.now()))
    clock.advance(seconds=42)
    (answer,) = payment_app.send(httpx.Request("GET", f"{HOST}/metrics"))
    lines = answer.text.splitlines()
    assert [line for line in lines if line.startswith("specd_webhook")] == [
        "specd_webhook_messages_due 0.0",
        "specd_webhook_oldest_seconds 42.0",
        "specd_webhook_endpoints_failing 0.0",
    ]


def samples_of(payment_app: PaymentApp, *beginnings: str) -> dict[str, float]:
    """Return the samples whose lines start with one of the prefixes."""
    (answer,) = payment_app.send(httpx.Request("GET", f"{HOST}/metrics"))
    assert answer.status_code == 200
    samples = (line.rpartition(" ") for line in answer.text.splitlines())
    return {name: float(value) for name, _, value in samples if name.startswith(beginnings)}


def test_chain_progress_and_leases(
    payment_app: PaymentApp, database: Database, ada: Merchant, clock: FrozenClock
) -> None:
    seen_at = clock.now()
    assert samples_of(payment_app, "specd_watcher", "specd_lease") == {
        'specd_watcher_leading{chain="31337"}': 0.0
    }, "the method's chain has no watcher"

    def read_some(session: Session) -> None:
        session.add(
            ChainHead(
                chain_id=31337,
                checkpoint_number=90,
                checkpoint_hash="0x1",
                checkpoint_timestamp=seen_at,
                head_number=100,
                head_hash="0x2",
                head_seen_at=seen_at,
                read_until=seen_at - timedelta(seconds=20),
                reread_number=0,
                readings_given_up=3,
                updated_at=seen_at,
            )
        )
        lease = leases.watcher_of(31337)
        leases.try_acquire(session, name=lease, holder="host:7:abcd", now=seen_at, ttl_s=12)

    database.run(read_some)
    database.run(lambda session: make_invoice(session, ada, now=clock.now()))
    clock.advance(seconds=5)
    lease = 'specd_lease_seconds{holder="host:7",lease="chain_watcher:31337"}'
    assert samples_of(payment_app, "specd_watcher", "specd_lease") == {
        'specd_watcher_leading{chain="31337"}': 1.0,
        'specd_watcher_blocks_behind{chain="31337"}': 10.0,
        'specd_watcher_unread_seconds{chain="31337"}': 25.0,
        'specd_watcher_head_age_seconds{chain="31337"}': 5.0,
        'specd_watcher_newcomers{chain="31337"}': 1.0,
        'specd_watcher_newcomers_oldest_seconds{chain="31337"}': 5.0,
        'specd_watcher_rereadings{chain="31337"}': 0.0,
        'specd_watcher_readings_given_up{chain="31337"}': 3.0,
        lease: 7.0,
    }
    clock.advance(seconds=10)
    assert samples_of(payment_app, "specd_watcher_leading", "specd_lease") == {
        'specd_watcher_leading{chain="31337"}': 0.0,
        lease: -3.0,
    }, "the lease has expired"


def test_length_of_the_event_log(
    payment_app: PaymentApp, database: Database, ada: Merchant, clock: FrozenClock
) -> None:
    last, oldest = own = tuple(
        f'specd_event_log_{name}{{service="payment"}}' for name in ("last_id", "oldest_seconds")
    )
    assert samples_of(payment_app, *own) == {last: 0.0, oldest: 0.0}
    for _ in range(3):
        database.run(lambda session: make_invoice(session, ada, now=clock.now()))
        clock.advance(seconds=10)
    assert samples_of(payment_app, *own) == {last: 3.0, oldest: 30.0}


def test_without_a_database_only_request_metrics_are_present(
    payment_app: PaymentApp, database: Database, ada: Merchant, api: ContractClient
) -> None:
    api.get("/v1/payment-methods")
    own = ("specd_webhook", "specd_watcher")
    assert len(samples_of(payment_app, *own)) == 4
    database.availability.is_silent = True
    try:
        assert samples_of(payment_app, *own) == {}
        assert samples_of(payment_app, "specd_requests_total")
    finally:
        database.availability.note_answer()
    assert len(samples_of(payment_app, *own)) == 4
