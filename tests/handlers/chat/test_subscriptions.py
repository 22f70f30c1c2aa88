"""Operations of the tag subscriptions."""

from typing import Any

import orjson
import pytest
from sqlalchemy import delete, event, func, select

from models.chat.channels import subscribing
from models.chat.messages.flags import IS_PRIVATE, READ
from models.chat.tables import Channel, Event, Message, UserGroup, UserMessage
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient, Repeated
from tests.support.chat.people import Cast

SUBSCRIPTIONS = "/users/me/subscriptions"


def subscribe(client: ChatClient, *names: str, **form: Any) -> dict[str, Any]:
    return client.post(SUBSCRIPTIONS, subscriptions=[{"name": name} for name in names], **form)


def own_subscriptions(client: ChatClient, **query: Any) -> dict[str, dict[str, Any]]:
    found = client.get(SUBSCRIPTIONS, **query)["subscriptions"]
    return {subscription["name"]: subscription for subscription in found}


def events_of(database: Database, *types: str) -> list[tuple[str, dict[str, Any], Any]]:
    """Return type, payload and recipients of the events, in order."""
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.__table__).where(Event.type.in_(types)).order_by(Event.id)
        )
        return [
            (row.type, orjson.loads(row.payload), row.user_ids and orjson.loads(row.user_ids))
            for row in rows
        ]


class TestSubscribe:
    def test_creates_a_channel_and_subscribes_its_creator(
        self, chat: ChatClient, cast: Cast
    ) -> None:
        assert subscribe(chat, " Elsinore ") == {
            **DONE,
            "subscribed": {str(cast.hamlet.id): ["Elsinore"]},
            "already_subscribed": {},
            "new_subscription_messages_sent": True,
        }
        assert subscribe(chat, "ELSINORE", "elsinore") == {
            **DONE,
            "subscribed": {},
            "already_subscribed": {str(cast.hamlet.id): ["Elsinore"]},
            "new_subscription_messages_sent": True,
        }

    def test_subscribes_others_by_id_and_by_email(self, chat: ChatClient, cast: Cast) -> None:
        ids = [cast.othello.id, cast.polonius.id]
        answer = subscribe(chat, "a", principals=ids, send_new_subscription_messages=False)
        assert answer == {
            **DONE,
            "subscribed": {str(id_): ["a"] for id_ in ids},
            "already_subscribed": {},
        }
        emails = ["OTHELLO@acme.example", f"user{cast.iago.id}@acme.example"]
        for principals in (emails, Repeated(emails)):
            answer = subscribe(chat, "b", principals=principals)
            assert {*answer["subscribed"], *answer["already_subscribed"]} == {
                str(cast.othello.id),
                str(cast.iago.id),
            }
        answer = subscribe(chat, "c", principals=Repeated((str(cast.iago.id),)))
        assert answer["subscribed"] == {str(cast.iago.id): ["c"]}
        assert "c" not in own_subscriptions(chat)

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("", "Channel name can't be empty."),
            ("  ", "Channel name can't be empty."),
            ("ß" * 61, "Channel name too long (limit: 60 characters)."),
            ("ab\x01c", "Invalid character in channel name, at position 3."),
            ("ab\ufdd0", "Invalid character in channel name, at position 3."),
        ],
    )
    def test_rejects_invalid_names(self, chat: ChatClient, name: str, problem: str) -> None:
        assert subscribe(chat, "fine", name) == bad(problem)
        assert chat.get("/streams")["streams"] == []

    def test_accepts_names_and_descriptions_up_to_their_limits(self, chat: ChatClient) -> None:
        assert subscribe(chat, "ß" * 60)["result"] == "success"
        item = {"name": "long", "description": "x" * 1025}
        assert chat.post(SUBSCRIPTIONS, subscriptions=[item]) == bad(
            'subscriptions[0]["description"] is too long (limit: 1024 characters)'
        )
        item["description"] = "x" * 1024
        assert chat.post(SUBSCRIPTIONS, subscriptions=[item])["result"] == "success"

    def test_accepts_a_color(self, chat: ChatClient) -> None:
        item = {"name": "a", "color": "#f00f00"}
        chat.post(SUBSCRIPTIONS, subscriptions=[item])
        assert own_subscriptions(chat)["a"]["color"] == "#f00f00"
        item = {"name": "b", "color": "red"}
        assert chat.post(SUBSCRIPTIONS, subscriptions=[item]) == bad(
            'subscriptions[0]["color"] is not a valid hex color code'
        )

    @pytest.mark.parametrize(
        ("form", "private", "web", "public_history"),
        [
            ({}, False, False, True),
            ({"history_public_to_subscribers": False}, False, False, True),
            ({"invite_only": True}, True, False, False),
            ({"invite_only": True, "history_public_to_subscribers": True}, True, False, True),
            ({"is_web_public": True}, False, True, True),
        ],
    )
    def test_creates_every_kind_of_channel(
        self,
        as_cordelia: ChatClient,
        form: dict[str, bool],
        private: bool,
        web: bool,
        public_history: bool,
    ) -> None:
        as_cordelia.patch("/realm", enable_spectator_access=True)
        subscribe(as_cordelia, "a", **form)
        channel = own_subscriptions(as_cordelia)["a"]
        assert channel["invite_only"] is private
        assert channel["is_web_public"] is web
        assert channel["history_public_to_subscribers"] is public_history

    def test_ignores_properties_of_existing_channels(self, chat: ChatClient) -> None:
        subscribe(chat, "a")
        item = {"name": "a", "description": "Other"}
        answer = chat.post(SUBSCRIPTIONS, subscriptions=[item], invite_only=True)
        assert answer["result"] == "success"
        assert (
            own_subscriptions(chat)["a"]["invite_only"],
            own_subscriptions(chat)["a"]["description"],
        ) == (False, "")

    @pytest.mark.parametrize(
        "policy", ["inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only"]
    )
    def test_accepts_each_topics_policy(
        self, chat: ChatClient, as_cordelia: ChatClient, policy: str
    ) -> None:
        assert subscribe(chat, "a", topics_policy=policy)["result"] == "success"
        assert own_subscriptions(chat)["a"]["topics_policy"] == policy
        nobody = {"direct_members": [], "direct_subgroups": []}
        owners = {"direct_members": [], "direct_subgroups": [ids_of(chat)["role:owners"]]}
        assert nobody != owners
        as_cordelia.patch("/realm", can_set_topics_policy_group=owners)
        answer = subscribe(chat, "b", topics_policy=policy)
        expected = DONE["result"] if policy == "inherit" else "error"
        assert answer["result"] == expected

    @pytest.mark.parametrize(
        ("value", "stored"), [(30, 30), ("unlimited", -1), ("realm_default", None)]
    )
    def test_retention_requires_an_owner(
        self, chat: ChatClient, as_cordelia: ChatClient, value: Any, stored: int | None
    ) -> None:
        subscribe(as_cordelia, "a", message_retention_days=value)
        assert own_subscriptions(as_cordelia)["a"]["message_retention_days"] == stored
        answer = subscribe(chat, "b", message_retention_days=value)
        if stored is None:
            assert answer["result"] == "success"
        else:
            assert answer == bad("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")

    @pytest.mark.parametrize("value", [0, -1, "forever"])
    def test_rejects_invalid_retentions(self, as_cordelia: ChatClient, value: Any) -> None:
        assert subscribe(as_cordelia, "a", message_retention_days=value) == bad(
            f"Bad value for 'message_retention_days': {value}",
            "REQUEST_VARIABLE_INVALID",
            var_name="message_retention_days",
            bad_value=value,
        )

    @pytest.mark.parametrize(
        ("who", "form", "problem"),
        [
            ("polonius", {}, "Not allowed for guest users"),
            ("iago", {"is_default_stream": True, "invite_only": True},
             "A default channel cannot be private."),
            ("hamlet", {"is_default_stream": True}, "Insufficient permission"),
            ("cordelia", {"is_web_public": True}, "Web-public channels are not enabled."),
            ("cordelia", {"is_web_public": True, "invite_only": True}, "Invalid parameters"),
            ("hamlet", {"folder_id": 1}, "Invalid channel folder ID"),
            ("hamlet", {"principals": [999]}, "No such user"),
            ("hamlet", {"principals": ["nobody@acme.example"]}, "No such user"),
            ("hamlet", {"can_send_message_group": 99999}, "Invalid user group"),
            ("hamlet", {"topics_policy": "none"}, "Invalid topics_policy"),
        ],
    )  # fmt: skip
    def test_rejected_request_creates_nothing(
        self, chat: ChatClient, cast: Cast, who: str, form: dict[str, Any], problem: str
    ) -> None:
        answer = subscribe(chat.acting_as(getattr(cast, who)), "a", **form)
        assert answer == bad(problem)
        everything = chat.acting_as(cast.cordelia).get("/streams", include_all=True)
        assert everything["streams"] == []

    def test_rejects_unknown_users(self, chat: ChatClient, cast: Cast) -> None:
        for user_id in (cast.hank.id, cast.notification_bot_id):
            answer = subscribe(chat, "a", principals=[cast.othello.id, user_id])
            assert answer == bad("No such user")
        answer = subscribe(chat, "a", principals=[cast.ophelia.id])
        assert answer == bad("User is deactivated")

    def test_private_channel_requires_access(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast
    ) -> None:
        subscribe(chat, "private", invite_only=True)
        for client in (as_othello, as_iago):
            assert subscribe(client, "private") == bad("Unable to access channel (private).")
        answer = subscribe(as_othello, "private", "open", authorization_errors_fatal=False)
        assert answer == {
            **DONE,
            "subscribed": {str(cast.othello.id): ["open"]},
            "already_subscribed": {},
            "unauthorized": ["private"],
            "new_subscription_messages_sent": True,
        }

    @pytest.mark.parametrize("setting", ["can_subscribe_group", "can_add_subscribers_group"])
    @pytest.mark.parametrize("nested", [False, True])
    def test_groups_grant_access_to_private_channels(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, setting: str, nested: bool
    ) -> None:
        value: Any = {"direct_members": [cast.othello.id], "direct_subgroups": []}
        if nested:
            inner = chat.post(
                "/user_groups/create", name="inner", description="", members=[cast.othello.id]
            )["group_id"]
            outer = chat.post(
                "/user_groups/create", name="outer", description="", members=[], subgroups=[inner]
            )["group_id"]
            value = {"direct_members": [cast.iago.id], "direct_subgroups": [outer]}
        subscribe(chat, "private", invite_only=True, **{setting: value})
        answer = subscribe(as_othello, "private", principals=[cast.prospero.id])
        if setting == "can_add_subscribers_group":
            assert answer["subscribed"] == {str(cast.prospero.id): ["private"]}
        answer = subscribe(as_othello, "private")
        assert answer["subscribed"] == {str(cast.othello.id): ["private"]}

    def test_adding_others_requires_permission(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        subscribe(chat, "public")
        as_cordelia.patch("/realm", can_add_subscribers_group=ids_of(chat)["role:owners"])
        answer = subscribe(as_othello, "public", principals=[cast.iago.id])
        assert answer == bad("Insufficient permission")
        # Channel administrators are allowed, including the creator.
        answer = subscribe(chat, "public", "new", principals=[cast.iago.id])
        assert answer["subscribed"] == {str(cast.iago.id): ["public", "new"]}

    @pytest.mark.parametrize(
        ("setting", "form"),
        [
            ("can_create_public_channel_group", {}),
            ("can_create_private_channel_group", {"invite_only": True}),
        ],
    )
    def test_creating_channels_requires_permission(
        self, chat: ChatClient, as_cordelia: ChatClient, setting: str, form: dict[str, bool]
    ) -> None:
        as_cordelia.patch("/realm", **{setting: ids_of(chat)["role:owners"]})
        assert subscribe(chat, "a", **form) == bad("Insufficient permission")
        assert subscribe(as_cordelia, "a", **form)["result"] == "success"

    def test_notifies_clients(self, chat: ChatClient, cast: Cast, chat_database: Database) -> None:
        subscribe(chat, "secret", invite_only=True)
        subscribe(chat, "secret", principals=[cast.othello.id, cast.polonius.id])
        told = events_of(chat_database, "stream", "subscription")
        admins = [cast.cordelia.id, cast.iago.id]
        new = sorted([cast.othello.id, cast.polonius.id])
        assert [(type_, payload["op"], users) for type_, payload, users in told] == [
            ("stream", "create", sorted([*admins, cast.hamlet.id])),
            ("subscription", "add", [cast.hamlet.id]),
            ("subscription", "peer_add", admins),
            ("stream", "update", None),
            ("stream", "create", new),
            ("subscription", "add", new),
            ("subscription", "peer_add", sorted([*admins, cast.hamlet.id])),
        ]
        assert told[0][1]["streams"][0]["subscriber_count"] == 0, "its first subscriber is a peer"
        assert told[3][1]["property"] == "first_message_id", "of the bot's messages"
        assert told[6][1]["user_ids"] == new
        assert told[5][1]["subscriptions"][0]["subscribers"] == sorted([cast.hamlet.id, *new])

    def test_bot_writes_to_others_and_in_new_channels(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        subscribe(chat, "old")
        board = as_cordelia.get("/get_stream_id", stream="old")["stream_id"]
        as_cordelia.patch("/realm", new_stream_announcements_stream_id=board)
        subscribe(
            chat,
            "old",
            "new",
            announce=True,
            principals=[cast.hamlet.id, cast.othello.id, cast.reminder.id],
        )
        with chat_database.reading() as reader:
            rows = reader.execute(
                select(Message.topic, Message.content)
                .where(Message.sender_id == cast.notification_bot_id)
                .order_by(Message.id)
            ).all()
        who = f"Hamlet|{cast.hamlet.id}"
        made = (
            f"**Public** channel created by @_**{who}**. **Description:**\n"
            "```` quote\n*No description.*\n````"
        )
        assert [tuple(row) for row in rows] == [
            ("channel events", made),
            ("", f"@**{who}** subscribed you to #**old**."),
            ("new channels", f"@_**{who}** created a new channel #**new**."),
            ("channel events", made),
        ]

    def test_bot_writes_to_each_user_alone(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        subscribe(chat, "stage")
        with chat_database.reading() as reader:
            last = reader.execute(select(func.max(Message.id))).scalar_one()
        people = [cast.othello, cast.iago, cast.prospero]
        subscribe(chat, "stage", principals=[person.id for person in people])
        notices = events_of(chat_database, "message")[-len(people) :]
        content = f"@**Hamlet|{cast.hamlet.id}** subscribed you to #**stage**."
        people.sort(key=lambda person: person.id)
        for number, (person, notice) in enumerate(zip(people, notices, strict=True), last + 1):
            _, payload, user_ids = notice
            both = sorted([person.id, cast.notification_bot_id])
            assert user_ids == both
            assert (payload["flags"], payload["_markdown"]) == ([], content)
            asked = {"client_gravatar": False, "allow_empty_topic_name": True}
            found = chat.acting_as(person).get(f"/messages/{number}", **asked)["message"]
            assert found == {**payload["message"], "flags": []}
            assert [who["id"] for who in found["display_recipient"]] == both
            with chat_database.reading() as reader:
                copies = reader.execute(
                    select(UserMessage.user_id, UserMessage.flags)
                    .where(UserMessage.message_id == number)
                    .order_by(UserMessage.user_id)
                ).all()
            assert copies == [(user_id, IS_PRIVATE) for user_id in both]

    def test_existing_channel_creates_no_group(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        def count() -> int:
            with chat_database.reading() as reader:
                return reader.execute(select(func.count()).select_from(UserGroup)).scalar_one()

        subscribe(chat, "a")
        before = count()
        subscribe(chat, "a", principals=[cast.othello.id])
        assert count() == before

    def test_creates_at_most_twenty_channels(self, chat: ChatClient) -> None:
        names = [f"fresh {number}" for number in range(21)]
        assert subscribe(chat, *names) == bad("Too many new channels at once (maximum 20).")
        assert own_subscriptions(chat) == {}
        assert subscribe(chat, *names[:20])["result"] == "success"
        assert subscribe(chat, *names)["result"] == "success"  # one of them is new

    def test_creates_at_most_five_thousand_subscriptions(
        self, chat: ChatClient, cast: Cast, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(subscribing, "MAX_SUBSCRIPTIONS", 4)
        refused = bad("Too many subscriptions at once (maximum 4).")
        subscribe(chat, "a", "b", "c")
        people = [cast.othello.id, cast.iago.id]
        assert subscribe(chat, "a", "b", "c", principals=people) == refused
        assert subscribe(chat, "a", "b", principals=people)["result"] == "success"
        form = {"subscriptions": ["a", "b", "c"], "principals": people}
        assert chat.delete(SUBSCRIPTIONS, **form) == refused
        form["subscriptions"] = ["a", "b"]
        assert chat.delete(SUBSCRIPTIONS, **form)["result"] == "success"

    def test_number_of_statements_does_not_grow_with_users(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        subscribe(chat, "a", "b")
        few = self._statements(chat, chat_database, "a", principals=[cast.othello.id])
        many = self._statements(
            chat,
            chat_database,
            "b",
            principals=[cast.othello.id, cast.iago.id, cast.cordelia.id, cast.prospero.id],
        )
        assert few == many <= 45

    @staticmethod
    def _statements(client: ChatClient, database: Database, *names: str, **form: Any) -> int:
        seen: list[str] = []

        def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            seen.append(statement)

        engine = database._engine("writing")
        event.listen(engine, "before_cursor_execute", note)
        try:
            assert subscribe(client, *names, **form)["result"] == "success"
        finally:
            event.remove(engine, "before_cursor_execute", note)
        return len(seen)

    def test_requires_channels(self, chat: ChatClient) -> None:
        assert chat.post(SUBSCRIPTIONS) == bad(
            "Missing 'subscriptions' argument", "REQUEST_VARIABLE_MISSING", var_name="subscriptions"
        )

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", SUBSCRIPTIONS).status_code == 401


class TestListSubscriptions:
    def test_lists_own_subscriptions_with_settings(self, chat: ChatClient, cast: Cast) -> None:
        subscribe(chat, "a", principals=[cast.hamlet.id, cast.othello.id])
        plain = own_subscriptions(chat)["a"]
        assert "subscribers" not in plain
        for wanted in (True, "partial"):
            described = own_subscriptions(chat, include_subscribers=wanted)["a"]
            assert described == {**plain, "subscribers": [cast.hamlet.id, cast.othello.id]}
        assert (plain["is_muted"], plain["in_home_view"], plain["push_notifications"]) == (
            False,
            True,
            None,
        )

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", SUBSCRIPTIONS).status_code == 401


class TestUnsubscribe:
    def test_unsubscribes(self, chat: ChatClient) -> None:
        subscribe(chat, "a", "b")
        assert chat.delete(SUBSCRIPTIONS, subscriptions=["A"]) == {
            **DONE,
            "removed": ["a"],
            "not_removed": [],
        }
        assert chat.delete(SUBSCRIPTIONS, subscriptions=["a", "b"]) == {
            **DONE,
            "removed": ["b"],
            "not_removed": ["a"],
        }
        assert own_subscriptions(chat) == {}

    def test_removes_others_if_allowed(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast
    ) -> None:
        all_users = [cast.hamlet.id, cast.othello.id, cast.iago.id, cast.reminder.id]
        subscribe(as_iago, "a", principals=all_users)
        answer = as_othello.delete(SUBSCRIPTIONS, subscriptions=["a"], principals=[cast.hamlet.id])
        assert answer == bad("Insufficient permission")
        for client, user_id in ((chat, cast.reminder.id), (as_iago, cast.othello.id)):
            answer = client.delete(SUBSCRIPTIONS, subscriptions=["a"], principals=[user_id])
            assert answer["removed"] == ["a"]

    def test_messages_of_the_channel_become_read(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        people = [cast.othello.id, cast.iago.id]
        subscribe(chat, "a", "b", "c", "empty")
        form = {"principals": people, "send_new_subscription_messages": False}
        subscribe(chat, "a", "b", "c", "empty", **form)
        sent = [
            chat.post("/messages", type="channel", to=to, topic="t", content=to)["id"]
            for to in ("c", "a", "c", "b", "c", "a", "c")
        ]
        form = {"subscriptions": ["a", "b", "empty"], "principals": people}
        chat.delete(SUBSCRIPTIONS, **form)
        left = [sent[1], sent[3], sent[5]]
        with chat_database.reading() as reader:
            read = reader.execute(
                select(UserMessage.user_id, UserMessage.message_id)
                .where(
                    UserMessage.user_id.in_(people),
                    UserMessage.message_id.in_(sent),
                    UserMessage.flags.op("&")(READ) != 0,
                )
                .order_by(UserMessage.user_id, UserMessage.message_id)
            ).all()
        assert [tuple(row) for row in read] == [(who, it) for who in sorted(people) for it in left]
        told = events_of(chat_database, "update_message_flags")
        assert [(payload["messages"], users) for _, payload, users in told] == [
            (left, [user_id]) for user_id in sorted(people)
        ]

    def test_leaving_an_empty_channel_changes_no_message(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        subscribe(chat, "a", "b")
        chat.post("/messages", type="channel", to="a", topic="t", content="Words")
        with chat_database.reading() as reader:
            channel_id = reader.execute(select(Channel.id).where(Channel.name == "b")).scalar_one()
        chat_database.run(
            lambda session: session.execute(delete(Message).where(Message.channel_id == channel_id))
        )
        chat.delete(SUBSCRIPTIONS, subscriptions=["b"])
        assert events_of(chat_database, "update_message_flags") == []

    def test_rejects_unknown_channels_and_users(self, chat: ChatClient, cast: Cast) -> None:
        answer = chat.delete(SUBSCRIPTIONS, subscriptions=["nowhere", "no"])
        assert answer == bad("Channel(s) (nowhere, no) do not exist")
        answer = chat.delete(SUBSCRIPTIONS, subscriptions=["x"], principals=[cast.hank.id])
        assert answer == bad("No such user")
        answer = chat.delete(SUBSCRIPTIONS, subscriptions=["x"], principals=[cast.ophelia.id])
        assert answer == bad("User is deactivated")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("DELETE", SUBSCRIPTIONS).status_code == 401


class TestUpdateSubscriptionSetting:
    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("color", "#f00", ["color"]),
            ("color", "#f00f00", ["color"]),
            ("is_muted", True, ["in_home_view", "is_muted"]),
            ("in_home_view", False, ["in_home_view", "is_muted"]),
            ("pin_to_top", True, ["pin_to_top"]),
            ("desktop_notifications", False, ["desktop_notifications"]),
            ("audible_notifications", True, ["audible_notifications"]),
            ("push_notifications", True, ["push_notifications"]),
            ("email_notifications", False, ["email_notifications"]),
            ("wildcard_mentions_notify", True, ["wildcard_mentions_notify"]),
        ],
    )
    def test_changes_each_property(
        self,
        chat: ChatClient,
        chat_database: Database,
        cast: Cast,
        name: str,
        value: Any,
        told: list[str],
    ) -> None:
        subscribe(chat, "a")
        before = own_subscriptions(chat)["a"]
        path = f"{SUBSCRIPTIONS}/{before['stream_id']}"
        assert chat.patch(path, property=name, value=value) == DONE
        changed = {name: value}
        if "is_muted" in told:
            changed = {"is_muted": True, "in_home_view": False}
        assert own_subscriptions(chat)["a"] == {**before, **changed}
        updates = [
            (payload["property"], users)
            for _, payload, users in events_of(chat_database, "subscription")
            if payload["op"] == "update"
        ]
        assert updates == [(one, [cast.hamlet.id]) for one in told]

    @pytest.mark.parametrize(
        ("name", "value", "problem"),
        [
            ("volume", True, "Unknown subscription property: volume"),
            ("color", "f00", "color is not a valid hex color code"),
            ("color", "#ff", "color is not a valid hex color code"),
            ("color", "#1234567", "color is not a valid hex color code"),
            ("color", True, "color is not a valid hex color code"),
            ("is_muted", "yes", "is_muted is not a boolean"),
            ("is_muted", 1, "is_muted is not a boolean"),
        ],
    )
    def test_rejects_invalid_values(
        self, chat: ChatClient, name: str, value: Any, problem: str
    ) -> None:
        subscribe(chat, "a")
        path = f"{SUBSCRIPTIONS}/{own_subscriptions(chat)['a']['stream_id']}"
        assert chat.patch(path, property=name, value=value) == bad(problem)

    def test_requires_a_subscription(self, chat: ChatClient, as_othello: ChatClient) -> None:
        subscribe(chat, "public")
        subscribe(chat, "private", invite_only=True)
        ids = {name: channel["stream_id"] for name, channel in own_subscriptions(chat).items()}
        form = {"property": "is_muted", "value": True}
        answer = as_othello.patch(f"{SUBSCRIPTIONS}/{ids['public']}", **form)
        assert answer == bad(f"Not subscribed to channel ID {ids['public']}")
        for channel_id in (ids["private"], 99999):
            answer = as_othello.patch(f"{SUBSCRIPTIONS}/{channel_id}", **form)
            assert answer == bad("Invalid channel ID")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("PATCH", f"{SUBSCRIPTIONS}/1").status_code == 401


class TestUpdateSubscriptionSettings:
    def test_changes_several_or_none(self, chat: ChatClient) -> None:
        subscribe(chat, "a", "b")
        ids = {name: channel["stream_id"] for name, channel in own_subscriptions(chat).items()}
        changes: list[dict[str, Any]] = [
            {"stream_id": ids["a"], "property": "pin_to_top", "value": True},
            {"stream_id": ids["a"], "property": "color", "value": "#123456"},
            {"stream_id": ids["b"], "property": "is_muted", "value": True},
        ]
        path = f"{SUBSCRIPTIONS}/properties"
        wrong = {"stream_id": ids["b"], "property": "color", "value": "blue"}
        assert chat.post(path, subscription_data=[*changes, wrong])["result"] == "error"
        assert own_subscriptions(chat)["a"]["pin_to_top"] is False
        assert chat.post(path, subscription_data=changes) == DONE
        after = own_subscriptions(chat)
        assert (after["a"]["pin_to_top"], after["a"]["color"]) == (True, "#123456")
        assert after["b"]["is_muted"] is True

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", f"{SUBSCRIPTIONS}/properties").status_code == 401


class TestUpdateSubscriptions:
    def test_subscribes_and_unsubscribes(self, chat: ChatClient, cast: Cast) -> None:
        subscribe(chat, "old")
        add = [{"name": "new", "description": "Fresh", "color": "#00ff00"}, {"name": "old"}]
        assert chat.patch(SUBSCRIPTIONS, add=add, delete=["OLD"]) == {
            **DONE,
            "subscribed": {str(cast.hamlet.id): ["new"]},
            "already_subscribed": {str(cast.hamlet.id): ["old"]},
            "new_subscription_messages_sent": True,
            "removed": ["old"],
            "not_removed": [],
        }
        assert own_subscriptions(chat)["new"]["color"] == "#00ff00"
        assert own_subscriptions(chat)["new"]["rendered_description"] == "<p>Fresh</p>"
        assert "old" not in own_subscriptions(chat)
        assert chat.patch(SUBSCRIPTIONS, delete=["new"]) == {
            **DONE,
            "removed": ["new"],
            "not_removed": [],
        }

    def test_changes_all_or_nothing(self, chat: ChatClient, as_polonius: ChatClient) -> None:
        answer = chat.patch(SUBSCRIPTIONS, add=[{"name": "new"}], delete=["Norway"])
        assert answer["msg"] == "Channel(s) (Norway) do not exist"
        assert "new" not in own_subscriptions(chat)
        nothing = bad('Nothing to do. Specify at least one of "add" or "delete".')
        assert chat.patch(SUBSCRIPTIONS) == nothing
        assert chat.patch(SUBSCRIPTIONS, add=[], delete=[]) == nothing
        answer = as_polonius.patch(SUBSCRIPTIONS, delete=["new"])
        assert answer == bad("Not allowed for guest users")


class TestCreateChannel:
    def create(self, client: ChatClient, name: str, *ids: int, **form: Any) -> dict[str, Any]:
        return client.post("/channels/create", name=name, subscribers=list(ids), **form)

    def test_creates_a_channel(self, chat: ChatClient, as_othello: ChatClient, cast: Cast) -> None:
        members = (cast.hamlet.id, cast.othello.id)
        answer = self.create(chat, " Elsinore ", *members, description="Who", invite_only=True)
        channel = own_subscriptions(chat)["Elsinore"]
        assert answer == {**DONE, "id": channel["stream_id"]}
        assert (channel["description"], channel["invite_only"]) == ("Who", True)
        assert "Elsinore" in own_subscriptions(as_othello)

    def test_creates_a_channel_for_others_only(self, as_cordelia: ChatClient, cast: Cast) -> None:
        assert self.create(as_cordelia, "theirs", cast.hamlet.id)["result"] == "success"
        assert "theirs" not in own_subscriptions(as_cordelia)

    @pytest.mark.reaches("CHANNEL_ALREADY_EXISTS")
    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_othello: ChatClient, as_polonius: ChatClient, cast: Cast
    ) -> None:
        subscribe(chat, "here")
        answer = self.create(as_othello, "HERE", cast.othello.id)
        assert answer == {
            **bad("Channel 'HERE' already exists", "CHANNEL_ALREADY_EXISTS"),
            "channel_name": "HERE",
        }
        assert "here" not in own_subscriptions(as_othello), "the request changes nothing"
        assert self.create(chat, "x", 999999) == bad("No such user")
        assert self.create(chat, "", cast.hamlet.id)["result"] == "error"
        assert self.create(chat, "x")["result"] == "error"
        answer = self.create(as_polonius, "x", cast.polonius.id)
        assert answer == bad("Not allowed for guest users")
