"""Idempotency keys of the chat service, each of a user."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.tables import IdempotencyKey
from specd import Idempotency
from specd.db import table_of


def _owner_of(ctx: Context) -> int:
    return ctx.actor.id


IDEMPOTENCY = Idempotency(
    table=table_of(IdempotencyKey),
    owner_column="user_id",
    owner=_owner_of,
    headers=envelope.HEADERS,
)
