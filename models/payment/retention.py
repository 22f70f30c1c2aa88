"""The retention rules of the payment service."""

from sqlalchemy import exists

from models.payment import checkpoints, event_list
from models.payment.lifecycle import PROCESSING, UNPAID
from models.payment.tables import CheckoutSession, Event, IdempotencyKey, Invoice
from models.payment.test_helpers.tables import ScenarioRun, SimulatedFault
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from models.ranges import without_index
from specd.db import Rule, older_than

_IS_OPEN = exists().where(
    Invoice.id == IdempotencyKey.invoice_id, without_index(Invoice.status).in_([UNPAID, PROCESSING])
)

_HAS_DELIVERIES = exists().where(WebhookDelivery.endpoint_id == WebhookEndpoint.id)
_HAS_ATTEMPTS = exists().where(WebhookAttempt.endpoint_id == WebhookEndpoint.id)

RULES: tuple[Rule, ...] = (
    # The key of an open invoice is needed regardless of its age.
    older_than(
        IdempotencyKey.created_at,
        "idempotency",
        days=7,
        help="Minimum retention of idempotency keys.",
        only=~_IS_OPEN,
    ),
    older_than(
        CheckoutSession.expires_at,
        "expired",
        days=1,
        help="Retention of expired checkout sessions and email confirmations.",
    ),
    older_than(SimulatedFault.created_at, "expired", days=1),
    older_than(
        ScenarioRun.created_at,
        "payment_event",
        days=30,
        help="Retention of payment events, which merchants read and webhooks deliver.",
    ),
    older_than(
        Event.at,
        "payment_event",
        days=30,
        note=event_list.note_gone,
        noted=(Event.project_id, Event.id),
        by_key=True,
    ),
    older_than(WebhookDelivery.created_at, "payment_event", days=30, by_key=True),
    older_than(WebhookAttempt.at, "payment_event", days=30, by_key=True),
    older_than(
        WebhookEndpoint.deleted_at,
        "payment_event",
        days=30,
        only=~_HAS_DELIVERIES & ~_HAS_ATTEMPTS,
    ),
    # By number of blocks: a reorganization can no longer reach these.
    Rule("chain_block", None, lambda session, _, n: checkpoints.try_forget_some(session, n)),
)
PERMANENT = {
    "project": "a merchant's account",
    "api_key": "who could act for a merchant and until when, revoked keys included",
    "payment_method": "what invoices were paid with",
    "invoice": "the merchant's books",
    "payment": "the merchant's books",
    "invoice_event": "the merchant's books",
    "chain_head": "one row for each chain, written over",
    "webhook_secret": "goes with a rotation, or with its endpoint",
    "lease": "one row for each job, written over",
    "worker_heartbeat": "one row for each worker, written over",
}
"""The other tables with a time column, each with the reason why its rows are kept."""
