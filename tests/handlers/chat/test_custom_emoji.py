"""Operations of the tag custom_emoji."""

from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from models.chat.tables import Realm, RealmEmoji
from models.database import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast

DONE = {"result": "success", "msg": ""}


def keep(database: Database, **columns: Any) -> str:
    """The id of a new emoji."""

    def add(session: Session) -> int:
        emoji = RealmEmoji(**columns)
        session.add(emoji)
        session.flush()
        return emoji.id

    return str(database.run(add))


class TestListCustomEmoji:
    def test_lists_those_of_the_organization(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert chat.get("/realm/emoji") == {**DONE, "emoji": {}}
        own = {"realm_id": cast.realm_id, "author_id": cast.othello.id}
        used = keep(chat_database, name="yorick", source_url="/yorick.png", **own)
        old = keep(chat_database, name="ghost", source_url="/g.png", is_deactivated=True, **own)
        keep(chat_database, name="doughnut", source_url="/d.png", realm_id=cast.globex_id)
        assert chat.get("/realm/emoji") == {
            **DONE,
            "emoji": {
                used: {
                    "id": used,
                    "name": "yorick",
                    "source_url": "/yorick.png",
                    "still_url": None,
                    "deactivated": False,
                    "author_id": cast.othello.id,
                },
                old: {
                    "id": old,
                    "name": "ghost",
                    "source_url": "/g.png",
                    "still_url": None,
                    "deactivated": True,
                    "author_id": cast.othello.id,
                },
            },
        }

    def test_hides_an_author_from_a_guest_who_may_not_know_them(
        self, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        code = keep(
            chat_database, name="yorick", source_url="/y.png", realm_id=cast.realm_id,
            author_id=cast.othello.id,
        )  # fmt: skip
        assert as_polonius.get("/realm/emoji")["emoji"][code]["author_id"] == cast.othello.id
        members = update(Realm).values(can_access_all_users_group=Realm.members_group_id)
        chat_database.run(lambda s: s.execute(members))
        assert as_polonius.get("/realm/emoji")["emoji"][code]["author_id"] is None

    def test_names_parameters_without_a_meaning(self, chat: ChatClient) -> None:
        ignored = {"ignored_parameters_unsupported": ["colour"]}
        assert chat.get("/realm/emoji", colour="red") == {**DONE, "emoji": {}, **ignored}

    def test_without_credentials(self, as_nobody: ChatClient) -> None:
        response = as_nobody.request("GET", "/realm/emoji")
        assert response.status_code == 401
        assert response.json()["code"] == "UNAUTHORIZED"
