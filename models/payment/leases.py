"""Leases: one row per job. The holder renews it; any process can take over an expired one.

A lease only avoids duplicate work. Two simultaneous holders (a paused process, a wrong clock) must
still be correct: the checkpoint's revision and the unique key of payments protect the watcher's
writes.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from models.payment.tables import Lease
from specd.db import upsert


def watcher_of(chain_id: int) -> str:
    """Return the name of the job that watches a chain."""
    return f"chain_watcher:{chain_id}"


def try_acquire(session: Session, *, name: str, holder: str, now: datetime, ttl_s: float) -> bool:
    """Acquire or renew the lease until `now` + `ttl_s`. Return False if another holder has it.

    This is one statement: if two processes both find the lease expired, the second waits for the
    row lock of the first, sees the new expiry, and changes nothing.
    """
    row = upsert(Lease).values(name=name, holder=holder, expires_at=now + timedelta(seconds=ttl_s))
    acquired = session.execute(
        row.on_conflict_do_update(
            index_elements=[Lease.name],
            set_={"holder": row.excluded.holder, "expires_at": row.excluded.expires_at},
            where=(Lease.holder == holder) | (Lease.expires_at <= now),
        ).returning(Lease.name)
    )
    return acquired.first() is not None


def release_lease(session: Session, *, name: str, holder: str) -> None:
    """Release the lease, unless another holder has acquired it meanwhile."""
    session.execute(delete(Lease).where(Lease.name == name, Lease.holder == holder))
