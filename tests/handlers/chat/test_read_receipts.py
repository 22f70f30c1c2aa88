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
    def test_lists_readers_and_is_visible_to_others(
        self, chat: ChatClient, sent: int, cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        path = f"/messages/{sent}/read_receipts"
        assert chat.get(path) == read_by(), "its sender has read it and is not listed"
        othello, iago = chat.acting_as(cast.othello), chat.acting_as(cast.iago)
        for reader in (othello, iago, chat.acting_as(cast.polonius)):
            mark(reader, sent)
        all_readers = read_by(cast.othello, cast.iago, cast.polonius)
        assert chat.get(path) == all_readers
        assert othello.get(path) == all_readers, "all readers of the message are allowed"
        assert chat.acting_as(cast.cordelia).get(path) == all_readers, "also without a message copy"
        othello.patch("/settings", send_read_receipts=False)
        mark(chat.acting_as(cast.polonius), sent, "remove")
        assert chat.get(path) == read_by(cast.iago)
        gone = update(User).where(User.id == cast.iago.id).values(is_active=False)
        chat_database.run(lambda s: s.execute(gone))
        assert chat.get(path) == read_by()

    def test_muted_users_are_not_listed(self, chat: ChatClient, sent: int, cast: Cast) -> None:
        path = f"/messages/{sent}/read_receipts"
        othello, iago = chat.acting_as(cast.othello), chat.acting_as(cast.iago)
        for reader in (othello, iago):
            mark(reader, sent)
        chat.post(f"/users/me/muted_users/{cast.othello.id}")
        assert chat.get(path) == read_by(cast.iago)
        assert iago.get(path) == read_by(cast.othello, cast.iago)
        iago.post(f"/users/me/muted_users/{cast.hamlet.id}")
        assert chat.get(path) == read_by()

    def test_direct_message(self, chat: ChatClient, cast: Cast) -> None:
        to = [cast.othello.id, cast.iago.id]
        sent = chat.post("/messages", type="direct", to=to, content="Words")["id"]
        mark(chat.acting_as(cast.iago), sent)
        path = f"/messages/{sent}/read_receipts"
        assert chat.get(path) == read_by(cast.iago)
        assert chat.acting_as(cast.cordelia).get(path) == INVALID

    def test_rejected_if_the_organization_disables_them(
        self, chat: ChatClient, as_cordelia: ChatClient, sent: int
    ) -> None:
        as_cordelia.patch("/realm", enable_read_receipts=False)
        assert chat.get(f"/messages/{sent}/read_receipts") == bad(
            "Read receipts are disabled in this organization."
        )
        # A hidden message gives the same response, whatever the setting.
        assert chat.get("/messages/2147483647/read_receipts") == INVALID

    def test_restricted_guest_sees_known_users_only(
        self, chat: ChatClient, as_cordelia: ChatClient, sent: int, cast: Cast
    ) -> None:
        mark(chat.acting_as(cast.othello), sent)
        mark(chat.acting_as(cast.iago), sent)
        chat.acting_as(cast.iago).delete("/users/me/subscriptions", subscriptions=["Denmark"])
        members = ids_of(chat)["role:members"]
        as_cordelia.patch("/realm", can_access_all_users_group={"new": members})
        guest = chat.acting_as(cast.polonius)
        assert guest.get(f"/messages/{sent}/read_receipts") == read_by(cast.othello)

    def test_unreadable_message_is_rejected(
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

    def test_rejects_missing_credentials(self, chat: ChatClient, sent: int) -> None:
        answer = chat.acting_as(None).request("GET", f"/messages/{sent}/read_receipts")
        assert answer.status_code == 401
