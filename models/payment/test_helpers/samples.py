"""Sample events of each type, about an invoice that does not exist."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from models.payment.events import (
    InvoiceCanceled,
    InvoiceChanged,
    InvoiceCreated,
    InvoiceExpired,
    InvoiceOverpaid,
    InvoicePaid,
    InvoicePaidLate,
    InvoicePartiallyPaid,
    InvoicePaymentReceived,
    InvoicePaymentReorged,
    InvoiceProcessing,
    InvoiceReorged,
    InvoiceResolved,
    MerchantEvent,
    PaymentChanged,
)
from models.payment.invoice_view import InvoiceView, PaymentView
from models.payment.lifecycle import (
    CANCELED,
    CONFIRMED,
    EXPIRED,
    LATE,
    NONE,
    ORPHANED,
    OVER,
    PAID,
    PARTIAL,
    PENDING,
    PROCESSING,
    REORGED,
    UNPAID,
)
from models.payment.webhooks.endpoints import Endpoint
from models.payment.webhooks.events import WebhookEndpointDisabled

_AMOUNT = 12_500_000
_STATES: Mapping[type[InvoiceChanged], tuple[str, str, int, str]] = {
    InvoiceCreated: (UNPAID, NONE, 0, PENDING),
    InvoicePaymentReceived: (PROCESSING, NONE, _AMOUNT, PENDING),
    InvoicePaymentReorged: (UNPAID, REORGED, _AMOUNT, ORPHANED),
    InvoicePartiallyPaid: (UNPAID, PARTIAL, _AMOUNT // 2, PENDING),
    InvoiceProcessing: (PROCESSING, NONE, _AMOUNT, PENDING),
    InvoicePaid: (PAID, NONE, _AMOUNT, CONFIRMED),
    InvoiceOverpaid: (PAID, OVER, _AMOUNT * 2, CONFIRMED),
    InvoiceExpired: (EXPIRED, NONE, 0, PENDING),
    InvoiceCanceled: (CANCELED, NONE, 0, PENDING),
    InvoicePaidLate: (EXPIRED, LATE, _AMOUNT, PENDING),
    InvoiceReorged: (UNPAID, REORGED, _AMOUNT, ORPHANED),
    InvoiceResolved: (EXPIRED, LATE, _AMOUNT, CONFIRMED),
}
"""Kind -> status and exception of the invoice, atoms of its payment (0: none), payment status."""
_KINDS = {kind.type: kind for kind in _STATES}
TYPES = (*_KINDS, WebhookEndpointDisabled.type)


def make_sample(type_: str, endpoint: Endpoint, *, now: datetime) -> dict[str, Any]:
    """Return the `data` of an event of this type to `endpoint`, marked as a sample."""
    return _event(type_, endpoint, now).data() | {"sample": True}


def _event(type_: str, endpoint: Endpoint, now: datetime) -> MerchantEvent:
    if type_ == WebhookEndpointDisabled.type:
        return WebhookEndpointDisabled(
            replace(endpoint, status="disabled", disabled_reason="failing")
        )
    kind = _KINDS[type_]
    status, exception, atoms, payment_status = _STATES[kind]
    invoice = _invoice(status, exception, now)
    if kind is InvoiceResolved:
        invoice = replace(
            invoice, resolution="refunded", resolution_note="A sample.", resolved_at=now
        )
    payment = replace(_payment(atoms, payment_status, now), late=exception == LATE)
    if atoms:
        invoice = replace(
            invoice,
            payments=(payment,),
            amount_paid=atoms if payment_status == CONFIRMED else 0,
            amount_pending=atoms if payment_status == PENDING else 0,
        )
    return kind(invoice, payment) if issubclass(kind, PaymentChanged) else kind(invoice)


def _invoice(status: str, exception: str, now: datetime) -> InvoiceView:
    created_at = now - timedelta(minutes=40 if status == EXPIRED else 2)
    expires_at = created_at + timedelta(minutes=30)
    return InvoiceView(
        id="00000000-0000-4000-8000-000000000001",
        external_order_id="sample",
        attempt_no=1,
        status=status,
        exception=exception,
        payment_method_id="sample",
        amount=_AMOUNT,
        amount_paid=0,
        amount_pending=0,
        chain_id=31337,
        chain_name="Local test chain",
        token_address=f"0x{'1' * 40}",
        token_symbol="TUSD",
        decimals=6,
        deposit_address=f"0x{'2' * 40}",
        address_index=0,
        confirmations_required=2,
        created_at=created_at,
        updated_at=now,
        expires_at=expires_at,
        monitoring_ends_at=expires_at + timedelta(days=1),
        paid_at=now if status == PAID else None,
        canceled_at=now if status == CANCELED else None,
        xpub=_XPUB,
        expiry_final=status == EXPIRED,
    )


def _payment(atoms: int, status: str, now: datetime) -> PaymentView:
    return PaymentView(
        id=1,
        tx_hash=f"0x{'3' * 64}",
        log_index=0,
        block_number=128,
        block_hash=f"0x{'4' * 64}",
        from_address=f"0x{'5' * 40}",
        amount=atoms,
        confirmations={PENDING: 1, CONFIRMED: 2, ORPHANED: 0}[status],
        status=status,
        late=False,
        detected_at=now,
    )


# m/44'/60'/0' of "legal winner thank year wave sausage worth useful legal winner thank yellow", a
# published test vector.
_XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByN"
    "NhwWaNQRuhP3JcC3"
)
