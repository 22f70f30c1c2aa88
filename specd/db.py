"""Databases: units of work, types of columns, statements, queues of work, retention."""

from specd._db.base import NAMING, partial_index, table_of, upsert
from specd._db.clock import Clock, SystemClock
from specd._db.database import (
    Database,
    after_commit,
    before_commit,
    notify_logs,
    savepoint,
)
from specd._db.idempotency import IdempotencyKeys
from specd._db.notifier import Logs
from specd._db.prepared import NOTHING, Change, Query, Values, raw
from specd._db.reader import Db
from specd._db.retention import Policy, Rule, first_in_first_out, older_than
from specd._db.revisions import find_revision, is_usable
from specd._db.sealing import SealedTexts
from specd._db.secret_checks import SharedSecret, is_shared
from specd._db.sqlite import write_much
from specd._db.types import RowNumber, UtcMs, from_ms, to_ms
from specd._db.work_queue import (
    MAX_COUNTED,
    Backlog,
    Claim,
    WorkQueue,
    count_up_to,
    next_try,
)
from specd._db.worker_heartbeats import find_heartbeats

__all__ = [
    "MAX_COUNTED",
    "NAMING",
    "NOTHING",
    "Backlog",
    "Change",
    "Claim",
    "Clock",
    "Database",
    "Db",
    "IdempotencyKeys",
    "Logs",
    "Policy",
    "Query",
    "RowNumber",
    "Rule",
    "SealedTexts",
    "SharedSecret",
    "SystemClock",
    "UtcMs",
    "Values",
    "WorkQueue",
    "after_commit",
    "before_commit",
    "count_up_to",
    "find_heartbeats",
    "find_revision",
    "first_in_first_out",
    "from_ms",
    "is_shared",
    "is_usable",
    "next_try",
    "notify_logs",
    "older_than",
    "partial_index",
    "raw",
    "savepoint",
    "table_of",
    "to_ms",
    "upsert",
    "write_much",
]
