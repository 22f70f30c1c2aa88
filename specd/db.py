"""Databases: units of work, column types, statements, pages, work queues, retention."""

from specd._db.base import NAMING, table_of, upsert
from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.idempotency import IdempotencyKeyColumns
from specd._db.paging import Cursors, InvalidPage, Page, page
from specd._db.prepared import Change, Query
from specd._db.reader import Db
from specd._db.retention import Rule, older_than
from specd._db.sealing import SealedTexts
from specd._db.secret_checks import SharedSecret
from specd._db.types import RowNumber, UtcMs
from specd._db.work_queue import WorkQueue

__all__ = [
    "NAMING",
    "Change",
    "Clock",
    "Cursors",
    "Database",
    "Db",
    "IdempotencyKeyColumns",
    "InvalidPage",
    "Page",
    "Query",
    "RowNumber",
    "Rule",
    "SealedTexts",
    "SharedSecret",
    "UtcMs",
    "WorkQueue",
    "older_than",
    "page",
    "table_of",
    "upsert",
]
