"""Simulated faults for the next calls of the workers. They are rows, because servers and workers
are different processes. Workers ignore them unless test helpers are enabled.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.payment.test_helpers.tables import SimulatedFault
from specd.db import Database, upsert

SIMULATED = "simulated"
"""The failure of an attempt to post that was simulated."""


class Kind(StrEnum):
    """The effect on a call: it fails, is delayed, or is refused."""

    FAIL = "fail"
    LAG = "lag"
    REFUSE = "refuse"


class Fault(NamedTuple):
    """The effect on one call. `lag` is the delay."""

    kind: Kind
    lag: timedelta


def chain_target(chain_id: int) -> str:
    """Return the target of the watcher's calls to a chain."""
    return f"chain:{chain_id}"


def invoice_target(invoice_id: str) -> str:
    """Return the target of the messages about an invoice."""
    return f"invoice:{invoice_id}"


def put(
    session: Session, target: str, kind: Kind, *, calls: int, lag: timedelta, now: datetime
) -> None:
    """Apply this fault to the next calls, and replace the previous fault of the target."""
    values = {
        "kind": kind.value,
        "calls": calls,
        "lag_ms": lag // timedelta(milliseconds=1),
        "created_at": now,
    }
    row = upsert(SimulatedFault).values(target=target, **values)
    session.execute(row.on_conflict_do_update(index_elements=["target"], set_=values))


def try_take(database: Database, target: str) -> Fault | None:
    """Return the fault of the next call, which is then used up, or None if there is none."""
    left = SimulatedFault.calls > 0
    with database.reading() as reader:
        found = reader.execute(
            select(SimulatedFault.target).where(SimulatedFault.target == target, left)
        ).first()
    if found is None:
        return None

    def take(session: Session) -> Fault | None:
        row = session.execute(
            update(SimulatedFault)
            .where(SimulatedFault.target == target, left)
            .values(calls=SimulatedFault.calls - 1)
            .returning(SimulatedFault.kind, SimulatedFault.lag_ms)
        ).first()
        return None if row is None else Fault(Kind(row.kind), timedelta(milliseconds=row.lag_ms))

    return database.run(take)
