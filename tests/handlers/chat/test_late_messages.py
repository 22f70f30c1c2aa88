"""On PostgreSQL a message can become visible after one with a larger id. Clients miss none."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from models.chat.identity.actors import find_actor
from models.chat.rendering.texts import prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import SentMessage, send_message
from models.chat.sending.recipients import ToChannel
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.channels import open_channel
from tests.support.chat.messages import say
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

PATIENCE_S = 30


@pytest.fixture
def postgres_app(
    chat_postgres: tuple[str, Cast], clock: FrozenClock, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChatApp]:
    database = Database(chat_postgres[0])
    app = ChatApp(database, clock, tmp_path_factory.mktemp("late"))
    yield app
    app.close()
    database.dispose()


def test_late_message_is_found_by_queues_and_by_date(
    postgres_app: ChatApp, chat_postgres: tuple[str, Cast], clock: FrozenClock
) -> None:
    url, cast = chat_postgres
    chat = ChatClient(postgres_app, "acme.example").acting_as(cast.hamlet)
    channel_id = open_channel(chat, "Denmark")
    queue = chat.post("/register", event_types=["message"])
    other_machine = Database(url)
    is_drawn, may_commit = threading.Event(), threading.Event()
    late: list[SentMessage] = []

    def send(session: Session) -> SentMessage:
        actor = find_actor(session, cast.hamlet.id)
        assert actor is not None
        text = prepare_text(session, actor, "Late")
        destination = ToChannel(channel_id)
        draft = check_message(session, actor, destination, topic="castle", text=text, client="x")
        sent = send_message(session, draft, now=clock.now())
        is_drawn.set()
        assert may_commit.wait(PATIENCE_S)
        return sent

    sender = threading.Thread(target=lambda: late.append(other_machine.run(send)))
    sender.start()
    assert is_drawn.wait(PATIENCE_S)
    # In another topic, because senders to the same topic wait.
    newest = say(chat, to=channel_id, topic="gate")["id"]
    may_commit.set()
    sender.join(PATIENCE_S)
    other_machine.dispose()
    (sent,) = late
    assert sent.id < newest

    events = chat.get("/events", queue_id=queue["queue_id"], last_event_id=-1, dont_block=True)
    ids = [event["message"]["id"] for event in events["events"]]
    assert ids == [newest, sent.id]

    wish = {"num_before": 0, "num_after": 100}
    after = chat.get("/messages", **wish, anchor=newest, include_anchor=False)
    assert after["messages"] == []
    since = (clock.now() - timedelta(minutes=1)).isoformat()
    found = chat.get("/messages", **wish, anchor="date", anchor_date=since)
    assert [message["id"] for message in found["messages"]][-2:] == [sent.id, newest]
