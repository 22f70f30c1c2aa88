"""Idempotency keys of the payment service, each of a project (specd/_db/idempotency.py)."""

from collections.abc import Callable
from typing import Any

from handlers.payment.wire.context import Context
from handlers.payment.wire.errors import ERRORS
from models.json import Json
from models.payment.errors import IdempotencyInProgress, IdempotencyKeyReused
from models.payment.invoice_view import InvoiceView
from models.payment.rendering import render_invoice
from models.payment.tables import IdempotencyKey
from specd import IdempotentAnswers, Response, encode
from specd.db import IdempotencyKeys, table_of

ANSWERS = IdempotentAnswers(
    keys=IdempotencyKeys(
        table_of(IdempotencyKey),
        owner="project_id",
        reused=IdempotencyKeyReused,
        in_progress=IdempotencyInProgress,
    ),
    is_definitive=ERRORS.is_definitive,
    respond=ERRORS.respond,
    help_of=ERRORS.link_of,
    as_text=lambda value: str(value).lower(),  # of an id, as the database compares them
)


def idempotent_response(
    ctx: Context, *, key: str, body: Json, status: int, work: Callable[[], InvoiceView]
) -> Response:
    """Do `work` and answer with its invoice, or give the answer this key already has."""
    columns: dict[str, Any] = {"invoice_id": None}

    def respond() -> Response:
        invoice = work()
        columns["invoice_id"] = invoice.id
        return Response(status, encode(render_invoice(invoice)))

    return ANSWERS.answer(
        ctx,
        ctx.session,
        owner=ctx.actor.project_id,
        key=key,
        sent=body,
        work=respond,
        columns=columns,
    )
