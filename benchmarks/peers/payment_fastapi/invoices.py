"""The operations on invoices. Callers commit."""

import json
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from benchmarks.peers.payment_fastapi.addresses import deposit_address
from benchmarks.peers.payment_fastapi.errors import Refusal
from benchmarks.peers.payment_fastapi.schemas import (
    ErrorDetail,
    InvoiceOut,
    NewInvoice,
    PaymentOut,
)
from benchmarks.peers.payment_fastapi.settings import Settings
from benchmarks.peers.payment_fastapi.tables import (
    ChainHead,
    Invoice,
    InvoiceEvent,
    PaymentMethod,
    Project,
    Wallet,
)

MAX_ATOMS = 2**256 - 1


def parse_amount(text: str, decimals: int) -> int:
    """Return the atoms of a decimal string that matches the document's pattern."""
    whole, _, fraction = text.partition(".")
    atoms = int(whole + fraction.ljust(decimals, "0"))
    if not 0 < atoms <= MAX_ATOMS:
        message = "Send an amount above zero and within the token's range."
        raise Refusal(422, "invalid_amount", message)
    return atoms


def create_invoice(
    session: Session, settings: Settings, project: Project, new: NewInvoice, now: datetime
) -> Invoice:
    method = session.get(PaymentMethod, (project.id, new.payment_method_id))
    if method is None:
        message = "Use one of the methods listed by GET /v1/payment-methods."
        raise Refusal(422, "payment_method_not_allowed", message)
    if method.chain_id not in settings.chain_ids:
        message = "The method's chain has no RPC endpoint here."
        retry = {"Retry-After": "60"}
        raise Refusal(503, "chain_not_configured", message, definitive=False, headers=retry)
    amount = parse_amount(new.amount, method.decimals)
    attempt = select(Invoice.id).where(
        Invoice.project_id == project.id,
        Invoice.external_order_id == new.external_order_id,
        Invoice.attempt_no == new.attempt_no,
    )
    if existing := session.scalar(attempt):
        details = [ErrorDetail(path="/body/attempt_no", message=f"invoice {existing}")]
        message = "Use the next attempt_no for a new try."
        raise Refusal(409, "order_attempt_exists", message, details=details)
    take_index = (
        update(Wallet)
        .where(Wallet.xpub == project.xpub)
        .values(next_address_index=Wallet.next_address_index + 1)
        .returning(Wallet.next_address_index)
    )
    index = session.scalars(take_index).one() - 1
    invoice = Invoice(
        id=str(uuid4()),
        project_id=project.id,
        external_order_id=new.external_order_id,
        attempt_no=new.attempt_no,
        status="unpaid",
        exception="none",
        payment_method_id=method.id,
        amount=amount,
        amount_paid=0,
        amount_pending=0,
        chain_id=method.chain_id,
        token_address=method.token_address,
        deposit_address=deposit_address(project.xpub, index),
        address_index=index,
        confirmations_required=method.confirmations_required,
        created_at=now,
        updated_at=now,
        expires_at=now + timedelta(minutes=30),
        monitoring_ends_at=now + timedelta(hours=24, minutes=30),
        payments=[],
    )
    session.add(invoice)
    session.add(event_of(invoice, "created", None, now))
    return invoice


def event_of(invoice: Invoice, kind: str, from_status: str | None, now: datetime) -> InvoiceEvent:
    return InvoiceEvent(
        invoice=invoice,
        kind=kind,
        from_status=from_status,
        to_status=invoice.status,
        exception=invoice.exception,
        facts=json.dumps({"amount": str(invoice.amount)}),
        at=now,
    )


def access_invoice(
    session: Session, project: Project, invoice_id: str, *, lock: bool = False
) -> Invoice:
    query = select(Invoice).where(Invoice.id == invoice_id, Invoice.project_id == project.id)
    invoice = session.scalar(query.with_for_update() if lock else query)
    if invoice is None:
        raise Refusal(404, "invoice_not_found", "No invoice of this project has this id.")
    return invoice


def cancel_invoice(session: Session, project: Project, invoice_id: str, now: datetime) -> Invoice:
    invoice = access_invoice(session, project, invoice_id, lock=True)
    untouched = invoice.status == "unpaid" and invoice.exception == "none"
    if not untouched or invoice.payments or now > invoice.expires_at:
        message = "Only an unpaid invoice without any payment can be canceled."
        raise Refusal(409, "invoice_not_cancelable", message)
    invoice.status = "canceled"
    invoice.canceled_at = now
    invoice.updated_at = now
    session.add(event_of(invoice, "canceled", "unpaid", now))
    return invoice


def render(session: Session, invoice: Invoice, now: datetime) -> InvoiceOut:
    """Return the invoice at `now`: the clock decides whether it has expired."""
    head = session.get(ChainHead, invoice.chain_id) if invoice.payments else None
    status = invoice.status
    if status == "unpaid" and now > invoice.expires_at:
        status = "expired"
    uri = f"ethereum:{invoice.token_address}@{invoice.chain_id}/transfer"
    return InvoiceOut(
        id=invoice.id,
        external_order_id=invoice.external_order_id,
        attempt_no=invoice.attempt_no,
        status=status,
        exception=invoice.exception,
        payment_method_id=invoice.payment_method_id,
        amount=invoice.amount,
        amount_paid=invoice.amount_paid,
        amount_pending=invoice.amount_pending,
        amount_remaining=max(0, invoice.amount - invoice.amount_paid),
        amount_overpaid=max(0, invoice.amount_paid - invoice.amount),
        chain_id=invoice.chain_id,
        token_address=invoice.token_address,
        deposit_address=invoice.deposit_address,
        payment_uri=f"{uri}?address={invoice.deposit_address}&uint256={invoice.amount}",
        confirmations_required=invoice.confirmations_required,
        payments=[
            PaymentOut(
                tx_hash=it.tx_hash,
                log_index=it.log_index,
                block_number=it.block_number,
                block_hash=it.block_hash,
                from_address=it.from_address,
                amount=it.amount,
                confirmations=max(0, head.head_number - it.block_number + 1) if head else 0,
                status=it.status,
                late=it.late,
                detected_at=it.detected_at,
            )
            for it in invoice.payments
        ],
        created_at=invoice.created_at,
        updated_at=invoice.updated_at,
        expires_at=invoice.expires_at,
        monitoring_ends_at=invoice.monitoring_ends_at,
        paid_at=invoice.paid_at,
        canceled_at=invoice.canceled_at,
    )
