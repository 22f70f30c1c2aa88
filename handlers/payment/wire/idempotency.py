"""One effect per Idempotency-Key: the answer is stored in the transaction of its effect."""

from collections.abc import Callable
from typing import Any

import orjson

from handlers.payment import render
from handlers.payment.wire import errors
from handlers.payment.wire.context import Context
from models.errors import DomainError
from models.idempotency import StoredAnswer, fingerprint_of
from models.payment.idempotency import KEYS
from models.payment.invoice_view import InvoiceView
from server.response import Headers, Response, encode

REPLAYED = (("Idempotent-Replayed", "true"),)


def idempotent_response(
    ctx: Context, *, key: str, body: Any, status: int, work: Callable[[], InvoiceView]
) -> Response:
    """Do `work` and answer with its invoice, or give the answer this key already has.

    A refusal that would come again is stored as well; `work` must raise it before it writes
    anything. Every other exception goes on, and the rollback frees the key.
    """
    project_id = ctx.actor.project_id
    stored = KEYS.claim(
        ctx.session,
        owner=project_id,
        key=key,
        operation=ctx.operation_id,
        fingerprint=fingerprint(ctx, body),
        now=ctx.now,
    )
    if stored is not None:
        return Response(stored.status, stored.body, _headers(stored))
    invoice_id = None
    try:
        invoice = work()
    except DomainError as refusal:
        if not errors.is_definitive(refusal):
            raise
        response = errors.respond(refusal, ctx.request_id)
    else:
        invoice_id = invoice.id
        response = Response(status, encode(render.invoice(invoice)))
    KEYS.keep(
        ctx.session,
        owner=project_id,
        key=key,
        answer=StoredAnswer(status=response.status, body=response.body),
        invoice_id=invoice_id,
    )
    return response


def _headers(stored: StoredAnswer) -> Headers:
    if stored.status < 400:
        return REPLAYED
    return (errors.link_of(orjson.loads(stored.body)["code"]), *REPLAYED)


def fingerprint(ctx: Context, body: Any) -> str:
    """SHA-256 over method, path template, path parameters and the parsed body, keys sorted.

    Amounts stay the text they were: "1.5" and "1.50" are different requests.
    """
    parameters = {name: str(value).lower() for name, value in ctx.path_parameters.items()}
    return fingerprint_of(ctx.method, ctx.path_template, parameters, body)
