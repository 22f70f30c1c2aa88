"""Operations of the tag drafts, their events, and the setting that disables them."""

from typing import Any

import pytest
from sqlalchemy import func, select

from models.chat.tables import StoredDraft
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.chat.rows import change_user
from tests.support.frozen_clock import FrozenClock

ABSENT = bad("Draft does not exist")
DISABLED = bad("User has disabled synchronizing drafts.")
NO_RECIPIENT: dict[str, Any] = {"type": "", "to": [], "topic": "", "content": "To whom"}


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet], invite_only=True)
    )


@pytest.fixture
def place(chat: ChatClient, queues: Queues) -> Place:
    """Hamlet's queue."""
    return queues.open(chat)


def listed(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get("/drafts")
    assert answer == {**DONE, "count": len(answer["drafts"]), "drafts": answer["drafts"]}
    return list(answer["drafts"])


def store(client: ChatClient, **over: Any) -> int:
    [made] = client.post("/drafts", drafts=[NO_RECIPIENT | over])["ids"]
    return int(made)


class TestCreateDrafts:
    def test_creates_for_channel_users_and_no_recipient(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int,
        place: Place, queues: Queues, clock: FrozenClock,
    ) -> None:  # fmt: skip
        other_queue = queues.open(as_othello)
        now = int(clock.now().timestamp())
        me, othello, iago = cast.hamlet.id, cast.othello.id, cast.iago.id
        cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
            (
                {"type": "stream", "to": [denmark], "topic": " castle ", "timestamp": 90.75},
                {"type": "stream", "to": [denmark], "topic": "castle", "timestamp": 90},
            ),
            (
                {"type": "private", "to": [iago, othello, iago, me], "topic": "castle"},
                {"type": "private", "to": sorted([othello, iago])},
            ),
            ({"type": "private", "to": [me]}, {"type": "private", "to": [me]}),
            ({"type": "private"}, {}),
            ({"to": [denmark, 10**9], "topic": "castle"}, {"to": []}),
            (
                {"type": "stream", "to": [denmark], "topic": "t" * 61, "content": "c" * 10_001},
                {
                    "type": "stream", "to": [denmark], "topic": "t" * 57 + "...",
                    "content": "c" * (10_000 - 20) + "\n[message truncated]",
                },
            ),
        ]  # fmt: skip
        made = chat.post("/drafts", drafts=[NO_RECIPIENT | sent for sent, _ in cases])
        ids = made["ids"]
        assert made == {**DONE, "ids": sorted(ids)}
        drafts = [
            NO_RECIPIENT | {"timestamp": now} | shown | {"id": draft_id}
            for draft_id, (_, shown) in zip(ids, cases, strict=True)
        ]
        newest_first = [*reversed(drafts[1:]), drafts[0]]
        assert listed(chat) == newest_first
        assert chat.post("/register", fetch_event_types=["drafts"])["drafts"] == newest_first
        [event] = place.read()
        assert event == {"id": event["id"], "type": "drafts", "op": "add", "drafts": drafts}
        assert other_queue.read() == []
        assert listed(as_othello) == []

    def test_empty_list_creates_nothing(self, chat: ChatClient, place: Place) -> None:
        assert chat.post("/drafts", drafts=[]) == {**DONE, "ids": []}
        assert place.read() == []

    def test_creates_all_or_none(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int,
        chat_database: Database, place: Place,
    ) -> None:  # fmt: skip
        change_user(chat_database, cast.ophelia.id, is_active=False)
        gone = f"'{cast.ophelia.email}' is no longer using Zulip."
        channel = {"type": "stream", "to": [denmark]}
        for who, wrong, msg in (
            (chat, {"content": " \n "}, "Message must not be empty"),
            (chat, {"content": "a\0b"}, 'drafts[1]["content"] must not contain null bytes'),
            (chat, {"timestamp": -1}, "Timestamp must not be negative."),
            (chat, {"type": "stream"}, "Must specify exactly 1 channel ID for channel messages"),
            (
                chat,
                {"type": "stream", "to": [denmark, denmark]},
                "Must specify exactly 1 channel ID for channel messages",
            ),
            (chat, channel | {"topic": "a\nb"}, "Invalid character in topic, at position 2!"),
            (chat, {"type": "stream", "to": [10**9]}, "Invalid channel ID"),
            (as_othello, channel, "Invalid channel ID"),
            (chat, {"type": "private", "to": [10**9]}, f"Invalid user ID {10**9}"),
            (chat, {"type": "private", "to": [cast.hank.id]}, f"Invalid user ID {cast.hank.id}"),
            (chat, {"type": "private", "to": [cast.ophelia.id]}, gone),
        ):
            assert who.post("/drafts", drafts=[NO_RECIPIENT, NO_RECIPIENT | wrong]) == bad(msg), msg
            assert listed(who) == []
        assert place.read() == []

    def test_rejects_invalid_drafts(self, chat: ChatClient) -> None:
        for wrong in (
            {"type": "direct"},
            {"to": 5},
            {"to": ["hamlet@acme.example"]},
            {"id": 7},
            {"timestamp": "now"},
        ):
            answer = chat.post("/drafts", drafts=[NO_RECIPIENT | wrong])
            assert (answer["result"], answer["code"]) == ("error", "BAD_REQUEST"), wrong
        short = {name: NO_RECIPIENT[name] for name in ("type", "to", "topic")}
        assert chat.post("/drafts", drafts=[short])["result"] == "error"
        assert chat.post("/drafts")["code"] == "REQUEST_VARIABLE_MISSING"
        assert listed(chat) == []


class TestUpdateDraft:
    def test_replaces_only_own_drafts(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, place: Place
    ) -> None:
        first, second = store(chat, timestamp=100), store(chat, timestamp=200)
        place.read()
        new = {"type": "stream", "to": [denmark], "topic": "ghost", "content": "Words"}
        assert chat.patch(f"/drafts/{first}", draft={**new, "timestamp": 300}) == DONE
        changed = {**new, "id": first, "timestamp": 300}
        assert listed(chat) == [changed, NO_RECIPIENT | {"id": second, "timestamp": 200}]
        [event] = place.read()
        assert event == {"id": event["id"], "type": "drafts", "op": "update", "draft": changed}
        for client, path in ((as_othello, f"/drafts/{first}"), (chat, "/drafts/999999")):
            response = client.request("PATCH", path, {"draft": NO_RECIPIENT})
            assert (response.status_code, response.json()) == (404, ABSENT)
        wrong = chat.patch(f"/drafts/{first}", draft=NO_RECIPIENT | {"content": ""})
        assert wrong == bad("Message must not be empty")
        assert listed(chat)[0] == changed
        assert place.read() == []


class TestDeleteDraft:
    def test_deletes_only_own_drafts(
        self, chat: ChatClient, as_othello: ChatClient, place: Place
    ) -> None:
        draft = store(chat)
        place.read()
        for client, path in ((as_othello, f"/drafts/{draft}"), (chat, "/drafts/999999")):
            response = client.request("DELETE", path, {})
            assert (response.status_code, response.json()) == (404, ABSENT)
        assert [each["id"] for each in listed(chat)] == [draft]
        assert chat.delete(f"/drafts/{draft}") == DONE
        assert chat.delete(f"/drafts/{draft}") == ABSENT
        [event] = place.read()
        assert event == {"id": event["id"], "type": "drafts", "op": "remove", "draft_id": draft}
        assert listed(chat) == []


class TestListDrafts:
    def test_rejected_if_the_setting_is_off(
        self, chat: ChatClient, as_othello: ChatClient, place: Place, chat_database: Database
    ) -> None:
        own_draft, other_draft = store(chat), store(as_othello)
        place.read()
        assert chat.patch("/settings", enable_drafts_synchronization=False)["result"] == "success"
        assert [event["type"] for event in place.read()] == ["user_settings"]
        for answer in (
            chat.get("/drafts"),
            chat.post("/drafts", drafts=[NO_RECIPIENT]),
            chat.patch(f"/drafts/{own_draft}", draft=NO_RECIPIENT),
            chat.delete(f"/drafts/{own_draft}"),
        ):
            assert answer == DISABLED
        assert chat.post("/register", fetch_event_types=["drafts"])["drafts"] == []
        assert [draft["id"] for draft in listed(as_othello)] == [other_draft]
        assert chat.patch("/settings", enable_drafts_synchronization=True)["result"] == "success"
        assert listed(chat) == []

    def test_guests_and_bots_have_drafts(
        self, as_nobody: ChatClient, as_polonius: ChatClient, as_reminder: ChatClient
    ) -> None:
        assert as_nobody.get("/drafts")["code"] == "UNAUTHORIZED"
        for client in (as_polonius, as_reminder):
            draft_id = store(client)
            assert [draft["id"] for draft in listed(client)] == [draft_id]
            assert client.delete(f"/drafts/{draft_id}") == DONE

    def test_rejected_if_disabled_by_an_administrator(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast
    ) -> None:
        store(chat), store(as_othello)
        targets = {"user_ids": [cast.hamlet.id, cast.othello.id]}
        off = {"target_users": targets, "enable_drafts_synchronization": False}
        assert as_iago.patch("/settings", **off)["result"] == "success"
        for client in (chat, as_othello):
            assert client.get("/drafts") == DISABLED


def test_deleted_with_the_profile(
    chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient, cast: Cast,
    chat_database: Database,
) -> None:  # fmt: skip
    store(chat), store(as_othello)
    removal = {"delete_profile": True}
    ended = as_cordelia.delete(f"/users/{cast.hamlet.id}", actions=removal)
    assert ended["result"] == "success"
    with chat_database.reading() as reader:
        left = reader.execute(select(StoredDraft.user_id)).scalars().all()
        assert left == [cast.othello.id]
        assert reader.execute(select(func.count()).select_from(StoredDraft)).scalar_one() == 1
