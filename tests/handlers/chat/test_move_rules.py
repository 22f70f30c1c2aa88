"""Rules for moving messages, starting conversations and notices to many users.

The rules are tested with plain actors on both databases, and the HTTP responses once.
"""

from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from models.chat.access.group_settings import CHANNEL_GROUPS, REALM_GROUPS, store_group_value
from models.chat.identity.roles import Role
from models.chat.organization.realms import access_realm_by_id
from models.chat.people.users import create_user
from models.chat.tables import Channel, Message, Realm
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.messages import say, set_realm
from tests.support.chat.people import CAST_MADE_AT, KEYS, Cast
from tests.support.frozen_clock import FrozenClock

QUIET = {"send_notification_to_new_thread": False}
ONE = pytest.mark.parametrize("chat_filled", ["sqlite"], indirect=True)
NOT_MOVED = bad("You don't have permission to move this message")
NOT_RESOLVED = bad("You don't have permission to resolve topics in this channel.")
TOPIC_LATE = bad("The time limit for editing this message's topic has passed.")
CHANNEL_LATE = bad("The time limit for editing this message's channel has passed")


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


@pytest.fixture
def norway(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(lambda s: make_channel(s, cast, "Norway"))


class TestTimeLimits:
    def test_limits_of_topic_and_channel_changes(
        self, chat: ChatClient, denmark: int, norway: int, chat_database: Database, cast: Cast,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        """A message is 100 s old, the limits are 100 s and 99 s, and the stricter one applies."""
        path = f"/messages/{say(chat)['id']}"
        clock.advance(seconds=100)
        court, home = {"topic": "court"}, {"topic": "castle", "stream_id": denmark}
        moved = {"stream_id": norway}
        both = {**court, **moved}
        for within, between, change, answer in (
            (100, 0, court, DONE),
            (99, None, court, TOPIC_LATE),
            (99, None, {"topic": "✔ castle"}, DONE),
            (99, 100, moved, DONE),
            (None, 99, moved, CHANNEL_LATE),
            (100, 100, both, DONE),
            (99, 100, both, TOPIC_LATE),
            (100, 99, both, CHANNEL_LATE),
            (None, None, both, DONE),
        ):
            set_realm(
                chat_database,
                cast,
                move_messages_within_stream_limit_seconds=within,
                move_messages_between_streams_limit_seconds=between,
            )
            expected = {**answer, "detached_uploads": []} if answer is DONE else answer
            case = (within, between, change)
            assert chat.patch(path, **change, **QUIET) == expected, case
            if answer is DONE:
                back = chat.acting_as(cast.prospero).patch(path, **home, **QUIET)
                assert back["result"] == "success", "moderators have no limit"

    @pytest.mark.reaches("MOVE_MESSAGES_TIME_LIMIT_EXCEEDED")
    def test_whole_topic_reports_the_movable_part(
        self, chat: ChatClient, denmark: int, norway: int, chat_database: Database, cast: Cast,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        ids = []
        for _ in range(3):
            ids.append(say(chat)["id"])
            clock.advance(seconds=60)
        limits = {
            "move_messages_within_stream_limit_seconds": 120,
            "move_messages_between_streams_limit_seconds": 120,
        }
        set_realm(chat_database, cast, **limits)
        refusal = bad(
            "You only have permission to move the 2/3 most recent messages in this topic.",
            "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
            first_message_id_allowed_to_move=ids[1],
            total_messages_in_topic=3,
            total_messages_allowed_to_move=2,
        )
        whole = {"propagate_mode": "change_all", **QUIET}
        newest, middle = f"/messages/{ids[2]}", f"/messages/{ids[1]}"
        for change in ({"topic": "court"}, {"stream_id": norway}):
            assert chat.patch(newest, **change, **whole) == refusal
        clock.advance(seconds=1000)
        assert chat.patch(newest, topic="court", **whole) == TOPIC_LATE
        assert chat.patch(newest, stream_id=norway, **whole) == CHANNEL_LATE
        resolved = chat.patch(newest, topic="✔ castle", **whole)
        assert resolved["result"] == "success"
        later = chat.acting_as(cast.prospero).patch(
            middle, topic="court", propagate_mode="change_later", **QUIET
        )
        assert later["result"] == "success"
        assert chat.patch(newest, topic="x", propagate_mode="y")["msg"].startswith(
            "Invalid propagate_mode"
        )

    @ONE
    def test_limit_applies_to_the_selected_messages(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast,
        clock: FrozenClock,
    ) -> None:  # fmt: skip
        """`change_later` moves the messages after a recent one, even if the topic began earlier."""
        ids = [say(chat)["id"]]
        clock.advance(seconds=300)
        ids += [say(chat)["id"], say(chat)["id"]]
        set_realm(chat_database, cast, move_messages_within_stream_limit_seconds=200)
        later = {"topic": "court", "propagate_mode": "change_later", **QUIET}
        assert chat.patch(f"/messages/{ids[0]}", **later) == TOPIC_LATE
        assert chat.patch(f"/messages/{ids[1]}", **later)["result"] == "success"
        subjects = [chat.get(f"/messages/{i}")["message"]["subject"] for i in ids]
        assert subjects == ["castle", "court", "court"]


class TestMovePermissions:
    """The organization allows moderators only, and the channel adds other users."""

    @ONE
    @pytest.mark.parametrize(
        ("realm_setting", "channel_setting", "change", "refusal"),
        [
            ("can_move_messages_between_topics_group", "can_move_messages_within_channel_group",
             {"topic": "court"}, NOT_MOVED),
            ("can_move_messages_between_channels_group",
             "can_move_messages_out_of_channel_group", {"stream_id": 0}, NOT_MOVED),
            ("can_resolve_topics_group", "can_resolve_topics_group", {"topic": "✔ castle"},
             NOT_RESOLVED),
        ],
    )  # fmt: skip
    def test_organization_or_channel_grants_permission(
        self, chat: ChatClient, denmark: int, norway: int, chat_database: Database, cast: Cast,
        realm_setting: str, channel_setting: str, change: dict[str, Any], refusal: dict[str, Any],
    ) -> None:  # fmt: skip
        if "stream_id" in change:
            change = {"stream_id": norway}
        ids = [say(chat)["id"] for _ in range(3)]
        set_realm(chat_database, cast, **{realm_setting: Realm.moderators_group_id})

        def move(client: ChatClient, message: int) -> dict[str, Any]:
            answer = client.patch(f"/messages/{message}", **change, **QUIET)
            return answer if answer["result"] == "error" else DONE

        assert move(chat, ids[0]) == refusal
        assert move(chat.acting_as(cast.prospero), ids[0]) == DONE
        named = {"direct_members": [cast.othello.id], "direct_subgroups": []}

        def let_othello(session: Any) -> None:
            setting = CHANNEL_GROUPS[channel_setting]
            group = store_group_value(session, cast.realm_id, setting, named, now=CAST_MADE_AT)
            session.execute(
                update(Channel).where(Channel.id == denmark).values({channel_setting: group})
            )

        chat_database.run(let_othello)
        assert move(chat, ids[1]) == refusal
        assert move(chat.acting_as(cast.othello), ids[1]) == DONE
        # A guest of the channel has no more rights than its members.
        assert move(chat.acting_as(cast.polonius), ids[2])["result"] == "error"

    @ONE
    def test_members_may_set_a_missing_topic(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        people = [cast.hamlet, cast.polonius]
        chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=people))
        set_realm(
            chat_database, cast, can_move_messages_between_topics_group=Realm.moderators_group_id
        )
        path = f"/messages/{say(chat, topic='')['id']}"
        assert chat.acting_as(cast.polonius).patch(path, topic="court") == NOT_MOVED
        assert chat.acting_as(cast.othello).patch(path, topic="court", **QUIET)["msg"] == ""
        assert chat.patch(path, topic="castle") == NOT_MOVED

    @ONE
    def test_target_requires_send_permission(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        closed = chat_database.run(
            lambda s: [
                make_channel(s, cast, "Silent", can_send_message_group="role:moderators"),
                make_channel(s, cast, "Shut", is_archived=True),
                make_channel(s, cast, "Secret", invite_only=True),
                make_channel(s, cast, "Known", can_create_topic_group="role:moderators"),
                make_channel(s, cast, "Flat", topics_policy="empty_topic_only"),
            ]
        )
        path = f"/messages/{say(chat)['id']}"
        answers = [chat.patch(path, stream_id=i)["msg"] for i in (*closed, 999_999)]
        assert answers == [
            "Not authorized to send to channel 'Silent'",
            "Not authorized to send to channel 'Shut'",
            "Invalid channel ID",
            "You do not have permission to create new topics in this channel.",
            "Only general chat is allowed in this channel.",
            "Invalid channel ID",
        ]


class TestDirectMessages:
    def write(self, client: ChatClient, *to: int) -> str:
        answer = client.post("/messages", type="direct", to=list(to), content="x")
        return str(answer["msg"])

    @ONE
    def test_requires_a_participant_who_may_authorize(
        self, chat: ChatClient, as_othello: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        refused = "This conversation does not include any users who can authorize it."
        set_realm(chat_database, cast, direct_message_permission_group=Realm.moderators_group_id)
        assert self.write(chat, cast.othello.id) == refused
        assert self.write(chat, cast.othello.id, cast.prospero.id) == ""
        assert self.write(chat.acting_as(cast.prospero), cast.othello.id) == ""
        for to in (cast.hamlet.id, cast.reminder.id):
            assert self.write(chat, to) == "", (
                "messages to oneself and to bots need no authorization"
            )
        assert self.write(chat.acting_as(cast.reminder), cast.othello.id) == ""
        set_realm(chat_database, cast, direct_message_permission_group=Realm.nobody_group_id)
        disabled = "Direct messages are disabled in this organization."
        assert self.write(chat, cast.othello.id, cast.prospero.id) == disabled
        wish = {"content": "x", "scheduled_delivery_timestamp": 1_900_000_000}
        later = chat.post("/scheduled_messages", type="direct", to=[cast.othello.id], **wish)
        assert later == bad(disabled)
        assert self.write(chat, cast.hamlet.id) == ""
        set_realm(chat_database, cast, direct_message_permission_group=Realm.everyone_group_id)
        assert self.write(as_othello, cast.hamlet.id) == ""

    @ONE
    def test_starting_a_conversation_requires_permission(
        self, chat: ChatClient, as_prospero: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        refused = "You do not have permission to initiate direct message conversations."
        value = {"direct_members": [cast.othello.id], "direct_subgroups": []}

        def only_othello(session: Any) -> None:
            setting = REALM_GROUPS["direct_message_initiator_group"]
            group = store_group_value(session, cast.realm_id, setting, value, now=CAST_MADE_AT)
            session.execute(
                update(Realm)
                .where(Realm.id == cast.realm_id)
                .values(direct_message_initiator_group=group)
            )

        chat_database.run(only_othello)
        assert self.write(chat, cast.othello.id) == refused
        assert self.write(as_prospero, cast.othello.id) == refused
        assert self.write(chat, cast.reminder.id) == ""
        assert self.write(chat.acting_as(cast.othello), cast.hamlet.id) == ""
        assert self.write(chat, cast.othello.id) == "", "a reply starts no conversation"
        assert self.write(chat, cast.othello.id, cast.iago.id) == refused
        assert self.write(chat, cast.hamlet.id) == ""


def crowd(database: Database, cast: Cast, count: int) -> list[tuple[int, str]]:
    """Create `count` members and return their ids and keys."""

    def work(session: Any) -> list[tuple[int, str]]:
        realm = access_realm_by_id(session, cast.realm_id)
        made = []
        for number in range(count):
            user, key = create_user(
                session,
                KEYS,
                realm=realm,
                email=f"player{number}@acme.example",
                full_name=f"Player {number}",
                role=Role.MEMBER,
                now=CAST_MADE_AT,
            )
            made.append((user.id, key))
        return made

    return database.run(work)


@ONE
def test_notices_to_new_subscribers_are_limited_to_a_hundred(
    chat: ChatClient, chat_database: Database, cast: Cast
) -> None:
    people = [user_id for user_id, _ in crowd(chat_database, cast, 101)]
    for name in ("a", "b"):
        chat.post("/users/me/subscriptions", subscriptions=[{"name": name}])

    def told(name: str, principals: list[int]) -> tuple[bool, int]:
        with chat_database.reading() as reader:
            before = reader.execute(select(func.count(Message.id))).scalar_one()
        answer = chat.post(
            "/users/me/subscriptions", subscriptions=[{"name": name}], principals=principals
        )
        with chat_database.reading() as reader:
            after = reader.execute(select(func.count(Message.id))).scalar_one()
        return answer["new_subscription_messages_sent"], after - before

    assert told("a", people[:100]) == (True, 100)
    assert told("b", people) == (False, 0)


@ONE
@pytest.mark.reaches("TOPIC_WILDCARD_MENTION_NOT_ALLOWED")
def test_topic_wildcard_reaches_at_most_fifteen_participants(
    chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
) -> None:
    """Only participants of the topic count, not the channel's subscribers."""
    writers = crowd(chat_database, cast, 16)
    set_realm(chat_database, cast, can_mention_many_users_group=Realm.moderators_group_id)

    def join_in(session: Any, people: list[tuple[int, str]]) -> None:
        first = session.execute(select(Message.__table__).limit(1)).mappings().one()
        rows = [{**first, "id": None, "sender_id": user_id} for user_id, _ in people]
        for row in rows:
            del row["id"]
        session.execute(insert(Message), rows)

    say(chat)
    chat_database.run(lambda s: join_in(s, writers[:14]))
    assert say(chat, content="@**topic**")["result"] == "success", "15 with Hamlet"
    chat_database.run(lambda s: join_in(s, writers[14:15]))
    assert say(chat, content="@**topic**") == bad(
        "You do not have permission to use topic wildcard mentions in this topic.",
        "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
    )
    assert say(chat, content="@**topic**", topic="another")["result"] == "success"
    assert say(chat.acting_as(cast.prospero), content="@**topic**")["result"] == "success"
