"""Operations of the tag payments."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Literal

from adapters.chain.development import NodeRefuses, Sent
from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from handlers.payment import render, types
from handlers.payment.wire.acting import acting
from handlers.payment.wire.context import Context
from models.payment import invoice_view
from models.payment.invoice_view import InvoiceView
from models.payment.lifecycle import ORPHANED
from models.payment.money import parse_amount
from models.payment.test_helpers import expiring
from models.payment.test_helpers.errors import NothingIsDue

LOOK_S = 0.25
"""The interval at which a waiting request reads the invoice."""
DEFAULT_WAIT_S = 5


async def pay_invoice(
    ctx: Context, *, id_: str, body: types.PaymentRequest | None = None
) -> tuple[types.TestPayment, Literal[201]]:
    """Pay an invoice on its test chain."""
    asked = body or {}
    chains, confirmations = ctx.adapters.development, asked.get("confirmations", 0)
    invoice = await ctx.read(_reading(ctx, id_))
    after_s = None
    if asked.get("late"):
        after_s = await _end_time(ctx, id_)
    with acting(invoice.chain_id):
        atoms = await _atoms(ctx, invoice, asked.get("amount", "exact"))
        sent = await chains.pay(
            invoice.chain_id,
            invoice.token_address,
            invoice.deposit_address,
            _parts(atoms, asked.get("transfers", 1)),
            payer=asked.get("payer", 0),
            after_s=after_s,
        )
        if confirmations > 1:
            await chains.mine(invoice.chain_id, confirmations - 1)

    def has_arrived(view: InvoiceView) -> bool:
        seen = {
            payment.tx_hash
            for payment in view.payments
            if payment.status != ORPHANED and payment.confirmations >= confirmations
        }
        return {each.tx_hash for each in sent} <= seen

    wait_s = asked.get("wait_s", DEFAULT_WAIT_S) if confirmations else 0
    view = await _wait_for(ctx, id_, has_arrived, wait_s)
    return {"transactions": [_sent(each) for each in sent], "invoice": render.invoice(view)}, 201


async def expire_invoice(
    ctx: Context, *, id_: str, body: types.ExpiryRequest | None = None
) -> types.Invoice:
    """Expire an unpaid invoice."""
    after_s = await _end_time(ctx, id_)
    invoice = await ctx.read(_reading(ctx, id_))
    # Errors are ignored, because any other chain passes that time with its next block.
    with suppress(NoEndpoint, ChainUnreachable, NodeRefuses):
        await ctx.adapters.development.mine(invoice.chain_id, 1, after_s=after_s)
    wait_s = (body or {}).get("wait_s", DEFAULT_WAIT_S)
    view = await _wait_for(ctx, id_, lambda view: view.expiry_final, wait_s)
    return render.invoice(view)


async def _end_time(ctx: Context, invoice_id: str) -> int:
    """Expire the invoice. Return its expiry in Unix seconds, rounded down."""
    moment = await ctx.write(
        lambda session: expiring.end_time(
            session, project_id=ctx.actor.project_id, invoice_id=invoice_id, now=ctx.now
        )
    )
    return int(moment.timestamp())


async def _atoms(ctx: Context, invoice: InvoiceView, amount: str) -> int:
    if amount == "exact":
        return invoice.amount
    if amount != "rest":
        return parse_amount(amount)
    arrived = await ctx.adapters.development.balance(
        invoice.chain_id, invoice.token_address, invoice.deposit_address
    )
    if arrived >= invoice.amount:
        raise NothingIsDue()
    return invoice.amount - arrived


def _parts(atoms: int, count: int) -> list[int]:
    """Split an amount into up to `count` non-zero parts."""
    count = min(count, atoms)
    part = atoms // count
    return [part] * (count - 1) + [atoms - part * (count - 1)]


def _reading(ctx: Context, invoice_id: str) -> Callable[[Any], InvoiceView]:
    return partial(
        invoice_view.access_invoice,
        project_id=ctx.actor.project_id,
        invoice_id=invoice_id,
        now=ctx.now,
    )


async def _wait_for(
    ctx: Context, invoice_id: str, is_so: Callable[[InvoiceView], bool], wait_s: float
) -> InvoiceView:
    """Return the invoice as soon as `is_so` accepts it, or as it is after `wait_s`. Between two
    reads, the request uses no thread and no connection.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + wait_s
    while True:
        view = await ctx.read_snapshot(_reading(ctx, invoice_id))
        left = ends_at - loop.time()
        if left <= 0 or is_so(view):
            return view
        look = loop.create_future()
        timer = loop.call_later(min(LOOK_S, left), look.set_result, None)
        if not await ctx.wait(look, left + LOOK_S):
            timer.cancel()
            return view


def _sent(sent: Sent) -> types.TestTransaction:
    """Return the document's TestTransaction."""
    return {
        "tx_hash": sent.tx_hash,
        "from": sent.sender,
        "amount": str(sent.amount),
        "block_number": sent.block_number,
    }
