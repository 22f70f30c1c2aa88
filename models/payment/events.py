"""The events of merchants: one class per type, and the events of each transition.

`GET /v1/events` and webhooks contain the same events. Released types are never removed; a new kind
of event is a new class.
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
"""The maximum number of payments of the invoice in an event. An invoice can have thousands, and
each of them has an event.
"""
State = tuple[str, str]
"""The status and the exception of an invoice."""


class MerchantEvent:
    """An event of a project. A subclass with a type is a kind: `class X(..., type="invoice.x")`."""

    type: ClassVar[str]

    def __init_subclass__(cls, *, type: str = "") -> None:
        if type:
            cls.type = type
            KINDS[type] = cls

    @property
    def invoice_id(self) -> str | None:
        """The invoice of the event, or None if the event is not about an invoice."""
        return None

    def data(self) -> dict[str, Any]:
        """Return the `data` of the event, as JSON."""
        raise NotImplementedError


KINDS: dict[str, type[MerchantEvent]] = {}
"""Every kind, by type."""


@dataclass(frozen=True, slots=True)
class InvoiceChanged(MerchantEvent):
    """An invoice changed. `invoice` is its state right after the change."""

    invoice: InvoiceView

    @property
    def invoice_id(self) -> str | None:
        return self.invoice.id

    def data(self) -> dict[str, Any]:
        return {"invoice": render_with_notes(self.invoice, most_payments=MAX_PAYMENTS)}


@dataclass(frozen=True, slots=True)
class PaymentChanged(InvoiceChanged):
    """A payment began or ceased to count. Invoice and payment are as after the change."""

    payment: PaymentView

    def data(self) -> dict[str, Any]:
        return InvoiceChanged.data(self) | {"payment": render_payment(self.payment)}


class InvoiceCreated(InvoiceChanged, type="invoice.created"):
    """The invoice was created."""


class InvoicePaymentReceived(PaymentChanged, type="invoice.payment_received"):
    """A payment counts from now on, in `amount_paid` or `amount_pending`."""


class InvoicePaymentReorged(PaymentChanged, type="invoice.payment_reorged"):
    """A payment no longer counts, because a reorganization of the chain dropped its block."""


class InvoicePartiallyPaid(InvoiceChanged, type="invoice.partially_paid"):
    """A payment arrived on time, but less than the amount."""


class InvoiceProcessing(InvoiceChanged, type="invoice.processing"):
    """The amount arrived on time but is not confirmed yet."""


class InvoicePaid(InvoiceChanged, type="invoice.paid"):
    """The amount is confirmed."""


class InvoiceOverpaid(InvoiceChanged, type="invoice.overpaid"):
    """The amount is confirmed, and more than the amount has arrived. `invoice.paid` precedes it."""


class InvoiceExpired(InvoiceChanged, type="invoice.expired"):
    """The payment window of an unpaid invoice has closed."""


class InvoiceCanceled(InvoiceChanged, type="invoice.canceled"):
    """The merchant canceled the invoice."""


class InvoicePaidLate(InvoiceChanged, type="invoice.paid_late"):
    """A payment arrived after the invoice had expired or was canceled."""


class InvoiceReorged(InvoiceChanged, type="invoice.reorged"):
    """A reorganization of the chain reverted what earlier events had announced."""


class InvoiceResolved(InvoiceChanged, type="invoice.resolved"):
    """The merchant closed the invoice, or changed its resolution."""


_CLOSED = (EXPIRED, CANCELED)


def kinds_of(before: State, after: State) -> tuple[type[InvoiceChanged], ...]:
    """Return the events of a transition, in the order of their causes.

    Entering `paid` always gives `invoice.paid`, followed by `invoice.overpaid` if more than the
    amount has arrived. Otherwise `invoice.reorged` comes first if a reorganization reverted
    something, then `invoice.expired` if `expired` is entered, then `invoice.paid_late`, only for an
    invoice that has finally expired or was canceled. Late money for an invoice that is still
    `unpaid` has only the event of its payment until the chain's time has passed the expiry too. The
    same applies to money that was paid on time and is found after the invoice has expired.
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
