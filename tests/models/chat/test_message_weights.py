"""A range that is too large for one response is cut on both sides of its anchor."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from models.chat.messages.edit_history import MAX_TEXT
from models.chat.reading import weights as message_weights
from models.chat.reading.ranges import Range
from models.chat.reading.weights import cut_to_weight
from models.chat.tables import Message, MessageEdit, Reaction
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.chat.prepared import Preparation, Stage

MANY = 40


def _fill(stage: Stage) -> list[int]:
    """Store messages of a hundred bytes each."""
    hamlet = ChatClient(stage.app, "acme.example").acting_as(stage.cast.hamlet)
    subscribers = [stage.cast.hamlet]
    stage.database.run(lambda s: make_channel(s, stage.cast, "Denmark", subscribers=subscribers))
    for _ in range(MANY):
        hamlet.post("/messages", type="channel", to="Denmark", topic="a", content="b")

    def weigh(session: Session) -> list[int]:
        session.execute(update(Message).values(content="ä" * 20, rendered_content="c" * 60))
        return list(session.execute(select(Message.id).order_by(Message.id)).scalars())

    return stage.database.run(weigh)


MESSAGES = Preparation("messages of a hundred bytes", _fill)


@pytest.fixture
def preparation() -> Preparation:
    return MESSAGES


@pytest.fixture
def ids(prepared: list[int]) -> list[int]:
    return prepared


CASES = [
    (MANY, 4000, 0, MANY, True, True),  # all messages fit
    (MANY, 3999, 1, MANY, False, True),
    (MANY, 1000, MANY - 10, MANY, False, True),
    (0, 1000, 0, 10, True, False),
    (20, 1000, 15, 25, False, False),  # alternating, starting at the anchor
    (20, 1100, 15, 26, False, False),
    (5, 2000, 0, 20, True, False),
    (35, 2000, 20, MANY, False, True),
    (20, 0, 19, 22, False, False),  # one on each side
    (MANY, 0, MANY - 1, MANY, False, True),
    (0, 0, 0, 2, True, False),
]
"""Position of the anchor, maximum weight, first and last remaining message, whether each end was
found.
"""


def test_reactions_and_edits_count(chat_database: Database, cast: Cast, ids: list[int]) -> None:
    emoji = {"user_id": cast.hamlet.id, "reaction_type": "unicode_emoji", "emoji_name": "x"}
    reactions = [{**emoji, "message_id": ids[-1], "emoji_code": f"{n}"} for n in range(2)]
    edited = {"editor_id": cast.hamlet.id, "edited_at": datetime.now(UTC)}
    edits = [
        {**edited, "message_id": ids[-2], "prev_content": "ä" * 200, "prev_rendered_content": ""},
        {**edited, "message_id": ids[-2], "prev_content": None, "prev_rendered_content": None},
    ]
    long = "x" * MAX_TEXT
    edits += [
        {**edited, "message_id": ids[-3], "prev_content": long, "prev_rendered_content": "y" * n}
        for n in (0, 1, 0, 0, 0)
    ]

    def add(session: Session) -> None:
        session.execute(insert(Reaction), reactions)
        session.execute(insert(MessageEdit), edits)

    chat_database.run(add)
    last = 100 + 2 * message_weights.REACTION_BYTES
    with chat_database.reading() as reader:
        second = 100 + 400
        third = 100 + 2 * MAX_TEXT + 1
        for most, left in (
            (last, 1), (last + second - 1, 1), (last + second, 2),
            (last + second + third - 1, 2), (last + second + third, 3),
            (last + second + third + 100 * (MANY - 3) - 1, MANY - 1),
            (last + second + third + 100 * (MANY - 3), MANY),
        ):  # fmt: skip
            found = Range(ids, 10**16, False, True, True)
            assert len(cut_to_weight(reader, found, most=most).ids) == left


@pytest.mark.parametrize("at_once", [MANY, MANY - 1])
def test_weight_of_a_batch_is_the_sum_of_its_messages(
    chat_database: Database,
    cast: Cast,
    ids: list[int],
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    monkeypatch.setattr(message_weights, "AT_ONCE", at_once)
    emoji = {"reaction_type": "unicode_emoji", "emoji_name": "x", "emoji_code": "1"}
    reaction = {**emoji, "user_id": cast.hamlet.id, "message_id": ids[-1]}
    edit = {
        "message_id": ids[-2],
        "edited_at": datetime.now(UTC),
        "prev_content": "ä" * 200,
        "prev_rendered_content": "x" * 50,
    }

    def add(session: Session) -> None:
        session.execute(insert(Reaction), [reaction])
        session.execute(insert(MessageEdit), [edit])

    chat_database.run(add)
    found = Range(ids, 10**16, False, True, True)
    weight = 100 * MANY + message_weights.REACTION_BYTES + 450
    with chat_database.reading() as reader:
        assert cut_to_weight(reader, found, most=weight) == found
        cut = Range(ids[1:], 10**16, False, False, True)
        assert cut_to_weight(reader, found, most=weight - 1) == cut


def test_range_is_cut_around_the_anchor(chat_database: Database, ids: list[int]) -> None:
    cuts, wanted = [], []
    for at, most, first, last, oldest, newest in CASES:
        anchor = ids[at] if at < MANY else 10**16
        with chat_database.reading() as reader:
            found = Range(ids, anchor, at < MANY, True, True)
            cuts.append(cut_to_weight(reader, found, most=most))
        wanted.append(Range(ids[first:last], anchor, at < MANY, oldest, newest))
    assert cuts == wanted


def test_response_is_cut(chat: ChatClient, ids: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_weights, "MAX_BYTES", 1000)
    answer = chat.get("/messages", anchor="newest", num_before=MANY, num_after=0)
    assert [message["id"] for message in answer.pop("messages")] == ids[-10:]
    assert answer == {
        "result": "success",
        "msg": "",
        "anchor": 10**16,
        "found_anchor": False,
        "found_oldest": False,
        "found_newest": True,
        "history_limited": False,
    }
    going_on = chat.get("/messages", anchor=ids[-10], num_before=MANY, num_after=0)
    assert [message["id"] for message in going_on["messages"]] == ids[-19:-9]
