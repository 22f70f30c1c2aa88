"""Invoices as JSON, in responses and events: amounts are digit strings, times milliseconds."""

from dataclasses import asdict
from typing import Any, Final

import orjson

from models.payment.invoice_view import InvoiceView, PaymentView, Resolution
from models.payment.receipts import Receipt
from specd.db import UtcMs

ENVIRONMENT: Final = "test"


def render_invoice(view: InvoiceView, *, most_payments: int | None = None) -> dict[str, Any]:
    """Return the document's Invoice, with only the newest `most_payments` of its payments."""
    omitted = 0 if most_payments is None else max(0, len(view.payments) - most_payments)
    return {
        "id": view.id,
        "environment": ENVIRONMENT,
        "external_order_id": view.external_order_id,
        "attempt_no": view.attempt_no,
        "status": view.status,
        "exception": view.exception,
        "payment_method_id": view.payment_method_id,
        "amount": str(view.amount),
        "amount_paid": str(view.amount_paid),
        "amount_pending": str(view.amount_pending),
        "amount_remaining": str(view.amount_remaining),
        "amount_overpaid": str(view.amount_overpaid),
        "chain_id": view.chain_id,
        "token_address": view.token_address,
        "deposit_address": view.deposit_address,
        "payment_uri": view.payment_uri,
        "confirmations_required": view.confirmations_required,
        "payments": [render_payment(each) for each in view.payments[omitted:]],
        "created_at": UtcMs.to_ms(view.created_at),
        "updated_at": UtcMs.to_ms(view.updated_at),
        "expires_at": UtcMs.to_ms(view.expires_at),
        "monitoring_ends_at": UtcMs.to_ms(view.monitoring_ends_at),
        "paid_at": None if view.paid_at is None else UtcMs.to_ms(view.paid_at),
        "canceled_at": None if view.canceled_at is None else UtcMs.to_ms(view.canceled_at),
        "expiry_final": view.expiry_final,
        "derivation_path": view.derivation_path,
        **({"payments_omitted": omitted} if omitted else {}),
        **({"warnings": [asdict(each) for each in view.warnings]} if view.warnings else {}),
    }


def render_with_notes(view: InvoiceView, *, most_payments: int | None = None) -> dict[str, Any]:
    """Return the document's Invoice with the notes of `render_notes`, as lists, events and exports
    contain it.
    """
    return render_invoice(view, most_payments=most_payments) | render_notes(view)


def render_notes(view: InvoiceView) -> dict[str, Any]:
    """Return the properties of an invoice that the original interface does not have, if set."""
    metadata, resolution = view.metadata, view.resolved
    tolerated = view.amount_tolerated
    return {
        **({"amount_tolerated": str(tolerated)} if tolerated else {}),
        **({"transfers_left_out": True} if view.has_left_out else {}),
        **({"metadata": metadata} if metadata else {}),
        **({} if resolution is None else {"resolution": render_resolution(resolution)}),
    }


def render_resolution(resolution: Resolution) -> dict[str, Any]:
    """Return the document's Resolution."""
    tx_hash = resolution.refund_tx_hash
    return {
        "reason": resolution.reason,
        "note": resolution.note,
        "resolved_at": UtcMs.to_ms(resolution.resolved_at),
        **({} if tx_hash is None else {"refund_tx_hash": tx_hash}),
    }


def render_payment(view: PaymentView) -> dict[str, Any]:
    """Return the document's Payment."""
    return {
        "tx_hash": view.tx_hash,
        "log_index": view.log_index,
        "block_number": view.block_number,
        "block_hash": view.block_hash,
        "from": view.from_address,
        "amount": str(view.amount),
        "confirmations": view.confirmations,
        "status": view.status,
        "late": view.late,
        "detected_at": UtcMs.to_ms(view.detected_at),
    }


def render_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return a payment with its invoice, for exports."""
    return {
        "received_at": UtcMs.to_ms(receipt.detected_at),
        "amount": str(receipt.amount),
        "token_symbol": receipt.token_symbol,
        "decimals": receipt.decimals,
        "from": receipt.from_address,
        "tx_hash": receipt.tx_hash,
        "log_index": receipt.log_index,
        "block_number": receipt.block_number,
        "block_hash": receipt.block_hash,
        "block_time": UtcMs.to_ms(receipt.block_timestamp),
        "status": receipt.status,
        "late": receipt.late,
        "invoice_id": receipt.invoice_id,
        "external_order_id": receipt.external_order_id,
        "attempt_no": receipt.attempt_no,
        "payment_method_id": receipt.payment_method_id,
        "chain_id": receipt.chain_id,
        "token_address": receipt.token_address,
        "deposit_address": receipt.deposit_address,
        "metadata": orjson.loads(receipt.metadata_json or "{}"),
    }
