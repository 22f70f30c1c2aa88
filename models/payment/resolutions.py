"""The resolution of an invoice: how the merchant closed an invoice whose money needs attention.

It does not change the status or the amounts, which follow from the chain. The settlement removes
the resolution when a payment begins or ceases to count, or when the status or the exception
changes, because the merchant could not know that.
"""

import json
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.payment import event_log, lifecycle
from models.payment.errors import InvoiceDoesNotExist, InvoiceNotResolvable
from models.payment.events import InvoiceResolved
from models.payment.invoice_view import InvoiceView, access_invoice
from models.payment.tables import Invoice, InvoiceEvent
from specd.db import table_of

REASONS = ("refunded", "accepted", "written_off")


def resolve_invoice(
    session: Session,
    *,
    project_id: str,
    invoice_id: str,
    reason: str,
    note: str,
    refund_tx_hash: str | None,
    now: datetime,
) -> InvoiceView:
    """Close an invoice and return it. The same resolution again changes nothing. Raise
    `InvoiceDoesNotExist` or `InvoiceNotResolvable`.
    """
    invoice = session.scalars(
        select(Invoice)
        .where(Invoice.id == invoice_id.lower(), Invoice.project_id == project_id)
        .with_for_update()
    ).one_or_none()
    if invoice is None:
        raise InvoiceDoesNotExist()
    wanted = (reason, note, None if refund_tx_hash is None else refund_tx_hash.lower())
    if (invoice.resolution, invoice.resolution_note, invoice.refund_tx_hash) == wanted:
        return access_invoice(session, project_id=project_id, invoice_id=invoice_id, now=now)
    _require_final(invoice)
    invoice.resolution, invoice.resolution_note, invoice.refund_tx_hash = wanted
    invoice.resolved_at = invoice.updated_at = now
    session.flush()
    facts = {"reason": reason, "note": note, "refund_tx_hash": invoice.refund_tx_hash}
    session.execute(
        insert(table_of(InvoiceEvent)).values(
            invoice_id=invoice.id,
            kind="resolved",
            from_status=invoice.status,
            to_status=invoice.status,
            exception=invoice.exception,
            facts=json.dumps(facts),
            at=now,
        )
    )
    view = access_invoice(session, project_id=project_id, invoice_id=invoice_id, now=now)
    event_log.append(session, project_id, InvoiceResolved(view), now=now)
    return view


def _require_final(invoice: Invoice) -> None:
    """Raise `InvoiceNotResolvable` if the invoice is open, or if no money has arrived for it."""
    is_open = invoice.status in lifecycle.UNDECIDED
    has_money = invoice.amount_paid or invoice.amount_pending
    if is_open or not (has_money or invoice.exception == lifecycle.REORGED):
        state = [each for each in (invoice.status, invoice.exception) if each != lifecycle.NONE]
        raise InvoiceNotResolvable(state=", ".join(state))
