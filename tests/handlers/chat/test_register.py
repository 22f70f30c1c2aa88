"""POST /register: parameters, and the parts of the state about people and channels."""

from typing import Any

import pytest
from sqlalchemy import update

import specs
from models.chat.queues import queues
from models.chat.queues.queues import QueueOptions
from models.chat.rendering.emoji import DATA_PATH
from models.chat.snapshot.taking import PARTS
from models.chat.tables import Channel, Realm, RealmEmoji, UserGroup
from specd.db import Database
from tests.support.chat import flutter, zulip_term
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, unsubscribe
from tests.support.chat.people import Cast
from tests.support.chat.registering import ALWAYS, VERSIONS, capable_of, fetch
from tests.support.frozen_clock import FrozenClock

DESCRIBED = specs.load("chat")["components"]["schemas"]["RegisteredQueue"]["properties"]
EVERYTHING = DESCRIBED.keys() - {"ignored_parameters_unsupported"}
FETCH_TYPES = sorted({name for part in PARTS for name in part.fetch_types})


def restrict_guests(database: Database) -> None:
    members = update(Realm).values(can_access_all_users_group=Realm.members_group_id)
    database.run(lambda s: s.execute(members))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[QueueOptions, int, str]]:
    """Options, position and client of the queues that are opened."""
    seen = []
    really = queues.open_queue

    def open_queue(session: Any, actor: Any, options: QueueOptions, **facts: Any) -> str:
        seen.append((options, facts["position"], facts["client"]))
        return really(session, actor, options, **facts)

    monkeypatch.setattr(queues, "open_queue", open_queue)
    return seen


class TestRegisterQueue:
    def test_complete_response(self, chat: ChatClient) -> None:
        answer = chat.post("/register", fetch_event_types=[])
        queue_id = answer.pop("queue_id")
        assert isinstance(queue_id, str)
        assert len(queue_id) >= 20
        assert isinstance(answer.pop("last_event_id"), int)
        assert answer == {**DONE, **VERSIONS, "idle_queue_timeout_secs": 600}

    def test_begins_at_the_newest_event(
        self, chat: ChatClient, opened: list[tuple[QueueOptions, int, str]]
    ) -> None:
        chat.post("/users/me/status", status_text="busy")
        answer = chat.post("/register", event_types=["message"])
        assert answer["last_event_id"] > 0
        assert [position for _, position, _ in opened] == [answer["last_event_id"]]

    def test_without_parameters_everything_is_subscribed_and_fetched(
        self, chat: ChatClient, opened: list[tuple[QueueOptions, int, str]]
    ) -> None:
        assert chat.post("/register").keys() == EVERYTHING
        assert opened[0][0] == QueueOptions()

    def test_passes_the_options_of_the_queue(
        self, chat: ChatClient, opened: list[tuple[QueueOptions, int, str]]
    ) -> None:
        answer = chat.request(
            "POST",
            "/register",
            {
                "event_types": ["message", "nonsense"],
                "all_public_streams": True,
                "apply_markdown": True,
                "client_gravatar": False,
                "slim_presence": True,
                "idle_queue_timeout": '"mobile"',
                "client_capabilities": {
                    "bulk_message_deletion": True,
                    "empty_topic_name": False,
                    "brewing": True,
                    "temperature": 90,
                },
            },
            headers={"User-Agent": "ZulipTerminal/0.7.0 (Linux)"},
        ).json()
        assert answer["idle_queue_timeout_secs"] == 12 * 3600
        options, _, client = opened[0]
        assert client == "ZulipTerminal"
        assert options == QueueOptions(
            event_types=frozenset(("message", "nonsense")),
            all_public_streams=True,
            apply_markdown=True,
            client_gravatar=False,
            slim_presence=True,
            capabilities=frozenset(("bulk_message_deletion", "brewing")),
            idle_timeout_s=12 * 3600,
        )

    @pytest.mark.parametrize("sent", ["null", None])
    def test_null_and_no_event_types_mean_all(
        self, chat: ChatClient, opened: list[tuple[QueueOptions, int, str]], sent: str | None
    ) -> None:
        fetch(chat, event_types=sent)
        assert opened[0][0].event_types is None

    @pytest.mark.parametrize(
        ("sent", "fetched"),
        [
            ({"event_types": ["message"]}, {"max_message_id"}),
            ({"event_types": ["message"], "fetch_event_types": "null"}, EVERYTHING - ALWAYS),
            ({"event_types": ["message"], "fetch_event_types": ["drafts"]}, {"drafts"}),
            ({"event_types": ["message"], "fetch_event_types": []}, set()),
            ({"event_types": []}, set()),
            ({"fetch_event_types": ["message", "nonsense"]}, {"max_message_id"}),
            ({"event_types": "null"}, EVERYTHING - ALWAYS),
        ],
    )
    def test_types_select_the_state(
        self, chat: ChatClient, sent: dict[str, Any], fetched: set[str]
    ) -> None:
        assert chat.post("/register", **sent).keys() == ALWAYS | fetched

    @pytest.mark.parametrize("fetch_type", FETCH_TYPES)
    def test_each_key_is_described_with_its_fetch_type(
        self, chat: ChatClient, fetch_type: str
    ) -> None:
        mentioned = {
            key
            for key, schema in DESCRIBED.items()
            if f"`{fetch_type}`" in schema.get("description", "").rpartition("Fetch type")[2]
        }
        wanted = {"message", fetch_type} if fetch_type == "update_message_flags" else {fetch_type}
        found = fetch(chat, *wanted).keys()
        both = {"unread_msgs"} if fetch_type == "message" else {"max_message_id"}
        assert found == (mentioned - both if fetch_type == "message" else mentioned | found & both)
        assert mentioned

    @pytest.mark.parametrize(("sent", "seconds"), [(1, 1), (604_800, 604_800), ("mobile", 43_200)])
    def test_idle_timeouts(self, chat: ChatClient, sent: Any, seconds: int) -> None:
        answer = chat.post("/register", fetch_event_types=[], idle_queue_timeout=sent)
        assert answer["idle_queue_timeout_secs"] == seconds

    @pytest.mark.parametrize(
        ("sent", "msg"),
        [
            ({"idle_queue_timeout": 0}, "idle_queue_timeout is too small"),
            ({"idle_queue_timeout": 604_801}, "idle_queue_timeout is too large"),
            ({"event_types": "message"}, "event_types is not valid JSON"),
            ({"event_types": {"a": 1}}, "event_types is not a list"),
            ({"client_capabilities": []}, "client_capabilities is not a dict"),
            (
                {"client_capabilities": {"empty_topic_name": 1}},
                'client_capabilities["empty_topic_name"] is not a boolean',
            ),
            ({"presence_history_limit_days": -1}, "presence_history_limit_days is too small"),
        ],
    )
    def test_rejects_invalid_values(self, chat: ChatClient, sent: dict[str, Any], msg: str) -> None:
        assert chat.post("/register", **sent) == bad(msg)

    def test_guests_cannot_subscribe_to_all_public_channels(
        self, as_polonius: ChatClient, opened: list[tuple[QueueOptions, int, str]]
    ) -> None:
        answer = as_polonius.post("/register", all_public_streams=True)
        assert answer == bad("User not authorized for this query")
        assert opened == []

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        response = as_nobody.request("POST", "/register")
        assert response.status_code == 401
        assert response.json()["code"] == "UNAUTHORIZED"


class TestRealClients:
    def furnish(self, chat: ChatClient, cast: Cast, database: Database) -> None:
        """Create objects of every kind."""
        subscriptions = [{"name": "Denmark", "description": "A *prison*"}, {"name": "rotten"}]
        chat.post("/users/me/subscriptions", subscriptions=subscriptions)
        chat.delete("/users/me/subscriptions", subscriptions=["rotten"])
        as_othello = chat.acting_as(cast.othello)
        as_othello.post("/users/me/subscriptions", subscriptions=[{"name": "Denmark"}])
        for form in (
            {"type": "channel", "to": "Denmark", "topic": "castle", "content": "@**Hamlet**"},
            {"type": "channel", "to": "Denmark", "topic": "", "content": "Words"},
            {"type": "direct", "to": [cast.hamlet.id], "content": "Hi"},
            {"type": "direct", "to": [cast.hamlet.id, cast.iago.id], "content": "Hi"},
        ):
            assert as_othello.post("/messages", **form)["result"] == "success"
        chat.post("/messages/flags", messages=[1], op="add", flag="starred")
        chat.post("/users/me/status", status_text="mad", emoji_name="zulip")
        as_othello.patch("/settings", emojiset="set_b")
        chat.post("/user_topics", stream_id=1, topic="castle", visibility_policy=1)
        chat.post("/register_client_device")
        as_iago = chat.acting_as(cast.iago)
        as_iago.post("/realm/profile_fields", name="Motto", field_type=1)
        as_iago.post("/channel_folders/create", name="Plays", description="")
        as_iago.post("/user_groups/create", name="court", description="", members=[cast.hamlet.id])
        emoji = RealmEmoji(realm_id=cast.realm_id, name="yorick", source_url="/yorick.png")
        database.run(lambda s: s.add(emoji))

    def test_flutter_client_decodes_it(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        flutter.check_snapshot(chat.post("/register", **flutter.REGISTRATION))
        self.furnish(chat, cast, chat_database)
        for member in (cast.hamlet, cast.othello, cast.polonius, cast.cordelia):
            answer = chat.acting_as(member).post("/register", **flutter.REGISTRATION)
            flutter.check_snapshot(answer)

    def test_zulip_term_starts_with_it(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        self.furnish(chat, cast, chat_database)
        zulip_term.check_main(chat.post("/register", **zulip_term.REGISTRATION_OF_MAIN))
        zulip_term.check_0_7_0(chat.post("/register", **zulip_term.REGISTRATION_OF_0_7_0))

    @pytest.mark.parametrize("key", ["realm_icon_url", "queue_id", "unread_msgs", "user_settings"])
    def test_decoders_report_missing_keys(self, chat: ChatClient, key: str) -> None:
        answer = chat.post("/register", **flutter.REGISTRATION)
        with pytest.raises(AssertionError):
            flutter.check_snapshot({name: v for name, v in answer.items() if name != key})
        with pytest.raises(AssertionError):
            flutter.check_snapshot({**answer, key: 3})


class TestPeople:
    def test_all_users(self, chat: ChatClient, cast: Cast) -> None:
        members = chat.get("/users", include_custom_profile_fields=True)["members"]
        (bot,) = fetch(chat, "realm_user")["cross_realm_bots"]
        avatar = chat.get("/users/me")["avatar_url"]
        assert fetch(chat, "realm_user") == {
            "realm_users": [member for member in members if member["is_active"]],
            "realm_non_active_users": [member for member in members if not member["is_active"]],
            "cross_realm_bots": [bot],
            "user_id": cast.hamlet.id,
            "email": cast.hamlet.email,
            "delivery_email": cast.hamlet.email,
            "full_name": "Hamlet",
            "avatar_source": "G",
            "avatar_url": avatar,
            "avatar_url_medium": f"{avatar}&s=500",
            "is_owner": False,
            "is_admin": False,
            "is_moderator": False,
            "is_guest": False,
        }
        assert bot["user_id"] == cast.notification_bot_id
        assert bot["is_system_bot"] is True
        assert bot["full_name"] == "Notification Bot"

    def test_roles(self, chat: ChatClient, cast: Cast) -> None:
        names = ("is_owner", "is_admin", "is_moderator", "is_guest")
        for member, expected in (
            (cast.cordelia, (True, True, True, False)),
            (cast.iago, (False, True, True, False)),
            (cast.prospero, (False, False, True, False)),
            (cast.polonius, (False, False, False, True)),
        ):
            own = fetch(chat.acting_as(member), "realm_user")
            assert tuple(own[name] for name in names) == expected

    def test_avatar_urls_depend_on_the_client_capability(self, chat: ChatClient) -> None:
        for client_makes_it in (True, False):
            users = fetch(chat, "realm_user", client_gravatar=client_makes_it)["realm_users"]
            assert {user["avatar_url"] is None for user in users} == {client_makes_it}

    def test_restricted_guest_sees_known_users_only(
        self, chat: ChatClient, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat.post("/users/me/status", status_text="mad")
        restrict_guests(chat_database)
        everything = as_polonius.post("/register", include_subscribers=True)
        known = {cast.polonius.id, cast.reminder.id}
        assert {user["user_id"] for user in everything["realm_users"]} == known
        assert everything["realm_non_active_users"] == []
        assert everything["user_status"] == {}
        groups = everything["realm_user_groups"]
        assert {user_id for group in groups for user_id in group["members"]} == known
        assert "Hamlet" not in str(everything)
        assert "hamlet@" not in str(everything)

    def test_statuses(self, chat: ChatClient, as_othello: ChatClient, cast: Cast) -> None:
        as_othello.post("/users/me/status", status_text="at sea", emoji_name="car")
        chat.post("/users/me/status", emoji_name="zulip", away=True)
        car = {"emoji_name": "car", "emoji_code": "1f697", "reaction_type": "unicode_emoji"}
        extra = {"emoji_name": "zulip", "emoji_code": "zulip", "reaction_type": "zulip_extra_emoji"}
        assert fetch(chat, "user_status") == {
            "user_status": {
                str(cast.hamlet.id): {"away": True, **extra},
                str(cast.othello.id): {"status_text": "at sea", **car},
            }
        }

    def test_groups(self, as_iago: ChatClient, chat_database: Database) -> None:
        as_iago.post("/user_groups/create", name="court", description="", members=[])
        court = update(UserGroup).where(UserGroup.name == "court").values(is_deactivated=True)
        chat_database.run(lambda s: s.execute(court))
        for named, capabilities in ((False, ()), (True, ("include_deactivated_groups",))):
            shown = as_iago.get("/user_groups", include_deactivated_groups=named)["user_groups"]
            found = fetch(as_iago, "realm_user_groups", **capable_of(*capabilities))
            assert found == {"realm_user_groups": shown}
            assert any(group["name"] == "court" for group in shown) is named

    def test_profile_fields(self, as_iago: ChatClient) -> None:
        as_iago.post("/realm/profile_fields", name="Motto", field_type=1)
        found = fetch(as_iago, "custom_profile_fields")
        assert (
            found["custom_profile_fields"] == as_iago.get("/realm/profile_fields")["custom_fields"]
        )
        assert found["custom_profile_field_types"]["SHORT_TEXT"] == {
            "id": 1,
            "name": "Text (short)",
        }
        assert {kind["id"] for kind in found["custom_profile_field_types"].values()} == {
            *range(1, 9)
        }

    def test_no_presences(self, chat: ChatClient) -> None:
        assert fetch(chat, "presence") == {
            "presences": {},
            "presence_last_update_id": -1,
            "server_timestamp": 1_795_262_400.0,
        }

    def test_presences(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        as_othello.post("/users/me/presence", status="idle")
        clock.advance(seconds=86_401)
        pinged = chat.post("/users/me/presence", status="active", last_update_id=-1)
        for key in ("result", "msg"):
            del pinged[key]
        assert fetch(chat, "presence", slim_presence=True) == pinged
        told = fetch(chat, "presence", slim_presence=True, presence_history_limit_days=1)
        assert told["presences"].keys() == {str(cast.hamlet.id)}
        older = fetch(chat, "presence")["presences"]
        assert older == chat.get("/realm/presence")["presences"]
        assert older.keys() == {cast.hamlet.email, cast.othello.email}


class TestChannels:
    def test_channels_are_listed_by_subscription(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        def make(session: Any) -> None:
            make_channel(session, cast, "in", subscribers=[cast.hamlet, cast.othello])
            left = make_channel(session, cast, "left", subscribers=[cast.hamlet, cast.iago])
            unsubscribe(session, left, cast.hamlet)
            make_channel(session, cast, "never", subscribers=[cast.iago])
            make_channel(session, cast, "hidden", subscribers=[cast.iago], invite_only=True)

        chat_database.run(make)
        described = {each["name"]: each for each in chat.get("/streams")["streams"]}
        (own_channel,) = chat.get("/users/me/subscriptions")["subscriptions"]
        found = fetch(chat, "subscription", "stream", **capable_of("notification_settings_null"))
        settings = {name: own_channel[name] for name in own_channel.keys() - described["in"].keys()}
        assert found == {
            "subscriptions": [own_channel],
            "unsubscribed": [{**described["left"], **settings}],
            "never_subscribed": [described["never"]],
            "streams": list(described.values()),
        }
        for wanted in (True, '"partial"'):
            with_them = fetch(chat, "subscription", include_subscribers=wanted)
            assert {
                each["name"]: each["subscribers"] for part in with_them.values() for each in part
            } == {
                "in": [cast.hamlet.id, cast.othello.id],
                "left": [cast.iago.id],
                "never": [cast.iago.id],
            }

    def test_subscribers_hidden_from_a_guest_are_omitted(
        self, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        def make(session: Any) -> None:
            all_people = [cast.hamlet, cast.reminder]
            make_channel(session, cast, "open", subscribers=all_people, is_web_public=True)
            make_channel(session, cast, "closed", subscribers=all_people)

        chat_database.run(make)
        restrict_guests(chat_database)
        found = fetch(as_polonius, "subscription", include_subscribers=True)
        (channel,) = found["never_subscribed"]
        assert (channel["name"], channel["subscribers"]) == ("open", [cast.reminder.id])

    def test_nulls_are_replaced_for_older_clients(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat_database.run(lambda s: make_channel(s, cast, "in", subscribers=[cast.hamlet]))
        chat.patch("/settings", enable_stream_push_notifications=True)
        (own_channel,) = fetch(chat, "subscription")["subscriptions"]
        names = ("desktop", "audible", "push", "email")
        assert [own_channel[f"{name}_notifications"] for name in names] == [
            False,
            False,
            True,
            False,
        ]
        assert own_channel["wildcard_mentions_notify"] is True

    def test_archived_channels_require_the_client_capability(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        def make(session: Any) -> None:
            old = make_channel(session, cast, "old", subscribers=[cast.hamlet])
            session.execute(update(Channel).where(Channel.id == old).values(is_archived=True))

        chat_database.run(make)
        for names, capabilities in ((set(), ()), ({"old"}, ("archived_channels",))):
            found = fetch(chat, "subscription", "stream", **capable_of(*capabilities))
            assert {each["name"] for each in found["subscriptions"]} == names
            assert {each["name"] for each in found["streams"]} == names

    def test_folders_defaults_and_policies(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_iago.post("/channel_folders/create", name="Plays", description="All *five*")
        form = {"subscriptions": [{"name": "lobby"}], "is_default_stream": True}
        as_iago.post("/users/me/subscriptions", **form)
        (lobby,) = as_iago.get("/streams")["streams"]
        assert fetch(as_iago, "channel_folders", "default_streams", "default_stream_groups") == {
            "channel_folders": as_iago.get("/channel_folders")["channel_folders"],
            "realm_default_streams": [lobby["stream_id"]],
            "realm_default_stream_groups": [],
        }
        as_guest = as_iago.acting_as(cast.polonius)
        assert fetch(as_guest, "default_streams") == {"realm_default_streams": []}

    def test_topic_policies(self, chat: ChatClient, cast: Cast, chat_database: Database) -> None:
        ids = chat_database.run(
            lambda s: [
                make_channel(s, cast, name, subscribers=[cast.hamlet], invite_only=name == "lost")
                for name in ("Denmark", "lost")
            ]
        )
        for channel_id, topic, policy in ((ids[0], "castle", 1), (ids[0], "", 3), (ids[1], "x", 1)):
            form = {"stream_id": channel_id, "topic": topic, "visibility_policy": policy}
            assert chat.post("/user_topics", **form) == DONE
        chat_database.run(lambda s: unsubscribe(s, ids[1], cast.hamlet))
        at = 1_795_262_400
        for empty, capabilities in (("general chat", ()), ("", ("empty_topic_name",))):
            assert fetch(chat, "user_topic", "muted_topics", **capable_of(*capabilities)) == {
                "user_topics": [
                    {
                        "stream_id": ids[0],
                        "topic_name": topic,
                        "last_updated": at,
                        "visibility_policy": policy,
                    }
                    for topic, policy in ((empty, 3), ("castle", 1))
                ],
                "muted_topics": [["Denmark", "castle", at]],
            }


def test_emoji_data_url_of_the_snapshot_exists(chat: ChatClient) -> None:
    url = fetch(chat, "realm")["server_emoji_data_url"]
    assert url == f"http://acme.example{DATA_PATH}"
