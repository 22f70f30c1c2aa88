"""Alert words in a text: where a word begins and ends, and the cost of many words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.alert_words import standing_alone

SIGNS = "ab -(*'"
BEFORE, AFTER = ("", *" ([\"'.,;*`>"), ("", *" )]\"'?:.,;!*`")


class CountingSet(set[str]):
    """A set of words that counts its lookups."""

    times = 0

    def __contains__(self, word: object) -> bool:
        self.times += 1
        return super().__contains__(word)


def contains_word(key: str, text: str) -> bool:
    """Return whether the text contains the word between two separators, by the definition."""
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
def test_word_between_separators_is_found(text: str, keys: set[str]) -> None:
    assert standing_alone(keys, text) == {key for key in keys if contains_word(key, text)}


@pytest.mark.parametrize("text", ["-" * 10_000, "(-" * 5_000])
def test_number_of_lookups_does_not_grow_with_words_of_equal_length(text: str) -> None:
    few = CountingSet("-" + "x" * number for number in range(50))
    many = CountingSet(few | {"-" + sign * number for sign in "yzuvw" for number in range(50)})
    standing_alone(few, text)
    standing_alone(many, text)
    assert many.times == few.times <= 50 * len(text)
