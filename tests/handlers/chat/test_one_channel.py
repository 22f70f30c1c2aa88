"""Single channels and their subscribers, of the tags channels and subscriptions."""

from typing import Any

import pytest

from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

ABSENT = 2147483647


HIDDEN = bad("Invalid channel ID")
NO_SUCH_USER = bad("No such user")


def ok(**data: Any) -> dict[str, Any]:
    return {"result": "success", "msg": "", **data}


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    """A public channel of Hamlet, Othello and Polonius, who is a guest."""
    people = [cast.hamlet, cast.othello, cast.polonius]
    return chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=people))


@pytest.fixture
def vault(chat_database: Database, cast: Cast) -> int:
    """A private channel of Othello. Cordelia is an administrator of the organization."""
    return chat_database.run(
        lambda s: make_channel(s, cast, "vault", subscribers=[cast.othello], invite_only=True)
    )


class TestGetChannel:
    def test_returns_the_channel_as_in_the_list(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        (listed,) = chat.get("/streams")["streams"]
        assert listed["stream_id"] == denmark
        assert chat.get(f"/streams/{denmark}") == ok(stream=listed)
        gone = chat_database.run(lambda s: make_channel(s, cast, "gone", is_archived=True))
        archived = chat.get(f"/streams/{gone}")["stream"]
        assert (archived["name"], archived["is_archived"]) == ("gone", True)

    def test_requires_access(
        self, chat: ChatClient, as_cordelia: ChatClient, vault: int, denmark: int, cast: Cast
    ) -> None:
        assert as_cordelia.get(f"/streams/{vault}")["stream"]["name"] == "vault"
        assert chat.get(f"/streams/{vault}") == HIDDEN
        assert chat.get(f"/streams/{ABSENT}") == HIDDEN
        guest = chat.acting_as(cast.polonius)
        assert guest.get(f"/streams/{denmark}")["stream"]["name"] == "Denmark"
        assert chat.acting_as(cast.hank).get(f"/streams/{denmark}") == HIDDEN

    def test_hides_its_creator_from_a_restricted_guest(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, cast: Cast
    ) -> None:
        members = ids_of(chat)["role:members"]
        as_cordelia.patch("/realm", can_access_all_users_group={"new": members})
        assert chat.get(f"/streams/{denmark}")["stream"]["creator_id"] == cast.cordelia.id
        guest = chat.acting_as(cast.polonius).get(f"/streams/{denmark}")["stream"]
        assert guest["creator_id"] is None
        assert guest["can_administer_channel_group"] == {
            "direct_members": [],
            "direct_subgroups": [],
        }

    def test_rejects_missing_credentials(self, chat: ChatClient, denmark: int) -> None:
        answer = chat.acting_as(None).request("GET", f"/streams/{denmark}")
        assert answer.status_code == 401


class TestListChannelSubscribers:
    def test_lists_active_subscribers(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, vault: int, cast: Cast
    ) -> None:
        path = f"/streams/{denmark}/members"
        three = sorted([cast.hamlet.id, cast.othello.id, cast.polonius.id])
        assert chat.get(path) == ok(subscribers=three)
        assert chat.acting_as(cast.polonius).get(path) == ok(subscribers=three)
        chat.delete("/users/me/subscriptions", subscriptions=["Denmark"])
        as_cordelia.delete(f"/users/{cast.othello.id}")
        assert chat.get(path) == ok(subscribers=[cast.polonius.id])
        assert as_cordelia.get(f"/streams/{vault}/members") == ok(subscribers=[])

    def test_hidden_channel_is_not_found(self, chat: ChatClient, vault: int) -> None:
        assert chat.get(f"/streams/{vault}/members") == HIDDEN
        assert chat.get(f"/streams/{ABSENT}/members") == HIDDEN

    def test_restricted_guest_sees_known_users_only(
        self, chat: ChatClient, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        people = [cast.hamlet, cast.othello]
        web = chat_database.run(
            lambda s: (
                make_channel(s, cast, "shared", subscribers=[cast.othello, cast.polonius]),
                make_channel(s, cast, "web", subscribers=people, is_web_public=True),
            )
        )[1]
        guest = chat.acting_as(cast.polonius)
        path = f"/streams/{web}/members"
        assert guest.get(path) == ok(subscribers=sorted([cast.hamlet.id, cast.othello.id]))
        members = ids_of(chat)["role:members"]
        as_cordelia.patch("/realm", can_access_all_users_group={"new": members})
        assert guest.get(path) == ok(subscribers=[cast.othello.id])

    def test_rejects_missing_credentials(self, chat: ChatClient, denmark: int) -> None:
        answer = chat.acting_as(None).request("GET", f"/streams/{denmark}/members")
        assert answer.status_code == 401


class TestGetSubscriptionStatus:
    def test_returns_whether_a_user_is_subscribed(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, vault: int, cast: Cast
    ) -> None:
        path = f"/users/{cast.othello.id}/subscriptions"
        assert chat.get(f"{path}/{denmark}") == ok(is_subscribed=True)
        assert as_cordelia.get(f"{path}/{vault}") == ok(is_subscribed=True)
        bot = f"/users/{cast.reminder.id}/subscriptions/{denmark}"
        assert chat.get(bot) == ok(is_subscribed=False)
        chat.acting_as(cast.othello).delete(
            "/users/me/subscriptions", subscriptions=["Denmark", "vault"]
        )
        assert chat.get(f"{path}/{denmark}") == ok(is_subscribed=False)

    def test_hidden_equals_absent(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, vault: int, cast: Cast
    ) -> None:
        path = f"/users/{cast.othello.id}/subscriptions"
        assert chat.get(f"{path}/{vault}") == HIDDEN
        assert chat.get(f"{path}/{ABSENT}") == HIDDEN
        assert chat.get(f"/users/{ABSENT}/subscriptions/{denmark}") == NO_SUCH_USER
        assert chat.get(f"/users/{cast.hank.id}/subscriptions/{denmark}") == NO_SUCH_USER
        members = ids_of(chat)["role:members"]
        as_cordelia.patch("/realm", can_access_all_users_group={"new": members})
        guest = chat.acting_as(cast.polonius)
        assert guest.get(f"{path}/{denmark}") == ok(is_subscribed=True)
        assert guest.get(f"/users/{cast.iago.id}/subscriptions/{denmark}") == NO_SUCH_USER

    def test_deactivated_user(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, cast: Cast
    ) -> None:
        as_cordelia.delete(f"/users/{cast.othello.id}")
        answer = chat.get(f"/users/{cast.othello.id}/subscriptions/{denmark}")
        assert answer == bad("User is deactivated")

    def test_rejects_missing_credentials(self, chat: ChatClient, denmark: int, cast: Cast) -> None:
        path = f"/users/{cast.othello.id}/subscriptions/{denmark}"
        assert chat.acting_as(None).request("GET", path).status_code == 401
