"""The doors through which an invoice's row changes: settling it with its payments, canceling it.

Both hold the row's lock while they look and write, so that a cancel and a payment seen at the same
time agree on one end; both append one `invoice_event` per transition in the same transaction.
"""

import json
import logging
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.payment import lifecycle
from models.payment.errors import InvoiceDoesNotExist, InvoiceNotCancelable
from models.payment.lifecycle import Settlement
from models.payment.tables import Invoice, InvoiceEvent, Payment

_log = logging.getLogger(__name__)


def apply_settlement(
    session: Session,
    invoice_id: str,
    *,
    head_number: int,
    checkpoint_time: datetime | None,
    now: datetime,
) -> Settlement:
    """Recompute one invoice from its payment rows and write down what changed.

    The payments are read after the row is locked, so whoever comes second sees everything the
    first one wrote. Flush new and orphaned payments before calling. Raises `InvoiceDoesNotExist`.
    """
    invoice = _locked(session, Invoice.id == invoice_id)
    payments = session.scalars(
        select(Payment)
        .where(Payment.invoice_id == invoice_id)
        .order_by(Payment.block_number, Payment.log_index)
        .execution_options(populate_existing=True)
    ).all()
    settlement = lifecycle.settle(
        invoice, payments, head_number=head_number, checkpoint_time=checkpoint_time, now=now
    )
    for payment in payments:
        if payment.status != lifecycle.ORPHANED:
            confirmed = lifecycle.is_confirmed(invoice, payment, head_number=head_number)
            payment.status = lifecycle.CONFIRMED if confirmed else lifecycle.PENDING
            payment.late = lifecycle.is_late(invoice, payment)

    before = (invoice.status, invoice.exception)
    after = (settlement.status, settlement.exception)
    amounts = (settlement.amount_paid, settlement.amount_pending)
    if before == after and (invoice.amount_paid, invoice.amount_pending) == amounts:
        return settlement
    invoice.status, invoice.exception = after
    invoice.amount_paid, invoice.amount_pending = amounts
    invoice.paid_at = settlement.paid_at
    invoice.updated_at = now
    if before != after:
        _record(session, invoice, before=before, now=now, head_number=head_number)
        if before[0] == lifecycle.PAID:
            _log.error("paid invoice reorged: invoice=%s now=%s", invoice.id, settlement.status)
    session.flush()
    return settlement


def cancel_invoice(session: Session, *, project_id: str, invoice_id: str, now: datetime) -> Invoice:
    """Cancel an unpaid invoice for which nothing was detected.

    The lock closes the race with the watcher: either it has written the payment first and the
    cancel is refused, or it finds the invoice canceled and the payment is late. Raises
    `InvoiceDoesNotExist`, `InvoiceNotCancelable`.
    """
    invoice = _locked(session, Invoice.id == invoice_id, Invoice.project_id == project_id)
    before = (lifecycle.status_at(invoice, now), invoice.exception)
    if before != (lifecycle.UNPAID, lifecycle.NONE):
        raise InvoiceNotCancelable(status=before[0], exception=before[1])
    invoice.status = lifecycle.CANCELED
    invoice.canceled_at = invoice.updated_at = now
    _record(session, invoice, before=before, now=now)
    session.flush()
    return invoice


def _locked(session: Session, *where: Any) -> Invoice:
    invoice = session.scalars(
        select(Invoice).where(*where).with_for_update().execution_options(populate_existing=True)
    ).one_or_none()
    if invoice is None:
        raise InvoiceDoesNotExist()
    return invoice


def _record(
    session: Session,
    invoice: Invoice,
    *,
    before: tuple[str, str],
    now: datetime,
    head_number: int | None = None,
) -> None:
    facts = {
        "amount_paid": str(invoice.amount_paid),
        "amount_pending": str(invoice.amount_pending),
        "head_number": head_number,
    }
    session.execute(
        insert(InvoiceEvent).values(
            invoice_id=invoice.id,
            kind=_kind(invoice, before=before),
            from_status=before[0],
            to_status=invoice.status,
            exception=invoice.exception,
            facts=json.dumps(facts),
            at=now,
        )
    )


def _kind(invoice: Invoice, *, before: tuple[str, str]) -> str:
    """What happened, in one word: the new exception when that is the news, else the new status."""
    news = invoice.exception
    if news != before[1] and news in (lifecycle.PARTIAL, lifecycle.LATE, lifecycle.REORGED):
        return news
    return invoice.status
