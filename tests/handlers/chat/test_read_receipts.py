"""GET /messages/{message_id}/read_receipts, of the tag messages."""

from typing import Any

import pytest
from sqlalchemy import update

from models.chat.tables import User
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast, Member

INVALID = bad("Invalid message(s)")


def read_by(*readers: Member) -> dict[str, Any]:
    return {"result": "success", "msg": "", "user_ids": sorted(one.id for one in readers)}


@pytest.fixture
def sent(chat: ChatClient, chat_database: Database, cast: Cast) -> int:
    """A message of Hamlet's to Othello, Polonius (a guest) and Iago."""
    people = [cast.hamlet, cast.othello, cast.polonius, cast.iago]
    chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=people))
    answer = chat.post("/messages", type="channel", to="Denmark", topic="t", content="Words")
    return int(answer["id"])


def mark(client: ChatClient, message_id: int, op: str = "add") -> None:
    client.post("/messages/flags", messages=[message_id], op=op, flag="read")


class TestListReadReceipts:
    def test_tells_who_has_read_it_and_lets_others_know(
        self, chat: ChatClient, sent: int, cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        path = f"/messages/{sent}/read_receipts"
        assert chat.get(path) == read_by(), "its sender has read it, and is not told"
        othello, iago = chat.acting_as(cast.othello), chat.acting_as(cast.iago)
        for reader in (othello, iago, chat.acting_as(cast.polonius)):
            mark(reader, sent)
        everybody = read_by(cast.othello, cast.iago, cast.polonius)
        assert chat.get(path) == everybody
        assert othello.get(path) == everybody, "whoever may read the message may ask"
        assert chat.acting_as(cast.cordelia).get(path) == everybody, "who has no copy, too"
        othello.patch("/settings", send_read_receipts=False)
        mark(chat.acting_as(cast.polonius), sent, "remove")
        assert chat.get(path) == read_by(cast.iago)
        gone = update(User).where(User.id == cast.iago.id).values(is_active=False)
        chat_database.run(lambda s: s.execute(gone))
        assert chat.get(path) == read_by()

    def test_is_silent_between_those_who_have_muted_each_other(
        self, chat: ChatClient, sent: int, cast: Cast
    ) -> None:
        path = f"/messages/{sent}/read_receipts"
        othello, iago = chat.acting_as(cast.othello), chat.acting_as(cast.iago)
        for reader in (othello, iago):
            mark(reader, sent)
        chat.post(f"/users/me/muted_users/{cast.othello.id}")
        assert chat.get(path) == read_by(cast.iago)
        assert iago.get(path) == read_by(cast.othello, cast.iago)
        iago.post(f"/users/me/muted_users/{cast.hamlet.id}")
        assert chat.get(path) == read_by()

    def test_of_a_direct_message(self, chat: ChatClient, cast: Cast) -> None:
        to = [cast.othello.id, cast.iago.id]
        sent = chat.post("/messages", type="direct", to=to, content="Words")["id"]
        mark(chat.acting_as(cast.iago), sent)
        path = f"/messages/{sent}/read_receipts"
        assert chat.get(path) == read_by(cast.iago)
        assert chat.acting_as(cast.cordelia).get(path) == INVALID

    def test_where_the_organization_has_disabled_them(
        self, chat: ChatClient, as_cordelia: ChatClient, sent: int
    ) -> None:
        as_cordelia.patch("/realm", enable_read_receipts=False)
        assert chat.get(f"/messages/{sent}/read_receipts") == bad(
            "Read receipts are disabled in this organization."
        )
        # Whether they are is no answer about a message that is hidden.
        assert chat.get("/messages/2147483647/read_receipts") == INVALID

    def test_a_restricted_guest_is_told_of_whom_they_know(
        self, chat: ChatClient, as_cordelia: ChatClient, sent: int, cast: Cast
    ) -> None:
        mark(chat.acting_as(cast.othello), sent)
        mark(chat.acting_as(cast.iago), sent)
        chat.acting_as(cast.iago).delete("/users/me/subscriptions", subscriptions=["Denmark"])
        members = ids_of(chat)["role:members"]
        as_cordelia.patch("/realm", can_access_all_users_group={"new": members})
        guest = chat.acting_as(cast.polonius)
        assert guest.get(f"/messages/{sent}/read_receipts") == read_by(cast.othello)

    def test_of_a_message_that_one_may_not_read(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat_database.run(
            lambda s: make_channel(s, cast, "vault", subscribers=[cast.othello], invite_only=True)
        )
        secret = chat.acting_as(cast.othello).post(
            "/messages", type="channel", to="vault", topic="t", content="Words"
        )["id"]
        for who in (cast.hamlet, cast.cordelia, cast.polonius):
            assert chat.acting_as(who).get(f"/messages/{secret}/read_receipts") == INVALID

    def test_needs_credentials(self, chat: ChatClient, sent: int) -> None:
        answer = chat.acting_as(None).request("GET", f"/messages/{sent}/read_receipts")
        assert answer.status_code == 401
