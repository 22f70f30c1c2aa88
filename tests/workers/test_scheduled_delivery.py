"""Scheduled messages are sent on time, once, in order and after another check, or fail with a
reason.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
import structlog
from sqlalchemy import delete, select, text, update
from sqlalchemy.orm import Session

from models.chat.identity.actors import find_actor
from models.chat.rendering.texts import prepare_text
from models.chat.scheduling import delivery
from models.chat.scheduling.errors import ScheduledMessageAlreadySent, ScheduledMessageDoesNotExist
from models.chat.scheduling.scheduled_messages import (
    Changes,
    delete_scheduled_message,
    edit_scheduled_message,
    find_scheduled_messages,
    schedule_message,
)
from models.chat.tables import (
    Channel,
    Event,
    Message,
    Realm,
    ScheduledMessage,
    Topic,
    User,
    UserMessage,
)
from specd.db import Database
from tests.support.chat.channels import make_channel, unsubscribe
from tests.support.chat.people import Cast, Member
from tests.support.frozen_clock import FrozenClock
from workers.scheduled_delivery import ScheduledDelivery

WINDOW = timedelta(seconds=600)

BOOM = {
    "sqlite": (
        "CREATE TRIGGER boom BEFORE INSERT ON user_message BEGIN SELECT RAISE(ABORT, 'boom'); END",
        "DROP TRIGGER boom",
    ),
    "postgresql": (
        "CREATE FUNCTION boom() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'boom'; END $$; CREATE TRIGGER boom BEFORE INSERT ON user_message"
        " FOR EACH ROW EXECUTE FUNCTION boom()",
        "DROP TRIGGER boom ON user_message; DROP FUNCTION boom",
    ),
}
"""A fault in the middle of a delivery, after the message was inserted."""


class Post:
    """Hamlet's scheduled messages to Denmark, and their results."""

    def __init__(self, database: Database, clock: FrozenClock, cast: Cast) -> None:
        self.database, self.clock, self.cast = database, clock, cast
        self.channel_id = database.run(
            lambda s: make_channel(s, cast, "Denmark", subscribers=(cast.hamlet, cast.othello))
        )

    def schedule(self, seconds: float = 60, *, by: Member | None = None, **over: Any) -> int:
        """Schedule a message in `seconds` and return its id."""

        def work(session: Session) -> int:
            sender = find_actor(session, (by or self.cast.hamlet).id)
            assert sender is not None
            now = self.clock.now()
            fields: dict[str, Any] = {
                "kind": "channel",
                "to": self.channel_id,
                "content": "To be",
                "topic": "castle",
                "delivery_timestamp": int(now.timestamp() + seconds),
                "client": "tests",
                "read_by_sender": None,
                **over,
            }
            text = prepare_text(session, sender, fields.pop("content"))
            return schedule_message(session, sender, text=text, now=now, **fields)

        made = self.database.run(work)
        self.database.run(lambda s: s.execute(delete(Event)))
        return made

    def worker(self) -> ScheduledDelivery:
        return ScheduledDelivery(self.database, self.clock, late_window=WINDOW)

    def work(self) -> int:
        """Run steps until nothing is due, and return their number."""
        worker, steps = self.worker(), 0
        while worker.try_deliver_one():
            steps += 1
            assert steps < 100
        return steps

    def row(self, message_id: int) -> Any:
        with self.database.reading() as reader:
            wanted = select(ScheduledMessage).where(ScheduledMessage.id == message_id)
            return reader.execute(wanted).one()

    def sent(self, by: int | None = None) -> list[Any]:
        """Return the messages, oldest first, except those of the notification bot."""
        with self.database.reading() as reader:
            bot = self.cast.notification_bot_id
            wanted = select(Message).where(
                Message.sender_id == by if by else Message.sender_id != bot
            )
            return list(reader.execute(wanted.order_by(Message.id)))

    def notices(self) -> list[str]:
        return [row.content for row in self.sent(self.cast.notification_bot_id)]

    def events(self, kind: str = "scheduled_messages") -> list[tuple[dict[str, Any], list[int]]]:
        with self.database.reading() as reader:
            wanted = select(Event.payload, Event.user_ids).where(Event.type == kind)
            rows = reader.execute(wanted.order_by(Event.id)).all()
            return [(orjson.loads(body), orjson.loads(users)) for body, users in rows]

    def set(self, table: Any, row_id: int, **columns: Any) -> None:
        self.database.run(
            lambda s: s.execute(update(table).where(table.id == row_id).values(**columns))
        )

    @contextmanager
    def fault(self) -> Iterator[None]:
        """Make every delivery fail after its message was inserted."""
        begin, end = BOOM[self.database.dialect]
        self.database.run(lambda s: s.execute(text(begin)))
        yield
        self.database.run(lambda s: s.execute(text(end)))


@pytest.fixture(autouse=True)
def log() -> Iterator[list[Any]]:
    """Record the worker's log, because printing tracebacks with every variable takes seconds
    each.
    """
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
def post(chat_database: Database, clock: FrozenClock, cast: Cast) -> Post:
    return Post(chat_database, clock, cast)


class TestDelivery:
    def test_nothing_before_its_time_and_everything_at_it(
        self, post: Post, clock: FrozenClock, cast: Cast
    ) -> None:
        waiting = post.schedule(60, read_by_sender=True)
        clock.advance(seconds=59.999)
        assert post.work() == 0
        assert post.sent() == []
        clock.advance(seconds=0.001)
        assert post.work() == 1
        (message,) = post.sent()
        assert message.content == "To be"
        assert message.rendered_content == "<p>To be</p>"
        assert (message.channel_id, message.topic) == (post.channel_id, "castle")
        assert (message.sender_id, message.sent_at) == (cast.hamlet.id, clock.now())
        assert (message.client, message.scheduled_message_id) == ("tests", waiting)
        row = post.row(waiting)
        assert (row.state, row.message_id, row.failure) == ("sent", message.id, None)

    def test_copies_topic_and_events_come_with_it(
        self, post: Post, clock: FrozenClock, cast: Cast
    ) -> None:
        waiting = post.schedule(60, read_by_sender=True)
        clock.advance(seconds=60)
        post.work()
        with post.database.reading() as reader:
            copies = reader.execute(
                select(UserMessage.user_id, UserMessage.flags).order_by(UserMessage.user_id)
            ).all()
            topics = reader.execute(select(Topic.name, Topic.max_id)).all()
        assert copies == [(cast.hamlet.id, 1), (cast.othello.id, 0)]
        assert topics == [("castle", post.sent()[0].id)]
        removed = {"op": "remove", "scheduled_message_id": waiting}
        assert post.events() == [(removed, [cast.hamlet.id])]
        told = [user for _, users in post.events("message") for user in users]
        assert sorted(told) == [cast.hamlet.id, cast.othello.id]

    def test_to_users(self, post: Post, clock: FrozenClock, cast: Cast) -> None:
        post.schedule(60, kind="direct", to=[cast.othello.id, cast.iago.id], topic=None)
        clock.advance(seconds=60)
        assert post.work() == 1
        with post.database.reading() as reader:
            readers = set(reader.scalars(select(UserMessage.user_id)))
        assert readers == {cast.hamlet.id, cast.othello.id, cast.iago.id}

    def test_in_the_order_of_their_times(self, post: Post, clock: FrozenClock) -> None:
        for seconds, content in ((30, "third"), (10, "first"), (20, "second"), (30, "fourth")):
            post.schedule(seconds, content=content)
        clock.advance(seconds=40)
        assert post.work() == 4
        sent = [message.content for message in post.sent()]
        assert sent == ["first", "second", "third", "fourth"]

    def test_it_is_rendered_anew(self, post: Post, clock: FrozenClock, cast: Cast) -> None:
        post.schedule(60, content="@**Othello**")
        post.set(User, cast.othello.id, full_name="The Moor")
        clock.advance(seconds=60)
        post.work()
        assert "user-mention" not in post.sent()[0].rendered_content

    def test_at_the_end_of_the_late_window_and_after_it(
        self, post: Post, clock: FrozenClock, cast: Cast
    ) -> None:
        post.schedule(60, content="just in time")
        clock.advance(seconds=60 + WINDOW.total_seconds())
        post.work()
        assert [message.content for message in post.sent()] == ["just in time"]
        late = post.schedule(60, content="too late")
        clock.advance(seconds=60 + WINDOW.total_seconds() + 0.001)
        assert post.work() == 1
        assert len(post.sent()) == 1
        row = post.row(late)
        assert row.state == "failed"
        assert row.failure == "Message could not be sent at the scheduled time."

    @pytest.mark.both_databases
    def test_workers_side_by_side_skip_what_others_hold(
        self, post: Post, clock: FrozenClock
    ) -> None:
        if post.database.dialect == "sqlite":
            pytest.skip("SQLite has one writer: workers take turns")
        first, second = post.schedule(10), post.schedule(20)
        clock.advance(seconds=60)

        def hold(session: Session) -> None:
            held = delivery.find_due(session, now=clock.now())[0]
            assert held.id == first
            assert delivery.take_chosen(session, held)
            other = post.worker()
            steps = 0
            while other.try_deliver_one():
                steps += 1
                assert steps < 2 * delivery.AT_ONCE, "nobody waits without a pause"
            assert [message.scheduled_message_id for message in post.sent()] == [second]

        post.database.run(hold)
        assert post.work() == 1

    @pytest.mark.both_databases
    def test_workers_side_by_side_part(self, post: Post, clock: FrozenClock) -> None:
        """Workers do not repeatedly choose the same messages."""
        number = 5 * delivery.AT_ONCE
        ids = [post.schedule(10) for _ in range(number)]
        clock.advance(seconds=60)
        workers, steps = [post.worker(), post.worker()], 0
        while any([worker.try_deliver_one() for worker in workers]):
            steps += len(workers)
        assert sorted(message.scheduled_message_id or 0 for message in post.sent()) == ids
        assert number <= steps <= 1.2 * number


class TestRefusals:
    def check(self, post: Post, waiting: int, reason: str) -> None:
        """Check a failure with its reason: the sender has a notice and an event, and nothing was
        sent.
        """
        assert post.work() == 1
        assert post.work() == 0, "a failed message is not tried again"
        assert post.sent() == []
        row = post.row(waiting)
        assert (row.state, row.failure, row.message_id) == ("failed", reason, None)
        at = row.scheduled_at.isoformat()
        assert post.notices() == [
            f"The message you scheduled for <time:{at}> was not sent because of the following"
            f" error:\n\n> {reason}\n\n[View scheduled messages](#scheduled)"
        ]
        ((payload, users),) = post.events()
        assert users == [row.sender_id]
        assert payload["op"] == "update"
        with post.database.reading() as reader:
            sender = find_actor(reader, row.sender_id)
            assert sender is not None
            assert [payload["scheduled_message"]] == find_scheduled_messages(reader, sender)
        assert payload["scheduled_message"]["failed"] is True
        assert payload["scheduled_message"]["failure_message"] == reason

    def test_the_channel_was_archived(self, post: Post, clock: FrozenClock) -> None:
        waiting = post.schedule()
        post.set(Channel, post.channel_id, is_archived=True)
        clock.advance(seconds=60)
        self.check(post, waiting, "Not authorized to send to channel 'Denmark'")

    def test_the_sender_left_a_private_channel(
        self, post: Post, clock: FrozenClock, cast: Cast
    ) -> None:
        waiting = post.schedule()
        post.set(Channel, post.channel_id, invite_only=True)
        post.database.run(lambda s: unsubscribe(s, post.channel_id, cast.hamlet))
        clock.advance(seconds=60)
        # A user who lost access to the channel does not see its current name.
        self.check(post, waiting, f"Channel with ID '{post.channel_id}' does not exist")

    def test_the_recipient_left(self, post: Post, clock: FrozenClock, cast: Cast) -> None:
        waiting = post.schedule(kind="direct", to=[cast.othello.id])
        post.set(User, cast.othello.id, is_active=False)
        clock.advance(seconds=60)
        self.check(post, waiting, "'othello@acme.example' is no longer using Zulip.")

    def test_the_channel_now_wants_topics(self, post: Post, clock: FrozenClock) -> None:
        waiting = post.schedule(topic="")
        post.set(Channel, post.channel_id, topics_policy="disable_empty_topic")
        clock.advance(seconds=60)
        reason = "Sending messages to general chat is not allowed in this channel."
        self.check(post, waiting, reason)

    def test_it_is_too_late(self, post: Post, clock: FrozenClock) -> None:
        waiting = post.schedule()
        clock.advance(seconds=3600)
        self.check(post, waiting, "Message could not be sent at the scheduled time.")

    def test_a_new_time_queues_it_again(self, post: Post, clock: FrozenClock, cast: Cast) -> None:
        waiting = post.schedule()
        clock.advance(seconds=3600)
        post.work()
        again = int(clock.now().timestamp()) + 5

        def edit(session: Session) -> None:
            hamlet = find_actor(session, cast.hamlet.id)
            assert hamlet is not None
            changes = Changes(delivery_timestamp=again)
            edit_scheduled_message(session, hamlet, waiting, changes, client="", now=clock.now())

        post.database.run(edit)
        assert post.work() == 0
        clock.advance(seconds=5)
        assert post.work() == 1
        assert [message.scheduled_message_id for message in post.sent()] == [waiting]

    @pytest.mark.parametrize("gone", ["sender", "realm"])
    def test_nobody_is_told_when_sender_or_organization_are_gone(
        self, post: Post, clock: FrozenClock, cast: Cast, gone: str
    ) -> None:
        waiting = post.schedule()
        if gone == "sender":
            post.set(User, cast.hamlet.id, is_active=False)
        else:
            post.set(Realm, cast.realm_id, is_deactivated=True)
        clock.advance(seconds=60)
        assert post.work() == 1
        assert post.row(waiting).state == "failed"
        assert post.sent() == []
        assert post.notices() == []
        assert post.events() == []


class TestFaults:
    def test_a_fault_leaves_nothing_and_is_tried_again_after_a_growing_pause(
        self, post: Post, clock: FrozenClock
    ) -> None:
        waiting = post.schedule()
        clock.advance(seconds=60)
        with post.fault():
            for attempt, pause in enumerate((1, 2, 4, 8), start=1):
                assert post.work() == 1
                row = post.row(waiting)
                assert (row.state, row.attempts) == ("pending", attempt)
                assert row.next_try_at == clock.now() + timedelta(seconds=pause)
                assert post.sent() == []
                assert post.events() == []
                assert post.events("message") == []
                assert post.work() == 0, "not before the pause is over"
                clock.advance(seconds=pause)
        assert post.work() == 1
        assert [message.scheduled_message_id for message in post.sent()] == [waiting]

    def test_a_fault_does_not_keep_others_waiting(self, post: Post, clock: FrozenClock) -> None:
        first, second = post.schedule(10), post.schedule(20)
        clock.advance(seconds=60)
        with post.fault():
            assert post.work() == 2
        assert [post.row(each).attempts for each in (first, second)] == [1, 1]

    def test_faults_until_the_late_window_ends_are_a_failure(
        self, post: Post, clock: FrozenClock, cast: Cast
    ) -> None:
        waiting = post.schedule()
        clock.advance(seconds=60)
        last = post.row(waiting).scheduled_at + WINDOW
        with post.fault():
            for _ in range(40):
                if post.row(waiting).state == "failed":
                    break
                post.work()
                assert post.row(waiting).next_try_at <= last
                clock.advance(seconds=max(0.0, self.pause(post, waiting, clock.now())))
        row = post.row(waiting)
        assert (row.state, row.failure) == ("failed", "Internal server error")
        assert row.attempts > 5
        assert clock.now() <= last
        assert post.sent() == []
        ((payload, users),) = post.events()
        assert payload["scheduled_message"]["failed"] is True
        assert users == [cast.hamlet.id]

    @staticmethod
    def pause(post: Post, message_id: int, now: datetime) -> float:
        return float((post.row(message_id).next_try_at - now).total_seconds())

    def test_a_fault_noted_after_somebody_else_took_over_changes_nothing(
        self, post: Post, clock: FrozenClock
    ) -> None:
        waiting = post.schedule()
        clock.advance(seconds=60)
        stale = post.row(waiting)
        assert post.work() == 1
        post.database.run(
            lambda s: delivery.record_failure(s, stale, now=clock.now(), late_window=WINDOW)
        )
        assert post.row(waiting).state == "sent"


class TestRaces:
    def test_an_edit_and_a_deletion_after_delivery_are_refused(
        self, post: Post, clock: FrozenClock, cast: Cast
    ) -> None:
        waiting = post.schedule()
        clock.advance(seconds=60)
        post.work()

        def hamlet(session: Session) -> Any:
            return find_actor(session, cast.hamlet.id)

        with pytest.raises(ScheduledMessageAlreadySent):
            post.database.run(
                lambda s: edit_scheduled_message(
                    s, hamlet(s), waiting, Changes(content="x"), client="", now=clock.now()
                )
            )
        with pytest.raises(ScheduledMessageAlreadySent):
            post.database.run(
                lambda s: delete_scheduled_message(s, hamlet(s), waiting, now=clock.now())
            )

    def test_what_was_deleted_is_not_sent(self, post: Post, clock: FrozenClock, cast: Cast) -> None:
        waiting = post.schedule()
        clock.advance(seconds=60)

        def remove(session: Session) -> None:
            hamlet = find_actor(session, cast.hamlet.id)
            assert hamlet is not None
            delete_scheduled_message(session, hamlet, waiting, now=clock.now())

        post.database.run(remove)
        assert post.work() == 0
        assert post.sent() == []
        with pytest.raises(ScheduledMessageDoesNotExist):
            post.database.run(remove)
