"""Patterns in the notation of ECMA-262, used by the validator of schemas."""

import pytest

from specd._engine.document.schemas import Schemas
from specd._engine.openapi.patterns import in_unicode_mode


@pytest.mark.parametrize(
    ("written", "fits", "fits_not"),
    [
        (r"^[\w-\.]+$", "a-b.c", "a b"),
        (r"^[a-z\d-_]+$", "a-1_", "A"),
        (r"^[.-\d]+$", "-.1", "a"),
        (r"^[-\d]+$", "-1", "a"),
        (r"^[^-\d]+$", "ab", "a-"),
        (r"^[\\d-f]+$", "\\def", "1"),
        (r"^{id}$", "{id}", "id"),
        (r"^a{2}{id}$", "aa{id}", "a{id}"),
        (r"^a{,3}$", "a{,3}", "aaa"),
        (r"^\p{Lu}{1,2}\u0041$", "XA", "xA"),
        (r"^\S{1,8192}$", "a" * 8192, "a" * 8193),
    ],
)
def test_pattern_is_translated(written: str, fits: str, fits_not: str) -> None:
    schemas = Schemas({"openapi": "3.1.0"}, drop="readOnly")
    validate = schemas.compile({"type": "string", "pattern": written}, "here")
    schemas.finish()
    assert not validate(fits, "")
    assert validate(fits_not, "")


@pytest.mark.parametrize(
    "pattern",
    [r"^[a-z]-[0-9-]$", r"[\]{}-]", r"(?<year>\d{4})-\k<year>", r"\u{1F600}{2,}", r"\{\}"],
)
def test_pattern_valid_in_unicode_mode_is_unchanged(pattern: str) -> None:
    assert in_unicode_mode(pattern) == pattern
