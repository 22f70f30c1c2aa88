"""Operations of the tag payment_methods."""

from handlers.payment import render, types
from handlers.payment.wire.context import Context
from models.payment import methods
from models.payment.rendering import ENVIRONMENT


def list_payment_methods(ctx: Context) -> types.PaymentMethods:
    """List the payment methods of the project."""
    listed = methods.list_methods(ctx.connection, project_id=ctx.actor.project_id)
    is_configured = ctx.adapters.chain.is_configured
    return {
        "environment": ENVIRONMENT,
        "methods": [
            render.route(
                method,
                is_available=method.disabled_at is None and is_configured(method.chain_id),
            )
            for method in listed
        ],
    }
