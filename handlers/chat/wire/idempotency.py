"""Idempotency keys of the chat service, each of a user."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.idempotency import KEYS
from specd import Idempotency


def _owner_of(ctx: Context) -> int:
    return ctx.actor.id


IDEMPOTENCY = Idempotency(keys=KEYS, owner=_owner_of, headers=envelope.HEADERS)
