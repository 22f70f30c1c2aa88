"""How much is kept of the objects that were made of messages."""

from models.chat.messages.kept import OBJECT_BYTES, KeptMessages

TEXT = "x" * 1_000
EACH = OBJECT_BYTES + 1_049
"""Bytes of one object; a text has 49 besides its characters."""


def test_what_was_used_last_is_kept() -> None:
    kept = KeptMessages(most_bytes=8 * EACH)
    for number in range(100):
        kept.put((number, TEXT), {"id": number})
        assert kept.get((0, TEXT)) == {"id": 0}
    assert kept.get((99, TEXT)) == {"id": 99}
    assert [kept.get((number, TEXT)) for number in range(1, 90)] == [None] * 89


def test_what_is_larger_than_all_room_takes_it_alone() -> None:
    kept = KeptMessages(most_bytes=EACH)
    for number in range(3):
        kept.put((number, TEXT), {"id": number})
    assert [kept.get((number, TEXT)) for number in range(3)] == [None, {"id": 1}, {"id": 2}]


def test_a_key_that_differs_in_anything_finds_nothing() -> None:
    kept = KeptMessages()
    kept.put((1, TEXT, None), {"id": 1})
    assert kept.get((1, TEXT, None)) == {"id": 1}
    for other in ((2, TEXT, None), (1, TEXT + "y", None), (1, TEXT, 0), (1, TEXT)):
        assert kept.get(other) is None
