"""One effect per Idempotency-Key: the answer is stored in the transaction of its effect."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from sqlalchemy.orm import Session

from handlers.chat.wire import envelope, errors
from handlers.chat.wire.context import Context
from models.chat.ground.idempotency import KEYS
from models.chat.scheduling.errors import DeliveryTimeNotInFuture
from models.idempotency import StoredAnswer, fingerprint_of
from server.response import Headers, Response

REPLAYED = (("Idempotent-Replayed", "true"),)
DEFINITIVE = (DeliveryTimeNotInFuture,)
"""Refusals that the same request would get whenever it came: a key keeps them. Whatever hangs on
channels, users and permissions may be allowed tomorrow, and leaves the key unused.
"""


def idempotent_response(
    ctx: Context,
    *,
    key: str | None,
    parameters: Mapping[str, Any],
    work: Callable[[], Response],
    session: Session | None = None,
) -> Response:
    """The answer of `work`, or the one this key already has; without a key simply `work`.

    `session`: of the unit that an async handler has opened for `work`.

    `work` must raise a definitive refusal before it writes anything. Every other exception goes on,
    and the rollback frees the key.
    """
    if key is None:
        return work()
    session = session or ctx.session
    assert session is not None
    stored = KEYS.claim(
        session,
        owner=ctx.actor.id,
        key=key,
        operation=ctx.operation_id,
        fingerprint=fingerprint(ctx, parameters),
        now=ctx.now,
    )
    if stored is not None:
        return Response(stored.status, stored.body, _headers(stored))
    try:
        response = work()
    except DEFINITIVE as refusal:
        response = errors.respond(refusal, ctx.request_id)
    answer = StoredAnswer(status=response.status, body=response.body)
    KEYS.keep(session, owner=ctx.actor.id, key=key, answer=answer)
    return response


def _headers(stored: StoredAnswer) -> Headers:
    headers = (*envelope.HEADERS, *REPLAYED)
    if stored.status < 400:
        return headers
    return (*headers, errors.link_of(orjson.loads(stored.body)["code"]))


def fingerprint(ctx: Context, parameters: Mapping[str, Any]) -> str:
    """SHA-256 over method, path template, path parameters and the parsed parameters, sorted."""
    path = {name: str(value) for name, value in ctx.path_parameters.items()}
    return fingerprint_of(ctx.method, ctx.path_template, path, dict(parameters))
