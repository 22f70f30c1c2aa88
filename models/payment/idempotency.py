"""The payment service's idempotency keys, each of a project (models/idempotency.py)."""

from models.base import table_of
from models.idempotency import IdempotencyKeys
from models.payment.errors import IdempotencyInProgress, IdempotencyKeyReused
from models.payment.tables import IdempotencyKey

KEYS = IdempotencyKeys(
    table_of(IdempotencyKey),
    owner="project_id",
    reused=IdempotencyKeyReused,
    in_progress=IdempotencyInProgress,
)
