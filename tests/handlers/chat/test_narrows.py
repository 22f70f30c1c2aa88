"""Values in narrows. Additional values need no additional statements."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event

from models.chat.tables import Message
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.messages import say
from tests.support.chat.people import Cast

NEWEST = {"anchor": "newest", "num_before": 100, "num_after": 0}


def narrow_error(desc: str) -> dict[str, Any]:
    return bad(f"Invalid narrow operator: {desc}", "BAD_NARROW", desc=desc)


def ids(client: ChatClient, *terms: Any) -> list[int]:
    return [m["id"] for m in client.get("/messages", **NEWEST, narrow=list(terms))["messages"]]


def term(operator: str, operand: Any, *, negated: bool = False) -> dict[str, Any]:
    return {"operator": operator, "operand": operand, "negated": negated}


@pytest.fixture
def statements_of(
    chat: ChatClient, chat_database: Database
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Return a function that requests a narrow and returns the number of statements and the
    response.
    """

    def ask(*terms: Any) -> tuple[int, dict[str, Any]]:
        seen: list[str] = []

        def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            seen.append(statement)

        chat.get("/server_settings")
        engine = chat_database._engine("reading")
        event.listen(engine, "before_cursor_execute", note)
        try:
            answer = chat.post("/messages", method="GET", **NEWEST, narrow=list(terms))
        finally:
            event.remove(engine, "before_cursor_execute", note)
        return len(seen), answer

    return ask


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


class TestNarrow:
    @pytest.mark.parametrize("operator", ["dm", "dm-including", "group-pm-with", "sender"])
    @pytest.mark.parametrize("operand", ["," * 4000, ", ".join(["x@acme.example"] * 250)])
    def test_unknown_users_cost_one_statement(
        self, statements_of: Any, operator: str, operand: str
    ) -> None:
        few, _ = statements_of(term(operator, "x@acme.example"))
        many, answer = statements_of(term(operator, operand))
        assert answer == narrow_error(f"unknown user {operand}")
        assert many == few

    def test_number_of_statements_does_not_grow_with_terms(
        self, statements_of: Any, cast: Cast, denmark: int
    ) -> None:
        all_users = [member.email for member in cast.acme]

        def terms(times: int) -> list[dict[str, Any]]:
            return [
                one
                for n in range(times)
                for one in (
                    term("channel", "Denmark" if n % 2 else denmark, negated=True),
                    term("sender", all_users[n % len(all_users)], negated=True),
                    term("dm", [cast.hamlet.id, cast.acme[n % 5].id], negated=True),
                    term("dm-including", all_users[n % len(all_users)], negated=True),
                    term("search", f"word{n}", negated=n % 2 == 0),
                )
            ]

        few, answer = statements_of(*terms(2))
        assert answer["result"] == "success"
        many, answer = statements_of(*terms(20))
        assert answer["result"] == "success"
        assert many == few

    def test_number_of_users_is_limited(self, chat: ChatClient) -> None:
        halves = [term("dm", list(range(n, n + 500))) for n in (1, 501)]
        unknown = ",".join(map(str, range(1, 501)))
        wish = {"method": "GET", **NEWEST}
        assert chat.post("/messages", **wish, narrow=halves) == narrow_error(
            f"unknown user {unknown}"
        )
        assert chat.post("/messages", **wish, narrow=[*halves, term("sender", 1001)]) == (
            narrow_error("more than 1000 users")
        )

    def test_text_length_is_limited(self, chat: ChatClient) -> None:
        answer = chat.post("/messages", method="GET", **NEWEST, narrow=[term("dm", "," * 4001)])
        assert answer["result"] == "error"
        assert answer["code"] == "BAD_REQUEST"

    def test_number_of_words_is_limited(self, chat: ChatClient, denmark: int) -> None:
        sent = say(chat, content=" ".join(f"word{n}" for n in range(60)))["id"]
        half = " ".join(f"word{n}" for n in range(25))
        other = " ".join(f"word{n}" for n in range(25, 50))
        assert ids(chat, term("search", half), term("search", other)) == [sent]
        for negated in (False, True):
            wish = [term("search", half), term("search", f"{other} more", negated=negated)]
            assert chat.get("/messages", **NEWEST, narrow=wish) == narrow_error(
                "more than 50 words to search for"
            )

    def test_searches_are_combined(self, chat: ChatClient, denmark: int) -> None:
        both = say(chat, content="rosemary and thyme")["id"]
        one = say(chat, content="rosemary and sage")["id"]
        none = say(chat, content="parsley")["id"]
        rosemary, thyme = term("search", "rosemary"), term("search", "thyme")
        assert ids(chat, rosemary, thyme) == [both]
        assert ids(chat, rosemary, term("search", "thyme", negated=True)) == [one]
        without = (term("search", word, negated=True) for word in ("thyme", '"and sage"'))
        assert ids(chat, *without) == [none]
        assert ids(chat, rosemary, term("search", "!?")) == []
        assert ids(chat, rosemary, term("search", "!?", negated=True)) == [both, one]

    def test_direct_messages_with_all_named_users(self, chat: ChatClient, cast: Cast) -> None:
        def tell(*members: Any) -> int:
            sent = chat.post(
                "/messages", type="direct", to=[m.id for m in members], content="Words"
            )
            return int(sent["id"])

        two = tell(cast.othello)
        three = tell(cast.othello, cast.iago)
        both = f"{cast.othello.email}, {cast.iago.email.upper()}"
        assert ids(chat, term("dm", cast.othello.email)) == [two]
        assert ids(chat, term("dm", both)) == [three]
        assert ids(chat, term("dm", [cast.iago.id])) == []
        assert ids(chat, term("dm-including", cast.othello.id)) == [two, three]
        assert ids(chat, term("dm-including", both)) == [three]
        assert ids(chat, term("dm-including", both, negated=True)) == [two]
        assert ids(chat, term("group-pm-with", cast.othello.email)) == [three]
        assert ids(chat, term("dm", both, negated=True)) == [two]

    def test_hundred_subqueries_are_planned_quickly(self, chat: ChatClient, cast: Cast) -> None:
        """Planning in PostgreSQL used to exceed the time limit of reads."""
        all_users = [member.id for member in cast.acme if member != cast.ophelia]
        sent = chat.post("/messages", type="direct", to=all_users, content="Words")["id"]
        pairs = [[one, other] for one in all_users for other in all_users if one < other][:20]
        among = [term(how, pair) for pair in pairs for how in ("dm-including", "group-pm-with")]
        mentions = [term("mentions", one) for one in all_users]
        strangers = [{**one, "negated": True} for one in mentions]
        assert ids(chat, *among) == ids(chat, *among[:1]) == [sent]
        assert ids(chat, *among, *mentions) == []
        assert ids(chat, *among, *strangers) == [sent]
        assert ids(chat, *among, *mentions, *strangers) == []

    def test_highlights_the_beginning_of_a_long_response(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        first = say(chat, content="searching")["id"]
        filler = "x " * 300_000
        say(chat, content="search")
        chat_database.run(
            lambda s: s.get_one(Message, first).__setattr__("rendered_content", f"{filler}search")
        )
        found = chat.get("/messages", **NEWEST, narrow=[term("search", "search")])["messages"]
        assert [m["match_content"] for m in found] == [f"{filler}search", "<p>search</p>"]

    def test_searches_in_any_language(self, chat: ChatClient, denmark: int) -> None:
        texts = ("To be or not to be", "Un café à Zürich", "東京都に行く", "ภาษาไทย", "हिन्दी में")
        english, latin, japanese, thai, hindi = (say(chat, content=text)["id"] for text in texts)
        for query, found in (
            ('"to be or not"', english),
            ("the", None),
            ("CAFE zurich", latin),
            ("京都", japanese),
            ("行", japanese),
            ("京東", None),
            ("ไทย", thai),
            ("हिन्दी", hindi),
            ("हिन", None),
        ):
            assert ids(chat, term("search", query)) == ([] if found is None else [found]), query
        narrow = [term("search", "京都")]
        (message,) = chat.get("/messages", **NEWEST, narrow=narrow)["messages"]
        assert message["match_content"] == '<p>東<span class="highlight">京都</span>に行く</p>'
