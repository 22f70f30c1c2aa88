"""The worker that lets time pass: invoices expire for good, and old rows are forgotten.

Needs no leader: several share the work by skipping locked rows. A read computes expiry from the
clock, so nothing a client sees waits for this worker.
"""

from collections.abc import Callable
from datetime import timedelta

import structlog
from sqlalchemy.orm import Session

from models.clock import Clock
from models.database import Database
from models.payment import checkpoints, retention

BATCH = 100
TIDY_EVERY = timedelta(minutes=1)

SESSION_KEPT = timedelta(days=1)
"""How long an expired checkout session is still told from an unknown one."""


class InvoiceExpiry:
    """Steps over one payment database, one small transaction each."""

    def __init__(
        self, database: Database, clock: Clock, *, key_retention: timedelta, batch: int = BATCH
    ) -> None:
        self._database = database
        self._clock = clock
        self._key_retention = key_retention
        self._batch = batch
        self._tidy_at = clock.now()
        self._log = structlog.get_logger("invoice_expiry")

    def try_work_one(self) -> bool:
        """One batch of whatever is due: expiry first, tidying once a minute."""
        return self.try_expire_one() or self._try_tidy_one()

    def try_expire_one(self) -> bool:
        """Settle one batch of invoices whose time is over; False when there is none."""
        now = self._clock.now()
        return self._database.run(
            lambda session: retention.try_expire_some(session, now=now, limit=self._batch)
        )

    def try_forget_one(self) -> bool:
        """Delete one batch of one kind of rows that nobody may ask for any more."""
        now = self._clock.now()
        kinds: list[Callable[[Session], bool]] = [
            lambda session: retention.try_forget_keys(
                session, used_before=now - self._key_retention, limit=self._batch
            ),
            lambda session: retention.try_forget_sessions(
                session, expired_before=now - SESSION_KEPT, limit=self._batch
            ),
            lambda session: checkpoints.try_forget_one(session, limit=self._batch),
        ]
        return any(self._database.run(kind) for kind in kinds)

    def _try_tidy_one(self) -> bool:
        if self._clock.now() < self._tidy_at:
            return False
        if self.try_forget_one():
            return True
        self._tidy_at = self._clock.now() + TIDY_EVERY
        return False
