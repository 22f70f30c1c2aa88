"""Creates two merchants with their keys, methods and invoices.

Ada sells books, Ben sells records. Neither may ever see the other's invoices.
"""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from models.payment import invoices, keys, methods, projects
from models.payment.invoice_view import InvoiceView
from models.payment.settlement import apply_settlement
from models.payment.tables import ChainHead, Invoice, Payment, PaymentMethod, Project
from models.payment.webhooks import endpoints
from models.payment.webhooks.endpoints import Endpoint
from models.payment.webhooks.vault import WebhookVault
from specd.db import Database

# Accounts 0 and 1 of the public test mnemonic "legal winner thank year wave sausage worth useful
# legal winner thank yellow"; deposits are their children 0/0, 0/1, ...
ADA_XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsBy"
    "NNhwWaNQRuhP3JcC3"
)
BEN_XPUB = (
    "xpub6Bh6Cg7bvjFdYK39aqwzzfvNngQAtZxcGFHHna3oPxw2n8UDYQiwoABYVMZRuQmbUGt9YkrqUzeGvBbkWtsd97DJW6g"
    "jHZ1FWhQQT1FfTJQ"
)
ADA_DEPOSITS = (
    "0x58A57ed9d8d624cBD12e2C467D34787555bB1b25",
    "0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C",
    "0xe42f4612e154153B68e241e8FDe337e0c4dD6bBD",
)
CHAIN_ID = 31337
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
PAYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
LIFETIME = timedelta(minutes=30)
MONITORING = timedelta(hours=24)

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Merchant:
    """A project, one of its keys in plain text, and its payment method."""

    project: Project
    key: str
    method: PaymentMethod

    @property
    def id(self) -> str:
        return self.project.id


def make_merchant(
    session: Session, *, now: datetime, name: str = "Ada's Books", xpub: str = ADA_XPUB
) -> Merchant:
    project = make_project(session, now=now, name=name, xpub=xpub)
    key = make_key(session, project, now=now)
    return Merchant(project=project, key=key, method=make_method(session, project, now=now))


def make_project(
    session: Session, *, now: datetime, name: str = "Ada's Books", xpub: str = ADA_XPUB
) -> Project:
    return projects.create_project(session, name=name, xpub=xpub, now=now)


def make_key(session: Session, project: Project, *, now: datetime, scope: str = keys.WRITE) -> str:
    return keys.create_key(session, project_id=project.id, now=now, scope=scope)[1]


def make_method(session: Session, project: Project, *, now: datetime, **over: Any) -> PaymentMethod:
    facts: dict[str, Any] = {
        "method_id": "tusd-local",
        "chain_id": CHAIN_ID,
        "chain_name": "Local test chain",
        "token_address": TOKEN,
        "token_symbol": "TUSD",
        "confirmations_required": 2,
    }
    return methods.create_method(session, project_id=project.id, now=now, **(facts | over))


def make_invoice(
    session: Session,
    merchant: Merchant,
    *,
    now: datetime,
    amount: str = "12.5",
    external_order_id: str | None = None,
    attempt_no: int = 1,
    payment_method_id: str = "tusd-local",
    lifetime: timedelta = LIFETIME,
    is_reread: bool = True,
) -> InvoiceView:
    """Create an invoice. `is_reread` sets the state after the watcher's second read of its blocks,
    without which it would not finally expire.
    """
    order = invoices.check_order(
        session,
        project_id=merchant.id,
        external_order_id=external_order_id or f"order-{next(_numbers)}",
        attempt_no=attempt_no,
        amount=amount,
        payment_method_id=payment_method_id,
    )
    view = invoices.create_invoice(
        session,
        order,
        xpub=merchant.project.xpub,
        lifetime=lifetime,
        monitoring=MONITORING,
        now=now,
    )
    if is_reread:
        session.execute(update(Invoice).where(Invoice.id == view.id).values(rereads=1))
    return view


def make_endpoint(
    session: Session,
    vault: WebhookVault,
    merchant: Merchant,
    *,
    now: datetime,
    url: str = "https://shop.example/webhooks",
    event_types: Sequence[str] = ("*",),
) -> Endpoint:
    return endpoints.create_endpoint(
        session,
        vault,
        project_id=merchant.id,
        url=url,
        event_types=event_types,
        description="",
        quota=100,
        now=now,
    )[0]


def make_payment(
    session: Session,
    invoice_id: str,
    *,
    at: datetime,
    amount: int = 12_500_000,
    block_number: int = 100,
    log_index: int = 0,
    tx_hash: str | None = None,
    block_hash: str | None = None,
    status: str = "pending",
) -> Payment:
    """Store a transfer like the watcher, before the settlement of its invoice."""
    payment = Payment(
        invoice_id=invoice_id,
        chain_id=CHAIN_ID,
        block_number=block_number,
        block_hash=block_hash or make_hash("block", block_number),
        block_timestamp=at,
        tx_hash=tx_hash or make_hash("transaction", next(_numbers)),
        log_index=log_index,
        from_address=PAYER,
        amount=amount,
        status=status,
        late=False,
        detected_at=at,
    )
    session.add(payment)
    session.flush()
    return payment


def pay(
    database: Database,
    invoice_id: str,
    *,
    at: datetime,
    amount: int = 12_500_000,
    block_number: int = 100,
    head_number: int | None = None,
) -> Payment:
    """Store one transfer and the chain's new head, and settle the invoice, in one transaction."""

    def work(session: Session) -> Payment:
        head = block_number if head_number is None else head_number
        payment = make_payment(session, invoice_id, at=at, amount=amount, block_number=block_number)
        set_head(session, head_number=head, at=at)
        apply_settlement(session, invoice_id, head_number=head, checkpoint_time=at, now=at)
        return payment

    return database.run(work)


def set_head(session: Session, *, head_number: int, at: datetime) -> None:
    """Record that the watcher has read the chain up to this block."""
    session.merge(
        ChainHead(
            chain_id=CHAIN_ID,
            checkpoint_number=head_number,
            checkpoint_hash=make_hash("block", head_number),
            checkpoint_timestamp=at,
            head_number=head_number,
            head_seen_at=at,
            read_until=at,
            reread_number=head_number,
            updated_at=at,
            revision=1,
        )
    )
    session.flush()


def make_hash(kind: str, number: int) -> str:
    return "0x" + hashlib.sha256(f"{kind} {number}".encode()).hexdigest()
