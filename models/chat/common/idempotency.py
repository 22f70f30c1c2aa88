"""The chat service's idempotency keys, each of a user (models/idempotency.py)."""

from models.base import table_of
from models.chat.common.errors import IdempotencyInProgress, IdempotencyKeyReused
from models.chat.tables import IdempotencyKey
from models.idempotency import IdempotencyKeys

KEYS = IdempotencyKeys(
    table_of(IdempotencyKey),
    owner="user_id",
    reused=IdempotencyKeyReused,
    in_progress=IdempotencyInProgress,
)
