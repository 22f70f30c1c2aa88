"""A range that is too heavy for one answer is cut on both sides of its anchor."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.chat.reading import weights as message_weights
from models.chat.reading.ranges import Range
from models.chat.reading.weights import FEW, cut_to_weight
from models.chat.tables import Message
from models.database import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

MANY = 2 * FEW


@pytest.fixture
def ids(chat: ChatClient, chat_database: Database, cast: Cast) -> list[int]:
    """Messages of a hundred bytes each."""
    chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet]))
    for _ in range(MANY):
        chat.post("/messages", type="channel", to="Denmark", topic="a", content="b")

    def weigh(session: Session) -> list[int]:
        session.execute(update(Message).values(content="ä" * 20, rendered_content="c" * 60))
        return list(session.execute(select(Message.id).order_by(Message.id)).scalars())

    return chat_database.run(weigh)


CASES = [
    (MANY, 4000, 0, MANY, True, True),  # all of them weigh as much
    (MANY, 3999, 1, MANY, False, True),
    (MANY, 1000, MANY - 10, MANY, False, True),
    (0, 1000, 0, 10, True, False),
    (20, 1000, 15, 25, False, False),  # in turns, the anchor first
    (20, 1100, 15, 26, False, False),
    (5, 2000, 0, 20, True, False),
    (35, 2000, 20, MANY, False, True),
    (20, 0, 19, 22, False, False),  # one on each side
    (MANY, 0, MANY - 1, MANY, False, True),
    (0, 0, 0, 2, True, False),
]
"""The place of the anchor, the most bytes; the first and last that stay, which ends are found."""


def test_cut_to_weight(chat_database: Database, ids: list[int]) -> None:
    cuts, wanted = [], []
    for at, most, first, last, oldest, newest in CASES:
        anchor = ids[at] if at < MANY else 10**16
        with chat_database.reading() as reader:
            found = Range(ids, anchor, at < MANY, True, True)
            cuts.append(cut_to_weight(reader, found, most=most))
        wanted.append(Range(ids[first:last], anchor, at < MANY, oldest, newest))
    assert cuts == wanted


def test_an_answer_is_cut(
    chat: ChatClient, ids: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_weights, "MOST_BYTES", 1000)
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
