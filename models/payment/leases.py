"""Who leads a job: one row per job that its holder renews, and anyone takes over once it lapsed.

A lease saves work, it does not guard anything: two holders (a paused process, a wrong clock) must
still be correct. What guards the watcher's books is the checkpoint's revision and the payment key.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from models.dialects import upsert
from models.payment.tables import Lease


def try_hold(session: Session, *, name: str, holder: str, now: datetime, ttl_s: float) -> bool:
    """Take or renew the lease until `now` + `ttl_s`; False while somebody else holds it.

    One statement: of two processes that both find it lapsed, the second waits for the first one's
    row lock, sees the new expiry, and changes nothing.
    """
    row = upsert(Lease).values(name=name, holder=holder, expires_at=now + timedelta(seconds=ttl_s))
    held = session.execute(
        row.on_conflict_do_update(
            index_elements=[Lease.name],
            set_={"holder": row.excluded.holder, "expires_at": row.excluded.expires_at},
            where=(Lease.holder == holder) | (Lease.expires_at <= now),
        ).returning(Lease.name)
    )
    return held.first() is not None


def release_lease(session: Session, *, name: str, holder: str) -> None:
    """Let others lead at once. Nothing happens when somebody else holds the lease by now."""
    session.execute(delete(Lease).where(Lease.name == name, Lease.holder == holder))
