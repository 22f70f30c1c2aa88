"""Operations of the tag topics."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from models.chat.tables import Event, UserTopic
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import open_channel, write
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

BOT_TOPIC = "channel events"


def topics_of(client: ChatClient, channel_id: int, **query: Any) -> list[tuple[str, int]]:
    """Return the topics without those of the notification bot."""
    answer = client.get(f"/users/me/{channel_id}/topics", **query)
    assert answer["result"] == "success", answer
    return [(t["name"], t["max_id"]) for t in answer["topics"] if t["name"] != BOT_TOPIC]


class TestListTopics:
    def test_lists_the_latest_first_in_the_newest_case(self, chat: ChatClient) -> None:
        channel = open_channel(chat, "stage")
        write(chat, channel, "The Ghost")
        write(chat, channel, "play")
        newest = write(chat, channel, "the ghost")
        answer = chat.get(f"/users/me/{channel}/topics")
        assert answer["topics"][:2] == [
            {"name": "the ghost", "max_id": newest},
            {"name": "play", "max_id": newest - 1},
        ]
        assert [topic["name"] for topic in answer["topics"][2:]] == [BOT_TOPIC]

    @pytest.mark.parametrize("other", ["Cafe\u0301", "CAFÉ", "CAFE\u0301"])
    def test_composed_and_decomposed_letters_are_one_topic(
        self, chat: ChatClient, other: str
    ) -> None:
        channel = open_channel(chat, "stage")
        first = write(chat, channel, "Café")
        newest = write(chat, channel, other)
        assert topics_of(chat, channel) == [(other, newest)]
        narrow = [{"operator": "topic", "operand": "Café"}]
        found = chat.get(
            "/messages", narrow=json.dumps(narrow), anchor="newest", num_before=5, num_after=0
        )
        assert [message["id"] for message in found["messages"]] == [first, newest]

    def test_older_clients_receive_a_name_for_the_empty_topic(
        self, chat: ChatClient, as_cordelia: ChatClient
    ) -> None:
        channel = open_channel(chat, "stage")
        sent = write(chat, channel, "")
        assert topics_of(chat, channel) == [("general chat", sent)]
        assert topics_of(chat, channel, allow_empty_topic_name=False) == [("general chat", sent)]
        assert topics_of(chat, channel, allow_empty_topic_name=True) == [("", sent)]
        as_cordelia.patch("/realm", empty_topic_display_name="chatter")
        assert topics_of(chat, channel) == [("chatter", sent)]

    def test_public_and_shared_history_is_visible_to_new_subscribers(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        public = open_channel(chat, "public")
        shared = open_channel(chat, "shared", invite_only=True, history_public_to_subscribers=True)
        sent = {channel: write(chat, channel, "before") for channel in (public, shared)}
        assert topics_of(as_othello, public) == [("before", sent[public])]
        open_channel(chat, "shared", principals=[cast.othello.id])
        assert topics_of(as_othello, shared) == [("before", sent[shared])]

    def test_protected_history_is_visible_by_own_copies_only(
        self, chat: ChatClient, as_othello: ChatClient, as_reminder: ChatClient, cast: Cast
    ) -> None:
        channel = open_channel(chat, "private", invite_only=True)
        before = write(chat, channel, "before")
        both = write(chat, channel, "both")
        open_channel(chat, "private", principals=[cast.othello.id, cast.reminder.id])
        for late in (as_othello, as_reminder):
            assert topics_of(late, channel) == []
        newer = write(chat, channel, "Both")
        after = write(chat, channel, "after")
        for late in (as_othello, as_reminder):
            assert topics_of(late, channel) == [("after", after), ("Both", newer)]
        assert topics_of(chat, channel) == [
            ("after", after),
            ("Both", newer),
            ("before", before),
        ]
        assert both < newer
        # After leaving and returning, the meantime stays hidden and the user's own copies are
        # readable again.
        as_othello.delete("/users/me/subscriptions", subscriptions=["private"])
        write(chat, channel, "meanwhile")
        unseen = write(chat, channel, "after")
        assert as_othello.get(f"/users/me/{channel}/topics") == bad("Invalid channel ID")
        open_channel(chat, "private", principals=[cast.othello.id])
        assert topics_of(as_othello, channel) == [("after", after), ("Both", newer)]
        assert dict(topics_of(chat, channel))["after"] == unseen

    @pytest.mark.parametrize("who", ["othello", "iago", "cordelia", "polonius", "hank"])
    def test_hidden_equals_absent(self, chat: ChatClient, cast: Cast, who: str) -> None:
        channel = open_channel(chat, "private", invite_only=True)
        client = chat.acting_as(getattr(cast, who))
        for channel_id in (channel, 2147483647, 0):
            answer = client.get(f"/users/me/{channel_id}/topics")
            assert answer == bad("Invalid channel ID")

    @pytest.mark.parametrize("text", ["abc", "-1", "2147483648", "1.5"])
    def test_invalid_id_is_an_unknown_path(self, chat: ChatClient, text: str) -> None:
        assert chat.request("GET", f"/users/me/{text}/topics").status_code == 404

    def test_requires_a_boolean(self, chat: ChatClient) -> None:
        answer = chat.get("/users/me/1/topics", allow_empty_topic_name="yes")
        assert answer == bad("allow_empty_topic_name is not valid JSON")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/users/me/1/topics").status_code == 401


class TestListUserTopics:
    def test_lists_the_oldest_change_first(
        self, chat: ChatClient, as_othello: ChatClient, clock: FrozenClock
    ) -> None:
        channel = open_channel(chat, "stage")
        at = int(clock.now().timestamp())
        chat.post("/user_topics", stream_id=channel, topic="", visibility_policy=3)
        clock.advance(seconds=5)
        chat.post("/user_topics", stream_id=channel, topic="The Ghost", visibility_policy=1)
        policies = [
            {
                "stream_id": channel,
                "topic_name": "general chat",
                "last_updated": at,
                "visibility_policy": 3,
            },
            {
                "stream_id": channel,
                "topic_name": "The Ghost",
                "last_updated": at + 5,
                "visibility_policy": 1,
            },
        ]
        assert chat.get("/user_topics") == {**DONE, "user_topics": policies}
        policies[0]["topic_name"] = ""
        answer = chat.get("/user_topics", allow_empty_topic_name=True)
        assert answer == {**DONE, "user_topics": policies}
        assert as_othello.get("/user_topics") == {**DONE, "user_topics": []}

    def test_omits_lost_channels(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        channel = open_channel(chat, "private", invite_only=True, principals=[cast.othello.id])
        as_othello.post("/user_topics", stream_id=channel, topic="x", visibility_policy=1)
        as_othello.delete("/users/me/subscriptions", subscriptions=["private"])
        assert as_othello.get("/user_topics") == {**DONE, "user_topics": []}

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/user_topics").status_code == 401


class TestSetUserTopic:
    @staticmethod
    def told(database: Database) -> list[str]:
        with database.reading() as reader:
            rows = reader.execute(
                select(Event.type).where(Event.type.in_(("muted_topics", "user_topic")))
            )
            return list(rows.scalars())

    @staticmethod
    def kept(database: Database) -> list[tuple[str, int]]:
        with database.reading() as reader:
            rows = reader.execute(select(UserTopic.topic, UserTopic.visibility_policy))
            return [(topic, policy) for topic, policy in rows]

    @pytest.mark.parametrize("policy", [1, 2, 3])
    def test_sets_and_clears_a_policy(
        self, chat: ChatClient, chat_database: Database, policy: int
    ) -> None:
        channel = open_channel(chat, "stage")
        form = {"stream_id": channel, "topic": " The Ghost "}
        assert chat.post("/user_topics", visibility_policy=policy, **form) == DONE
        assert self.kept(chat_database) == [("The Ghost", policy)]
        # An identical request changes nothing and sends no event. Case is ignored.
        form["topic"] = "the GHOST"
        assert chat.post("/user_topics", visibility_policy=policy, **form) == DONE
        assert self.told(chat_database) == ["muted_topics", "user_topic"]
        assert chat.post("/user_topics", visibility_policy=0, **form) == DONE
        assert self.kept(chat_database) == []
        assert chat.post("/user_topics", visibility_policy=0, **form) == DONE
        assert len(self.told(chat_database)) == 4

    @pytest.mark.parametrize("spelling", ["", "(no topic)", "general chat", "General Chat"])
    def test_empty_topic_has_several_names(
        self, chat: ChatClient, chat_database: Database, spelling: str
    ) -> None:
        channel = open_channel(chat, "stage")
        form = {"stream_id": channel, "topic": spelling, "visibility_policy": 3}
        assert chat.post("/user_topics", **form) == DONE
        assert self.kept(chat_database) == [("", 3)]

    def test_topic_length_is_limited(self, chat: ChatClient) -> None:
        form = {"stream_id": open_channel(chat, "stage"), "visibility_policy": 1}
        assert chat.post("/user_topics", topic="ß" * 60, **form) == DONE
        answer = chat.post("/user_topics", topic="ß" * 61, **form)
        assert answer == bad("topic is too long (limit: 60 characters)")
        answer = chat.post("/user_topics", topic="a\x01b", **form)
        assert answer == bad("Invalid character in topic, at position 2!")

    @pytest.mark.parametrize("policy", [-1, 4])
    def test_rejects_other_numbers(self, chat: ChatClient, policy: int) -> None:
        answer = chat.post("/user_topics", stream_id=1, topic="x", visibility_policy=policy)
        assert answer == bad(
            "Invalid visibility_policy: Value error, Not in the list of possible values"
        )

    def test_requires_a_readable_channel_except_to_clear(
        self, chat: ChatClient, as_othello: ChatClient, as_hank: ChatClient, cast: Cast
    ) -> None:
        channel = open_channel(chat, "private", invite_only=True, principals=[cast.othello.id])
        form = {"stream_id": channel, "topic": "ghost"}
        assert as_othello.post("/user_topics", visibility_policy=1, **form) == DONE
        as_othello.delete("/users/me/subscriptions", subscriptions=["private"])
        answer = as_othello.post("/user_topics", visibility_policy=2, **form)
        assert answer == bad("Invalid channel ID")
        assert as_othello.post("/user_topics", visibility_policy=0, **form) == DONE
        for policy in range(4):
            answer = as_hank.post("/user_topics", visibility_policy=policy, **form)
            assert answer == bad("Invalid channel ID")

    def test_missing_parameters_are_reported_in_alphabetical_order(self, chat: ChatClient) -> None:
        for name, form in (
            ("stream_id", {}),
            ("topic", {"stream_id": 1}),
            ("visibility_policy", {"stream_id": 1, "topic": "x"}),
        ):
            assert chat.post("/user_topics", **form) == bad(
                f"Missing '{name}' argument", "REQUEST_VARIABLE_MISSING", var_name=name
            )

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", "/user_topics").status_code == 401


class TestUpdateMutedTopic:
    PATH = "/users/me/subscriptions/muted_topics"

    def test_mutes_and_unmutes_by_name_and_by_id(
        self, chat: ChatClient, chat_database: Database
    ) -> None:
        channel = open_channel(chat, "stage")
        for place in ({"stream": "STAGE"}, {"stream_id": channel}):
            for _ in range(2):  # an identical request succeeds
                assert chat.patch(self.PATH, op="add", topic="Ghost", **place) == DONE
                assert TestSetUserTopic.kept(chat_database) == [("Ghost", 1)]
            for _ in range(2):
                assert chat.patch(self.PATH, op="remove", topic="ghost", **place) == DONE
                assert TestSetUserTopic.kept(chat_database) == []
        assert TestSetUserTopic.told(chat_database) == ["muted_topics", "user_topic"] * 4

    def test_rejects_invalid_requests(self, chat: ChatClient, as_hank: ChatClient) -> None:
        channel = open_channel(chat, "stage")
        wish = {"op": "add", "topic": "ghost", "stream_id": channel}

        def answer(**over: Any) -> dict[str, Any]:
            return chat.patch(self.PATH, **{**wish, **over})

        assert answer(op="toggle") == bad("Invalid op")
        assert answer(stream="stage") == bad("Unsupported parameter combination: stream_id, stream")
        assert answer(stream_id=None)["var_name"] == "stream_id"
        assert answer(op=None)["var_name"] == "op"
        assert answer(topic="x" * 61) == bad("topic is too long (limit: 60 characters)")
        assert answer(topic="x" * 60) == DONE
        assert answer(stream_id=999) == bad("Invalid channel ID")
        assert answer(stream_id=None, stream="nowhere") == bad("Invalid channel name 'nowhere'")
        assert as_hank.patch(self.PATH, **wish) == bad("Invalid channel ID")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("PATCH", self.PATH, {}).status_code == 401
