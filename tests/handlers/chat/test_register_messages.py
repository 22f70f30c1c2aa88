"""POST /register: the parts of the state about messages, settings and the organization."""

import time
from typing import Any

import pytest
from sqlalchemy import insert, update

from models.chat.access.group_settings import CHANNEL_GROUPS, REALM_GROUPS, USER_GROUP_GROUPS
from models.chat.organization.settings import CHANNEL_SETTINGS, OPERATOR_SETTINGS, SETTINGS
from models.chat.queues import queues
from models.chat.rendering.emoji import DATA_PATH
from models.chat.snapshot import messages
from models.chat.tables import Realm, RealmEmoji, setting_table
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe, unsubscribe
from tests.support.chat.people import Cast
from tests.support.chat.registering import capable_of, fetch

UNREAD = ("message", "update_message_flags")
NOTHING_UNREAD = {
    "count": 0,
    "pms": [],
    "streams": [],
    "huddles": [],
    "mentions": [],
    "old_unreads_missing": False,
}


def say(client: ChatClient, content: str = "Words", **to: Any) -> int:
    message_id: int = client.post("/messages", content=content, **to)["id"]
    return message_id


def to_topic(channel_id: int, topic: str) -> dict[str, Any]:
    return {"type": "channel", "to": channel_id, "topic": topic}


def to_people(*user_ids: int) -> dict[str, Any]:
    return {"type": "direct", "to": list(user_ids)}


def unread(client: ChatClient, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = fetch(client, *UNREAD, **options)["unread_msgs"]
    return found


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    """A channel of all users."""
    return chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=cast.acme[:7]))


class TestUnread:
    def test_no_unread_messages(self, chat: ChatClient) -> None:
        expected = {"max_message_id": -1, "unread_msgs": NOTHING_UNREAD}
        assert fetch(chat, *UNREAD) == expected

    def test_requires_both_fetch_types(self, chat: ChatClient) -> None:
        assert fetch(chat, "message") == {"max_message_id": -1}
        assert fetch(chat, "update_message_flags") == {}

    def test_grouped_by_topic_and_conversation(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int
    ) -> None:
        hamlet, othello, iago = cast.hamlet.id, cast.othello.id, cast.iago.id
        first = say(as_othello, **to_topic(denmark, "castle"))
        second = say(as_othello, "@**Hamlet**", **to_topic(denmark, "CASTLE"))
        empty = say(as_othello, "@**all**", **to_topic(denmark, ""))
        direct = [say(as_othello, **to_people(hamlet)) for _ in range(2)]
        group = say(as_othello, **to_people(hamlet, iago))
        own_message = say(chat, **to_people(hamlet))
        chat.post("/messages/flags", messages=[own_message], op="remove", flag="read")
        seen = say(as_othello, **to_topic(denmark, "castle"))
        chat.post("/messages/flags", messages=[seen], op="add", flag="read")
        options = capable_of("empty_topic_name")
        assert unread(chat, **options) == {
            "count": 7,
            "pms": [
                {
                    "other_user_id": othello,
                    "sender_id": othello,
                    "unread_message_ids": direct,
                },
                {"other_user_id": hamlet, "sender_id": hamlet, "unread_message_ids": [own_message]},
            ],
            "streams": [
                {"stream_id": denmark, "topic": "CASTLE", "unread_message_ids": [first, second]},
                {"stream_id": denmark, "topic": "", "unread_message_ids": [empty]},
            ],
            "huddles": [
                {
                    "user_ids_string": f"{iago},{hamlet},{othello}",
                    "unread_message_ids": [group],
                }
            ],
            "mentions": [second, empty],
            "old_unreads_missing": False,
        }
        assert unread(chat)["streams"][1]["topic"] == "general chat"

    def test_muted_messages_are_not_counted(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int
    ) -> None:
        mention = say(as_othello, "@**Hamlet**", **to_topic(denmark, "castle"))
        to_all = say(as_othello, "@**all**", **to_topic(denmark, "castle"))

        def told() -> tuple[int, list[int]]:
            found = unread(chat)
            assert len(found["streams"][0]["unread_message_ids"]) == 2
            return found["count"], found["mentions"]

        def wish(policy: int) -> None:
            form = {"stream_id": denmark, "topic": "Castle", "visibility_policy": policy}
            chat.post("/user_topics", **form)

        assert told() == (2, [mention, to_all])
        wish(1)
        assert told() == (0, [mention])
        wish(0)
        path = f"/users/me/subscriptions/{denmark}"
        chat.patch(path, property="is_muted", value=True)
        assert told() == (0, [mention])
        wish(2)
        assert told() == (2, [mention, to_all])

    def test_lost_channel_has_no_unread_messages(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        members = [cast.hamlet, cast.othello]
        hidden = chat_database.run(
            lambda s: make_channel(s, cast, "Hidden", subscribers=members, invite_only=True)
        )
        message_id = say(as_othello, "@**Hamlet**", **to_topic(hidden, "plot"))
        chat.post("/messages/flags", messages=[message_id], op="add", flag="starred")
        assert unread(chat)["count"] == 1
        assert fetch(chat, "starred_messages") == {"starred_messages": [message_id]}
        chat_database.run(lambda s: unsubscribe(s, hidden, cast.hamlet))
        assert unread(chat) == NOTHING_UNREAD
        assert fetch(chat, "starred_messages") == {"starred_messages": []}
        chat_database.run(lambda s: subscribe(s, hidden, cast.hamlet))
        assert unread(chat)["mentions"] == [message_id]

    def test_newest_unread_messages_are_listed(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        denmark: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        ids = [say(as_othello, **to_topic(denmark, "castle")) for _ in range(3)]
        monkeypatch.setattr(messages, "UNREAD_MAX", 2)
        found = unread(chat)
        assert found["streams"][0]["unread_message_ids"] == ids[1:]
        assert (found["count"], found["old_unreads_missing"]) == (2, True)


class TestOtherMessages:
    def test_newest_id_is_of_an_own_copy(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int
    ) -> None:
        newest = say(as_othello, **to_topic(denmark, "castle"))
        say(as_othello, **to_people(cast.iago.id))
        assert fetch(chat, "message") == {"max_message_id": newest}

    def test_recent_conversations(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        assert fetch(chat, "recent_private_conversations") == {"recent_private_conversations": []}
        say(as_othello, **to_people(cast.hamlet.id))
        alone = say(chat, **to_people(cast.hamlet.id))
        group = say(chat, **to_people(cast.iago.id, cast.othello.id))
        newest = say(chat, **to_people(cast.othello.id))
        assert fetch(chat, "recent_private_conversations") == {
            "recent_private_conversations": [
                {"max_message_id": newest, "user_ids": [cast.othello.id]},
                {"max_message_id": group, "user_ids": [cast.iago.id, cast.othello.id]},
                {"max_message_id": alone, "user_ids": []},
            ]
        }

    def test_scheduled_messages_and_devices(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        at = 1_795_262_400 + 3600
        form = {**to_people(cast.iago.id), "content": "Hi", "scheduled_delivery_timestamp": at}
        chat.post("/scheduled_messages", **form)
        chat.post("/register_client_device")
        scheduled = chat.get("/scheduled_messages")["scheduled_messages"]
        devices = chat.get("/users/me/devices")["devices"]
        assert len(scheduled) == len(devices) == 1
        found = {"scheduled_messages": scheduled, "devices": devices}
        assert fetch(chat, "scheduled_messages", "device") == found
        nothing = {"scheduled_messages": [], "devices": {}}
        assert fetch(as_othello, "scheduled_messages", "device") == nothing


class TestSettings:
    def test_own_settings_at_both_places(self, chat: ChatClient) -> None:
        chat.patch("/settings", twenty_four_hour_time=True, emojiset="set_b", timezone="Asia/Tokyo")
        chat.patch("/settings", pm_content_in_desktop_notifications=False)
        changed = {
            "twenty_four_hour_time": True,
            "emojiset": "twitter",
            "timezone": "Asia/Tokyo",
            "pm_content_in_desktop_notifications": False,
        }
        defaults = {each.name: each.default for each in setting_table.ALL}
        assert fetch(chat, "user_settings") == {
            "user_settings": {**defaults, **changed},
            "twenty_four_hour_time": True,
            "pm_content_in_desktop_notifications": False,
        }
        assert fetch(chat, "update_display_settings") == {"twenty_four_hour_time": True}
        told = {"pm_content_in_desktop_notifications": False}
        assert fetch(chat, "update_global_notifications") == told

    def test_defaults_of_new_users(self, as_cordelia: ChatClient) -> None:
        as_cordelia.patch("/realm", email_address_visibility=3, default_language="da")
        defaults = {each.name: each.default for each in setting_table.ALL}
        changed = {"email_address_visibility": 3, "default_language": "da", "emojiset": "google"}
        expected = {"realm_user_settings_defaults": {**defaults, **changed}}
        assert fetch(as_cordelia, "realm_user_settings_defaults") == expected

    def test_video_calls(self, chat: ChatClient) -> None:
        expected = {"has_vendor_token": False, "has_zoom_token": False}
        assert fetch(chat, "video_calls") == expected

    def test_unsupported_features_are_empty(self, chat: ChatClient) -> None:
        expected: dict[str, Any] = {
            "gif_rating_policy_options": {},
            "giphy_rating_options": {},
            "onboarding_steps": [],
            "realm_embedded_bots": [],
            "realm_incoming_webhook_bots": [],
            "stop_words": [],
        }
        plural = {"gif_rating_policy_options", "giphy_rating_options"}
        assert fetch(chat, "giphy", *(expected.keys() - plural)) == expected


class TestOrganization:
    def test_every_setting_is_listed(
        self, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        as_cordelia.patch("/realm", description="Rockets", topics_policy="disable_empty_topic")
        named = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
        as_cordelia.patch("/realm", can_resolve_topics_group={"new": named})
        found = fetch(as_cordelia, "realm")
        with chat_database.reading() as reader:
            row = reader.execute(Realm.__table__.select().where(Realm.id == cast.realm_id)).one()
        for name in (*SETTINGS, *OPERATOR_SETTINGS):
            none = -1 if name in CHANNEL_SETTINGS else None
            value = getattr(row, name)
            assert found[f"realm_{name}"] == (none if value is None else value)
        for name in REALM_GROUPS:
            expected = named if name == "can_resolve_topics_group" else getattr(row, name)
            assert found[f"realm_{name}"] == expected
        assert found["realm_mandatory_topics"] is True

    def test_other_facts(self, chat: ChatClient) -> None:
        server = chat.get("/server_settings")
        found = fetch(chat, "realm")
        settings = {f"realm_{name}" for name in (*SETTINGS, *OPERATOR_SETTINGS, *REALM_GROUPS)}
        accounts = found.pop("realm_default_external_accounts")
        types = found.pop("server_report_message_types")
        permissions = found.pop("server_supported_permission_settings")
        assert {kind: set(named) for kind, named in permissions.items()} == {
            "realm": set(REALM_GROUPS),
            "stream": set(CHANNEL_GROUPS),
            "group": set(USER_GROUP_GROUPS),
        }
        assert abs(found.pop("server_generation") - time.time()) < 3600
        assert accounts["github"] == {
            "name": "GitHub username",
            "text": "GitHub",
            "hint": "",
            "url_pattern": "https://github.com/%(username)s",
        }
        assert types[0] == {"key": "spam", "name": "Spam"}
        assert {key: value for key, value in found.items() if key not in settings} == {
            "realm_url": server["realm_url"],
            "realm_uri": server["realm_url"],
            "realm_bot_domain": "acme.example",
            "realm_date_created": 1_795_167_000,
            "realm_icon_url": server["realm_icon"],
            "realm_icon_source": "G",
            "realm_email_auth_enabled": True,
            "realm_password_auth_enabled": True,
            "realm_push_notifications_enabled": False,
            "realm_push_notifications_enabled_end_timestamp": None,
            "realm_allow_edit_history": True,
            "realm_mandatory_topics": False,
            "realm_wildcard_mention_policy": 5,
            "realm_signup_announcements_stream_id": -1,
            "realm_zulip_update_announcements_stream_id": -1,
            "realm_waiting_period_threshold": 0,
            "realm_default_code_block_language": "",
            "realm_presence_disabled": False,
            "max_message_length": 10_000,
            "max_topic_length": 60,
            "max_stream_name_length": 60,
            "max_stream_description_length": 1024,
            "max_channel_folder_name_length": 60,
            "max_channel_folder_description_length": 1024,
            "max_reminder_note_length": 500,
            "max_avatar_file_size_mib": 5,
            "max_file_upload_size_mib": 25,
            "realm_upload_quota_mib": 5120,
            "password_min_length": 8,
            "password_max_length": 100,
            "password_min_guesses": 10_000,
            "server_presence_ping_interval_seconds": 60,
            "server_presence_offline_threshold_seconds": 140,
            "server_typing_started_expiry_period_milliseconds": 15_000,
            "server_typing_stopped_wait_period_milliseconds": 5000,
            "server_typing_started_wait_period_milliseconds": 10_000,
            "server_avatar_changes_disabled": False,
            "server_name_changes_disabled": False,
            "server_needs_upgrade": False,
            "server_thumbnail_formats": [
                {
                    "name": "840x560.webp",
                    "max_width": 840,
                    "max_height": 560,
                    "format": "webp",
                    "animated": False,
                }
            ],
            "server_emoji_data_url": f"{server['realm_url']}{DATA_PATH}",
            "server_web_public_streams_enabled": True,
            "development_environment": True,
            "giphy_api_key": "",
            "settings_send_digest_emails": False,
            "zulip_plan_is_not_limited": True,
        }

    def test_strict_decoder_accepts_all_types(self, chat: ChatClient) -> None:
        """The types of go-zulip, which decodes neither values of other types nor null."""
        whole = fetch(chat, "realm", "default_streams")
        wanted = {
            "realm_default_streams": list,
            "realm_moderation_request_channel_id": int,
            "realm_new_stream_announcements_stream_id": int,
            "realm_signup_announcements_stream_id": int,
            "realm_zulip_update_announcements_stream_id": int,
            "server_generation": int,
            "server_supported_permission_settings": dict,
        }
        assert {name: type(whole[name]) for name in wanted} == wanted

    def test_server_accepts_the_groups_that_it_describes(self, as_cordelia: ChatClient) -> None:
        described = fetch(as_cordelia, "realm")["server_supported_permission_settings"]["realm"]
        groups = {
            each["name"]: each["id"] for each in as_cordelia.get("/user_groups")["user_groups"]
        }
        flags = {
            "role:internet": "allow_internet_group",
            "role:everyone": "allow_everyone_group",
            "role:nobody": "allow_nobody_group",
        }
        outcomes = set()
        for name, permission in described.items():
            only = permission["allowed_system_groups"]
            for group, group_id in groups.items():
                allowed = permission[flags[group]] if group in flags else True
                allowed = allowed and (not only or group in only)
                answer = as_cordelia.patch("/realm", **{name: group_id})
                assert (answer["result"] == "success") == allowed, (name, group)
                outcomes.add(allowed)
        assert outcomes == {True, False}

    def test_described_settings_of_channels_and_groups(self, chat: ChatClient) -> None:
        described = fetch(chat, "realm")["server_supported_permission_settings"]
        assert described["stream"]["can_administer_channel_group"] == {
            "require_system_group": False,
            "allow_internet_group": False,
            "allow_nobody_group": True,
            "allow_everyone_group": False,
            "default_group_name": "channel_creator",
            "default_for_system_groups": None,
            "allowed_system_groups": [],
        }
        assert described["group"]["can_manage_group"] == {
            **described["stream"]["can_administer_channel_group"],
            "default_group_name": "group_creator",
            "default_for_system_groups": "role:nobody",
        }

    @pytest.mark.parametrize(
        ("group", "policy"),
        [
            ("role:everyone", 1),
            ("role:members", 2),
            ("role:fullmembers", 3),
            ("role:moderators", 7),
            ("role:administrators", 5),
            ("role:nobody", 6),
        ],
    )
    def test_older_mention_policy(self, as_cordelia: ChatClient, group: str, policy: int) -> None:
        groups = {
            each["name"]: each["id"] for each in as_cordelia.get("/user_groups")["user_groups"]
        }
        as_cordelia.patch("/realm", can_mention_many_users_group={"new": groups[group]})
        assert fetch(as_cordelia, "realm")["realm_wildcard_mention_policy"] == policy

    def test_lists(self, as_iago: ChatClient, cast: Cast, chat_database: Database) -> None:
        as_iago.post("/realm/domains", domain="acme.example", allow_subdomains=True)
        template = "https://t.example/{n}"
        as_iago.post("/realm/filters", pattern="T(?P<n>[0-9]+)", url_template=template)
        playground = {
            "name": "Try it",
            "syntax_language": "Rust",
            "url_template": "https://play.example/?code={code}",
        }
        playground_id = as_iago.post("/realm/playgrounds", **playground)["id"]
        playground["pygments_language"] = playground.pop("syntax_language")
        rows = [
            {"name": name, "source_url": f"/{name}.png", "is_deactivated": name == "ghost"}
            | {"realm_id": realm_id, "author_id": cast.iago.id}
            for realm_id, name in ((cast.realm_id, "yorick"), (cast.realm_id, "ghost"))
        ]
        rows.append({**rows[0], "realm_id": cast.globex_id, "author_id": None})
        chat_database.run(lambda s: s.execute(insert(RealmEmoji), rows))
        linkifiers = as_iago.get("/realm/linkifiers")["linkifiers"]
        types = ("realm_domains", "realm_linkifiers", "realm_playgrounds", "realm_emoji")
        expected = {
            "realm_domains": as_iago.get("/realm/domains")["domains"],
            "realm_linkifiers": linkifiers,
            "realm_playgrounds": [
                {"id": playground_id, "pygments_language": "Rust", **playground},
            ],
            "realm_emoji": {
                str(number): {
                    "id": str(number),
                    "name": name,
                    "source_url": f"/{name}.png",
                    "still_url": None,
                    "deactivated": name == "ghost",
                    "author_id": cast.iago.id,
                }
                for number, name in ((1, "yorick"), (2, "ghost"))
            },
        }
        assert fetch(as_iago, *types, **capable_of("linkifier_url_template")) == expected
        assert fetch(as_iago, *types) == {**expected, "realm_linkifiers": []}


def test_snapshot_is_consistent(
    chat: ChatClient, cast: Cast, chat_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part contains changes that are committed while the snapshot is read."""
    really = queues.find_head

    def find_head(reader: Any, realm_id: int) -> int:
        head = really(reader, realm_id)
        renamed = update(Realm).where(Realm.id == realm_id).values(name="Globex Acme")
        chat_database.run(lambda s: s.execute(renamed))
        return head

    monkeypatch.setattr(queues, "find_head", find_head)
    assert fetch(chat, "realm")["realm_name"] == "Acme"
    monkeypatch.undo()
    assert fetch(chat, "realm")["realm_name"] == "Globex Acme"
