"""POST and DELETE /default_streams, of the tag channels."""

from typing import Any

import orjson
import pytest
from sqlalchemy import select

from models.chat.tables import Event
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

PATH = "/default_streams"


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet]))


def default_channel_events(database: Database) -> list[Any]:
    """Return payload and recipients of each event about default channels."""
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.user_ids)
            .where(Event.type == "default_streams")
            .order_by(Event.id)
        ).all()
    return [(orjson.loads(row.payload), row.user_ids) for row in rows]


class TestDefaultChannels:
    def test_adds_and_removes_channels(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: int, chat_database: Database,
    ) -> None:  # fmt: skip
        for method in (as_cordelia.post, as_cordelia.delete):
            for _ in range(2):
                assert method(PATH, stream_id=denmark) == DONE
            listed = chat.get("/streams", include_default=True)["streams"]
            assert [one["is_default"] for one in listed] == [method == as_cordelia.post]
        assert default_channel_events(chat_database) == [
            ({"default_streams": [denmark]}, None),
            ({"default_streams": []}, None),
        ]

    def test_new_members_are_subscribed(
        self, as_cordelia: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        as_cordelia.post(PATH, stream_id=denmark)
        assert as_cordelia.get(f"/streams/{denmark}/members")["subscribers"] == [cast.hamlet.id]
        answer = as_cordelia.post("/register", fetch_event_types=["default_streams"])
        assert answer["realm_default_streams"] == [denmark]

    def test_rejects_other_channels(
        self, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        private, gone = chat_database.run(
            lambda s: (
                make_channel(s, cast, "vault", invite_only=True),
                make_channel(s, cast, "gone", is_archived=True),
            )
        )
        assert as_cordelia.post(PATH, stream_id=private) == bad(
            "Private channels cannot be made default."
        )
        assert as_cordelia.post(PATH, stream_id=gone) == bad("Channel is already deactivated")
        for method in (as_cordelia.post, as_cordelia.delete):
            assert method(PATH, stream_id=2147483647) == bad("Invalid channel ID")
            assert method(PATH)["code"] == "REQUEST_VARIABLE_MISSING"

    def test_requires_administrator(self, chat: ChatClient, denmark: int, cast: Cast) -> None:
        refused = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
        for who in (cast.hamlet, cast.prospero, cast.polonius, cast.reminder):
            for stream_id in (denmark, 2147483647):
                assert chat.acting_as(who).post(PATH, stream_id=stream_id) == refused
                assert chat.acting_as(who).delete(PATH, stream_id=stream_id) == refused
        for method in ("POST", "DELETE"):
            answer = chat.acting_as(None).request(method, PATH, {"stream_id": denmark})
            assert answer.status_code == 401
