"""Operations of the tag channel_folders."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import orjson
import pytest
from sqlalchemy import select, update

from models.chat.channels.errors import FolderExists
from models.chat.channels.folders import create_folder
from models.chat.identity.actors import find_actor
from models.chat.tables import AuditLog, Channel, ChannelFolder, Event
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

NOT_AN_ADMINISTRATOR = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
NOT_LOGGED_IN = bad("Not logged in: API authentication or user session required", "UNAUTHORIZED")
NO_SUCH_FOLDER = bad("Invalid channel folder ID")


def make(client: ChatClient, name: str, description: str = "") -> int:
    made = client.post("/channel_folders/create", name=name, description=description)
    assert made == {**DONE, "channel_folder_id": made["channel_folder_id"]}
    folder_id: int = made["channel_folder_id"]
    return folder_id


def events(database: Database) -> list[dict[str, Any]]:
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.audience)
            .where(Event.type == "channel_folder")
            .order_by(Event.id)
        )
        return [orjson.loads(row.payload) | {"_to": row.audience} for row in rows]


def names(client: ChatClient, **over: Any) -> list[str]:
    return [f["name"] for f in client.get("/channel_folders", **over)["channel_folders"]]


class TestCreateChannelFolder:
    def test_new_folder_is_last_and_visible_to_all(
        self, as_iago: ChatClient, as_polonius: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        first = make(as_iago, "Props")
        second = make(as_iago, "  Plays ", "What is on *this* season")
        plays = {
            "id": second,
            "name": "Plays",
            "description": "What is on *this* season",
            "rendered_description": "<p>What is on <em>this</em> season</p>",
            "creator_id": cast.iago.id,
            "date_created": 1795262400,
            "is_archived": False,
            "order": second,
        }
        props = plays | {
            "id": first, "name": "Props", "description": "", "rendered_description": "",
            "order": first,
        }  # fmt: skip
        listed = as_polonius.get("/channel_folders")
        assert listed == {**DONE, "channel_folders": [props, plays]}
        assert events(chat_database)[1] == {"op": "add", "channel_folder": plays, "_to": "realm"}
        with chat_database.reading() as reader:
            [kind, actor] = reader.execute(
                select(AuditLog.kind, AuditLog.actor_id).order_by(AuditLog.id.desc()).limit(1)
            ).one()
        assert (kind, actor) == ("channel_folder_created", cast.iago.id)

    def test_channels_can_be_created_in_the_folder(
        self, as_cordelia: ChatClient, chat: ChatClient
    ) -> None:
        folder_id = make(as_cordelia, "Plays")
        chat.post("/users/me/subscriptions", subscriptions=[{"name": "lear"}], folder_id=folder_id)
        [lear] = [s for s in chat.get("/streams")["streams"] if s["name"] == "lear"]
        assert lear["folder_id"] == folder_id

    @pytest.mark.parametrize(
        ("name", "answer"),
        [
            ("", bad("Channel folder name can't be empty.")),
            ("  ", bad("Channel folder name can't be empty.")),
            ("x" * 61, bad("name is too long (limit: 60 characters)")),
            ("a\tb", bad("Invalid character in channel folder name, at position 2.")),
            ("\ufffe", bad("Invalid character in channel folder name, at position 1.")),
            ("pROPS", bad("Channel folder 'pROPS' already exists")),
        ],
    )
    def test_rejects_invalid_names(
        self, as_iago: ChatClient, name: str, answer: dict[str, Any]
    ) -> None:
        make(as_iago, "Props")
        folder = {"name": name, "description": ""}
        assert as_iago.post("/channel_folders/create", **folder) == answer
        assert names(as_iago) == ["Props"]

    def test_length_limits(self, as_iago: ChatClient) -> None:
        make(as_iago, "x" * 60, "d" * 1024)
        longer = as_iago.post("/channel_folders/create", name="y", description="d" * 1025)
        assert longer == bad("description is too long (limit: 1024 characters)")

    def test_requires_both_parameters(self, as_iago: ChatClient) -> None:
        missing = as_iago.post("/channel_folders/create")
        assert missing == bad(
            "Missing 'description' argument", "REQUEST_VARIABLE_MISSING", var_name="description"
        )
        missing = as_iago.post("/channel_folders/create", description="")
        assert missing == bad(
            "Missing 'name' argument", "REQUEST_VARIABLE_MISSING", var_name="name"
        )

    def test_requires_administrator(
        self, as_nobody: ChatClient, chat: ChatClient, as_prospero: ChatClient,
        as_reminder: ChatClient,
    ) -> None:  # fmt: skip
        assert as_nobody.post("/channel_folders/create") == NOT_LOGGED_IN
        for client in (chat, as_prospero, as_reminder):
            assert client.post("/channel_folders/create") == NOT_AN_ADMINISTRATOR

    def test_concurrent_creation_of_a_name_succeeds_once(
        self, chat_database: Database, cast: Cast, now: datetime
    ) -> None:
        def attempt(name: str) -> bool:
            def work(session: Any) -> None:
                iago = find_actor(session, cast.iago.id)
                assert iago is not None
                create_folder(session, iago, name=name, description="", html="", now=now)

            try:
                chat_database.run(work)
            except FolderExists:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            won = list(pool.map(attempt, ["Plays", "plays", "PLAYS", "pLAYS"]))
        assert sum(won) == 1


class TestListChannelFolders:
    def test_omits_archived_folders_unless_requested(
        self, as_iago: ChatClient, chat: ChatClient
    ) -> None:
        make(as_iago, "Old")
        make(as_iago, "New")
        [old, _] = as_iago.get("/channel_folders")["channel_folders"]
        as_iago.patch(f"/channel_folders/{old['id']}", is_archived=True)
        assert names(chat) == ["New"]
        assert names(chat, include_archived=True) == ["Old", "New"]

    def test_hides_other_organizations(self, as_iago: ChatClient, as_hank: ChatClient) -> None:
        make(as_iago, "Plays")
        assert as_hank.get("/channel_folders") == {**DONE, "channel_folders": []}
        make(as_hank, "Plays")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/channel_folders") == NOT_LOGGED_IN


class TestUpdateChannelFolder:
    def test_reports_the_changes(self, as_iago: ChatClient, chat_database: Database) -> None:
        folder_id = make(as_iago, "Plays", "Old")
        path = f"/channel_folders/{folder_id}"
        assert as_iago.patch(path, name="plays", description="**New**") == DONE
        assert as_iago.patch(path, name="plays", description="**New**", is_archived=False) == DONE
        assert events(chat_database)[1:] == [
            {
                "op": "update",
                "channel_folder_id": folder_id,
                "data": {
                    "name": "plays",
                    "description": "**New**",
                    "rendered_description": "<p><strong>New</strong></p>",
                },
                "_to": "realm",
            }
        ]

    def test_archives_and_restores(self, as_iago: ChatClient, chat_database: Database) -> None:
        folder_id = make(as_iago, "Plays")
        path = f"/channel_folders/{folder_id}"
        assert as_iago.patch(path, is_archived=True) == DONE
        assert as_iago.post("/channel_folders/create", name="PLAYS", description="") == bad(
            "Channel folder 'PLAYS' already exists"
        )
        assert as_iago.patch(path, is_archived=False) == DONE
        assert [event["data"] for event in events(chat_database)[1:]] == [
            {"is_archived": True},
            {"is_archived": False},
        ]

    def test_does_not_archive_a_folder_in_use(
        self, as_iago: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        folder_id = make(as_iago, "Plays")
        channel_id = chat_database.run(lambda s: make_channel(s, cast, "lear", folder_id=folder_id))
        path = f"/channel_folders/{folder_id}"
        assert as_iago.patch(path, is_archived=True) == bad(
            "You need to remove all the channels from this folder to archive it."
        )
        leave = update(Channel).where(Channel.id == channel_id).values(folder_id=None)
        chat_database.run(lambda s: s.execute(leave))
        assert as_iago.patch(path, is_archived=True) == DONE

    def test_rejects_invalid_names_and_unknown_folders(
        self, as_iago: ChatClient, as_hank: ChatClient
    ) -> None:
        folder_id = make(as_iago, "Plays")
        make(as_iago, "Props")
        path = f"/channel_folders/{folder_id}"
        taken = bad("Channel folder 'props' already exists")
        assert as_iago.patch(path, name="props", description="lost") == taken
        assert as_iago.patch(path, name=" ") == bad("Channel folder name can't be empty.")
        too_long = bad("name is too long (limit: 60 characters)")
        assert as_iago.patch(path, name="x" * 61) == too_long
        assert as_iago.patch("/channel_folders/999", name="x") == NO_SUCH_FOLDER
        assert as_hank.patch(path, name="x") == NO_SUCH_FOLDER
        [plays, _] = as_iago.get("/channel_folders")["channel_folders"]
        assert (plays["name"], plays["description"]) == ("Plays", "")

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.patch("/channel_folders/1") == NOT_LOGGED_IN
        assert as_prospero.patch("/channel_folders/1") == NOT_AN_ADMINISTRATOR


class TestReorderChannelFolders:
    def test_orders_all_folders(
        self, as_iago: ChatClient, chat: ChatClient, chat_database: Database
    ) -> None:
        a, b, c = (make(as_iago, name) for name in "abc")
        as_iago.patch(f"/channel_folders/{b}", is_archived=True)
        assert as_iago.patch("/channel_folders", order=[c, 999, b, c, a]) == DONE
        assert names(chat, include_archived=True) == ["b", "c", "a"]
        with chat_database.reading() as reader:
            rows = reader.execute(select(ChannelFolder.id, ChannelFolder.position))
            assert {row.id: row.position for row in rows} == {b: 2, c: 3, a: 4}
        assert events(chat_database)[-1] == {"op": "reorder", "order": [b, c, a], "_to": "realm"}

    def test_rejects_an_incomplete_order(self, as_iago: ChatClient) -> None:
        a, b = make(as_iago, "a"), make(as_iago, "b")
        as_iago.patch(f"/channel_folders/{b}", is_archived=True)
        for order in ([a], [], [a, 999]):
            answer = as_iago.patch("/channel_folders", order=order)
            assert answer == bad("Invalid order mapping.")

    def test_rejects_an_invalid_order(self, as_iago: ChatClient) -> None:
        assert as_iago.patch("/channel_folders", order="[1") == bad("order is not valid JSON")
        assert as_iago.patch("/channel_folders", order={"a": 1}) == bad("order is not a list")
        wrong_item = bad("order[0] is not an integer")
        assert as_iago.patch("/channel_folders", order=["a"]) == wrong_item

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.patch("/channel_folders") == NOT_LOGGED_IN
        assert as_prospero.patch("/channel_folders") == NOT_AN_ADMINISTRATOR
