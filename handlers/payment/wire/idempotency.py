"""Idempotency keys of the payment service. A key belongs to a project."""

from typing import Any

from handlers.payment import types
from handlers.payment.wire.context import Context
from models.payment.tables import IdempotencyKey
from specd import Idempotency, Response
from specd.db import table_of


def _owner_of(ctx: Context) -> str:
    return ctx.actor.project_id


def _columns_of(reply: tuple[types.Invoice, int] | Response) -> dict[str, Any]:
    """Return the invoice id as a column if the handler has returned an invoice."""
    if isinstance(reply, Response):
        return {}
    invoice, _ = reply
    return {"invoice_id": invoice["id"]}


IDEMPOTENCY = Idempotency(
    table=table_of(IdempotencyKey),
    owner_column="project_id",
    owner=_owner_of,
    columns=_columns_of,
    as_text=lambda value: str(value).lower(),  # of an id, as the database compares them
)
