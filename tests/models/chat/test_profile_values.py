"""Valid values of each type of custom profile field."""

import pytest

from models.chat.errors import ChatError
from models.chat.profiles.values import LENGTHS, FieldType, check_text

CHOICES = '{"vim": {"text": "Vim", "order": "1"}, "0": {"text": "Emacs", "order": "2"}}'
LINK_MAX = "https://acme.example/" + "x" * (LENGTHS[FieldType.LINK] - 21)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (1, "x" * 50),
        (1, "ö" * 50),
        (2, "x" * 500),
        (3, "vim"),
        (3, "0"),
        (4, "1564-04-26"),
        (4, "2028-02-29"),
        (5, "https://acme.example"),
        (5, "http://localhost:9991/a?b=c#d"),
        (5, "ftp://[::1]/x"),
        (5, "https://öl.example/ä"),
        (5, LINK_MAX),
        (7, "x" * 50),
        (8, "they/them"),
    ],
)
def test_valid_value_is_stored_unchanged(type_: int, value: str) -> None:
    assert check_text(FieldType(type_), "Field", CHOICES, value) == value


@pytest.mark.parametrize(
    ("type_", "value", "problem"),
    [
        (1, "x" * 51, "Field is too long (limit: 50 characters)"),
        (1, [4], "Field is not a string"),
        (2, "x" * 501, "Field is too long (limit: 500 characters)"),
        (3, "emacs", "'emacs' is not a valid choice for 'Field'."),
        (3, "Vim", "'Vim' is not a valid choice for 'Field'."),
        (3, [4], "Field is not a string"),
        (4, "2026-02-29", "Field is not a date"),
        (4, "2026-2-9", "Field is not a date"),
        (4, "20260209", "Field is not a date"),
        (4, "2026-02-09T00:00:00", "Field is not a date"),
        (4, "\u0662\u0660\u0662\u0666-02-09", "Field is not a date"),
        (5, "acme.example", "Field is not a URL"),
        (5, "javascript:alert(1)", "Field is not a URL"),
        (5, "https://", "Field is not a URL"),
        (5, "https://a b", "Field is not a URL"),
        (5, "https://acme.example:port", "Field is not a URL"),
        (5, "https://[::1", "Field is not a URL"),
        (5, "https://" + "x" * 64, "Field is not a URL"),
        (5, LINK_MAX + "x", "Field is too long (limit: 2048 characters)"),
        (7, "x" * 51, "Field is too long (limit: 50 characters)"),
        (8, "x" * 51, "Field is too long (limit: 50 characters)"),
    ],
)
def test_invalid_value_is_rejected_with_the_message_of_zulip(
    type_: int, value: str | list[int], problem: str
) -> None:
    with pytest.raises(ChatError) as refused:
        check_text(FieldType(type_), "Field", CHOICES, value)
    assert str(refused.value) == problem


def test_dropdown_without_choices_rejects_every_value() -> None:
    with pytest.raises(ChatError):
        check_text(FieldType.DROPDOWN, "Field", "", "vim")
