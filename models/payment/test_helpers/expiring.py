"""Expires an invoice early."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from models.payment import lifecycle
from models.payment.invoice_view import access_invoice
from models.payment.tables import Invoice, Payment
from models.payment.test_helpers.errors import InvoiceNotExpirable


def end_time(session: Session, *, project_id: str, invoice_id: str, now: datetime) -> datetime:
    """Expire an unpaid invoice now, and return its expiry. If it has already expired, nothing
    changes. The watcher and the expiry worker then act as after the normal lifetime.

    Payments that arrived on time stay on time: the new expiry is never before their blocks.

    Raise `InvoiceDoesNotExist` or `InvoiceNotExpirable`.
    """
    view = access_invoice(session, project_id=project_id, invoice_id=invoice_id, now=now)
    invoice = session.scalars(
        select(Invoice)
        .where(Invoice.id == view.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()
    if invoice.status not in (lifecycle.UNPAID, lifecycle.EXPIRED):
        raise InvoiceNotExpirable(status=invoice.status)
    if invoice.status == lifecycle.UNPAID and invoice.expires_at > now:
        newest = session.scalar(
            select(func.max(Payment.block_timestamp)).where(
                Payment.invoice_id == invoice.id, Payment.counted
            )
        )
        invoice.expires_at = min(invoice.expires_at, max(now, newest or now))
        invoice.updated_at = now
        session.flush()
    return invoice.expires_at
