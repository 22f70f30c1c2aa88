"""The events of merchants: a class for each type, and the events of each transition.

`GET /v1/events` and webhooks carry the same events. A released type stays; a new kind of event is a
new class.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from models.payment.invoice_view import InvoiceView, PaymentView
from models.payment.lifecycle import (
    CANCELED,
    EXPIRED,
    LATE,
    NONE,
    OVER,
    PAID,
    PARTIAL,
    PROCESSING,
    RECEIVED,
    REORGED,
    UNPAID,
)
from models.payment.rendering import render_payment, render_with_notes

MAX_PAYMENTS = 20
"""The most payments of the invoice in an event, because an invoice can have thousands, and each of
them has an event."""
State = tuple[str, str]
"""The status and the exception of an invoice."""


class MerchantEvent:
    """An event of a project. A class with a `type` is a kind: `class X(..., type="invoice.x")`."""

    type: ClassVar[str]

    def __init_subclass__(cls, *, type: str = "") -> None:
        if type:
            cls.type = type
            KINDS[type] = cls

    @property
    def invoice_id(self) -> str | None:
        """The invoice of the event; None: it is about no invoice."""
        return None

    def data(self) -> dict[str, Any]:
        """Return the `data` of the event, as JSON."""
        raise NotImplementedError


KINDS: dict[str, type[MerchantEvent]] = {}
"""Every kind by its type."""


@dataclass(frozen=True, slots=True)
class InvoiceChanged(MerchantEvent):
    """The status or the exception of an invoice changed; `invoice` as it was right then."""

    invoice: InvoiceView

    @property
    def invoice_id(self) -> str | None:
        return self.invoice.id

    def data(self) -> dict[str, Any]:
        return {"invoice": render_with_notes(self.invoice, most_payments=MAX_PAYMENTS)}


@dataclass(frozen=True, slots=True)
class PaymentChanged(InvoiceChanged):
    """A payment began or ceased to count; both are shown as they are after the change."""

    payment: PaymentView

    def data(self) -> dict[str, Any]:
        return InvoiceChanged.data(self) | {"payment": render_payment(self.payment)}


class InvoiceCreated(InvoiceChanged, type="invoice.created"):
    """The invoice is new."""


class InvoicePaymentReceived(PaymentChanged, type="invoice.payment_received"):
    """A payment counts from now on, as `amount_paid` or `amount_pending`."""


class InvoicePaymentReorged(PaymentChanged, type="invoice.payment_reorged"):
    """A payment counts no more, because a reorganisation of the chain dropped its block."""


class InvoicePartiallyPaid(InvoiceChanged, type="invoice.partially_paid"):
    """Something arrived on time, but less than the amount."""


class InvoiceProcessing(InvoiceChanged, type="invoice.processing"):
    """The amount arrived on time and is not confirmed yet."""


class InvoicePaid(InvoiceChanged, type="invoice.paid"):
    """The amount is confirmed."""


class InvoiceOverpaid(InvoiceChanged, type="invoice.overpaid"):
    """The amount is confirmed, and more than it has arrived. `invoice.paid` came before."""


class InvoiceExpired(InvoiceChanged, type="invoice.expired"):
    """The time of an unpaid invoice is over."""


class InvoiceCanceled(InvoiceChanged, type="invoice.canceled"):
    """The merchant canceled the invoice."""


class InvoicePaidLate(InvoiceChanged, type="invoice.paid_late"):
    """A payment arrived after the invoice had expired or was canceled."""


class InvoiceReorged(InvoiceChanged, type="invoice.reorged"):
    """A reorganisation of the chain took back what earlier events had announced."""


class InvoiceResolved(InvoiceChanged, type="invoice.resolved"):
    """The merchant closed the invoice, or changed how."""


_CLOSED = (EXPIRED, CANCELED)


def kinds_of(before: State, after: State) -> tuple[type[InvoiceChanged], ...]:
    """Return the events of a transition, in the order of their causes.

    An arrival in `paid` is always `invoice.paid`, and `invoice.overpaid` besides if there is too
    much. What a reorganization takes back comes first (`invoice.reorged`), then the end of the time
    (`invoice.expired`, whenever `expired` is entered), then `invoice.paid_late`, which comes only
    of an invoice that is expired for good or canceled. Late money of an invoice that is still
    `unpaid` has the event of its payment alone, until the time is over on the chain too. So has
    money that was paid in time and is found after the invoice has expired.
    """
    (old_status, old_exception), (status, exception) = before, after
    if before == after:
        return ()
    if status == PAID and (old_status != PAID or exception == OVER):
        arrival = () if old_status == PAID else (InvoicePaid,)
        return (*arrival, InvoiceOverpaid) if exception == OVER else arrival
    kinds: list[type[InvoiceChanged]] = []
    is_left = old_status in RECEIVED and status not in RECEIVED
    if is_left or (exception == REORGED and old_exception != REORGED):
        kinds.append(InvoiceReorged)
    if status == EXPIRED and old_status != EXPIRED:
        kinds.append(InvoiceExpired)
    was_late = old_exception == LATE and old_status in _CLOSED
    if exception == LATE and status in _CLOSED and not was_late:
        kinds.append(InvoicePaidLate)
    is_announced_later = old_status == UNPAID and after == (UNPAID, LATE)
    is_found_late = after == (EXPIRED, PARTIAL) and before in (
        (EXPIRED, NONE),
        (EXPIRED, REORGED),
    )
    if kinds or is_announced_later or is_found_late:
        return tuple(kinds)
    return (_kind_of(before, after),)


def _kind_of(before: State, after: State) -> type[InvoiceChanged]:
    (old_status, old_exception), (status, exception) = before, after
    if status == CANCELED and old_status != CANCELED:
        return InvoiceCanceled
    if status == PROCESSING and old_status not in RECEIVED:
        return InvoiceProcessing
    is_more = (status, exception) == (UNPAID, PARTIAL) and old_exception != LATE
    return InvoicePartiallyPaid if is_more and old_status == UNPAID else InvoiceReorged
