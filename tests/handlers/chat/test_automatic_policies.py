"""Topics that users follow automatically, up to a limit."""

import pytest
from sqlalchemy import select, update

from models.chat.common.quotas import TOPIC_POLICIES
from models.chat.tables import Subscription, User, UserTopic
from models.chat.topics import automatic_policies
from settings import Settings
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast, Member

MOST = 2
OWN_MOST = automatic_policies.MOST
FOLLOWED = 3


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic_policies, "MOST", MOST)


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


def say(client: ChatClient, topic: str, content: str = "Words") -> dict[str, object]:
    return client.post("/messages", type="channel", to="Denmark", topic=topic, content=content)


def policies(database: Database, member: Member) -> dict[str, int]:
    """Return the policies by topic."""
    own = select(UserTopic.topic, UserTopic.visibility_policy).where(UserTopic.user_id == member.id)
    with database.reading() as reader:
        return {topic: policy for topic, policy in reader.execute(own)}


def test_automatic_policies_leave_room_for_explicit_ones() -> None:
    assert Settings().chat_quotas[TOPIC_POLICIES.setting] >= 2 * OWN_MOST


class TestUserAtTheLimit:
    def test_mention_follows_no_other_topic(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        for topic in ("a", "b", "c"):
            assert say(chat, topic, "@**Othello**")["result"] == "success"
        assert policies(chat_database, cast.othello) == {"a": FOLLOWED, "b": FOLLOWED}
        muted = as_othello.post("/user_topics", stream_id=denmark, topic="d", visibility_policy=1)
        assert muted["result"] == "success"

    def test_other_users_still_follow(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        for topic in ("a", "b"):
            as_othello.post("/user_topics", stream_id=denmark, topic=topic, visibility_policy=1)
        say(chat, "c", "@**Othello** @**Hamlet**")
        assert "c" not in policies(chat_database, cast.othello)
        assert policies(chat_database, cast.hamlet)["c"] == FOLLOWED

    def test_mention_raises_an_existing_lower_policy(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        for topic in ("a", "b"):
            as_othello.post("/user_topics", stream_id=denmark, topic=topic, visibility_policy=1)
        say(chat, "a", "@**Othello**")
        assert policies(chat_database, cast.othello) == {"a": FOLLOWED, "b": 1}

    def test_started_topic_is_not_followed(
        self, chat: ChatClient, denmark: int, cast: Cast, chat_database: Database
    ) -> None:
        told = [say(chat, topic).get("automatic_new_visibility_policy") for topic in "abc"]
        assert told == [FOLLOWED, FOLLOWED, None]
        assert policies(chat_database, cast.hamlet) == {"a": FOLLOWED, "b": FOLLOWED}

    def test_topic_of_a_muted_channel_is_not_unmuted(
        self, as_othello: ChatClient, denmark: int, cast: Cast, chat_database: Database
    ) -> None:
        unmuting = {
            "automatically_follow_topics_policy": automatic_policies.NEVER,
            "automatically_unmute_topics_in_muted_streams_policy": automatic_policies.SEND,
        }
        chat_database.run(lambda s: s.execute(update(User).values(unmuting)))
        chat_database.run(lambda s: s.execute(update(Subscription).values(is_muted=True)))
        told = [say(as_othello, topic).get("automatic_new_visibility_policy") for topic in "abc"]
        assert told == [2, 2, None]

    def test_reaction_follows_no_other_topic(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        taking_part = {"automatically_follow_topics_policy": automatic_policies.PARTICIPATE}
        chat_database.run(lambda s: s.execute(update(User).values(taking_part)))
        for topic in "abc":
            message_id = say(chat, topic)["id"]
            reacted = as_othello.post(f"/messages/{message_id}/reactions", emoji_name="octopus")
            assert reacted["result"] == "success"
        assert policies(chat_database, cast.othello) == {"a": FOLLOWED, "b": FOLLOWED}
