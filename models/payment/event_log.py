"""The log of a project's events. They are appended in the transaction of the change.

Rows are written at the end of the unit of work, so that the ids of a project's events ascend in
commit order (models/commit_order.py). All processes are notified after the commit.
"""

from datetime import datetime
from functools import lru_cache
from typing import TypedDict
from uuid import UUID

import orjson
from sqlalchemy import insert
from sqlalchemy.orm import Session

from models.commit_order import lock_logs
from models.payment.events import MerchantEvent
from models.payment.tables import Event
from specd import current_traceparent
from specd.db import Change, Database, table_of

LOCKS = 2
"""The lock family of these logs."""
_INSERT = Change(insert(table_of(Event)))


class _Row(TypedDict):
    project_id: str
    invoice_id: str | None
    type: str
    data: str
    size: int
    at: datetime
    traceparent: str | None


def append(session: Session, project_id: str, event: MerchantEvent, *, now: datetime) -> None:
    """Append an event. Events of one unit of work are stored in the order of the calls."""
    data = orjson.dumps(event.data())
    row = _Row(
        project_id=project_id,
        invoice_id=event.invoice_id,
        type=event.type,
        data=data.decode(),
        size=len(data),
        at=now,
        traceparent=current_traceparent(),
    )
    Database.before_commit(session, _write, [row])


@lru_cache(maxsize=1024)
def log_of(project_id: str) -> int:
    """Return the number of a project's log, for locks and notifications. If two projects share a
    number, they wait for each other's locks, and polls sometimes read without a new event.
    """
    return UUID(project_id).int % 2**31


def _write(session: Session, rows: list[_Row]) -> None:
    logs = {log_of(row["project_id"]) for row in rows}
    lock_logs(session, LOCKS, logs)
    _INSERT.run_all(session, rows)
    Database.notify_logs(session, logs)
