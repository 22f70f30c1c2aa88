"""Idempotency keys of the chat service, each of a user."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.errors import ERRORS
from models.chat.common.idempotency import KEYS
from models.chat.scheduling.errors import DeliveryTimeNotInFuture
from specd import IdempotentAnswers, Response

# A refusal that depends on channels, users or permissions leaves the key unused, because the same
# request may be allowed later.
ANSWERS = IdempotentAnswers(
    keys=KEYS,
    is_definitive=lambda error: isinstance(error, DeliveryTimeNotInFuture),
    respond=ERRORS.respond,
    help_of=ERRORS.link_of,
    standing=envelope.HEADERS,
)


def idempotent_response(
    ctx: Context,
    *,
    key: str | None,
    parameters: Mapping[str, Any],
    work: Callable[[], Response],
    session: Session | None = None,
) -> Response:
    """Return the answer of `work`, or the one that this key already has.

    `session`: of the unit that an async handler has opened for `work`.
    """
    if key is None:
        return work()
    return ANSWERS.answer(
        ctx,
        session or ctx.session,
        owner=ctx.actor.id,
        key=key,
        sent=dict(parameters),
        work=work,
    )
