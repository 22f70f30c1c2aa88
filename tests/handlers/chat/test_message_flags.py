"""Operations of the tag message_flags."""

from typing import Any

import orjson
import pytest
from sqlalchemy import func, select

from handlers.chat.wire import steps
from models.chat.messages.stars import all_flags
from models.chat.reading import marking
from models.chat.reading.ranges import clamp_counts
from models.chat.tables import Event, UserMessage
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe, unsubscribe
from tests.support.chat.people import Cast
from tests.support.chat.prepared import Preparation, Stage

EDITABLE = ["read", "starred", "collapsed"]
FIXED = [
    *("mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned", "group_mentioned"),
    *("has_alert_word", "historical", "force_expand", "force_collapse"),
]

MARKED = {**DONE, "complete": True}


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


def write(client: ChatClient, channel: int, count: int, topic: str = "castle") -> list[int]:
    return [
        client.post("/messages", type="channel", to=channel, topic=topic, content=f"word {n}")["id"]
        for n in range(count)
    ]


def flags_of(database: Database, user_id: int) -> dict[int, int]:
    with database.reading() as reader:
        rows = reader.execute(
            select(UserMessage.message_id, all_flags(UserMessage)).where(
                UserMessage.user_id == user_id
            )
        )
        return {row.message_id: row.flags for row in rows}


def last_event(database: Database) -> tuple[str, dict[str, Any], str | None]:
    with database.reading() as reader:
        event = reader.execute(select(Event.__table__).order_by(Event.id.desc())).first()
    assert event is not None
    return event.type, orjson.loads(event.payload), event.user_ids


def count_events(database: Database) -> int:
    with database.reading() as reader:
        return reader.execute(select(func.count()).select_from(Event)).scalar_one()


class TestUpdateMessageFlagsForNarrow:
    PATH = "/messages/flags/narrow"

    def flag(self, client: ChatClient, **over: Any) -> dict[str, Any]:
        wish = {
            "anchor": "newest",
            "num_before": 100,
            "num_after": 0,
            "narrow": [],
            "op": "add",
            "flag": "starred",
        }
        return client.post(self.PATH, **{**wish, **over})

    def test_adds_a_flag_and_reports_the_result(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        ids = write(chat, denmark, 3)
        assert self.flag(chat) == {
            "result": "success",
            "msg": "",
            "processed_count": 3,
            "updated_count": 3,
            "first_processed_id": ids[0],
            "last_processed_id": ids[2],
            "found_oldest": True,
            "found_newest": True,
        }
        assert flags_of(chat_database, cast.hamlet.id) == dict.fromkeys(ids, 2)
        assert last_event(chat_database) == (
            "update_message_flags",
            {"op": "add", "operation": "add", "flag": "starred", "messages": ids, "all": False},
            f"[{cast.hamlet.id}]",
        )
        again = self.flag(chat)
        assert (again["processed_count"], again["updated_count"]) == (3, 0)

    @pytest.mark.parametrize("flag", EDITABLE)
    def test_adds_and_removes_each_flag(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast, flag: str
    ) -> None:
        (message,) = write(chat, denmark, 1)
        assert self.flag(chat, flag=flag)["updated_count"] == 1
        assert flag in chat.get(f"/messages/{message}")["message"]["flags"]
        removed = self.flag(chat, flag=flag, op="remove")
        assert removed["updated_count"] == 1
        assert ("ignored_because_not_subscribed_channels" in removed) == (flag == "read")
        assert flags_of(chat_database, cast.hamlet.id) == {message: 0}

    @pytest.mark.parametrize("flag", FIXED)
    def test_server_flags_are_unchanged(self, chat: ChatClient, flag: str) -> None:
        assert self.flag(chat, flag=flag) == bad(f"Flag not editable: '{flag}'")

    @pytest.mark.parametrize("flag", ["is_private", "active_mobile_push_notification", "READ", ""])
    def test_rejects_unknown_flags(self, chat: ChatClient, flag: str) -> None:
        assert self.flag(chat, flag=flag) == bad(f"Invalid flag: '{flag}'")

    def test_rejects_other_operations(self, chat: ChatClient) -> None:
        assert self.flag(chat, op="bogus") == bad("Invalid message flag operation: 'bogus'")

    def test_flag_is_checked_after_the_range(self, chat: ChatClient) -> None:
        assert self.flag(chat, anchor="x", flag="x") == bad("Invalid anchor")

    @pytest.mark.parametrize("name", ["anchor", "num_before", "num_after", "narrow", "op", "flag"])
    def test_reports_missing_parameters(self, chat: ChatClient, name: str) -> None:
        assert self.flag(chat, **{name: None}) == bad(
            f"Missing '{name}' argument", "REQUEST_VARIABLE_MISSING", var_name=name
        )

    @pytest.mark.parametrize(
        ("wish", "first", "last", "oldest", "newest"),
        [
            ({"anchor": "oldest", "num_before": 0, "num_after": 2}, 0, 1, True, False),
            ({"anchor": "0", "num_before": 0, "num_after": 5}, 0, 4, True, False),
            ({"anchor": "-7", "num_before": 0, "num_after": 6}, 0, 4, True, True),
            ({"anchor": "newest", "num_before": 2, "num_after": 0}, 3, 4, False, True),
            ({"anchor": str(10**17), "num_before": 5, "num_after": 0}, 0, 4, False, True),
            ({"anchor": "MIDDLE", "num_before": 1, "num_after": 1}, 1, 3, False, False),
            ({"anchor": "MIDDLE", "num_before": 2, "num_after": 2}, 0, 4, False, False),
            ({"anchor": "MIDDLE", "num_before": 3, "num_after": 3}, 0, 4, True, True),
            ({"anchor": "MIDDLE", "num_before": 0, "num_after": 0}, 2, 2, False, False),
            ({"anchor": "MIDDLE", "num_before": 0, "num_after": 1}, 2, 3, False, False),
            (
                {"anchor": "MIDDLE", "num_before": 0, "num_after": 1, "include_anchor": False},
                *(3, 3, False, False),
            ),
            (
                {"anchor": "MIDDLE", "num_before": 1, "num_after": 0, "include_anchor": False},
                *(1, 1, False, False),
            ),
            ({"anchor": "first_unread", "num_before": 0, "num_after": 1}, 0, 1, False, False),
        ],
    )
    def test_finds_the_range(
        self,
        as_othello: ChatClient,
        chat: ChatClient,
        denmark: int,
        wish: dict[str, Any],
        first: int,
        last: int,
        oldest: bool,
        newest: bool,
    ) -> None:
        ids = write(chat, denmark, 5)
        if wish["anchor"] == "MIDDLE":
            wish = {**wish, "anchor": str(ids[2])}
        done = self.flag(as_othello, **wish)
        assert (done["first_processed_id"], done["last_processed_id"]) == (ids[first], ids[last])
        assert done["processed_count"] == last - first + 1
        assert (done["found_oldest"], done["found_newest"]) == (oldest, newest)

    def test_reports_an_empty_range(self, chat: ChatClient, denmark: int) -> None:
        assert self.flag(chat) == {
            "result": "success",
            "msg": "",
            "processed_count": 0,
            "updated_count": 0,
            "first_processed_id": None,
            "last_processed_id": None,
            "found_oldest": True,
            "found_newest": True,
        }

    def test_anchor_may_be_inside_the_range(self, chat: ChatClient) -> None:
        wish = {"anchor": "7", "num_before": 1, "num_after": 1, "include_anchor": False}
        assert self.flag(chat, **wish) == bad(
            "The anchor can only be excluded at an end of the range"
        )

    def test_creates_copies_of_public_history(
        self,
        as_iago: ChatClient,
        chat: ChatClient,
        denmark: int,
        chat_database: Database,
        cast: Cast,
    ) -> None:
        ids = write(chat, denmark, 2)
        narrow = [{"operator": "channel", "operand": denmark}]
        assert self.flag(as_iago, narrow=narrow, flag="read")["updated_count"] == 0
        assert flags_of(chat_database, cast.iago.id) == {}
        assert self.flag(as_iago, narrow=narrow)["updated_count"] == 2
        assert flags_of(chat_database, cast.iago.id) == dict.fromkeys(ids, 1 + 2 + 1024)

    def test_marks_unread_only_in_subscribed_channels(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        ids = write(chat, denmark, 2)
        self.flag(chat, flag="read")
        chat_database.run(lambda s: unsubscribe(s, denmark, cast.hamlet))
        done = self.flag(chat, flag="read", op="remove")
        assert done["ignored_because_not_subscribed_channels"] == [denmark]
        assert (done["processed_count"], done["updated_count"]) == (2, 0)
        chat_database.run(lambda s: subscribe(s, denmark, cast.hamlet))
        done = self.flag(chat, flag="read", op="remove")
        assert done["ignored_because_not_subscribed_channels"] == []
        assert done["updated_count"] == 2
        _, payload, _ = last_event(chat_database)
        assert payload["message_details"] == {
            str(i): {"type": "stream", "stream_id": denmark, "topic": "castle"} for i in ids
        }

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", self.PATH, {}).status_code == 401

    @pytest.mark.parametrize(
        ("before", "after", "clamped"),
        [
            (5000, 0, (5000, 0)),
            (5001, 0, (5000, 0)),
            (0, 5000, (0, 5000)),
            (0, 5001, (0, 5000)),
            (2500, 2500, (2500, 2500)),
            (9999, 9999, (2500, 2500)),
            (4000, 2000, (3000, 2000)),
            (1000, 4500, (1000, 4000)),
        ],
    )
    def test_excessive_numbers_are_lowered(
        self, before: int, after: int, clamped: tuple[int, int]
    ) -> None:
        assert clamp_counts(before, after) == clamped


def _fill_scene(stage: Stage) -> list[int]:
    """Send six messages and return their ids."""
    cast = stage.cast
    hamlet, othello = (
        ChatClient(stage.app, "acme.example", member) for member in (cast.hamlet, cast.othello)
    )
    denmark = stage.database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )

    def say(client: ChatClient, **over: Any) -> int:
        message = {"type": "channel", "to": denmark, "topic": "castle", "content": "x"}
        sent: int = client.post("/messages", **{**message, **over})["id"]
        return sent

    return [
        say(hamlet, content="Searching for ghosts https://a.example"),
        say(othello, topic="Court", content="@**Hamlet** [x](https://a.example/b.png)"),
        say(hamlet, topic="✔ castle", content="resolved"),
        say(hamlet, type="direct", to=[cast.othello.id], content="psst"),
        say(hamlet, type="direct", to=[cast.othello.id, cast.iago.id], content="three"),
        say(othello, topic="", content="[f](/user_uploads/1/x.txt)"),
    ]


NARROWED = Preparation("a scene to narrow", _fill_scene)


class TestNarrow:
    """Every operator, also negated. GET /messages uses the same narrows."""

    @pytest.fixture
    def preparation(self) -> Preparation:
        return NARROWED

    @pytest.fixture
    def scene(self, prepared: list[int]) -> list[int]:
        return prepared

    @pytest.mark.parametrize(
        ("term", "found"),
        [
            (("channel", "denmark"), {0, 1, 2, 5}),
            (("stream", "Denmark"), {0, 1, 2, 5}),
            (("channels", "public"), {0, 1, 2, 5}),
            (("channels", "web-public"), set()),
            (("streams", "archived"), set()),
            (("topic", "CASTLE"), {0}),
            (("topic", "court"), {1}),
            (("topic", ""), {5}),
            (("topic", "(no topic)"), {5}),
            (("topic", "General Chat"), {5}),
            (("sender", "hamlet@acme.example"), {0, 2, 3, 4}),
            (("sender", "OTHELLO"), {1, 5}),
            (("dm", "othello@acme.example"), {3}),
            (("pm-with", "othello@acme.example"), {3}),
            (("pm_with", "othello@acme.example,iago@acme.example"), {4}),
            (("dm", ["OTHELLO"]), {3}),
            (("dm", "OTHELLO"), {3}),
            (("dm-including", "othello@acme.example"), {3, 4}),
            (("group-pm-with", "othello@acme.example"), {4}),
            (("group_pm_with", "OTHELLO"), {4}),
            (("is", "dm"), {3, 4}),
            (("is", "private"), {3, 4}),
            (("is", "starred"), set()),
            (("is", "unread"), {0, 1, 2, 3, 4, 5}),
            (("is", "mentioned"), {1}),
            (("is", "alerted"), set()),
            (("is", "resolved"), {2}),
            (("is", "followed"), {0, 1, 2}),
            (("is", "muted"), set()),
            (("has", "link"), {0, 1, 5}),
            (("has", "image"), {1}),
            (("has", "attachment"), {5}),
            (("has", "reaction"), set()),
            (("in", "home"), {0, 1, 2, 3, 4, 5}),
            (("in", "all"), {0, 1, 2, 3, 4, 5}),
            (("near", 1), {0, 1, 2, 3, 4, 5}),
            (("search", "ghost"), {0}),
            (("search", "SEARCH ghosts"), {0}),
            (("search", '"searching for"'), {0}),
            (("search", '"ghosts searching"'), set()),
            (("search", "court"), {1}),
            (("search", '" OR * NEAR('), set()),
            (("mentions", "hamlet@acme.example"), {1}),
        ],
    )
    def test_finds_messages(
        self, chat: ChatClient, scene: list[int], cast: Cast, term: Any, found: set[int]
    ) -> None:
        operator, operand = term
        if operand in ("OTHELLO", ["OTHELLO"]):
            operand = [cast.othello.id] if isinstance(operand, list) else cast.othello.id
        every = set(range(len(scene)))
        for negated, expected in ((False, found), (True, every - found)):
            if negated and operator in ("near", "in") and operand != "home":
                continue
            narrow = [{"operator": operator, "operand": operand, "negated": negated}]
            answer = chat.get(
                "/messages", anchor="newest", num_before=50, num_after=0, narrow=narrow
            )
            assert [m["id"] for m in answer["messages"]] == [scene[n] for n in sorted(expected)], (
                negated
            )

    @pytest.mark.both_databases
    @pytest.mark.parametrize(
        ("words", "found"), [("ghost", {0}), ("court", {1}), ("yorick", set())]
    )
    def test_frequent_words_are_found_by_scanning(
        self,
        chat: ChatClient,
        scene: list[int],
        words: str,
        found: set[int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("models.chat.messages.search.FEW", 0)
        every = set(range(len(scene)))
        for negated, expected in ((False, found), (True, every - found)):
            narrow = [{"operator": "search", "operand": words, "negated": negated}]
            answer = chat.get(
                "/messages", anchor="newest", num_before=50, num_after=0, narrow=narrow
            )
            assert [m["id"] for m in answer["messages"]] == [scene[n] for n in sorted(expected)]

    def test_finds_a_message_by_id_and_a_conversation_by_one_of_its_messages(
        self, chat: ChatClient, scene: list[int]
    ) -> None:
        def ids(*terms: Any) -> list[int]:
            answer = chat.get(
                "/messages", anchor="newest", num_before=50, num_after=0, narrow=list(terms)
            )
            return [m["id"] for m in answer["messages"]]

        assert ids({"operator": "id", "operand": scene[2]}) == [scene[2]]
        assert ids(["id", str(scene[2])]) == [scene[2]]
        assert ids({"operator": "with", "operand": scene[0]}) == [scene[0]]
        assert ids({"operator": "with", "operand": scene[3]}) == [scene[3]]
        assert ids(["channel", "Denmark"], ["topic", "court"], ["with", "999999"]) == [scene[1]]

    @pytest.mark.parametrize(
        ("narrow", "desc"),
        [
            ([["bogus", "x"]], "unknown operator bogus"),
            ([["channel", "Norway"]], "unknown channel Norway"),
            ([{"operator": "channel", "operand": 999}], "unknown channel 999"),
            ([["sender", "yorick@acme.example"]], "unknown user yorick@acme.example"),
            ([["dm", "yorick@acme.example"]], "unknown user yorick@acme.example"),
            ([{"operator": "dm", "operand": [999]}], "unknown user 999"),
            ([["is", "x"]], "unknown 'is' operand x"),
            ([["has", "x"]], "unknown 'has' operand x"),
            ([["in", "x"]], "unknown 'in' operand x"),
            ([["channels", "x"]], "unknown channels operand x"),
            ([["id", "x"]], "Invalid 'id' operator"),
            ([["with", "999999"]], "Invalid 'with' operator"),
            ([["with", "1"], ["with", "2"]], "Duplicate 'with' operators."),
            (
                [["topic", "x"], ["is", "dm"]],
                "No message can be both a channel message and direct message",
            ),
            (
                [["stream", "Denmark"], ["dm", "othello@acme.example"]],
                "No message can be both a channel message and direct message",
            ),
        ],
    )
    def test_rejects_unknown_terms(self, chat: ChatClient, narrow: Any, desc: str) -> None:
        wish = {"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow}
        refusal = bad(f"Invalid narrow operator: {desc}", "BAD_NARROW", desc=desc)
        assert chat.get("/messages", **wish) == refusal
        flags = {"op": "add", "flag": "read"}
        assert chat.post("/messages/flags/narrow", **wish, **flags) == refusal

    @pytest.mark.parametrize(
        ("narrow", "msg"),
        [
            ([3], "Invalid narrow[0]: Value error, dict or list required"),
            (["x"], "Invalid narrow[0]: Value error, dict or list required"),
            ([["a"]], "Invalid narrow[0]: Value error, element is not a string pair"),
            ([["a", 1]], "Invalid narrow[0]: Value error, element is not a string pair"),
            ([["is", "dm"], ["a", "b", "c"]],
             "Invalid narrow[1]: Value error, element is not a string pair"),
            ([{"operand": "x"}], "Invalid narrow[0]: Value error, operator is missing"),
            ([{"operator": "x"}], "Invalid narrow[0]: Value error, operand is missing"),
            ([["search", " "]], "Invalid narrow[0]: Value error, operand cannot be blank."),
            ({"operator": "x"}, "Invalid narrow[0]: Value error, operand is missing"),
            ("[", "narrow is not valid JSON"),
            ('[["is", "\\ud800"]]', "narrow is not valid JSON"),
            ("[" * 80 + "]" * 80, "narrow is not valid JSON"),
            ([{"operator": "search", "operand": "a\0"}],
             'narrow[0]["operand"] must not contain null bytes'),
            ([{"": [{"\0": None}], "operator": "is", "operand": "dm"}],
             'narrow[0][""][0] must not contain null bytes'),
        ],
    )  # fmt: skip
    def test_rejects_other_shapes(self, chat: ChatClient, narrow: Any, msg: str) -> None:
        wish = {"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow}
        assert chat.get("/messages", **wish) == bad(msg)
        if isinstance(narrow, dict):
            return  # one value of an array in a form: a repeated key that occurs once
        flags = {"op": "add", "flag": "read"}
        assert chat.post("/messages/flags/narrow", **wish, **flags) == bad(msg)

    @pytest.mark.reaches("BAD_NARROW")
    def test_hides_channels_without_access(
        self, as_othello: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        chat_database.run(
            lambda s: make_channel(
                s, cast, "Secret", invite_only=True, history_public_to_subscribers=False
            )
        )
        wish = {"anchor": "newest", "num_before": 1, "num_after": 0}
        answer = as_othello.get("/messages", **wish, narrow=[["channel", "Secret"]])
        assert answer["code"] == "BAD_NARROW"


class TestUpdateMessageFlags:
    PATH = "/messages/flags"

    def test_changes_the_named_messages(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        ids = write(chat, denmark, 3)
        answer = chat.post(self.PATH, messages=[ids[2], ids[0], ids[0]], op="add", flag="read")
        assert answer == {"result": "success", "msg": "", "messages": [ids[0], ids[2]]}
        assert flags_of(chat_database, cast.hamlet.id) == {ids[0]: 1, ids[1]: 0, ids[2]: 1}

    def test_reports_messages_that_stayed_read(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast
    ) -> None:
        ids = write(chat, denmark, 1)
        chat_database.run(lambda s: unsubscribe(s, denmark, cast.hamlet))
        answer = chat.post(self.PATH, messages=ids, op="remove", flag="read")
        assert answer == {
            "result": "success",
            "msg": "",
            "messages": [],
            "ignored_because_not_subscribed_channels": [denmark],
        }

    @pytest.mark.parametrize("ids", [[0], [999_999], [2_147_483_647]])
    def test_rejects_unknown_messages(self, chat: ChatClient, ids: list[int]) -> None:
        assert chat.post(self.PATH, messages=ids, op="add", flag="read") == bad(
            "Invalid message(s)"
        )

    def test_rejects_messages_of_others(
        self, chat: ChatClient, as_iago: ChatClient, as_hank: ChatClient, cast: Cast, denmark: int
    ) -> None:
        direct = chat.post("/messages", type="direct", to=[cast.othello.id], content="x")["id"]
        public = write(chat, denmark, 1)[0]
        for client, message in ((as_iago, direct), (as_hank, direct), (as_hank, public)):
            wish = {"messages": [message], "op": "add", "flag": "read"}
            assert client.post(self.PATH, **wish) == bad("Invalid message(s)")

    def test_rejects_other_flags_and_operations(self, chat: ChatClient, denmark: int) -> None:
        ids = write(chat, denmark, 1)
        for op, flag, msg in (
            ("add", "mentioned", "Flag not editable: 'mentioned'"),
            ("add", "x", "Invalid flag: 'x'"),
            ("x", "read", "Invalid message flag operation: 'x'"),
        ):
            assert chat.post(self.PATH, messages=ids, op=op, flag=flag) == bad(msg)

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", self.PATH, {}).status_code == 401


class TestMarkAllAsRead:
    PATH = "/mark_all_as_read"

    def test_marks_unread_messages_and_reports_them(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        denmark: int,
        chat_database: Database,
        cast: Cast,
    ) -> None:
        ids = write(as_othello, denmark, 3)
        direct = as_othello.post("/messages", type="direct", to=[cast.hamlet.id], content="x")["id"]
        chat.post("/messages/flags", messages=[ids[1]], op="add", flag="starred")
        assert chat.post(self.PATH) == MARKED
        assert last_event(chat_database) == (
            "update_message_flags",
            {
                "op": "add",
                "operation": "add",
                "flag": "read",
                "messages": [*ids, direct],
                "all": False,
            },
            f"[{cast.hamlet.id}]",
        )
        flags = flags_of(chat_database, cast.hamlet.id)
        assert flags == {ids[0]: 1, ids[1]: 3, ids[2]: 1, direct: flags[direct]}
        assert flags[direct] & 1
        events = count_events(chat_database)
        assert chat.post(self.PATH) == MARKED
        assert count_events(chat_database) == events

    def test_works_in_steps(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        denmark: int,
        chat_database: Database,
        cast: Cast,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(marking, "STEP", 2)
        marking._unread.cache_clear()
        ids = write(as_othello, denmark, 5)
        before = count_events(chat_database)
        assert chat.post(self.PATH) == MARKED
        marking._unread.cache_clear()
        assert count_events(chat_database) == before + 3
        assert flags_of(chat_database, cast.hamlet.id) == dict.fromkeys(ids, 1)

    def test_reports_an_incomplete_run(
        self, chat: ChatClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(steps, "LONGEST_S", 0.0)
        assert chat.post(self.PATH) == {**MARKED, "complete": False}

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", self.PATH, {}).status_code == 401


class TestMarkChannelAsRead:
    PATH = "/mark_stream_as_read"

    def test_reports_an_incomplete_run(
        self, chat: ChatClient, denmark: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(steps, "LONGEST_S", 0.0)
        assert chat.post(self.PATH, stream_id=denmark) == {**DONE, "complete": False}

    def test_marks_one_channel(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        denmark: int,
        chat_database: Database,
        cast: Cast,
    ) -> None:
        verona = chat_database.run(
            lambda s: make_channel(s, cast, "Verona", subscribers=[cast.hamlet, cast.othello])
        )
        here, there = write(as_othello, denmark, 2), write(as_othello, verona, 1)
        assert chat.post(self.PATH, stream_id=denmark) == DONE
        flags = flags_of(chat_database, cast.hamlet.id)
        assert flags == {here[0]: 1, here[1]: 1, there[0]: 0}

    def test_rejects_unknown_and_hidden_channels(
        self,
        chat: ChatClient,
        as_hank: ChatClient,
        denmark: int,
        chat_database: Database,
        cast: Cast,
    ) -> None:
        hidden = chat_database.run(
            lambda s: make_channel(s, cast, "secret", subscribers=[cast.othello], invite_only=True)
        )
        for client, channel in ((chat, 999_999), (chat, hidden), (as_hank, denmark)):
            assert client.post(self.PATH, stream_id=channel) == bad("Invalid channel ID")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", self.PATH, {"stream_id": 1}).status_code == 401


class TestMarkTopicAsRead:
    PATH = "/mark_topic_as_read"

    def test_marks_one_topic_in_any_case(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        denmark: int,
        chat_database: Database,
        cast: Cast,
    ) -> None:
        castle, moat = write(as_othello, denmark, 2), write(as_othello, denmark, 1, "moat")
        assert chat.post(self.PATH, stream_id=denmark, topic_name=" CASTLE ") == DONE
        flags = flags_of(chat_database, cast.hamlet.id)
        assert flags == {castle[0]: 1, castle[1]: 1, moat[0]: 0}

    def test_rejects_unknown_topics(
        self, chat: ChatClient, as_othello: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        protected = chat_database.run(
            lambda s: make_channel(
                s,
                cast,
                "vault",
                subscribers=[cast.othello],
                invite_only=True,
                history_public_to_subscribers=False,
            )
        )
        write(as_othello, protected, 1, "before")
        chat_database.run(lambda s: subscribe(s, protected, cast.hamlet))
        write(as_othello, protected, 1, "after")
        for topic in ("before", "never"):
            answer = chat.post(self.PATH, stream_id=protected, topic_name=topic)
            assert answer == bad(f"No such topic '{topic}'")
        assert chat.post(self.PATH, stream_id=protected, topic_name="after") == DONE
        answer = chat.post(self.PATH, stream_id=protected, topic_name="a\nb")
        assert answer == bad("Invalid character in topic, at position 2!")

    def test_rejects_hidden_channels(self, as_hank: ChatClient, denmark: int) -> None:
        answer = as_hank.post(self.PATH, stream_id=denmark, topic_name="castle")
        assert answer == bad("Invalid channel ID")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        wish = {"stream_id": 1, "topic_name": "x"}
        assert as_nobody.request("POST", self.PATH, wish).status_code == 401
