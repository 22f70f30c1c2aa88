"""Every operation of the payment document, by openapi-python-client."""

import uuid
from typing import Any, TypeVar

from facts import FACTS
from specd_payment_client import AuthenticatedClient
from specd_payment_client.api.checkout_sessions import create_checkout_session
from specd_payment_client.api.invoices import cancel_invoice, create_invoice, get_invoice
from specd_payment_client.api.payment_methods import list_payment_methods
from specd_payment_client.models import (
    CheckoutSession,
    ErrorCode,
    ErrorResponse,
    Invoice,
    InvoiceCreation,
    InvoiceException,
    InvoiceStatus,
    PaymentMethods,
)

Record = TypeVar("Record")


def client(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=FACTS["base_url"], token=key)


ADA, BEN, NOBODY = client(FACTS["key"]), client(FACTS["peer_key"]), client("prk_test_nobody")


def read(
    kind: type[Record], operation: Any, *path: Any, by: Any = ADA, **parameters: Any
) -> Record:
    """The typed answer of an operation."""
    answer = operation.sync(*path, client=by, **parameters)
    assert isinstance(answer, kind), answer
    return answer


def payment_methods() -> None:
    (method,) = read(PaymentMethods, list_payment_methods).methods
    assert method.id == FACTS["payment_method_id"]
    assert (method.chain_id, method.token_symbol) == (FACTS["chain_id"], FACTS["token_symbol"])
    error = read(ErrorResponse, list_payment_methods, by=NOBODY)
    assert error.code is ErrorCode.UNAUTHORIZED
    assert error.details == []


def new_invoice() -> Invoice:
    order = InvoiceCreation(
        external_order_id=f"order-{uuid.uuid4()}",
        attempt_no=1,
        amount="12.5",
        payment_method_id=FACTS["payment_method_id"],
    )
    key = str(uuid.uuid4())
    invoice = read(Invoice, create_invoice, body=order, idempotency_key=key)
    replayed = create_invoice.sync_detailed(client=ADA, body=order, idempotency_key=key)
    assert replayed.status_code == 201
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert replayed.parsed == invoice
    again = str(uuid.uuid4())
    error = read(ErrorResponse, create_invoice, body=order, idempotency_key=again)
    assert error.code is ErrorCode.ORDER_ATTEMPT_EXISTS
    assert error.details[0].path == "/body/attempt_no"
    return invoice


def read_and_cancel(invoice: Invoice) -> None:
    assert invoice.status is InvoiceStatus.UNPAID
    assert invoice.exception is InvoiceException.NONE
    assert (invoice.amount, invoice.attempt_no, invoice.payments) == ("12500000", 1, [])
    assert read(Invoice, get_invoice, invoice.id) == invoice
    error = read(ErrorResponse, get_invoice, invoice.id, by=BEN)
    assert error.code is ErrorCode.INVOICE_NOT_FOUND
    for operation in (get_invoice, create_checkout_session):
        error = read(ErrorResponse, operation, invoice.id, by=NOBODY)
        assert error.code is ErrorCode.UNAUTHORIZED
    session = read(CheckoutSession, create_checkout_session, invoice.id)
    assert session.invoice_id == invoice.id
    assert session.checkout_url.endswith(session.checkout_token)
    canceled = read(Invoice, cancel_invoice, invoice.id, idempotency_key=str(uuid.uuid4()))
    assert canceled.status is InvoiceStatus.CANCELED
    assert canceled.canceled_at is not None
    error = read(ErrorResponse, create_checkout_session, invoice.id)
    assert error.code is ErrorCode.INVOICE_NOT_PAYABLE


payment_methods()
read_and_cancel(new_invoice())
