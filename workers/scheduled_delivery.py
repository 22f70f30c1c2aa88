"""The worker that sends scheduled messages at their time. It needs no leader: several share the
work by skipping locked rows on PostgreSQL, and take turns on SQLite.
"""

from collections import deque
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from models.chat.scheduling import delivery
from models.chat.scheduling.records import ScheduledRow
from specd.db import Clock, Database

MISSES = 2
"""The number of messages in a row taken by another worker after which a worker skips ahead."""


class ScheduledDelivery:
    """Sends the scheduled messages of one chat database, one message and transaction per step.

    Messages are found in batches. If two workers find the same batch, the slower one skips to the
    next batch.

    `late_window`: how long after its time a message is still sent.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        late_window: timedelta,
    ) -> None:
        self._database = database
        self._clock = clock
        self._late_window = late_window
        self._found: deque[ScheduledRow] = deque()
        self._misses = 0
        self._log = structlog.get_logger("scheduled_delivery")

    def try_deliver_one(self) -> bool:
        """Send or fail the next due message. Return whether there may be another.

        The text is rendered before the message is locked. If another worker took the message or it
        was changed meanwhile, it is skipped.

        An error is rolled back and recorded for the message in a separate transaction, so that
        other messages do not wait for it. Errors while finding messages are raised.
        """
        now = self._clock.now()
        if not self._found:
            self._found.extend(self._find(now))
        if not self._found:
            return False
        due = self._found.popleft()
        try:
            with self._database.reading() as reader:
                text = delivery.prepare(reader, due)

            def work(session: Session) -> bool:
                is_ours = delivery.take_chosen(session, due)
                if is_ours:
                    delivery.deliver(session, due, text, now=now, late_window=self._late_window)
                return is_ours

            is_ours = self._database.run(work)
        except Exception:
            self._found.clear()
            self._record_failure(due)
            return True
        self._misses = 0 if is_ours else self._misses + 1
        if self._misses == MISSES:
            self._found.clear()
        return self._misses <= delivery.AT_ONCE

    def _find(self, now: datetime) -> list[ScheduledRow]:
        """Return the next batch of due messages."""
        skipped = delivery.AT_ONCE if self._misses >= MISSES else 0
        with self._database.reading() as reader:
            found = delivery.find_due(reader, now=now, skipped=skipped)
            if skipped and found:
                self._misses = 0
            elif skipped:  # there are no later messages, so the first batch is tried again
                found = delivery.find_due(reader, now=now)
        return found

    def _record_failure(self, due: ScheduledRow) -> None:
        self._log.warning(
            "delivery_fault", scheduled_message_id=due.id, attempt=due.attempts + 1, exc_info=True
        )
        now = self._clock.now()
        self._database.run(
            lambda session: delivery.record_failure(
                session, due, now=now, late_window=self._late_window
            )
        )
