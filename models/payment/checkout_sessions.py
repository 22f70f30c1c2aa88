"""Checkout sessions: a secret link to the page of one invoice. Only token hashes are stored."""

import re
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.orm import Session

from models.payment import lifecycle
from models.payment.errors import InvoiceDoesNotExist, InvoiceNotPayable
from models.payment.invoice_view import InvoiceView, find_any_invoice
from models.payment.tables import CheckoutSession, Invoice, Project
from models.rows import row_of
from specd.db import table_of

MAX_TRANSACTIONS = 5
"""The maximum number of transaction hashes on the checkout page."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")

_session = table_of(CheckoutSession)
_invoice = table_of(Invoice)
_project = table_of(Project)
_BY_TOKEN = (
    select(
        _session.c.invoice_id,
        _session.c.expires_at,
        _session.c.success_url,
        _session.c.cancel_url,
        _project.c.name.label("merchant"),
    )
    .join_from(_session, _invoice, _invoice.c.id == _session.c.invoice_id)
    .join(_project, _project.c.id == _invoice.c.project_id)
    .where(_session.c.token_sha256 == bindparam("token_sha256"))
)


@dataclass(frozen=True, slots=True)
class CheckoutView:
    """The data of the checkout page. Amounts are in atoms, times are aware UTC.

    `success_url` and `cancel_url` link back to the shop if the merchant gave them. `transactions`
    are the hashes of the first payments that the chain still contains.
    """

    invoice_id: str
    merchant: str
    external_order_id: str
    status: str
    exception: str
    amount: int
    amount_paid: int
    amount_pending: int
    amount_remaining: int
    amount_overpaid: int
    decimals: int
    token_symbol: str
    token_address: str
    chain_id: int
    chain_name: str
    deposit_address: str
    payment_uri: str
    confirmations: int
    confirmations_required: int
    expires_at: datetime
    success_url: str | None
    cancel_url: str | None
    session_expires_at: datetime
    now: datetime
    transactions: tuple[str, ...] = ()


def check_payable(invoice: InvoiceView) -> None:
    """Raise `InvoiceNotPayable` unless the invoice is unpaid."""
    if invoice.status != lifecycle.UNPAID:
        raise InvoiceNotPayable(status=invoice.status)


def create_checkout_session(
    session: Session,
    *,
    project_id: str,
    invoice_id: str,
    lifetime: timedelta,
    now: datetime,
    success_url: str | None = None,
    cancel_url: str | None = None,
) -> tuple[CheckoutSession, str]:
    """Return a new session and its token, which is not stored. The session never outlives the
    invoice.

    The invoice's row is locked and checked again, because a cancel or a payment may have come
    between the caller's read and this write. Raise `InvoiceDoesNotExist` or `InvoiceNotPayable`.
    """
    invoice = session.scalars(
        select(Invoice)
        .where(Invoice.id == invoice_id.lower(), Invoice.project_id == project_id)
        .with_for_update()
    ).one_or_none()
    if invoice is None:
        raise InvoiceDoesNotExist()
    status = lifecycle.status_at(invoice, now)
    if status != lifecycle.UNPAID:
        raise InvoiceNotPayable(status=status)
    token = secrets.token_urlsafe(32)
    checkout = CheckoutSession(
        id=str(uuid.uuid4()),
        invoice_id=invoice.id,
        token_sha256=_hash(token),
        success_url=success_url,
        cancel_url=cancel_url,
        created_at=now,
        expires_at=min(now + lifetime, invoice.expires_at),
    )
    session.add(checkout)
    session.flush()
    return checkout, token


def find_checkout(connection: Connection, token: str, now: datetime) -> CheckoutView | None:
    """Return the page's data for a token, even if it has expired (`session_expires_at`), or None if
    the token is unknown.
    """
    if _TOKEN.fullmatch(token) is None:
        return None
    checkout = connection.execute(_BY_TOKEN, {"token_sha256": _hash(token)}).first()
    if checkout is None:
        return None
    invoice = find_any_invoice(connection, invoice_id=checkout.invoice_id, now=now)
    assert invoice is not None  # a foreign key
    counted = (p.tx_hash for p in invoice.payments if p.status != lifecycle.ORPHANED)
    return row_of(
        CheckoutView,
        invoice,
        invoice_id=invoice.id,
        merchant=checkout.merchant,
        success_url=checkout.success_url,
        cancel_url=checkout.cancel_url,
        session_expires_at=checkout.expires_at,
        now=now,
        transactions=tuple(islice(counted, MAX_TRANSACTIONS)),
    )


def _hash(token: str) -> str:
    return sha256(token.encode("ascii")).hexdigest()
