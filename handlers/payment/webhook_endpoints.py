"""Operations of the tag webhook_endpoints."""

import secrets
from datetime import timedelta
from typing import cast

import orjson
from sqlalchemy.orm import Session

from handlers.payment import render, types
from handlers.payment.wire.context import Context
from models.payment.errors import InvalidWebhookUrl
from models.payment.event_list import read_id, written_id
from models.payment.webhooks import deliveries, endpoints, signing_secrets
from models.payment.webhooks.deliveries import AttemptRow
from models.payment.webhooks.events import PING, render_endpoint
from models.payment.webhooks.outcomes import is_success
from models.webhooks import signing
from models.webhooks.addresses import AddressRefused
from specd import Response, encode, idempotent
from specd.db import UtcMs
from specd.errors import InvalidRequest, Violation


def list_webhook_endpoints(ctx: Context) -> types.WebhookEndpointList:
    """List webhook endpoints of the project."""
    listed = endpoints.list_endpoints(ctx.connection, project_id=ctx.actor.project_id)
    return {"data": [render.endpoint(endpoint) for endpoint in listed]}


@idempotent
async def create_webhook_endpoint(ctx: Context, *, body: types.WebhookEndpointCreation) -> Response:
    """Create a webhook endpoint."""
    problem = await _find_problem(ctx, body["url"])

    def create(session: Session) -> Response:
        if problem is not None:
            raise InvalidWebhookUrl(problem=problem)
        endpoint, sealed = endpoints.create_endpoint(
            session,
            ctx.adapters.webhooks.vault,
            project_id=ctx.actor.project_id,
            url=body["url"],
            event_types=body["event_types"],
            description=body.get("description", ""),
            quota=ctx.settings.webhook_endpoints_per_project,
            now=ctx.now,
        )
        return Response(201, encode(render_endpoint(endpoint) | {"secret": sealed}))

    return _opened(ctx, await ctx.write(create))


def get_webhook_endpoint(ctx: Context, *, id_: str) -> types.WebhookEndpoint:
    """Read a webhook endpoint."""
    endpoint = endpoints.access_endpoint(
        ctx.connection, project_id=ctx.actor.project_id, endpoint_id=id_
    )
    return render.endpoint(endpoint)


async def update_webhook_endpoint(
    ctx: Context, *, id_: str, body: types.WebhookEndpointChange
) -> Response:
    """Change a webhook endpoint."""
    project_id = ctx.actor.project_id
    if "url" in body:
        await ctx.read(
            lambda db: endpoints.access_endpoint(db, project_id=project_id, endpoint_id=id_)
        )
        problem = await _find_problem(ctx, body["url"])
        if problem is not None:
            raise InvalidWebhookUrl(problem=problem)
    changed = await ctx.write(
        lambda session: endpoints.change_endpoint(
            session, project_id=ctx.actor.project_id, endpoint_id=id_, changes=body, now=ctx.now
        )
    )
    return Response(200, encode(render_endpoint(changed)))


def delete_webhook_endpoint(ctx: Context, *, id_: str) -> Response:
    """Remove a webhook endpoint."""
    endpoints.remove_endpoint(
        ctx.session, project_id=ctx.actor.project_id, endpoint_id=id_, now=ctx.now
    )
    return Response(204, b"")


def rotate_webhook_secret(
    ctx: Context, *, id_: str, body: types.SecretRotation | None = None
) -> Response:
    """Replace the secret of a webhook endpoint."""
    row = endpoints.access_row(ctx.session, project_id=ctx.actor.project_id, endpoint_id=id_)
    grace = timedelta(seconds=(body or {}).get("grace_s", 86_400))
    sealed = signing_secrets.rotate(
        ctx.session, ctx.adapters.webhooks.vault, row.id, grace=grace, now=ctx.now
    )
    rotated = render_endpoint(endpoints.view_of(row)) | {"secret": sealed}
    return _opened(ctx, Response(200, encode(rotated)))


async def test_webhook_endpoint(ctx: Context, *, id_: str) -> Response:
    """Send a ping to a webhook endpoint."""
    webhooks, project_id = ctx.adapters.webhooks, ctx.actor.project_id
    endpoint = await ctx.read(
        lambda db: endpoints.access_endpoint(db, project_id=project_id, endpoint_id=id_)
    )
    sealed = await ctx.read(lambda db: signing_secrets.find_sealed(db, [endpoint.id], now=ctx.now))
    opened = signing_secrets.open_sealed(webhooks.vault, endpoint.id, sealed[endpoint.id])
    ping_id = f"ping_{secrets.token_hex(12)}"
    body = signing.write_message(ping_id, PING, ctx.now, {"webhook_endpoint_id": endpoint.id})
    headers = signing.sign(ping_id, body, opened, now=ctx.now)
    with webhooks.testing(endpoint.id):
        received = await webhooks.sender.post(endpoint.url, headers, body)
    return Response(200, encode(render.test_result(endpoint.id, received)))


def list_webhook_deliveries(
    ctx: Context, *, id_: str, cursor: str | None = None, limit: int
) -> types.WebhookAttemptList:
    """List attempts to deliver events to a webhook endpoint."""
    rows, has_more = deliveries.list_attempts(
        ctx.connection,
        project_id=ctx.actor.project_id,
        endpoint_id=id_,
        before=None if cursor is None else deliveries.read_id(cursor),
        limit=limit,
    )
    attempts = [_attempt(row) for row in rows]
    return {
        "data": attempts,
        "has_more": has_more,
        "next_cursor": attempts[-1]["id"] if has_more else None,
    }


def redeliver_webhook_event(ctx: Context, *, id_: str, event_id: str) -> types.WebhookDelivery:
    """Send an event again."""
    state = deliveries.redeliver(
        ctx.session,
        project_id=ctx.actor.project_id,
        endpoint_id=id_,
        event_id=read_id(event_id),
        now=ctx.now,
    )
    return {
        "webhook_endpoint_id": id_.lower(),
        "event_id": event_id,
        "state": cast("types.DeliveryState", state),
    }


async def _find_problem(ctx: Context, url: str) -> str | None:
    """Return why nothing may be posted to the address, or None if it is allowed.

    When an endpoint is created, the error is raised inside the idempotent write, so that a repeated
    request gets its first response even if the name resolves differently now.
    """
    try:
        await ctx.adapters.webhooks.sender.check(url)
    except AddressRefused as refusal:
        return str(refusal)
    return None


def _opened(ctx: Context, response: Response) -> Response:
    """Return the response with the secret in plain text. The response that is stored for an
    idempotency key contains the sealed secret, which a replay opens again. Raise
    `InvalidRequest` if the service has lost the secret under which it was sealed.
    """
    body = orjson.loads(response.body)
    if "secret" in body:
        opened = signing_secrets.open_sealed(
            ctx.adapters.webhooks.vault, body["id"], [body["secret"]]
        )
        if not opened:
            lost = "the secret that the first request returned is lost: rotate it"
            raise InvalidRequest([Violation("/header/Idempotency-Key", lost)])
        (body["secret"],) = opened
        response.body = encode(body)
    return response


def _attempt(row: AttemptRow) -> types.WebhookAttempt:
    """Return the document's WebhookAttempt."""
    return {
        "id": deliveries.written_id(row.id),
        "event_id": written_id(row.event_id),
        "event_type": render.event_type(row.event_type),
        "attempt_no": row.number,
        "redelivered": row.redelivered,
        "at": UtcMs.to_ms(row.at),
        "taken": is_success(row.status_code),
        "status_code": row.status_code,
        "failure": row.failure,
        "duration_ms": row.duration_ms,
        "answer": row.answer,
        "next_attempt_at": None if row.next_try_at is None else UtcMs.to_ms(row.next_try_at),
    }
