"""Assembles the payment service: documents, handlers, database, adapters and chores."""

from functools import partial

from adapters.chain.development import RpcDevelopmentChains
from adapters.chain.gateway import RpcChainGateway
from handlers.payment.wire.auth import require_role
from handlers.payment.wire.context import Context, PaymentAdapters
from handlers.payment.wire.gauges import find_gauges
from handlers.payment.wire.idempotency import IDEMPOTENCY
from handlers.payment.wire.webhooks import webhooks_of
from models.payment.webhooks.vault import load_secrets
from settings import Settings
from specd import (
    ComposedService,
    RateLimiter,
    network_of_client,
    service_from_settings,
)
from specd.db import Clock, Database

FLUSH_S = 10.0
MINUTE = 60.0


def compose(settings: Settings, *, has_optional: bool = False) -> ComposedService:
    """Return the payment service for production, with its test helpers if `has_optional`."""
    chain = RpcChainGateway(settings.chain_rpc_urls, timeout_s=settings.chain_rpc_timeout_s)
    development = RpcDevelopmentChains(
        settings.chain_rpc_urls, timeout_s=settings.chain_rpc_timeout_s
    )
    adapters = PaymentAdapters(chain=chain, development=development, webhooks=webhooks_of(settings))
    return build_service(settings, clock=Clock(), adapters=adapters, has_optional=has_optional)


def build_service(
    settings: Settings, *, clock: Clock, adapters: PaymentAdapters, has_optional: bool = False
) -> ComposedService:
    """Return the payment service, ready for `specd._engine.serving.app.build_app`."""
    database = Database.for_service("payment", settings)
    rate_limit = RateLimiter.for_service(
        "payment",
        settings,
        limits=dict.fromkeys(("key", "address"), (settings.rate_limit_per_minute, MINUTE)),
        counted=_counted,
        find_secret=partial(_load_secret, settings),
    )
    adapters.polls.tail.database = database
    return service_from_settings(
        settings,
        "payment",
        base_path="/v1",
        database=database,
        idempotency=IDEMPOTENCY,
        adapters=adapters,
        clock=clock,
        chosen=("payment-test",) if has_optional or settings.has_test_helpers else (),
        chores={"write down key uses": (FLUSH_S, adapters.key_uses.flush)},
        rate_limit=rate_limit,
        strict_queries=True,
        require_role=require_role,
        gauges=partial(find_gauges, settings.data_dir, adapters.chain.is_configured),
    )


def _load_secret(settings: Settings) -> bytes:
    return load_secrets(settings.data_dir, settings.payment_secret, previous="")[0]


def _counted(ctx: Context) -> tuple[tuple[str, object]]:
    """Return the rate limit's subject: the key, or the address if there is no valid key."""
    return (("key", ctx.actor.key_id) if ctx.actor else ("address", network_of_client(ctx.client)),)
