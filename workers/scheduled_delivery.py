"""The worker that sends scheduled messages at their time. Needs no leader: several share the work
by skipping locked rows on PostgreSQL, and take turns on SQLite.
"""

from datetime import timedelta

import structlog
from sqlalchemy.orm import Session

from models.chat.scheduling import delivery
from models.chat.scheduling.records import ScheduledRow
from models.clock import Clock
from models.database import Database


class ScheduledDelivery:
    """Steps over one chat database, one message and one transaction each.

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
        self._log = structlog.get_logger("scheduled_delivery")

    def try_deliver_one(self) -> bool:
        """Send or fail the message that is due longest; return whether there was one.

        The message is chosen, its text rendered while nothing is locked, and then it is claimed. A
        step that finds the message claimed by another worker counts as well.

        An error in between is rolled back and recorded with that message in a unit of its own, so
        that others do not wait for it; an error before the choice is raised.
        """
        now = self._clock.now()
        due = delivery.QUEUE.try_run(
            self._database, lambda session: delivery.choose_due(session, now=now), now=now
        )
        if due is None:
            return False
        try:
            with self._database.reading() as reader:
                text = delivery.prepare(reader, due)

            def work(session: Session) -> None:
                if delivery.take_chosen(session, due):
                    delivery.deliver(session, due, text, now=now, late_window=self._late_window)

            self._database.run(work)
        except Exception:
            self._record_failure(due)
        return True

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
