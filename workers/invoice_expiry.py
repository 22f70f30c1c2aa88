"""The worker that lets invoices expire for good.

Needs no leader: several share the work by skipping locked rows. A read computes expiry from the
clock, so nothing a client sees waits for this worker.
"""

from models.clock import Clock
from models.database import Database
from models.payment import expiry

BATCH = 100


class InvoiceExpiry:
    """Steps over one payment database, one small transaction each."""

    def __init__(self, database: Database, clock: Clock, *, batch: int = BATCH) -> None:
        self._database = database
        self._clock = clock
        self._batch = batch

    def try_expire_one(self) -> bool:
        """Settle one batch of invoices whose time is over; False when there is none."""
        now = self._clock.now()
        return self._database.run(
            lambda session: expiry.try_expire_some(session, now=now, limit=self._batch)
        )
