"""Operations of the tag invoices."""

import hashlib
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection

from handlers.payment import render, types
from handlers.payment.wire.context import Context
from models.payment import (
    bookkeeping,
    invoice_list,
    invoice_view,
    invoices,
    metadata,
    receipts,
    resolutions,
    settlement,
)
from models.payment.addresses import checksummed
from models.payment.errors import ChainNotConfigured, ExportTooLarge
from models.payment.invoice_list import InvoiceFilter
from models.payment.invoices import NewestBlock
from models.payment.receipts import Position, ReceiptFilter
from specd import Response, before_transaction, encode, idempotent

P = TypeVar("P")
Export = tuple[AsyncIterator[bytes], Literal[200], dict[str, str]]
"""A streamed file: its parts, the status and the headers."""
ASK_AGAIN = ("Cache-Control", "private, no-cache")
"""Clients may reuse their copy only if its ETag is still valid."""
MAX_EXPORTED = 10_000
"""The maximum number of lines in an export."""
MAX_EXPORTED_BYTES = 50_000_000
"""An export that exceeds this size is aborted."""


def _find_newest_block(ctx: Context, *, body: types.InvoiceCreation) -> NewestBlock | None:
    """Return the chain's newest block if no watcher has seen it recently, or None if the chain does
    not return it.

    Transfers up to that block precede the invoice.
    """
    chain_id = invoices.find_unwatched_chain(
        ctx.connection,
        project_id=ctx.actor.project_id,
        payment_method_id=body["payment_method_id"],
        now=ctx.now,
    )
    return None if chain_id is None else ctx.adapters.chain.find_newest_block(chain_id)


@before_transaction(_find_newest_block)
@idempotent
def create_invoice(
    ctx: Context, newest: NewestBlock | None, *, body: types.InvoiceCreation
) -> tuple[types.Invoice, Literal[201]]:
    """Create an invoice for one attempt at an order."""
    order = invoices.check_order(ctx.session, project_id=ctx.actor.project_id, **body)
    if not ctx.adapters.chain.is_configured(order.chain_id):
        raise ChainNotConfigured(chain_id=order.chain_id)
    invoice = invoices.create_invoice(
        ctx.session,
        order,
        xpub=ctx.actor.xpub,
        lifetime=timedelta(seconds=ctx.settings.invoice_lifetime_s),
        monitoring=timedelta(seconds=ctx.settings.invoice_monitoring_s),
        now=ctx.now,
        newest=newest,
    )
    return render.invoice(invoice), 201


def list_invoices(
    ctx: Context, *, limit: int, cursor: str | None = None, **filters: Any
) -> types.InvoiceList:
    """List invoices of the project."""
    wanted = _wanted(ctx, **filters)
    page = invoice_list.list_invoices(
        ctx.connection, wanted, cursor=cursor, limit=limit, now=ctx.now
    )
    return {
        "data": [render.invoice_with_notes(invoice) for invoice in page.invoices],
        "has_more": page.next_cursor is not None,
        "next_cursor": page.next_cursor,
    }


async def export_invoices(ctx: Context, **filters: Any) -> Export:
    """Export invoices for bookkeeping."""
    wanted = _wanted(ctx, **filters)

    def check(connection: Connection) -> None:
        invoice_list.require_at_most(connection, wanted, MAX_EXPORTED, now=ctx.now)

    def read(cursor: str | None, connection: Connection) -> tuple[str, str | None]:
        return bookkeeping.read_lines(connection, wanted, cursor, now=ctx.now)

    await ctx.read(check)
    return _lines(ctx, bookkeeping.header(), read), 200, _named("invoices.csv")


async def export_payments(
    ctx: Context,
    *,
    received_from: int | None = None,
    received_to: int | None = None,
    order: str,
) -> Export:
    """Export payments for bookkeeping."""
    wanted = ReceiptFilter(ctx.actor.project_id, received_from, received_to, order == "asc")

    def check(connection: Connection) -> None:
        receipts.require_at_most(connection, wanted, MAX_EXPORTED)

    def read(after: Position | None, connection: Connection) -> tuple[str, Position | None]:
        return bookkeeping.read_payment_lines(connection, wanted, after)

    await ctx.read(check)
    return _lines(ctx, bookkeeping.payments_header(), read), 200, _named("payments.csv")


def _named(file: str) -> dict[str, str]:
    """Return the headers of an export."""
    return {
        "Content-Disposition": f'attachment; filename="{file}"',
        "Content-Type": "text/csv; charset=utf-8",
    }


async def _lines(
    ctx: Context, header: str, read: Callable[[P | None, Connection], tuple[str, P | None]]
) -> AsyncIterator[bytes]:
    """Yield an export in parts. `read` returns the lines after a position, and the next position.
    Raise `ExportTooLarge`, and an error if the key is revoked meanwhile.
    """
    text, size, place = header, 0, None
    while True:
        lines, place = await ctx.read_snapshot(partial(read, place))
        piece = (text + lines).encode()
        size += len(piece)
        if size > MAX_EXPORTED_BYTES:
            raise ExportTooLarge
        yield piece
        text = ""
        if place is None:
            return


def _wanted(
    ctx: Context,
    *,
    external_order_id: str | None = None,
    status: list[str] | None = None,
    exception: list[str] | None = None,
    deposit_address: str | None = None,
    tx_hash: str | None = None,
    payment_method_id: str | None = None,
    created_from: int | None = None,
    created_to: int | None = None,
    updated_from: int | None = None,
    resolved: bool | None = None,
    order: str,
) -> InvoiceFilter:
    """Return the filter for the query parameters of a request."""
    return InvoiceFilter(
        project_id=ctx.actor.project_id,
        external_order_id=external_order_id,
        statuses=frozenset(status or ()),
        exceptions=frozenset(exception or ()),
        deposit_address=None if deposit_address is None else checksummed(deposit_address),
        tx_hash=None if tx_hash is None else tx_hash.lower(),
        created_from=created_from,
        created_to=created_to,
        payment_method_id=payment_method_id,
        updated_from=updated_from,
        is_ascending=order == "asc",
        is_resolved=resolved,
    )


def get_invoice(ctx: Context, *, id_: str, if_none_match: str = "") -> Response:
    """Read the current state of an invoice."""
    invoice = invoice_view.access_invoice(
        ctx.connection, project_id=ctx.actor.project_id, invoice_id=id_, now=ctx.now
    )
    body = encode(render.invoice(invoice))
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    if if_none_match.strip() == "*" or etag in if_none_match:
        return Response(304, b"", (("ETag", etag), ASK_AGAIN))
    return Response(200, body, (("ETag", etag), ASK_AGAIN))


@idempotent
def cancel_invoice(ctx: Context, *, id_: str) -> tuple[types.Invoice, Literal[200]]:
    """Cancel an unpaid invoice."""
    invoice = settlement.cancel_invoice(
        ctx.session, project_id=ctx.actor.project_id, invoice_id=id_, now=ctx.now
    )
    return render.invoice(invoice), 200


def get_metadata(ctx: Context, *, id_: str) -> types.InvoiceMetadata:
    """Read the metadata of an invoice."""
    invoice = invoice_view.access_invoice(
        ctx.connection, project_id=ctx.actor.project_id, invoice_id=id_, now=ctx.now
    )
    return render.metadata(invoice)


def put_metadata(ctx: Context, *, id_: str, body: types.MetadataChange) -> types.InvoiceMetadata:
    """Replace the metadata of an invoice."""
    project_id = ctx.actor.project_id
    metadata.put_metadata(
        ctx.session,
        project_id=project_id,
        invoice_id=id_,
        metadata=body["metadata"],
        now=ctx.now,
    )
    invoice = invoice_view.access_invoice(
        ctx.session, project_id=project_id, invoice_id=id_, now=ctx.now
    )
    return render.metadata(invoice)


def resolve_invoice(ctx: Context, *, id_: str, body: types.ResolutionCreation) -> types.Invoice:
    """Resolve an invoice."""
    invoice = resolutions.resolve_invoice(
        ctx.session,
        project_id=ctx.actor.project_id,
        invoice_id=id_,
        reason=body["reason"],
        note=body.get("note", ""),
        refund_tx_hash=body.get("refund_tx_hash"),
        now=ctx.now,
    )
    return render.invoice_with_notes(invoice)
