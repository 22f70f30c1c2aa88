"""Composed and decomposed letters (Unicode NFC and NFD) are equal in all names."""

import json
from typing import Any
from unicodedata import normalize

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from models.chat.tables import AlertWord, Channel, Message, Topic, User, UserTopic
from specd._db.migrate import open_history
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import open_channel, write
from tests.support.chat.people import Cast

COMPOSED = "Café Zoë"
DECOMPOSED = normalize("NFD", COMPOSED)
OTHERS = (DECOMPOSED, COMPOSED.upper(), DECOMPOSED.upper())


@pytest.fixture(params=[(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)], ids=["NFC", "NFD"])
def names(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return a name in two forms of Unicode."""
    first, other = request.param
    assert first != other
    return first, other


def rendered(chat: ChatClient, content: str) -> str:
    sent = chat.post("/messages", type="direct", to=["hamlet@acme.example"], content=content)
    found = chat.get(f"/messages/{sent['id']}")
    return str(found["message"]["content"])


def test_channel_names(chat: ChatClient, as_cordelia: ChatClient, names: tuple[str, str]) -> None:
    name, other = names
    channel = open_channel(as_cordelia, name)
    for written in (other, other.upper()):
        assert chat.get("/get_stream_id", stream=written)["stream_id"] == channel
        assert open_channel(chat, written) == channel
        assert f'data-stream-id="{channel}"' in rendered(chat, f"#**{written}** #**{written}>x**")
    sent = chat.post("/messages", type="channel", to=other, topic="t", content="Words.")
    narrow = json.dumps([["channel", other]])
    found = chat.get("/messages", narrow=narrow, anchor="newest", num_before=1, num_after=0)
    assert [message["id"] for message in found["messages"]] == [sent["id"]]
    another = open_channel(as_cordelia, "another")
    assert as_cordelia.patch(f"/streams/{another}", new_name=other)["result"] == "error"
    left = chat.delete("/users/me/subscriptions", subscriptions=[other])
    assert left["removed"] == [name]


def test_narrows_of_queues(chat: ChatClient, names: tuple[str, str]) -> None:
    name, other = names
    channel = open_channel(chat, name)
    narrow = [["channel", other]]
    queue = chat.post("/register", event_types=["message"], narrow=narrow)
    assert queue["result"] == "success", queue
    sent = write(chat, channel, "t")
    events = chat.get("/events", queue_id=queue["queue_id"], last_event_id=-1, dont_block=True)
    assert [event["message"]["id"] for event in events["events"]] == [sent]


def test_user_group_names(chat: ChatClient, cast: Cast, names: tuple[str, str]) -> None:
    name, other = names
    form: dict[str, Any] = {"description": "", "members": [cast.hamlet.id]}
    made = chat.post("/user_groups/create", name=name, **form)
    assert made["result"] == "success", made
    assert chat.post("/user_groups/create", name=other, **form)["result"] == "error"
    assert f'data-user-group-id="{made["group_id"]}"' in rendered(chat, f"@*{other}*")


def test_channel_folder_names(as_iago: ChatClient, names: tuple[str, str]) -> None:
    name, other = names
    assert as_iago.post("/channel_folders/create", name=name, description="")["result"] == "success"
    assert as_iago.post("/channel_folders/create", name=other, description="")["result"] == "error"


def test_names_of_users_and_bots(chat: ChatClient, cast: Cast, names: tuple[str, str]) -> None:
    name, other = names
    assert chat.patch("/settings", full_name=name)["result"] == "success"
    me = cast.hamlet.id
    assert chat.get("/users/me")["full_name"] == COMPOSED
    for mention in (other, f"{other}|{me}"):
        assert f'data-user-id="{me}"' in rendered(chat, f"@**{mention}**")
    bot = {"bot_type": 1, "short_name": "one", "full_name": f"{name} bot"}
    assert chat.post("/bots", **bot)["result"] == "success"
    again = chat.post("/bots", **{**bot, "short_name": "two", "full_name": f"{other} bot"})
    assert again["result"] == "error"


def test_alert_words(
    chat: ChatClient, as_cordelia: ChatClient, cast: Cast, names: tuple[str, str]
) -> None:
    name, other = names
    assert chat.post("/users/me/alert_words", alert_words=[name, other])["alert_words"] == [name]
    sent = as_cordelia.post(
        "/messages", type="direct", to=[cast.hamlet.id], content=f"To the {other}, please."
    )
    assert "has_alert_word" in chat.get(f"/messages/{sent['id']}")["message"]["flags"]
    assert chat.delete("/users/me/alert_words", alert_words=[other])["alert_words"] == []


def test_group_name_with_too_long_key_is_rejected(chat: ChatClient, cast: Cast) -> None:
    form: dict[str, Any] = {"description": "", "members": [cast.hamlet.id]}
    assert chat.post("/user_groups/create", name="ﬃ" * 100, **form)["result"] == "error"


class TestMigration:
    """Rows of an earlier version, whose keys were only casefolded."""

    def migrate(self, session: Session) -> None:
        migration = open_history("chat").get_revision("0009")
        assert migration is not None
        session.flush()
        with Operations.context(MigrationContext.configure(session.connection())):
            migration.module.upgrade()
        session.expire_all()

    def test_names_that_became_equal_stay_distinct(
        self, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        composed, decomposed = (open_channel(as_cordelia, name) for name in ("one", "two"))

        def work(session: Session) -> None:
            for channel_id, name in ((composed, COMPOSED), (decomposed, DECOMPOSED)):
                channel = session.get_one(Channel, channel_id)
                channel.name, channel.name_key = name, name.casefold()
            session.get_one(User, cast.hamlet.id).full_name = DECOMPOSED
            self.migrate(session)
            assert session.get_one(User, cast.hamlet.id).full_name == COMPOSED

        chat_database.run(work)
        for name, channel_id in ((COMPOSED, composed), (f"{COMPOSED} (2)", decomposed)):
            assert as_cordelia.get("/get_stream_id", stream=name)["stream_id"] == channel_id

    def test_equal_topics_policies_and_words_are_merged(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        channel = open_channel(chat, "stage")
        first, newest = write(chat, channel, COMPOSED), write(chat, channel, "later")
        alone = write(chat, channel, "alone")
        for topic, policy in ((COMPOSED, 1), ("later", 3)):
            form = {"stream_id": channel, "topic": topic, "visibility_policy": policy}
            assert chat.post("/user_topics", **form)["result"] == "success"
        chat.post("/users/me/alert_words", alert_words=[COMPOSED, "later", "alone"])
        stored = {"later": DECOMPOSED, "alone": normalize("NFD", "Grün")}

        def work(session: Session) -> None:
            for old, new in stored.items():
                values = {"old": old, "new": new, "key": new.casefold()}
                for statement in (
                    "UPDATE message SET topic = :new, topic_key = :key WHERE topic_key = :old",
                    "UPDATE topic SET name = :new, topic_key = :key WHERE topic_key = :old",
                    "UPDATE user_topic SET topic = :new, topic_key = :key, "
                    "last_updated = last_updated + 1 WHERE topic_key = :old",
                    "UPDATE alert_word SET word = :new, word_key = :key WHERE word_key = :old",
                ):
                    session.execute(text(statement), values)
            self.migrate(session)
            policies = session.execute(select(UserTopic.topic_key, UserTopic.visibility_policy))
            assert {row.topic_key: row.visibility_policy for row in policies} == {
                "café zoë": 3,
                "grün": 3,
            }
            words = session.execute(select(AlertWord.word_key, AlertWord.first_part)).all()
            assert sorted(words) == [("café zoë", "café"), ("grün", "grün")]
            topics = session.execute(
                select(Topic.topic_key, Topic.max_id).where(Topic.channel_id == channel)
            )
            assert {tuple(row) for row in topics} >= {("café zoë", newest), ("grün", alone)}
            keys = session.scalars(select(Message.topic_key).where(Message.id >= first)).all()
            assert set(keys) == {"café zoë", "grün"}

        chat_database.run(work)
        narrow = json.dumps([["channel", "stage"], ["topic", COMPOSED]])
        found = chat.get("/messages", narrow=narrow, anchor="newest", num_before=5, num_after=0)
        assert found["result"] == "success", found
        assert [message["id"] for message in found["messages"]] == [first, newest]
