"""Operations of the tag playgrounds."""

from typing import Any

import pytest
from sqlalchemy import select

from models.chat.common.url_templates import is_url_template
from models.chat.organization.playgrounds import find_playgrounds
from models.chat.tables import Event, Playground
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient

PYTHON = {
    "name": "Python playground",
    "syntax_language": "Python",
    "url_template": "https://play.example/python?code={code}",
}


NOT_AN_ADMINISTRATOR = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
NOT_LOGGED_IN = bad("Not logged in: API authentication or user session required", "UNAUTHORIZED")
BLANK = "This field cannot be blank."


def playground_events(database: Database) -> list[Any]:
    """Return the contents and recipients of each event as read now."""
    with database.reading() as reader:
        kind = Event.type == "realm_playgrounds"
        rows = reader.execute(select(Event.realm_id, Event.audience).where(kind)).all()
        return [(find_playgrounds(reader, row.realm_id), row.audience) for row in rows]


class TestCreatePlayground:
    def test_all_users_receive_all_playgrounds(
        self, as_iago: ChatClient, chat_database: Database
    ) -> None:
        made = as_iago.post("/realm/playgrounds", **PYTHON | {"name": "  Python playground "})
        assert made == {**DONE, "id": made["id"]}
        shown = {"id": made["id"], "pygments_language": "Python", **PYTHON}
        del shown["syntax_language"]
        assert playground_events(chat_database) == [([shown], "realm")]

    def test_accepts_the_older_parameter_for_the_language(
        self, as_iago: ChatClient, chat_database: Database
    ) -> None:
        older = {name: text for name, text in PYTHON.items() if name != "syntax_language"}
        made = as_iago.post("/realm/playgrounds", **older, pygments_language=" C++ ")
        assert made == {**DONE, "id": made["id"]}
        with chat_database.reading() as reader:
            assert reader.execute(select(Playground.syntax_language)).scalar_one() == "C++"
        both = as_iago.post("/realm/playgrounds", **PYTHON, pygments_language="C++")
        assert both == bad(
            "Can't decide between 'syntax_language' and 'pygments_language' arguments",
            "REQUEST_CONFUSING_VAR",
            var_name1="syntax_language",
            var_name2="pygments_language",
        )
        neither = as_iago.post("/realm/playgrounds", **older)
        assert neither == bad(
            "Missing 'syntax_language' argument",
            "REQUEST_VARIABLE_MISSING",
            var_name="syntax_language",
        )

    @pytest.mark.parametrize(
        ("change", "field", "problem"),
        [
            ({"name": " "}, "name", BLANK),
            ({"syntax_language": ""}, "pygments_language", BLANK),
            ({"url_template": ""}, "url_template", BLANK),
            ({"url_template": "https://x/{code"}, "url_template", "Invalid URL template."),
            ({"url_template": "javascript:x({code})"}, "url_template", "Invalid URL template."),
            (
                {"url_template": "https://x/{lang}"},
                "url_template",
                'Missing the required variable "code" in the URL template',
            ),
            (
                {"url_template": "https://x/{lang}/{code}"},
                "url_template",
                '"code" should be the only variable present in the URL template',
            ),
        ],
    )
    def test_reports_the_invalid_field(
        self, as_iago: ChatClient, change: dict[str, str], field: str, problem: str
    ) -> None:
        answer = as_iago.post("/realm/playgrounds", **PYTHON | change)
        assert answer == bad(problem, errors={field: [problem]})

    def test_rejects_a_duplicate(self, as_iago: ChatClient, as_hank: ChatClient) -> None:
        as_iago.post("/realm/playgrounds", **PYTHON)
        text = "Realm playground with this Realm, Pygments language and Name already exists."
        again = as_iago.post("/realm/playgrounds", **PYTHON)
        assert again == bad(text, errors={"__all__": [text]})
        other = as_iago.post("/realm/playgrounds", **PYTHON | {"name": "Another"})
        assert other["result"] == "success"
        assert as_hank.post("/realm/playgrounds", **PYTHON)["result"] == "success"

    def test_limits_the_language(self, as_iago: ChatClient) -> None:
        longest = PYTHON | {"syntax_language": "a" * 40}
        assert as_iago.post("/realm/playgrounds", **longest)["result"] == "success"
        longer = PYTHON | {"syntax_language": "a" * 41}
        assert as_iago.post("/realm/playgrounds", **longer) == bad(
            "syntax_language is too long (limit: 40 characters)"
        )
        strange = PYTHON | {"syntax_language": "C$"}
        assert as_iago.post("/realm/playgrounds", **strange) == bad(
            "Invalid characters in pygments language"
        )

    def test_requires_administrator(
        self, as_nobody: ChatClient, chat: ChatClient, as_prospero: ChatClient
    ) -> None:
        assert as_nobody.post("/realm/playgrounds") == NOT_LOGGED_IN
        for client in (chat, as_prospero):
            assert client.post("/realm/playgrounds") == NOT_AN_ADMINISTRATOR
        missing = as_prospero.post("/realm/playgrounds")
        assert missing == NOT_AN_ADMINISTRATOR


class TestDeletePlayground:
    def test_deletes_the_playground(
        self, as_iago: ChatClient, as_hank: ChatClient, chat_database: Database
    ) -> None:
        playground_id = as_iago.post("/realm/playgrounds", **PYTHON)["id"]
        path = f"/realm/playgrounds/{playground_id}"
        assert as_hank.delete(path) == bad("Invalid playground")
        assert as_iago.delete(path) == DONE
        assert playground_events(chat_database)[1:] == [([], "realm")]
        assert as_iago.delete(path) == bad("Invalid playground")

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.delete("/realm/playgrounds/1") == NOT_LOGGED_IN
        assert as_prospero.delete("/realm/playgrounds/1") == NOT_AN_ADMINISTRATOR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://x/{code}", True),
        ("https://x/{?code,lang}", True),
        ("https://x/{+path:3}{#a*}", True),
        ("https://x/%20{a.b}", True),
        ("", False),
        ("https://x/{}", False),
        ("https://x/{code", False),
        ("https://x/code}", False),
        ("https://x/{co de}", False),
        ("https://x/{!code}", False),
        ("https://x/{code:0}", False),
        ("https://x/ {code}", False),
        ("https://x/%zz{code}", False),
        ("https://x/{code}\n", False),
    ],
)
def test_url_templates_follow_rfc_6570(text: str, expected: bool) -> None:
    assert is_url_template(text) is expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("https://x/{code}", True),
        ("HTTP://x/{+code}", True),
        ("mailto:{code}", True),
        ("/x/{code}", True),
        ("/{code}", True),
        ("/", True),
        ("javascript:alert({code})", False),
        ("JavaScript:{code}", False),
        ("data:text/html,{code}", False),
        ("vbscript:{code}", False),
        ("file:///{code}", False),
        ("{code}", False),
        ("{+code}", False),
        ("{+code}://x", False),
        ("http{+code}", False),
        ("//evil.example/{code}", False),
        ("/{+code}", False),
        ("/{/code}", False),
        ("x/{code}", False),
    ],
)
def test_templates_cannot_run_a_script(template: str, expected: bool) -> None:
    assert is_url_template(template) is expected
