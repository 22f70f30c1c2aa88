"""The two functions that change the status of an invoice: settle and cancel.

Both lock the row before they read and write, so that a simultaneous cancel and payment have one
outcome. Both append one `invoice_event` per transition, and the merchant's events, in the same
transaction.

A settlement emits its events in this order: `invoice.payment_reorged` for each payment that no
longer counts, `invoice.payment_received` for each that counts now, both in chain order, then the
events of the transition (`kinds_of`). So the received amounts minus the reorged amounts always
equal `amount_paid` plus `amount_pending`.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import structlog
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from models.dialects import id_in
from models.payment import event_log, lifecycle
from models.payment.errors import InvoiceDoesNotExist, InvoiceNotCancelable
from models.payment.events import (
    InvoiceCanceled,
    InvoiceChanged,
    InvoicePaymentReceived,
    InvoicePaymentReorged,
    kinds_of,
)
from models.payment.invoice_view import InvoiceView, access_invoice, read_settled
from models.payment.lifecycle import Settlement
from models.payment.tables import Invoice, InvoiceEvent, Payment
from models.rows import columns_of, read_rows
from specd.db import Change, table_of

_invoice = table_of(Invoice)
_CANCEL = Change(
    update(_invoice)
    .where(
        _invoice.c.id == bindparam("its_id"),
        _invoice.c.project_id == bindparam("its_project"),
        _invoice.c.status == lifecycle.UNPAID,
        _invoice.c.exception == lifecycle.NONE,
        _invoice.c.expires_at >= bindparam("now"),
    )
    .values(status=lifecycle.CANCELED, canceled_at=bindparam("now"), updated_at=bindparam("now"))
)


class _PaymentRow(NamedTuple):
    """The columns of a payment that `PaymentFacts` requires, and more."""

    id: int
    amount: int
    status: str
    late: bool
    counted: bool
    tx_hash: str
    block_number: int
    block_hash: str
    block_timestamp: datetime


# Plain columns: an invoice may have thousands of payments, and most are unchanged.
_PAYMENTS = (
    select(*columns_of(_PaymentRow, Payment))
    .where(Payment.invoice_id == bindparam("its_id"))
    .order_by(Payment.block_number, Payment.log_index, Payment.id)
)


_RECORD = Change(insert(table_of(InvoiceEvent)))


def apply_settlement(
    session: Session,
    invoice_id: str,
    *,
    head_number: int,
    checkpoint_time: datetime | None,
    now: datetime,
) -> Settlement:
    """Recompute one invoice from its payment rows and store the changes.

    The payments are read after the row is locked, so the second of two settlements sees all writes
    of the first. Flush new and orphaned payments before the call. Raise `InvoiceDoesNotExist`.
    """
    invoice = session.scalars(
        select(Invoice)
        .where(Invoice.id == invoice_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one_or_none()
    if invoice is None:
        raise InvoiceDoesNotExist()
    payments = read_rows(_PaymentRow, session.execute(_PAYMENTS, {"its_id": invoice_id}))
    settlement = lifecycle.settle(
        invoice,
        payments,
        head_number=head_number,
        checkpoint_time=checkpoint_time if _may_expire(invoice) else None,
        now=now,
    )
    reorged, received = _change_payments(session, invoice, payments, head_number=head_number)
    before = (invoice.status, invoice.exception)
    after = (settlement.status, settlement.exception)
    amounts = (settlement.amount_paid, settlement.amount_pending)
    has_events = before != after or bool(reorged or received)
    if not has_events and (invoice.amount_paid, invoice.amount_pending) == amounts:
        return settlement
    invoice.status, invoice.exception = after
    invoice.amount_paid, invoice.amount_pending = amounts
    invoice.paid_at = settlement.paid_at
    invoice.updated_at = now
    if has_events and invoice.resolved_at is not None:
        invoice.resolution = invoice.resolution_note = invoice.refund_tx_hash = None
        invoice.resolved_at = None
    session.flush()
    if before != after:
        _record(session, invoice, before=before, now=now, head_number=head_number)
        if before[0] == lifecycle.PAID and after[0] != lifecycle.PAID:
            alarm = structlog.get_logger("settlement")
            alarm.error("paid_invoice_reorged", invoice=invoice.id, status=settlement.status)
    if has_events:
        view = read_settled(session.connection(), invoice.id, head_number=head_number)
        for event in _events(view, reorged, received, before=before):
            event_log.append(session, invoice.project_id, event, now=now)
    return settlement


def _may_expire(invoice: Invoice) -> bool:
    """Return whether a full rescan of its blocks is complete, or it has already expired."""
    return invoice.status == lifecycle.EXPIRED or (
        invoice.rereads > 0 and invoice.reread_block is None
    )


def _events(
    view: InvoiceView, reorged: list[int], received: list[int], *, before: tuple[str, str]
) -> Iterator[InvoiceChanged]:
    """Yield the events of a settlement in order. `view` is the invoice after it."""
    payments = {payment.id: payment for payment in view.payments}
    for payment_id in reorged:
        yield InvoicePaymentReorged(view, payments[payment_id])
    for payment_id in received:
        yield InvoicePaymentReceived(view, payments[payment_id])
    for kind in kinds_of(before, (view.status, view.exception)):
        yield kind(view)


def _change_payments(
    session: Session, invoice: Invoice, payments: Sequence[_PaymentRow], *, head_number: int
) -> tuple[list[int], list[int]]:
    """Store whether each payment is confirmed, late and counted. Return the ids of the payments
    that no longer count, and of those that count now, both in chain order.
    """
    reorged: list[int] = []
    received: list[int] = []
    changed: dict[tuple[str, bool, bool], list[int]] = defaultdict(list)
    for payment in payments:
        counts = payment.status != lifecycle.ORPHANED
        status, late = payment.status, payment.late
        if counts:
            confirmed = lifecycle.is_confirmed(invoice, payment, head_number=head_number)
            status = lifecycle.CONFIRMED if confirmed else lifecycle.PENDING
            late = lifecycle.is_late(invoice, payment)
        if counts != payment.counted:
            (received if counts else reorged).append(payment.id)
        if (status, late, counts) != (payment.status, payment.late, payment.counted):
            changed[status, late, counts].append(payment.id)
    for (status, late, counts), ids in changed.items():
        values = {"status": status, "late": late, "counted": counts}
        values["project_id"] = invoice.project_id
        session.execute(update(Payment).where(id_in(Payment.id, ids)).values(**values))
    return reorged, received


def cancel_invoice(
    session: Session, *, project_id: str, invoice_id: str, now: datetime
) -> InvoiceView:
    """Cancel an unpaid invoice for which no payment was detected.

    One conditional update resolves the race with the watcher. If the watcher has written the
    payment first, the condition fails and the cancel is rejected. Otherwise the watcher finds the
    invoice canceled, and the payment is late. Raise `InvoiceDoesNotExist` or
    `InvoiceNotCancelable`.
    """
    values = {"its_id": invoice_id.lower(), "its_project": project_id, "now": now}
    is_canceled = _CANCEL.run(session, values) == 1
    invoice = access_invoice(session, project_id=project_id, invoice_id=invoice_id, now=now)
    if not is_canceled:
        state = (invoice.status, invoice.exception)
        raise InvoiceNotCancelable(state=", ".join(s for s in state if s != lifecycle.NONE))
    _record(session, invoice, before=(lifecycle.UNPAID, lifecycle.NONE), now=now)
    event_log.append(session, project_id, InvoiceCanceled(invoice), now=now)
    return invoice


def _record(
    session: Session,
    invoice: Invoice | InvoiceView,
    *,
    before: tuple[str, str],
    now: datetime,
    head_number: int | None = None,
) -> None:
    """Append the transition. Its kind is the new exception if that changed to partial, late or
    reorged, and the status otherwise.
    """
    unusual = (lifecycle.PARTIAL, lifecycle.LATE, lifecycle.REORGED)
    is_unusual = invoice.exception != before[1] and invoice.exception in unusual
    facts = {
        "amount_paid": str(invoice.amount_paid),
        "amount_pending": str(invoice.amount_pending),
        "head_number": head_number,
    }
    event = {
        "invoice_id": invoice.id,
        "kind": invoice.exception if is_unusual else invoice.status,
        "from_status": before[0],
        "to_status": invoice.status,
        "exception": invoice.exception,
        "facts": json.dumps(facts),
        "at": now,
    }
    _RECORD.run(session, event)
