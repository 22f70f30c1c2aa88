"""Operations of the tag bot_storage."""

from typing import Any
from unittest.mock import patch

from sqlalchemy import func, select

from models.chat.tables import BotStorage
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import Cast

PATH = "/bot_storage"
ABSENT = bad("Key does not exist.")


def stored(client: ChatClient, **query: Any) -> dict[str, str]:
    answer = client.get(PATH, **query)
    assert answer == {**DONE, "storage": answer["storage"]}
    return dict(answer["storage"])


class TestUpdateBotStorage:
    def test_adds_and_replaces_values(self, as_reminder: ChatClient, chat: ChatClient) -> None:
        assert as_reminder.put(PATH, storage={"visits": "1", "Ünïcode ☃": '{"a": 1}'}) == DONE
        assert as_reminder.put(PATH, storage={"visits": "2", "VISITS": "", "": "x"}) == DONE
        assert as_reminder.put(PATH, storage={}) == DONE
        assert stored(as_reminder) == {
            "": "x", "VISITS": "", "visits": "2", "Ünïcode ☃": '{"a": 1}',
        }  # fmt: skip
        assert stored(chat) == {}, "storage is per user"

    def test_rejects_invalid_requests(
        self, as_reminder: ChatClient, as_nobody: ChatClient, chat_app: ChatApp
    ) -> None:
        assert as_reminder.put(PATH, storage={"kept": "1234"}) == DONE
        full = "Request exceeds storage limit by {} characters. The limit is 20 characters."
        with patch.dict(chat_app.settings.chat_quotas, bot_storage_characters=20):
            assert as_reminder.put(PATH, storage={"more": "x" * 9}) == bad(full.format(1))
            assert as_reminder.put(PATH, storage={"kept": "x" * 20}) == bad(full.format(4))
            assert as_reminder.put(PATH, storage={"kept": "x" * 8, "more": "1234"}) == DONE
        long = bad("A key is too long (limit: 250 characters).")
        assert as_reminder.put(PATH, storage={"k" * 251: "x", "other": "x"}) == long
        assert as_reminder.put(PATH, storage={"k" * 250: "x"}) == DONE
        for wrong in ({"k": 1}, {"k": None}, [], "x"):
            assert as_reminder.put(PATH, storage=wrong)["result"] == "error"
        assert as_reminder.put(PATH)["code"] == "REQUEST_VARIABLE_MISSING"
        assert stored(as_reminder).keys() == {"kept", "more", "k" * 250}
        assert as_nobody.request("PUT", PATH, {}).status_code == 401

    def test_stored_sizes_are_those_of_the_values(
        self, as_reminder: ChatClient, chat_database: Database
    ) -> None:
        for value in ("é" * 7, "1"):
            as_reminder.put(PATH, storage={"key": value})
            with chat_database.reading() as reader:
                size = reader.execute(select(func.sum(BotStorage.size))).scalar_one()
            assert size == 3 + len(value)


class TestGetBotStorage:
    def test_returns_some_or_all_values(
        self, as_reminder: ChatClient, chat: ChatClient, as_nobody: ChatClient
    ) -> None:
        assert chat.put(PATH, storage={"mine": "m"}) == DONE
        assert as_reminder.put(PATH, storage={"a": "1", "b": "2", "c": "3"}) == DONE
        assert stored(as_reminder, keys=["c", "a", "c"]) == {"a": "1", "c": "3"}
        assert stored(as_reminder, keys=[]) == stored(as_reminder)
        assert stored(as_reminder) == {"a": "1", "b": "2", "c": "3"}
        for unknown in (["mine"], ["a", "d"], ["A"]):
            assert as_reminder.get(PATH, keys=unknown) == ABSENT
        assert as_nobody.request("GET", PATH).status_code == 401


class TestRemoveBotStorage:
    def test_removes_some_or_all_values(
        self, as_reminder: ChatClient, chat: ChatClient, as_nobody: ChatClient
    ) -> None:
        assert chat.put(PATH, storage={"a": "m"}) == DONE
        assert as_reminder.put(PATH, storage={"a": "1", "b": "2", "c": "3"}) == DONE
        assert as_reminder.delete(PATH, keys=["a", "d"]) == ABSENT
        assert as_reminder.delete(PATH, keys=["a", "a"]) == DONE
        assert as_reminder.delete(PATH, keys=["a"]) == ABSENT
        assert stored(as_reminder) == {"b": "2", "c": "3"}
        assert as_reminder.delete(PATH) == as_reminder.delete(PATH, keys=[]) == DONE
        assert stored(as_reminder) == {}
        assert stored(chat) == {"a": "m"}
        assert as_nobody.request("DELETE", PATH, {}).status_code == 401


def test_deleted_with_the_profile(
    as_reminder: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
) -> None:
    as_reminder.put(PATH, storage={"a": "1"})
    as_cordelia.delete(f"/users/{cast.hamlet.id}", actions={"delete_profile": True})
    with chat_database.reading() as reader:
        assert reader.execute(select(BotStorage.key)).all() == []
