"""The events of webhook endpoints themselves."""

from dataclasses import dataclass
from typing import Any

from models.payment.events import MerchantEvent
from models.payment.webhooks.endpoints import Endpoint
from specd.db import UtcMs

PING = "ping"
"""The type of a message that tests an endpoint. It is not an event, so the log omits it."""


@dataclass(frozen=True)
class WebhookEndpointDisabled(MerchantEvent, type="webhook_endpoint.disabled"):
    """The service disabled an endpoint that is gone or has failed for five days."""

    endpoint: Endpoint

    def data(self) -> dict[str, Any]:
        return {"webhook_endpoint": render_endpoint(self.endpoint)}


def render_endpoint(endpoint: Endpoint) -> dict[str, Any]:
    """Return the document's WebhookEndpoint."""
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "event_types": list(endpoint.event_types),
        "description": endpoint.description,
        "status": endpoint.status,
        "disabled_reason": endpoint.disabled_reason,
        "created_at": UtcMs.to_ms(endpoint.created_at),
        "updated_at": UtcMs.to_ms(endpoint.updated_at),
        **({"events_missed": True} if endpoint.has_missed_events else {}),
    }
