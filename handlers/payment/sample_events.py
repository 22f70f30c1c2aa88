"""Operations of the tag sample_events."""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import ExitStack

from handlers.payment import render, types
from handlers.payment.wire.context import Context
from models.payment.errors import WebhookEndpointNotEnabled
from models.payment.test_helpers import runs
from models.payment.test_helpers.samples import make_sample
from models.payment.webhooks import endpoints, signing_secrets
from models.payment.webhooks.endpoints import ENABLED, Endpoint
from models.webhooks import signing
from specd.db import Db


async def send_sample_event(ctx: Context, *, body: types.SampleRequest) -> types.SampleResult:
    """Post a sample of an event to webhook endpoints."""
    type_, project_id = body["type"], ctx.actor.project_id
    chosen = await ctx.read(
        lambda db: _choose(db, project_id, type_, body.get("webhook_endpoint_id"))
    )
    ids = [endpoint.id for endpoint in chosen]
    sealed = await ctx.read(lambda db: signing_secrets.find_sealed(db, ids, now=ctx.now))
    sample_id = f"sample_{secrets.token_hex(12)}"
    with ExitStack() as stack:  # all of them, or none
        for endpoint_id in ids:
            stack.enter_context(ctx.adapters.webhooks.testing(endpoint_id))
        results = await asyncio.gather(
            *(_post(ctx, each, sealed[each.id], sample_id, type_) for each in chosen)
        )
    return {"id": sample_id, "type": type_, "results": results}


def _choose(db: Db, project_id: str, type_: str, endpoint_id: str | None) -> Sequence[Endpoint]:
    """Return the given endpoint, or all endpoints that receive events of this type."""
    if endpoint_id is None:
        return runs.find_receivers(db, project_id, type_)
    endpoint = endpoints.access_endpoint(db, project_id=project_id, endpoint_id=endpoint_id)
    if endpoint.status != ENABLED:
        raise WebhookEndpointNotEnabled()
    return [endpoint]


async def _post(
    ctx: Context, endpoint: Endpoint, sealed: Sequence[str], sample_id: str, type_: str
) -> types.WebhookTestResult:
    webhooks = ctx.adapters.webhooks
    opened = signing_secrets.open_sealed(webhooks.vault, endpoint.id, sealed)
    data = make_sample(type_, endpoint, now=ctx.now)
    message = signing.write_message(sample_id, type_, ctx.now, data)
    headers = signing.sign(sample_id, message, opened, now=ctx.now)
    received = await webhooks.sender.post(endpoint.url, headers, message)
    return render.test_result(endpoint.id, received)
