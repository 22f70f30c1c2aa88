"""Ends the time of an invoice before its time."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from models.payment import lifecycle
from models.payment.invoice_view import access_invoice
from models.payment.tables import Invoice, Payment
from models.payment.test_helpers.errors import InvoiceNotExpirable


def end_time(session: Session, *, project_id: str, invoice_id: str, now: datetime) -> datetime:
    """Let an unpaid invoice expire now, and return the moment; one that is over already stays as it
    is. The watcher and the expiry worker do the rest, as they do after half an hour.

    What has arrived was on time and stays so: the moment is never before a payment that counts.

    Raise `InvoiceDoesNotExist`, `InvoiceNotExpirable`.
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
