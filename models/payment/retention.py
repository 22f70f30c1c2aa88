"""How long the payment service keeps what it stores."""

from datetime import datetime

from sqlalchemy import delete, exists, literal, select, tuple_
from sqlalchemy.orm import Session

from models.payment import checkpoints
from models.payment.lifecycle import PROCESSING, UNPAID
from models.payment.tables import CheckoutSession, Event, IdempotencyKey, Invoice
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from models.ranges import aside
from models.retention import Policy, Rule, first_in_first_out, older_than

_IS_OPEN = exists().where(
    Invoice.id == IdempotencyKey.invoice_id, aside(Invoice.status).in_([UNPAID, PROCESSING])
)

_HAS_DELIVERIES = exists().where(WebhookDelivery.endpoint_id == WebhookEndpoint.id)
_HAS_ATTEMPTS = exists().where(WebhookAttempt.endpoint_id == WebhookEndpoint.id)


def _forget_deliveries(session: Session, before: datetime, limit: int) -> bool:
    """The deliveries of the oldest events: their ids lead the primary key."""
    its = (WebhookDelivery.event_id, WebhookDelivery.endpoint_id)
    first = select(*its, WebhookDelivery.created_at).order_by(*its).limit(limit).subquery()
    old = select(first.c.event_id, first.c.endpoint_id).where(first.c.created_at < before)
    gone = session.execute(
        delete(WebhookDelivery)
        .where(tuple_(*its).in_(old))
        .returning(literal(1))
        .execution_options(synchronize_session=False)
    )
    return bool(gone.all())


def _forget_blocks(session: Session, before: datetime, limit: int) -> bool:
    return checkpoints.try_forget_one(session, limit=limit)


POLICY = Policy(
    rules=(
        # The key of an invoice that is still open is needed however old it is.
        older_than(IdempotencyKey.created_at, "idempotency", only=~_IS_OPEN),
        older_than(CheckoutSession.expires_at, "expired"),
        first_in_first_out(Event.at, "payment_event"),
        Rule("webhook_delivery", "payment_event", _forget_deliveries),
        first_in_first_out(WebhookAttempt.at, "payment_event"),
        older_than(
            WebhookEndpoint.deleted_at,
            "payment_event",
            only=~_HAS_DELIVERIES & ~_HAS_ATTEMPTS,
        ),
        # By number of blocks: what a reorganisation can no longer reach.
        Rule("chain_block", None, _forget_blocks),
    ),
    kept={
        "project": "a merchant's account",
        "api_key": "who could act for a merchant and until when; a revoked key tells it too",
        "payment_method": "what invoices were paid with",
        "invoice": "the merchant's books",
        "payment": "the merchant's books",
        "invoice_event": "the merchant's books",
        "chain_head": "one row for each chain, written over",
        "webhook_secret": "goes with a rotation, or with its endpoint",
        "lease": "one row for each job, written over",
    },
)
