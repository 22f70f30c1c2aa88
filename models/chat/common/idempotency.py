"""The chat service's idempotency keys, each of a user (specd/_db/idempotency.py)."""

from models.chat.tables import IdempotencyKey
from specd.db import IdempotencyKeys, table_of

KEYS = IdempotencyKeys(table_of(IdempotencyKey), owner="user_id")
