"""Metrics of the chat service at `/metrics`, except those of requests."""

from datetime import timedelta

import httpx

from models.chat.common import outbox
from models.chat.tables import StaleSearch
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock


def samples_of(chat_app: ChatApp, *beginnings: str) -> dict[str, float]:
    """Return the samples whose lines start with one of the prefixes."""
    (answer,) = chat_app.send(httpx.Request("GET", "http://acme.example/metrics"))
    assert answer.status_code == 200
    samples = (line.rpartition(" ") for line in answer.text.splitlines())
    return {name: float(value) for name, _, value in samples if name.startswith(beginnings)}


def queue(name: str, waiting: int, due: int, oldest: float) -> dict[str, float]:
    """Return the samples of one queue."""
    return {
        f'specd_queue_waiting{{queue="{name}"}}': waiting,
        f'specd_queue_due{{queue="{name}"}}': due,
        f'specd_queue_oldest_seconds{{queue="{name}"}}': oldest,
    }


def test_queues_of_workers_are_counted(
    chat_app: ChatApp, chat: ChatClient, chat_database: Database, cast: Cast, clock: FrozenClock
) -> None:
    now = clock.now()
    empty = samples_of(chat_app, "specd_queue", "specd_mail")
    assert set(empty.values()) == {0.0}
    assert len(empty) == 4 * 3 + 2 + 1
    for later_s in (0, 3600):
        at = int(now.timestamp()) + 60 + later_s
        form = {"type": "direct", "to": [cast.othello.id], "content": "To be"}
        chat.post("/scheduled_messages", **form, scheduled_delivery_timestamp=at)
    mail = outbox.NewMail(to="x@acme.example", subject="Hi", text="Hi")
    chat_database.run(
        lambda session: outbox.enqueue_mails(session, [mail, mail], realm_id=cast.realm_id, now=now)
    )
    chat_database.run(lambda session: session.add(StaleSearch(message_id=1)))
    clock.advance(seconds=90)
    assert samples_of(chat_app, "specd_queue", "specd_mail") == {
        **empty,
        **queue("scheduled_messages", 2, 1, 30.0),
        **queue("mail", 2, 2, 90.0),
        'specd_queue_waiting{queue="search_index"}': 1.0,
    }


def test_claimed_work_is_not_due(
    chat_app: ChatApp, chat_database: Database, cast: Cast, clock: FrozenClock
) -> None:
    mail = outbox.NewMail(to="x@acme.example", subject="Hi", text="Hi")
    chat_database.run(
        lambda session: outbox.enqueue_mails(
            session, [mail], realm_id=cast.realm_id, now=clock.now()
        )
    )
    first = outbox.QUEUE.first

    def claim(seconds: float) -> None:
        chat_database.run(
            lambda session: outbox.QUEUE.claim(
                session,
                [row.id for row in session.execute(first, {"at": clock.now()})],
                until=clock.now() + timedelta(seconds=seconds),
            )
        )

    claim(60)
    clock.advance(seconds=59)
    expected = {**queue("mail", 1, 0, 0.0)}
    assert samples_of(chat_app, *expected) == expected
    clock.advance(seconds=11)
    expected = {**queue("mail", 1, 1, 10.0)}
    assert samples_of(chat_app, *expected) == expected, "its worker has stopped"
