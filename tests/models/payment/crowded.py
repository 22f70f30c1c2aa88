"""A payment database in which one merchant owns nearly all rows."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, insert

from models.payment import tables
from models.payment.lifecycle import EXPIRED, LATE, NONE, PAID, UNPAID
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from specd.db import Database, table_of
from tests.support.payment.factories import ADA_XPUB, CHAIN_ID, PAYER, TOKEN, make_hash

INVOICES = 6_000
OPEN = 30
"""Number of unpaid and watched invoices."""
LARGE_ORDER = "order-with-many-attempts"
ATTEMPTS = 2_000
ENDPOINT = "00000000-0000-4000-8000-0000000000e0"
OTHER_ENDPOINT = "00000000-0000-4000-8000-0000000000e1"
DUE = 1_500
CHECKPOINT = 10_000
INVOICE = str(UUID(int=0))
"""An invoice with many payments and events."""
OTHER_INVOICE = str(UUID(int=INVOICES + 1))


def fill(database: Database, ada: str, ben: str, now: datetime) -> None:
    """Insert rows of which nearly all are Ada's."""
    database.run(lambda session: _write(session.connection(), ada, ben, now))


def _write(connection: Connection, ada: str, ben: str, now: datetime) -> None:
    def write(table: Any, rows: Iterator[dict[str, Any]]) -> None:
        connection.execute(insert(table_of(table)), list(rows))

    numbers = range(INVOICES + 10)

    def owner(n: int) -> str:
        return ada if n < INVOICES else ben

    def at(n: int) -> datetime:
        return now - timedelta(days=30) + timedelta(minutes=n)

    def status(n: int) -> str:
        if n % INVOICES >= INVOICES - OPEN or n >= INVOICES:
            return UNPAID
        return EXPIRED if n % 100 == 0 else PAID

    others = [str(UUID(int=1_000_000 + n)) for n in range(300)]
    write(tables.Project, (
        {"id": each, "name": "Another", "xpub": ADA_XPUB, "created_at": now} for each in others
    ))  # fmt: skip
    write(
        tables.ApiKey,
        (
            {"id": f"{n:08x}", "project_id": each, "secret_sha256": f"{n:064x}", "created_at": now}
            for n, each in enumerate(others)
        ),
    )
    write(tables.PaymentMethod, (
        {
            "project_id": each, "id": "tusd-local", "chain_id": CHAIN_ID, "chain_name": "Local",
            "token_symbol": "TUSD", "token_address": TOKEN, "decimals": 6,
            "confirmations_required": 2, "created_at": now,
        }
        for each in others
    ))  # fmt: skip
    write(tables.Invoice, (
        {
            "id": str(UUID(int=n)),
            "project_id": owner(n),
            "external_order_id": LARGE_ORDER if n < ATTEMPTS else f"order-{n}",
            "attempt_no": n + 1,
            "status": status(n),
            "exception": LATE if status(n) == EXPIRED else NONE,
            "payment_method_id": "tusd-local",
            "amount": 100, "amount_paid": 100 * (status(n) == PAID), "amount_pending": 0,
            "chain_id": CHAIN_ID, "chain_name": "Local", "token_address": TOKEN,
            "token_symbol": "TUSD", "decimals": 6, "deposit_address": f"0x{n:040x}",
            "address_index": n, "confirmations_required": 2, "creation_block": n,
            "catch_up_block": n if n % 1000 == 999 else None,
            "rereads": 0 if status(n) == UNPAID and n % 2 else 1 if status(n) == UNPAID else 2,
            "created_at": at(n), "updated_at": at(n),
            "expires_at": now + timedelta(hours=1) if status(n) == UNPAID and n % 2 else at(n),
            "monitoring_ends_at": now + timedelta(hours=1) if status(n) == UNPAID else at(n),
            "paid_at": at(n) if status(n) == PAID else None, "canceled_at": None,
        }
        for n in numbers
    ))  # fmt: skip
    write(tables.Payment, (
        {
            "invoice_id": INVOICE if n < ATTEMPTS else str(UUID(int=n)), "chain_id": CHAIN_ID,
            "block_number": n, "block_hash": make_hash("block", n), "block_timestamp": at(n),
            "tx_hash": make_hash("transaction", n), "log_index": 0, "from_address": PAYER,
            "amount": 100, "status": "pending" if n >= INVOICES - OPEN else "confirmed",
            "late": False, "counted": True, "detected_at": at(n),
            "project_id": None if n % 500 == 499 else ada if n < ATTEMPTS else owner(n),
        }
        for n in numbers
    ))  # fmt: skip
    write(tables.Event, (
        {
            "project_id": owner(n), "invoice_id": INVOICE if n < ATTEMPTS else str(UUID(int=n)),
            "type": "invoice.paid" if n % 200 else "invoice.expired", "data": "{}", "size": 2,
            "at": at(n),
        }
        for n in numbers
    ))  # fmt: skip
    write(WebhookEndpoint, (
        {
            "id": name, "project_id": project, "url": "https://a.example", "event_types": '["*"]',
            "description": "", "status": "enabled", "cursor": INVOICES - 5, "created_at": now,
            "updated_at": now, "deleted_at": deleted,
        }
        for name, project, deleted in [
            (ENDPOINT, ada, None),
            (OTHER_ENDPOINT, ben, None),
            *((str(UUID(int=n)), ada, at(n)) for n in range(300)),
        ]
    ))  # fmt: skip
    write(WebhookDelivery, (
        {
            "event_id": n + 1, "endpoint_id": ENDPOINT if n < INVOICES else OTHER_ENDPOINT,
            "invoice_id": INVOICE if n < ATTEMPTS else str(UUID(int=n)), "attempts": 1, "tried": 1,
            "next_try_at": None if n < INVOICES - DUE else now - timedelta(seconds=1),
            "outcome": "taken" if n < INVOICES - DUE else None,
            "closed_at": at(n) if n < INVOICES - DUE else None, "created_at": at(n),
        }
        for n in numbers
    ))  # fmt: skip
    write(WebhookAttempt, (
        {
            "endpoint_id": ENDPOINT if n < INVOICES else OTHER_ENDPOINT, "event_id": n + 1,
            "event_type": "invoice.paid", "number": 1, "at": at(n), "duration_ms": 1,
            "status_code": 200, "failure": None, "answer": "", "next_try_at": None,
        }
        for n in numbers
    ))  # fmt: skip
    write(tables.IdempotencyKey, (
        {
            "project_id": owner(n), "key": f"key-{n}", "operation": "create_invoice",
            "fingerprint": "f" * 64, "status": 201, "body": b"{}", "invoice_id": str(UUID(int=n)),
            "created_at": at(n),
        }
        for n in numbers
    ))  # fmt: skip
    write(tables.CheckoutSession, (
        {
            "id": str(UUID(int=n)), "invoice_id": str(UUID(int=n)), "token_sha256": f"{n:064x}",
            "created_at": at(n), "expires_at": at(n),
        }
        for n in numbers
    ))  # fmt: skip
    write(tables.ChainHead, iter([{
        "chain_id": CHAIN_ID, "checkpoint_number": CHECKPOINT, "checkpoint_hash": make_hash("b", 1),
        "checkpoint_timestamp": now, "head_number": CHECKPOINT, "head_hash": make_hash("b", 1),
        "head_seen_at": now, "read_until": now, "reread_number": CHECKPOINT, "revision": 1,
        "updated_at": now,
    }]))  # fmt: skip
    write(
        tables.ChainBlock,
        (
            {"chain_id": CHAIN_ID, "number": n, "hash": make_hash("block", n), "timestamp": at(n)}
            for n in range(CHECKPOINT - 1_100, CHECKPOINT)
        ),
    )
