"""Operations of the tag channels."""

from typing import Any

import pytest
from sqlalchemy import update

from models.chat.tables import Channel
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import open_channel
from tests.support.chat.people import Cast


def names_of(client: ChatClient, **query: Any) -> list[str]:
    return [channel["name"] for channel in client.get("/streams", **query)["streams"]]


def archive(database: Database, channel_id: int) -> None:
    database.run(
        lambda s: s.execute(
            update(Channel).where(Channel.id == channel_id).values(is_archived=True)
        )
    )


@pytest.fixture
def channels(
    chat: ChatClient,
    as_cordelia: ChatClient,
    as_othello: ChatClient,
    chat_database: Database,
    cast: Cast,
) -> dict[str, int]:
    """Create one channel of each kind and return their ids by name."""
    as_cordelia.patch("/realm", enable_spectator_access=True)
    gone = open_channel(chat, "archived")
    archive(chat_database, gone)
    return {
        "archived": gone,
        "public": open_channel(chat, "public"),
        "web": open_channel(as_cordelia, "web", is_web_public=True),
        "private": open_channel(chat, "private", invite_only=True),
        "guests": open_channel(as_othello, "guests", principals=[cast.polonius.id]),
        "hidden": open_channel(as_othello, "hidden", invite_only=True),
        "joinable": open_channel(
            as_othello,
            "joinable",
            invite_only=True,
            can_subscribe_group={"direct_members": [cast.hamlet.id], "direct_subgroups": []},
        ),
    }


class TestListChannels:
    def test_returns_all_fields(self, chat: ChatClient, cast: Cast) -> None:
        chat.post(
            "/users/me/subscriptions",
            subscriptions=[{"name": " Elsinore ", "description": "Who's *there*?\nNay"}],
            send_new_subscription_messages=False,
        )
        (channel,) = chat.get("/streams")["streams"]
        groups = ids_of(chat)
        nobody, everyone = groups["role:nobody"], groups["role:everyone"]
        first = channel.pop("first_message_id")
        assert first is None or isinstance(first, int)
        assert channel == {
            "stream_id": channel["stream_id"],
            "name": "Elsinore",
            "description": "Who's *there*? Nay",
            "rendered_description": "<p>Who's <em>there</em>? Nay</p>",
            "invite_only": False,
            "is_web_public": False,
            "history_public_to_subscribers": True,
            "is_archived": False,
            "is_recently_active": True,
            "creator_id": cast.hamlet.id,
            "date_created": 1795262400,
            "folder_id": None,
            "message_retention_days": None,
            "topics_policy": "inherit",
            "stream_post_policy": 1,
            "is_announcement_only": False,
            "subscriber_count": 1,
            "stream_weekly_traffic": None,
            "can_add_subscribers_group": nobody,
            "can_administer_channel_group": {
                "direct_members": [cast.hamlet.id],
                "direct_subgroups": [],
            },
            "can_create_topic_group": everyone,
            "can_delete_any_message_group": nobody,
            "can_delete_own_message_group": nobody,
            "can_move_messages_out_of_channel_group": nobody,
            "can_move_messages_within_channel_group": nobody,
            "can_remove_subscribers_group": groups["role:administrators"],
            "can_resolve_topics_group": nobody,
            "can_send_message_group": everyone,
            "can_subscribe_group": nobody,
        }

    @pytest.mark.parametrize(
        ("who", "query", "names"),
        [
            ("hamlet", {}, "public web private guests"),
            ("hamlet", {"include_subscribed": False}, "public web guests"),
            ("hamlet", {"include_public": False}, "public private"),
            ("hamlet", {"include_public": False, "include_subscribed": False}, ""),
            (
                "hamlet",
                {
                    "include_public": False,
                    "include_subscribed": False,
                    "include_web_public": True,
                },
                "web",
            ),
            ("hamlet", {"exclude_archived": False}, "archived public web private guests"),
            (
                "hamlet",
                {"include_can_access_content": True},
                "public web private guests joinable",
            ),
            ("hamlet", {"include_all": True}, "public web private guests joinable"),
            ("iago", {}, "public web guests"),
            ("iago", {"include_all": True}, "public web private guests hidden joinable"),
            (
                "iago",
                {"include_all": True, "exclude_archived": False},
                "archived public web private guests hidden joinable",
            ),
            ("iago", {"include_can_access_content": True}, "public web guests"),
            ("iago", {"include_all_active": True}, "public web private guests hidden joinable"),
            ("polonius", {}, "web guests"),
            ("polonius", {"include_all": True}, "web guests"),
            ("polonius", {"include_public": False}, "guests"),
            ("reminder", {"include_public": False}, ""),
            (
                "reminder",
                {"include_public": False, "include_owner_subscribed": True},
                "public private",
            ),
            ("hank", {"include_all": True, "exclude_archived": False}, ""),
        ],
    )
    def test_lists_requested_and_visible_channels(
        self,
        chat: ChatClient,
        channels: dict[str, int],
        cast: Cast,
        who: str,
        query: dict[str, bool],
        names: str,
    ) -> None:
        assert names_of(chat.acting_as(getattr(cast, who)), **query) == names.split()

    def test_marks_default_channels(self, as_iago: ChatClient) -> None:
        open_channel(as_iago, "plain")
        open_channel(as_iago, "welcome", is_default_stream=True)
        plain, welcome = as_iago.get("/streams", include_default=True)["streams"]
        assert (plain["is_default"], welcome["is_default"]) == (False, True)

    def test_older_parameter_works_for_administrators(self, chat: ChatClient) -> None:
        answer = chat.get("/streams", include_all_active=True)
        assert answer == bad("User not authorized for this query")

    @pytest.mark.parametrize(
        ("group", "policy"),
        [
            ("role:everyone", 1),
            ("role:members", 1),
            ("role:administrators", 2),
            ("role:fullmembers", 3),
            ("role:moderators", 4),
        ],
    )
    def test_send_permission_has_the_older_form_too(
        self, chat: ChatClient, group: str, policy: int
    ) -> None:
        open_channel(chat, "stage", can_send_message_group=ids_of(chat)[group])
        (channel,) = chat.get("/streams")["streams"]
        assert channel["stream_post_policy"] == policy
        assert channel["is_announcement_only"] is (policy == 2)

    def test_counts_active_subscribers(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        open_channel(chat, "stage", principals=[cast.hamlet.id, cast.othello.id, cast.iago.id])
        assert chat.get("/streams")["streams"][0]["subscriber_count"] == 3
        chat.delete("/users/me/subscriptions", subscriptions=["stage"])
        assert chat.get("/streams")["streams"][0]["subscriber_count"] == 2

    def test_reports_unknown_parameters(self, chat: ChatClient) -> None:
        assert chat.get("/streams", order="name") == {
            "result": "success",
            "msg": "",
            "streams": [],
            "ignored_parameters_unsupported": ["order"],
        }

    @pytest.mark.parametrize(
        "name",
        [
            "exclude_archived",
            "include_all",
            "include_all_active",
            "include_can_access_content",
            "include_default",
            "include_owner_subscribed",
            "include_public",
            "include_subscribed",
            "include_web_public",
        ],
    )
    def test_requires_booleans(self, chat: ChatClient, name: str) -> None:
        assert chat.get("/streams", **{name: "yes"}) == bad(f"{name} is not valid JSON")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/streams").status_code == 401


class TestGetChannelId:
    @pytest.mark.parametrize("spelling", ["private", "PRIVATE", " Private "])
    def test_finds_a_channel_in_any_case(
        self, chat: ChatClient, channels: dict[str, int], spelling: str
    ) -> None:
        assert chat.get("/get_stream_id", stream=spelling) == {
            "result": "success",
            "msg": "",
            "stream_id": channels["private"],
        }

    @pytest.mark.parametrize(
        ("who", "name", "found"),
        [
            ("hamlet", "public", True),
            ("hamlet", "hidden", False),
            ("hamlet", "joinable", True),
            ("hamlet", "nowhere", False),
            ("iago", "hidden", True),
            ("polonius", "public", False),
            ("polonius", "web", True),
            ("polonius", "guests", True),
            ("hank", "public", False),
        ],
    )
    def test_hides_channels_without_access(
        self,
        chat: ChatClient,
        channels: dict[str, int],
        cast: Cast,
        who: str,
        name: str,
        found: bool,
    ) -> None:
        answer = chat.acting_as(getattr(cast, who)).get("/get_stream_id", stream=name)
        if found:
            assert answer["stream_id"] == channels[name]
        else:
            assert answer == bad(f"Invalid channel name '{name}'")

    def test_requires_a_name(self, chat: ChatClient) -> None:
        assert chat.get("/get_stream_id") == bad(
            "Missing 'stream' argument", "REQUEST_VARIABLE_MISSING", var_name="stream"
        )

    def test_limits_the_name(self, chat: ChatClient) -> None:
        answer = chat.get("/get_stream_id", stream="x" * 1001)
        assert answer == bad("stream is too long (limit: 1000 characters)")
        answer = chat.get("/get_stream_id", stream="x" * 1000)
        assert answer == bad(f"Invalid channel name '{'x' * 1000}'")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/get_stream_id?stream=x").status_code == 401
