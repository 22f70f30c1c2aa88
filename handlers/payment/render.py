"""Models to wire; models/payment/rendering.py does it for invoices, of which events tell too."""

from typing import Any

from adapters.webhooks.sender import Received
from models.payment.methods import MethodRow
from models.payment.rendering import ENVIRONMENT
from models.payment.tables import CheckoutSession
from models.payment.webhooks.outcomes import is_success
from specd.db import UtcMs


def route(method: MethodRow, *, is_available: bool) -> dict[str, Any]:
    """A payment method, as the document's Route."""
    return {
        "id": method.id,
        "environment": ENVIRONMENT,
        "chain_id": method.chain_id,
        "chain_name": method.chain_name,
        "token_symbol": method.token_symbol,
        "token_address": method.token_address,
        "decimals": method.decimals,
        "confirmations_required": method.confirmations_required,
        "available": is_available,
    }


def checkout_session(session: CheckoutSession, token: str, *, public_url: str) -> dict[str, Any]:
    """The document's CheckoutSession. The address comes from the settings, never from the Host."""
    links = {"success_url": session.success_url, "cancel_url": session.cancel_url}
    return {
        "invoice_id": session.invoice_id,
        "checkout_token": token,
        "checkout_url": f"{public_url}/checkout/{token}",
        "expires_at": UtcMs.to_ms(session.expires_at),
        **{name: url for name, url in links.items() if url is not None},
    }


def test_result(endpoint_id: str, received: Received) -> dict[str, Any]:
    """The document's WebhookTestResult."""
    return {
        "webhook_endpoint_id": endpoint_id,
        "taken": is_success(received.status),
        "status_code": received.status,
        "failure": received.failure,
        "duration_ms": received.duration_ms,
        "answer": received.answer,
    }
