"""Operations of the tag checkout_sessions."""

from datetime import timedelta
from typing import Literal

from handlers.payment import render, types
from handlers.payment.wire.acting import acting
from handlers.payment.wire.context import Context
from models.payment import checkout_sessions, invoice_view


async def create_checkout_session(
    ctx: Context, *, id_: str, body: types.CheckoutSessionCreation | None = None
) -> tuple[types.CheckoutSession, Literal[201]]:
    """Create a test checkout session for an invoice."""
    project_id = ctx.actor.project_id
    invoice = await ctx.read(
        lambda connection: invoice_view.access_invoice(
            connection, project_id=project_id, invoice_id=id_, now=ctx.now
        )
    )
    checkout_sessions.check_payable(invoice)
    await _require_chain(ctx, invoice.chain_id)
    checkout, token = await ctx.write(
        lambda session: checkout_sessions.create_checkout_session(
            session,
            project_id=project_id,
            invoice_id=id_,
            lifetime=timedelta(seconds=ctx.settings.checkout_lifetime_s),
            now=ctx.now,
            **(body or {}),
        )
    )
    return render.checkout_session(checkout, token, public_url=ctx.settings.public_url), 201


async def _require_chain(ctx: Context, chain_id: int) -> None:
    """Raise `ChainNotConfigured`, and `ChainUnavailable` unless the chain is healthy now."""
    with acting(chain_id):
        await ctx.adapters.chain.check(chain_id)
