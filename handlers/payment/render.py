"""Renders models as responses. Invoices, which events contain too, are in models/payment."""

from typing import Literal, cast

from adapters.webhooks.sender import Received
from handlers.payment import types
from models.payment.invoice_view import InvoiceView
from models.payment.methods import MethodRow
from models.payment.rendering import (
    ENVIRONMENT,
    render_invoice,
    render_notes,
    render_with_notes,
)
from models.payment.tables import CheckoutSession
from models.payment.webhooks.endpoints import Endpoint
from models.payment.webhooks.events import render_endpoint
from models.payment.webhooks.outcomes import is_success
from specd.db import UtcMs


def invoice(view: InvoiceView) -> types.Invoice:
    """Return the document's Invoice."""
    return cast("types.Invoice", render_invoice(view))


def invoice_with_notes(view: InvoiceView) -> types.Invoice:
    """Return the document's Invoice, as lists contain it."""
    return cast("types.Invoice", render_with_notes(view))


def metadata(view: InvoiceView) -> types.InvoiceMetadata:
    """Return the document's InvoiceMetadata."""
    rendered: dict[str, object] = {"invoice_id": view.id, "metadata": {}}
    rendered |= render_notes(view)
    return cast("types.InvoiceMetadata", rendered)


def endpoint(view: Endpoint) -> types.WebhookEndpoint:
    """Return the document's WebhookEndpoint."""
    return cast("types.WebhookEndpoint", render_endpoint(view))


def event_type(stored: str) -> types.EventType:
    """Return a stored event type with its static type."""
    return cast("types.EventType", stored)


def route(method: MethodRow, *, is_available: bool) -> types.Route:
    """Return a payment method as the document's Route."""
    return {
        "id": method.id,
        "environment": ENVIRONMENT,
        "chain_id": method.chain_id,
        "chain_name": method.chain_name,
        "token_symbol": method.token_symbol,
        "token_address": method.token_address,
        "decimals": cast("Literal[6]", method.decimals),
        "confirmations_required": method.confirmations_required,
        "available": is_available,
    }


def checkout_session(
    session: CheckoutSession, token: str, *, public_url: str
) -> types.CheckoutSession:
    """Return the document's CheckoutSession. The URL uses the settings, never the Host header."""
    rendered: types.CheckoutSession = {
        "invoice_id": session.invoice_id,
        "checkout_token": token,
        "checkout_url": f"{public_url}/checkout/{token}",
        "expires_at": UtcMs.to_ms(session.expires_at),
    }
    if session.success_url is not None:
        rendered["success_url"] = session.success_url
    if session.cancel_url is not None:
        rendered["cancel_url"] = session.cancel_url
    return rendered


def test_result(endpoint_id: str, received: Received) -> types.WebhookTestResult:
    """Return the document's WebhookTestResult."""
    return {
        "webhook_endpoint_id": endpoint_id,
        "taken": is_success(received.status),
        "status_code": received.status,
        "failure": received.failure,
        "duration_ms": received.duration_ms,
        "answer": received.answer,
    }
