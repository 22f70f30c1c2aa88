"""The worker that sends scheduled messages at their time. Needs no leader: several share the work
by skipping locked rows on PostgreSQL, and take turns on SQLite.
"""

from collections import deque
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from models.chat.scheduling import delivery
from models.chat.scheduling.records import ScheduledRow
from specd.db import Clock, Database

MISSES = 2
"""So many messages in a row that another worker has taken make a worker go on behind them."""


class ScheduledDelivery:
    """Steps over one chat database, one message and one transaction each.

    Messages are found some at a time. Workers that find the same ones part: whoever comes second to
    them continues with the next ones.

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
        """Send or fail the next message that is due; return whether there may be
        another.

        Its text is rendered while nothing is locked, and then it is claimed. A step that finds the
        message taken by another worker or changed counts as well.

        An error in between is rolled back and recorded with that message in a unit of its own, so
        that others do not wait for it; an error before that is raised.
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
        """Return the messages to deliver next."""
        skipped = delivery.AT_ONCE if self._misses >= MISSES else 0
        with self._database.reading() as reader:
            found = delivery.find_due(reader, now=now, skipped=skipped)
            if skipped and found:
                self._misses = 0
            elif skipped:  # none is behind them, so they are tried to the last
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
