"""Every operation of the payment document, by openapi-generator's Python SDK."""

import uuid
from collections.abc import Callable
from typing import Any

from facts import FACTS
from specd_payment import (
    ApiClient,
    CheckoutSessionsApi,
    Configuration,
    ErrorCode,
    ErrorResponse,
    Invoice,
    InvoiceCreation,
    InvoicesApi,
    PaymentMethodsApi,
)
from specd_payment.exceptions import ApiException, NotFoundException, UnauthorizedException


def client(key: str) -> ApiClient:
    return ApiClient(Configuration(host=FACTS["base_url"], access_token=key))


def refusal(call: Callable[..., Any], *arguments: Any, error: type[ApiException]) -> ErrorResponse:
    """The typed error record of a call that is refused."""
    record = None
    try:
        call(*arguments)
    except error as refused:
        record = refused.data
    assert isinstance(record, ErrorResponse), f"{call} was not refused"
    return record


ADA, BEN, NOBODY = client(FACTS["key"]), client(FACTS["peer_key"]), client("prk_test_nobody")


def list_payment_methods() -> None:
    listed = PaymentMethodsApi(ADA).list_payment_methods()
    (method,) = listed.methods
    assert method.id == FACTS["payment_method_id"]
    assert (method.chain_id, method.token_symbol) == (FACTS["chain_id"], FACTS["token_symbol"])
    assert method.available is True
    error = refusal(PaymentMethodsApi(NOBODY).list_payment_methods, error=UnauthorizedException)
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
    invoice = InvoicesApi(ADA).create_invoice(key, order)
    replayed = InvoicesApi(ADA).create_invoice_with_http_info(key, order)
    assert replayed.status_code == 201
    assert replayed.headers["idempotent-replayed"] == "true"
    assert replayed.data == invoice
    error = refusal(InvoicesApi(ADA).create_invoice, str(uuid.uuid4()), order, error=ApiException)
    assert error.code is ErrorCode.ORDER_ATTEMPT_EXISTS
    assert error.details[0].path == "/body/attempt_no"
    return invoice


def read_and_cancel(invoice: Invoice) -> None:
    assert (invoice.status, invoice.exception) == ("unpaid", "none")
    assert (invoice.amount, invoice.attempt_no, invoice.payments) == ("12500000", 1, [])
    assert InvoicesApi(ADA).get_invoice(invoice.id) == invoice
    error = refusal(InvoicesApi(BEN).get_invoice, invoice.id, error=NotFoundException)
    assert error.code is ErrorCode.INVOICE_NOT_FOUND
    for call in (
        InvoicesApi(NOBODY).get_invoice,
        CheckoutSessionsApi(NOBODY).create_checkout_session,
    ):
        error = refusal(call, invoice.id, error=UnauthorizedException)
        assert error.code is ErrorCode.UNAUTHORIZED
    session = CheckoutSessionsApi(ADA).create_checkout_session(invoice.id)
    assert session.invoice_id == invoice.id
    assert session.checkout_url.endswith(session.checkout_token)
    canceled = InvoicesApi(ADA).cancel_invoice(invoice.id, str(uuid.uuid4()))
    assert canceled.status == "canceled"
    assert canceled.canceled_at is not None
    error = refusal(
        CheckoutSessionsApi(ADA).create_checkout_session, invoice.id, error=ApiException
    )
    assert error.code is ErrorCode.INVOICE_NOT_PAYABLE


list_payment_methods()
read_and_cancel(new_invoice())
