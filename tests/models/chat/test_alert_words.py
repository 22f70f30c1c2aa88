"""Which alert words a text has: what a word is, and that many words cost no more than few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.alert_words import standing_alone

SIGNS = "ab -(*'"
BEFORE, AFTER = ("", *" ([\"'.,;*`>"), ("", *" )]\"'?:.,;!*`")


class Looked(set[str]):
    """Words that count how often they are looked at."""

    times = 0

    def __contains__(self, word: object) -> bool:
        self.times += 1
        return super().__contains__(word)


def plainly(key: str, text: str) -> bool:
    """The definition: each place of the word, with what stands around it."""
    ends = range(len(key), len(text) + 1)
    return any(
        text[end - len(key) : end] == key
        and text[: end - len(key)][-1:] in BEFORE
        and text[end : end + 1] in AFTER
        for end in ends
    )


@given(
    text=st.text(SIGNS, max_size=40),
    keys=st.sets(st.text(SIGNS, min_size=1, max_size=4), max_size=12),
)
def test_a_word_counts_where_it_stands_alone(text: str, keys: set[str]) -> None:
    assert standing_alone(keys, text) == {key for key in keys if plainly(key, text)}


@pytest.mark.parametrize("text", ["-" * 10_000, "(-" * 5_000])
def test_more_words_of_the_same_lengths_are_not_looked_at_more_often(text: str) -> None:
    few = Looked("-" + "x" * number for number in range(50))
    many = Looked(few | {"-" + sign * number for sign in "yzuvw" for number in range(50)})
    standing_alone(few, text)
    standing_alone(many, text)
    assert many.times == few.times <= 50 * len(text)
