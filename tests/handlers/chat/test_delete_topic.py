"""POST /streams/{stream_id}/delete_topic, of the tag topics."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from handlers.chat.wire import steps
from models.chat.deletion import removals
from models.chat.tables import Message, MessageArchive, MessageRemoval, Topic, UserMessage
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe
from tests.support.chat.people import Cast
from tests.support.chat.rows import audited, events_of
from tests.support.frozen_clock import FrozenClock
from workers.backlog import message_removals

AT_ONCE = 2


def done(complete: bool) -> dict[str, Any]:
    return {"result": "success", "msg": "", "complete": complete}


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removals, "AT_ONCE", AT_ONCE)
    monkeypatch.setattr(steps, "POLL_INTERVAL_S", 0.01)


@pytest.fixture
def stage(chat_database: Database, cast: Cast) -> int:
    people = [cast.hamlet, cast.othello, cast.cordelia]
    return chat_database.run(lambda s: make_channel(s, cast, "stage", subscribers=people))


def path(channel_id: int) -> str:
    return f"/streams/{channel_id}/delete_topic"


def say(client: ChatClient, channel_id: int, topic: str, *contents: str) -> list[int]:
    sent = [
        client.post("/messages", type="channel", to=channel_id, topic=topic, content=content)
        for content in contents
    ]
    return [int(answer["id"]) for answer in sent]


def ids(database: Database, column: Any = Message.id) -> list[int]:
    with database.reading() as reader:
        return sorted(reader.execute(select(column)).scalars())


def is_whole(database: Database) -> bool:
    """Return whether every message is either complete or deleted with all dependent rows."""
    kept, archived = set(ids(database)), set(ids(database, MessageArchive.id))
    newest = select(Message.topic_key, func.max(Message.id)).group_by(Message.topic_key)
    with database.reading() as reader:
        counted = {tuple(row) for row in reader.execute(newest)}
        listed = {tuple(row) for row in reader.execute(select(Topic.topic_key, Topic.max_id))}
    copies = set(ids(database, UserMessage.message_id))
    return kept.isdisjoint(archived) and copies <= kept and counted == listed


class TestDeleteTopic:
    def test_deletes_only_messages_of_the_topic(
        self, chat: ChatClient, as_cordelia: ChatClient, stage: int, chat_database: Database,
        cast: Cast,
    ) -> None:  # fmt: skip
        ghosts = [*say(chat, stage, "ghost", "1", "2", "3"), *say(chat, stage, "GHOST", "4", "5")]
        [kept] = say(chat, stage, "swords", "6")
        assert as_cordelia.post(path(stage), topic_name=" Ghost ") == done(True)
        assert ids(chat_database) == [kept]
        assert ids(chat_database, MessageArchive.id) == ghosts
        told = [(event["message_ids"], event["topic"]) for event in
                events_of(chat_database, "delete_message")]  # fmt: skip
        assert told == [(ghosts[3:], "GHOST"), (ghosts[1:3], "ghost"), (ghosts[:1], "ghost")]
        firsts = [event["value"] for event in events_of(chat_database, "stream")
                  if event.get("property") == "first_message_id"]  # fmt: skip
        assert firsts == [ghosts[0], kept], "only the last step changes the channel's first message"
        assert audited(chat_database, "topic_deleted") == [
            (cast.cordelia.id, None, {"topic": "Ghost", "messages": 5})
        ]
        assert ids(chat_database, MessageRemoval.id) == []
        assert as_cordelia.post(path(stage), topic_name="ghost") == done(True), (
            "as for an absent topic"
        )
        assert chat.get(f"/users/me/{stage}/topics")["topics"] == [
            {"name": "swords", "max_id": kept}
        ]

    def test_worker_resumes_after_the_request(
        self, chat: ChatClient, as_cordelia: ChatClient, stage: int, chat_database: Database,
        clock: FrozenClock, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(steps, "LONGEST_S", 0.0)
        ghosts = say(chat, stage, "ghost", "1", "2", "3", "4", "5", "6", "7")
        assert as_cordelia.post(path(stage), topic_name="ghost") == done(False)
        assert ids(chat_database) == ghosts[:5]
        [late] = say(chat, stage, "ghost", "after the request")
        worker = message_removals(chat_database, clock, rest=lambda seconds: None)
        assert worker.try_some()
        assert ids(chat_database) == [*ghosts[:3], late]
        assert is_whole(chat_database)

        def dies(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as dying:
            dying.setattr(removals, "_find_in_topic", _then(removals._find_in_topic, dies))
            with pytest.raises(KeyboardInterrupt):
                worker.try_some()
        assert ids(chat_database) == [*ghosts[:3], late], "a failed step changed nothing"
        assert as_cordelia.post(path(stage), topic_name="ghost") == done(False)
        assert ids(chat_database) == ghosts[:2], "a repeated request deletes later messages"
        assert is_whole(chat_database)
        while worker.try_some():
            assert is_whole(chat_database)
        assert ids(chat_database) == ids(chat_database, MessageRemoval.id) == []
        assert as_cordelia.post(path(stage), topic_name="ghost") == done(True)

    def test_unreadable_messages_are_kept(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient,
        chat_database: Database, cast: Cast,
    ) -> None:  # fmt: skip
        vault = chat_database.run(
            lambda s: make_channel(
                s, cast, "vault", subscribers=[cast.othello], invite_only=True,
                history_public_to_subscribers=False,
            )
        )  # fmt: skip
        [before] = say(as_othello, vault, "ghost", "before")
        hidden = bad("Invalid channel ID")
        assert as_cordelia.post(path(vault), topic_name="ghost") == hidden
        chat_database.run(lambda s: subscribe(s, vault, cast.cordelia))
        say(as_othello, vault, "ghost", "after", "and after")
        assert as_cordelia.post(path(vault), topic_name="ghost") == done(True)
        assert ids(chat_database) == [before]

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_cordelia: ChatClient, as_hank: ChatClient, stage: int,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        say(chat, stage, "ghost", "1")
        refused = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
        for who in (cast.hamlet, cast.prospero, cast.polonius, cast.reminder):
            assert chat.acting_as(who).post(path(stage), topic_name="ghost") == refused
        hidden = bad("Invalid channel ID")
        for client, channel_id in ((as_cordelia, 2147483647), (as_hank, stage)):
            assert client.post(path(channel_id), topic_name="ghost") == hidden
        assert as_cordelia.post(path(stage), topic_name="a\nb") == bad(
            "Invalid character in topic, at position 2!"
        )
        assert as_cordelia.post(path(stage))["code"] == "REQUEST_VARIABLE_MISSING"
        assert as_cordelia.post(path(stage), topic_name="x" * 61)["code"] == "BAD_REQUEST"
        as_cordelia.delete(f"/streams/{stage}")
        assert as_cordelia.post(path(stage), topic_name="ghost") == hidden
        unauthenticated = chat.acting_as(None).request("POST", path(stage), {"topic_name": "ghost"})
        assert unauthenticated.status_code == 401
        assert len(ids(chat_database)) == 2, "the message and the notice about archiving"


def _then(work: Any, after: Any) -> Any:
    def both(*args: Any, **named: Any) -> Any:
        work(*args, **named)
        return after()

    return both
