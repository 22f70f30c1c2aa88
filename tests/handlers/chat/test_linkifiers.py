"""Operations of the tag linkifiers."""

from typing import Any

import pytest
from sqlalchemy import select

from models.chat.organization.linkifiers import list_linkifiers
from models.chat.tables import Event, Linkifier
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.messages import events, say
from tests.support.chat.people import Cast


class TestListLinkifiers:
    def test_lists_in_order(
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

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/realm/linkifiers")["code"] == "UNAUTHORIZED"

    def test_hides_other_organizations(
        self, as_hank: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        row = Linkifier(realm_id=cast.realm_id, pattern="a", url_template="https://a")
        chat_database.run(lambda s: s.add(row))
        assert as_hank.get("/realm/linkifiers")["linkifiers"] == []


CASES = {"pattern": "#(?P<id>[0-9]+)", "url_template": "https://cases.example/{id}"}
MISSING = "Linkifier not found."


NO_ADMINISTRATOR = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
NOT_AUTHENTICATED = bad(
    "Not logged in: API authentication or user session required", "UNAUTHORIZED"
)


def linkifier_events(database: Database) -> list[list[int]]:
    """Return the ids of the linkifiers in each event as read now, in order."""
    with database.reading() as reader:
        kind = Event.type == "realm_linkifiers"
        realms = reader.execute(select(Event.realm_id).where(kind)).scalars().all()
        return [[each["id"] for each in list_linkifiers(reader, realm)] for realm in realms]


def rendered(client: ChatClient, text: str) -> str:
    html: str = client.post("/messages/render", content=text)["rendered"]
    return html


class TestCreateLinkifier:
    def test_applies_to_the_next_message(
        self, as_iago: ChatClient, as_polonius: ChatClient, chat_database: Database
    ) -> None:
        before = rendered(as_polonius, "See #12")
        more = {
            "example_input": "#12",
            "reverse_template": "#{id}",
            "alternative_url_templates": ["https://old.example/{id}"],
        }
        made = as_iago.post("/realm/filters", **CASES, **more)
        assert made == {"result": "success", "msg": "", "id": made["id"]}
        assert before == "<p>See #12</p>"
        assert rendered(as_polonius, "See #12") == (
            '<p>See <a href="https://cases.example/12">#12</a></p>'
        )
        assert as_polonius.get("/realm/linkifiers")["linkifiers"] == [
            {"id": made["id"], **CASES, **more}
        ]
        assert linkifier_events(chat_database) == [[made["id"]]]

    @pytest.mark.parametrize(
        ("change", "field", "problem"),
        [
            ({"pattern": " "}, "pattern", "This field cannot be blank."),
            ({"url_template": ""}, "url_template", "This field cannot be blank."),
            ({"pattern": "#(?P<id>[0-9]*"}, "pattern", "Bad regular expression: missing )"),
            ({"pattern": "(?P<id>[0-9]*)"}, "pattern", "The pattern must not match the empty"),
            ({"pattern": r"#(?P<id>[\pL]{1,30})"}, "pattern", "The pattern is too large."),
            ({"url_template": "https://x/{id"}, "url_template", "Invalid URL template."),
            ({"url_template": "javascript:alert({id})"}, "url_template", "Invalid URL template."),
            (
                {"alternative_url_templates": ["data:text/html,{id}"]},
                "alternative_url_templates",
                "Invalid URL template.",
            ),
            (
                {"url_template": "https://x/{id}/{other}"},
                "__all__",
                "Group 'other' in URL template is not present in linkifier pattern.",
            ),
            (
                {"url_template": "https://x/"},
                "__all__",
                "Group 'id' in linkifier pattern is not present in URL template.",
            ),
            (
                {"alternative_url_templates": ["{"]},
                "alternative_url_templates",
                "Invalid URL template.",
            ),
            ({"reverse_template": "#{id}"}, "example_input", "An example input is required"),
            ({"reverse_template": "#{id", "example_input": "#1"}, "reverse_template", "Invalid"),
            ({"example_input": "12"}, "example_input", "The example input does not match"),
        ],
    )
    def test_reports_the_invalid_field(
        self, as_iago: ChatClient, change: dict[str, Any], field: str, problem: str
    ) -> None:
        answer = as_iago.post("/realm/filters", **CASES | change)
        assert answer["msg"].startswith(problem)
        assert answer == bad(answer["msg"], errors={field: [answer["msg"]]})
        assert as_iago.get("/realm/linkifiers")["linkifiers"] == []

    def test_rejects_a_duplicate_pattern(self, as_iago: ChatClient, as_hank: ChatClient) -> None:
        as_iago.post("/realm/filters", **CASES)
        text = "Realm filter with this Realm and Pattern already exists."
        again = as_iago.post("/realm/filters", **CASES)
        assert again == bad(text, errors={"__all__": [text]})
        assert as_hank.post("/realm/filters", **CASES)["result"] == "success"

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.post("/realm/filters") == NOT_AUTHENTICATED
        assert as_prospero.post("/realm/filters") == NO_ADMINISTRATOR


class TestUpdateLinkifier:
    def test_replaces_the_linkifier(
        self, as_iago: ChatClient, as_hank: ChatClient, chat_database: Database
    ) -> None:
        made = as_iago.post("/realm/filters", **CASES, example_input="#1")["id"]
        other = {"pattern": "T(?P<n>[0-9]+)", "url_template": "https://t.example/{n}"}
        path = f"/realm/filters/{made}"
        assert as_iago.patch(path, **other) == DONE
        [now] = as_iago.get("/realm/linkifiers")["linkifiers"]
        assert (now["pattern"], now["example_input"]) == (other["pattern"], None)
        assert rendered(as_iago, "T7 #12") == '<p><a href="https://t.example/7">T7</a> #12</p>'
        assert linkifier_events(chat_database) == [[made], [made]]
        assert as_hank.patch(path, **CASES) == bad(MISSING)
        broken = as_iago.patch(path, pattern="(", url_template="https://x/")
        assert list(broken["errors"]) == ["pattern"]

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.patch("/realm/filters/1") == NOT_AUTHENTICATED
        assert as_prospero.patch("/realm/filters/1") == NO_ADMINISTRATOR


class TestDeleteLinkifier:
    def test_matches_no_longer(
        self, as_iago: ChatClient, as_hank: ChatClient, chat_database: Database
    ) -> None:
        path = f"/realm/filters/{as_iago.post('/realm/filters', **CASES)['id']}"
        assert as_hank.delete(path) == bad(MISSING)
        assert as_iago.delete(path) == DONE
        assert rendered(as_iago, "#12") == "<p>#12</p>"
        assert linkifier_events(chat_database)[-1] == []
        assert as_iago.delete(path) == bad(MISSING)

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.delete("/realm/filters/1") == NOT_AUTHENTICATED
        assert as_prospero.delete("/realm/filters/1") == NO_ADMINISTRATOR


class TestReorderLinkifiers:
    def test_first_linkifier_takes_precedence(
        self, as_iago: ChatClient, chat_database: Database
    ) -> None:
        one = as_iago.post("/realm/filters", **CASES)["id"]
        wide = {"pattern": "#(?P<word>[0-9a-z]+)", "url_template": "https://words.example/{word}"}
        two = as_iago.post("/realm/filters", **wide)["id"]
        assert "cases.example" in rendered(as_iago, "#12")
        done = as_iago.patch("/realm/linkifiers", ordered_linkifier_ids=[two, one])
        assert done == DONE
        assert "words.example" in rendered(as_iago, "#12")
        assert linkifier_events(chat_database)[-1] == [two, one]

    @pytest.mark.parametrize("order", [[], [1], [1, 1], [1, 2, 3]])
    def test_requires_each_id_once(self, as_iago: ChatClient, order: list[int]) -> None:
        for pattern in ("a(?P<id>1)", "b(?P<id>1)"):
            as_iago.post("/realm/filters", **CASES | {"pattern": pattern})
        assert as_iago.patch("/realm/linkifiers", ordered_linkifier_ids=order) == bad(
            "The ordered list must enumerate all existing linkifiers exactly once"
        )

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.patch("/realm/linkifiers") == NOT_AUTHENTICATED
        assert as_prospero.patch("/realm/linkifiers") == NO_ADMINISTRATOR


def test_event_of_a_renamed_topic_has_its_links(
    chat: ChatClient, chat_database: Database, cast: Cast
) -> None:
    chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )
    linkifier = Linkifier(
        realm_id=cast.realm_id,
        pattern="#(?P<id>[0-9]+)",
        url_template="https://b.example/{id}",
        position=1,
    )
    chat_database.run(lambda s: s.add(linkifier))
    message = say(chat)["id"]
    assert chat.patch(f"/messages/{message}", topic="ticket #5")["result"] == "success"
    (event,) = [each for each in events(chat_database, "update_message") if "subject" in each]
    read = chat.get(f"/messages/{message}")["message"]
    assert event["topic_links"] == [{"text": "#5", "url": "https://b.example/5"}]
    assert event["topic_links"] == read["topic_links"]
