"""Due work is found by its index, and an ended claim changes nothing."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from models.chat.common import outbox
from models.chat.exports import runs
from models.chat.outgoing_webhooks import queue
from models.chat.scheduling import delivery
from specd.db import Database, WorkQueue
from tests.support.chat.people import VAULT, Cast
from tests.support.frozen_clock import FrozenClock
from tests.support.plans import watching

QUEUES = {
    "outbox": outbox.QUEUE,
    "scheduled_message": delivery.QUEUE,
    "data_export": runs.QUEUE,
    "outgoing_delivery": queue.QUEUE,
}
LEASE = timedelta(minutes=1)


@pytest.mark.parametrize("name", QUEUES)
def test_due_work_is_found_by_its_index(
    name: str, chat_database: Database, clock: FrozenClock
) -> None:
    work_queue: WorkQueue = QUEUES[name]

    def look(session: Session) -> None:
        if chat_database.dialect == "postgresql":
            session.execute(text("SET LOCAL enable_seqscan = off"))  # the table is empty
        session.execute(work_queue._any, {"at": clock.now()})
        session.execute(work_queue.first, {"at": clock.now()})

    with watching(chat_database) as ways:
        chat_database.run(look)
    found = [way for statement, way in ways.items() if name in statement]
    assert len(found) == 2
    # SQLite uses the other index for mail, because few are pending.
    assert set().union(*found) <= {f"{name}(next_try_at, id)", "outbox(state, closed_at)"}


class TestClaims:
    @pytest.fixture(autouse=True)
    def _mail(self, chat_database: Database, cast: Cast, clock: FrozenClock) -> None:
        chat_database.run(
            lambda session: outbox.enqueue_mails(
                session,
                [outbox.NewMail(to="x@acme.example", subject="Hi", text="Hi")],
                realm_id=cast.realm_id,
                now=clock.now(),
            )
        )

    @staticmethod
    def take(database: Database, clock: FrozenClock) -> outbox.LeasedMail | None:
        _, taken = database.run(
            lambda session: outbox.take_due(session, VAULT, lease=LEASE, now=clock.now())
        )
        return taken

    def test_ended_claim_changes_nothing(self, chat_database: Database, clock: FrozenClock) -> None:
        first = self.take(chat_database, clock)
        assert first is not None
        assert self.take(chat_database, clock) is None, "it has another claim"
        clock.advance(seconds=61)
        second = self.take(chat_database, clock)
        assert second is not None

        def change(session: Session, claim: outbox.LeasedMail) -> tuple[bool, bool]:
            held = outbox.QUEUE.is_valid(session, claim)
            return held, outbox.QUEUE.change(session, claim, failure=f"attempt {claim.attempts}")

        assert chat_database.run(lambda session: change(session, first)) == (False, False)
        assert chat_database.run(lambda session: change(session, second)) == (True, True)
        with chat_database.reading() as reader:
            assert reader.execute(select(outbox.OUTBOX.c.failure)).scalar_one() == "attempt 2"

    def test_released_claim_is_not_counted(
        self, chat_database: Database, clock: FrozenClock
    ) -> None:
        for _ in range(2):
            taken = self.take(chat_database, clock)
            assert taken is not None
            assert taken.attempts == 1
            back = partial(outbox.QUEUE.release, ids=[taken.id], now=clock.now())
            chat_database.run(back)
