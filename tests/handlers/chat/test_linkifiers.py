"""Operations of the tag linkifiers."""

from models.chat.tables import Linkifier
from models.database import Database
from tests.chat_app import ChatClient
from tests.chat_cast import Cast


class TestListLinkifiers:
    def test_lists_them_in_their_order(
        self, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert as_polonius.get("/realm/linkifiers")["linkifiers"] == []
        first = Linkifier(realm_id=cast.realm_id, pattern="a", url_template="https://a", position=1)
        second = Linkifier(
            realm_id=cast.realm_id,
            pattern="#(?P<id>[0-9]+)",
            url_template="https://b/{id}",
            example_input="#1",
            reverse_template="#{id}",
            alternative_url_templates='["https://c/{id}"]',
        )
        chat_database.run(lambda s: s.add_all([first, second]))
        body = as_polonius.get("/realm/linkifiers")
        numbered = [{key: v for key, v in one.items() if key != "id"} for one in body["linkifiers"]]
        assert (body["result"], body["msg"]) == ("success", "")
        assert numbered == [
            {
                "pattern": "#(?P<id>[0-9]+)",
                "url_template": "https://b/{id}",
                "example_input": "#1",
                "reverse_template": "#{id}",
                "alternative_url_templates": ["https://c/{id}"],
            },
            {
                "pattern": "a",
                "url_template": "https://a",
                "example_input": None,
                "reverse_template": None,
                "alternative_url_templates": [],
            },
        ]

    def test_needs_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/realm/linkifiers")["code"] == "UNAUTHORIZED"

    def test_shows_nothing_of_another_organization(
        self, as_hank: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        row = Linkifier(realm_id=cast.realm_id, pattern="a", url_template="https://a")
        chat_database.run(lambda s: s.add(row))
        assert as_hank.get("/realm/linkifiers")["linkifiers"] == []
