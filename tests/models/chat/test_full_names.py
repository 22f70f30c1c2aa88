"""Full names: all scripts are accepted, deceptive names are rejected."""

import pytest

from models.chat.errors import ChatError
from models.chat.people.confusables import look_alike, looks
from models.chat.people.errors import InvalidCharactersInName, InvalidNameFormat, NameIsReserved
from models.chat.people.full_names import NOTIFICATION_BOT, as_allowed, check_full_name


@pytest.mark.parametrize(
    "name",
    [
        *("Hamlet", "Dr. J. R. Smith", "O'Brien", "Ann (she)", "Łukasz", "José", "Иван Петров"),
        *("山田太郎", "محمد", "김철수", "नरेन्द्र", "Ελένη", "👩 Ada", "The Notification Bot"),
        *("a [b]", "R&D 1/2", "x_y", "Nótification Bot"),
    ],
)
def test_name_in_any_script_is_accepted(name: str) -> None:
    assert check_full_name(f" {name} ") == name


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        *((name, InvalidCharactersInName) for name in ("\u3164" * 3, "\u0301\u0301")),
        *((name, InvalidCharactersInName) for name in ("a\u2028b", "a\r\nb", "a\u202eb")),
        *((name, InvalidNameFormat) for name in ("a[x](http://evil.example)b", "http://x")),
        *((name, InvalidNameFormat) for name in ("[a] (b)", "See www.Evil.example", "Hamlet|4")),
        *((name, NameIsReserved) for name in ("Notification Bot", "notification  bot")),
        ("NOTIFICATION BOT", NameIsReserved),
        *((name, NameIsReserved) for name in ("N0tification B0t", "N\u043etification B\u043et")),
        *((name, NameIsReserved) for name in ("NOTlFICATION BOT", "Notification\u3164Bot")),
        ("\uff2eotification Bot", NameIsReserved),
    ],
)  # fmt: skip
def test_deceptive_name_is_rejected(name: str, refusal: type[ChatError]) -> None:
    with pytest.raises(refusal):
        check_full_name(name)


def test_bot_itself_has_its_name() -> None:
    assert check_full_name(NOTIFICATION_BOT, is_system_bot=True) == NOTIFICATION_BOT


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("C\u043erdelia", "Cordelia", True),
        ("Iago", "lago", True),
        ("IAGO", "lAGO", True),
        ("hamlet", "HAMLET", True),
        ("Ann\u3164", "Ann", True),
        ("A\u00adnn", "Ann", True),
        ("\u0399ago", "Iago", True),
        ("Ian", "Lan", False),
        ("Jose", "José", False),
        ("Ann", "Anna", False),
        ("山田", "山本", False),
    ],
)
def test_similar_names_are_recognized(one: str, other: str, alike: bool) -> None:
    assert look_alike(looks(one), looks(other)) is alike
    assert look_alike(looks(other), looks(one)) is alike


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("Hamlet", "Hamlet"), (" Ham*let\u202e ", "Ham let"),
        ("see www.a.example", "see a.example"), ("A", "A 7"), ("@*>", "User 7"),
        ("Ada|12", "Ada"), ("x" * 300, "x" * 80),
        ("Notification Bot", "Notification Bot 7"), ("\u3164" * 3, "User 7"),
    ],
)  # fmt: skip
def test_imported_name_is_converted_to_a_valid_one(name: str, stored: str) -> None:
    assert as_allowed(name, 7) == stored == check_full_name(stored)
