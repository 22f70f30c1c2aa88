"""Operations of the tag muted_users, and the effect of muting on messages."""

from typing import Any

import pytest
from sqlalchemy import func, select

from handlers.chat.wire import steps
from models.chat.reading import marking
from models.chat.tables import MutedUser
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.chat.rows import change_user
from tests.support.frozen_clock import FrozenClock

PATH = "/users/me/muted_users/{}"


NO_USER = bad("No such user")


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(
            s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello, cast.iago]
        )
    )


@pytest.fixture
def place(chat: ChatClient, queues: Queues) -> Place:
    """Hamlet's queue."""
    return queues.open(chat)


def muted(client: ChatClient) -> list[dict[str, int]]:
    return list(client.post("/register", fetch_event_types=["muted_users"])["muted_users"])


def say(client: ChatClient, to: Any, content: str = "Words") -> int:
    kind = {"type": "channel", "topic": "t"} if isinstance(to, int) else {"type": "direct"}
    return int(client.post("/messages", to=to, content=content, **kind)["id"])


def is_read(client: ChatClient, message_id: int) -> bool:
    return "read" in client.get(f"/messages/{message_id}")["message"]["flags"]


class TestMuteUser:
    def test_mutes_users_and_bots(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, place: Place, queues: Queues,
        clock: FrozenClock, chat_database: Database,
    ) -> None:  # fmt: skip
        other_queue = queues.open(as_othello)
        change_user(chat_database, cast.ophelia.id, is_active=False)
        at = int(clock.now().timestamp())
        expected = []
        for number, user in enumerate((cast.othello, cast.reminder, cast.ophelia)):
            assert chat.post(PATH.format(user.id)) == DONE
            expected.append({"id": user.id, "timestamp": at + number})
            [event] = place.read()
            assert event == {"id": event["id"], "type": "muted_users", "muted_users": expected}
            clock.advance(seconds=1)
        assert muted(chat) == expected
        assert chat.post(PATH.format(cast.othello.id)) == bad("User already muted")
        assert muted(chat) == expected
        assert (muted(as_othello), other_queue.read()) == ([], []), "other users receive no event"

    def test_rejects_invalid_users(
        self, chat: ChatClient, as_nobody: ChatClient, cast: Cast, place: Place
    ) -> None:
        assert chat.post(PATH.format(cast.hamlet.id)) == bad("Cannot mute self")
        for unknown_id in (cast.hank.id, cast.notification_bot_id, 999_999):
            assert chat.post(PATH.format(unknown_id)) == NO_USER
        assert muted(chat) == place.read() == []
        path = PATH.format(cast.othello.id)
        assert as_nobody.request("POST", path, {}).status_code == 401

    def test_guests_and_bots_are_allowed(
        self, as_polonius: ChatClient, as_reminder: ChatClient, cast: Cast
    ) -> None:
        for client in (as_polonius, as_reminder):
            assert client.post(PATH.format(cast.othello.id)) == DONE
            assert [each["id"] for each in muted(client)] == [cast.othello.id]

    def test_new_messages_are_read(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast,
        denmark: int, place: Place,
    ) -> None:  # fmt: skip
        assert chat.post(PATH.format(cast.othello.id)) == DONE
        sent = [
            say(as_othello, denmark),
            say(as_othello, denmark, "@**Hamlet** @**all**"),
            say(as_othello, [cast.hamlet.id, cast.iago.id]),
        ]
        heard = [event for event in place.read() if event["type"] == "message"]
        assert [event["flags"][0] for event in heard] == ["read"] * 3
        assert "mentioned" in heard[1]["flags"]
        for message_id in sent:
            assert is_read(chat, message_id)
            assert not is_read(as_iago, message_id)
        for other in (say(as_iago, denmark), say(as_iago, denmark, "@**Hamlet**")):
            assert not is_read(chat, other)
        assert chat.delete(PATH.format(cast.othello.id)) == DONE
        assert not is_read(chat, say(as_othello, denmark))
        assert is_read(chat, sent[0])

    def test_unread_messages_become_read(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast,
        denmark: int, place: Place, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        message_ids = [say(as_othello, denmark) for _ in range(3)]
        message_ids.append(say(as_othello, [cast.hamlet.id]))
        other = say(as_iago, denmark)
        message_ids.append(say(as_othello, denmark))
        place.read()
        monkeypatch.setattr(marking, "STEP", 2)
        marking._unread.cache_clear()
        assert chat.post(PATH.format(cast.othello.id)) == DONE
        marking._unread.cache_clear()
        first, *marked = place.read()
        assert first["type"] == "muted_users"
        named = [message for event in marked for message in event["messages"]]
        assert named == message_ids
        assert {(event["type"], event["op"], event["flag"]) for event in marked} == {
            ("update_message_flags", "add", "read")
        }
        assert all(is_read(chat, message_id) for message_id in message_ids)
        assert not is_read(chat, other)
        assert not is_read(as_iago, message_ids[0])

    def test_time_is_limited(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        message_id = say(as_othello, denmark)
        monkeypatch.setattr(steps, "LONGEST_S", 0.0)
        assert chat.post(PATH.format(cast.othello.id)) == DONE
        assert not is_read(chat, message_id)


class TestUnmuteUser:
    def test_unmutes_muted_users_only(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, place: Place
    ) -> None:
        path = PATH.format(cast.othello.id)
        assert chat.delete(path) == bad("User is not muted")
        assert chat.post(path) == DONE
        place.read()
        assert as_othello.delete(PATH.format(cast.iago.id)) == bad("User is not muted")
        assert chat.delete(path) == DONE
        [event] = place.read()
        assert event == {"id": event["id"], "type": "muted_users", "muted_users": []}
        assert muted(chat) == []
        assert chat.delete(path) == bad("User is not muted")
        for unknown_id in (cast.hank.id, 999_999):
            assert chat.delete(PATH.format(unknown_id)) == NO_USER

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, cast: Cast) -> None:
        path = PATH.format(cast.othello.id)
        assert as_nobody.request("DELETE", path, {}).status_code == 401


def test_deleted_with_the_profile(
    chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient, cast: Cast,
    chat_database: Database,
) -> None:  # fmt: skip
    chat.post(PATH.format(cast.iago.id))
    as_othello.post(PATH.format(cast.hamlet.id))
    ended = as_cordelia.delete(f"/users/{cast.hamlet.id}", actions={"delete_profile": True})
    assert ended["result"] == "success"
    assert [each["id"] for each in muted(as_othello)] == [cast.hamlet.id]
    with chat_database.reading() as reader:
        assert reader.execute(select(func.count()).select_from(MutedUser)).scalar_one() == 1
