"""The chat service's idempotency keys, each of a user (specd/_db/idempotency.py)."""

from models.chat.common.errors import IdempotencyInProgress, IdempotencyKeyReused
from models.chat.tables import IdempotencyKey
from specd._db.base import table_of
from specd._db.idempotency import IdempotencyKeys

KEYS = IdempotencyKeys(
    table_of(IdempotencyKey),
    owner="user_id",
    reused=IdempotencyKeyReused,
    in_progress=IdempotencyInProgress,
)
