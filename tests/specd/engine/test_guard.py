"""The guard rejects hostile input and otherwise agrees with json.loads."""

import json
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specd._engine.errors import HeadersTooLarge, TargetTooLong
from specd._engine.http.guard import (
    MAX_HEADER_COUNT,
    MAX_HEADERS,
    MAX_TARGET,
    MAX_VALUES,
    check_answer_headers,
    check_headers,
    check_target,
    check_text,
    decode_percent,
    decode_text,
    load_json,
    pointer_step,
    unquote,
)
from specd.errors import InvalidRequest

HOSTILE = {
    "empty": (b"", "JSON"),
    "blank": (b" \n", "JSON"),
    "truncated": (b'{"a": [1, 2', "JSON"),
    "trailing comma": (b"[1,]", "JSON"),
    "two values": (b"1 2", "JSON"),
    "comment": (b"/**/1", "JSON"),
    "single quotes": (b"{'a':1}", "JSON"),
    "unquoted key": (b"{a:1}", "JSON"),
    "leading zero": (b"01", "JSON"),
    "bare point": (b"1.", "JSON"),
    "plus": (b"+1", "JSON"),
    "hexadecimal": (b"0x10", "JSON"),
    "NaN": (b"[NaN]", "JSON"),
    "NaN with a long number": (b"[1.5, 1234567890123456789012, NaN]", "JSON"),
    "NaN after 1e400": (b"[1e400, NaN]", "finite"),
    "Infinity": (b"-Infinity", "JSON"),
    "1e400": (b'{"a":1e400}', "finite"),
    "-1e400": (b"-1e400", "finite"),
    "401 digits": (b"1" * 401, "400 characters"),
    "401 characters, minus": (b"-" + b"1" * 400, "400 characters"),
    "401 characters, float": (b"[1." + b"1" * 399 + b"]", "400 characters"),
    "401 characters, exponent": (b"[1e" + b"0" * 398 + b"1]", "400 characters"),
    "5,000 digits": (b"[" + b"9" * 5000 + b"]", "400 characters"),
    "bad syntax after a long integer": (b"[" + b"9" * 350 + b",}", "JSON"),
    "bad UTF-8 after a long integer": (b"[" + b"9" * 350 + b',"\xff"]', "UTF-8"),
    "nested 65": (b"[" * 65 + b"]" * 65, "deeper than 64"),
    "nested 65 objects": (b'{"a":' * 65 + b"1" + b"}" * 65, "deeper than 64"),
    "nested 65, mixed": (b'[{"a":' * 32 + b"[]" + b"}]" * 32, "deeper than 64"),
    "nested 65 behind strings": (b'["[{\\"", ' + b"[" * 64 + b"]" * 64 + b"]", "deeper than 64"),
    "nested 65 behind a backslash": (b'["\\\\", ' + b"[" * 64 + b"]" * 64 + b"]", "deeper than 64"),
    "nested 100,000": (b"[" * 100_000, "more than 50000 values"),
    "nested 1,500 in a string's shadow": (b'["' + b"[" * 1500, "JSON"),
    "too many values": (b"[" + b"0," * MAX_VALUES + b"0]", "more than 50000 values"),
    "too many empty objects": (b"[" + b"{}," * 30_000 + b"0]", "more than 50000 values"),
    "too many strings": (b"[" + b'"",' * MAX_VALUES + b'""]', "more than 50000 values"),
    "duplicate key": (b'{"a":1,"a":2}', "duplicate"),
    "duplicate key, spaced": (b'{"a" :1,"a"\n:2}', "duplicate"),
    "duplicate key, same value": (b'{"a":1,"a":1}', "duplicate"),
    "duplicate key, escaped": (b'{"a":1,"\\u0061":2}', "duplicate"),
    "duplicate key, inside": (b'[{"b":{"a":1,"a":2}}]', "duplicate"),
    "duplicate key, colons in strings": (b'{"a":":","a":"::"}', "duplicate"),
    "duplicate key, empty": (b'{"":1,"":2}', "duplicate"),
    "duplicate key, long integer": (b'{"a":1.5,"a":12345678901234567890123}', "duplicate"),
    "duplicate key, quoted": (b'{"\\"a":1,"\\"a":2}', "duplicate"),
    "NUL, raw": (b'["\x00"]', "JSON"),
    "NUL, escaped": (b'["\\u0000"]', "NUL"),
    "NUL in a key": (b'{"a\\u0000":1}', "NUL"),
    "NUL behind a backslash": (b'["\\\\\\u0000"]', "NUL"),
    "NUL at the top": (b'"\\u0000"', "NUL"),
    "NUL with a huge integer": (b'["\\u0000",' + b"9" * 350 + b"]", "NUL"),
    "lone high surrogate": (b'["\\ud800"]', "surrogate"),
    "lone low surrogate": (b'["\\uDC00"]', "surrogate"),
    "surrogates swapped": (b'["\\ude00\\ud83d"]', "surrogate"),
    "lone surrogate in a key": (b'{"\\ud800":1}', "surrogate"),
    "lone surrogate with a huge integer": (b"[" + b"9" * 350 + b',"\\ud800"]', "surrogate"),
    "surrogate in UTF-8": (b'["\xed\xa0\x80"]', "UTF-8"),
    "overlong UTF-8": (b'["\xc0\x80"]', "UTF-8"),
    "beyond Unicode": (b'["\xf5\x80\x80\x80"]', "UTF-8"),
    "Latin-1": (b'["caf\xe9"]', "UTF-8"),
    "UTF-16": ('{"a":1}'.encode("utf-16"), "UTF-8"),
    "UTF-16 without mark": ('{"a":1}'.encode("utf-16-le"), "JSON"),
    "byte order mark": (b"\xef\xbb\xbf{}", "JSON"),
    "control character": (b'["\x01"]', "JSON"),
    "bad escape": (b'["\\x41"]', "JSON"),
    "unterminated string": (b'["abc', "JSON"),
}


@pytest.mark.parametrize(("raw", "words"), HOSTILE.values(), ids=HOSTILE)
def test_rejects_hostile_input(raw: bytes, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as refused:
        load_json(raw, "/body")
    assert refused.value.violations[0].path.startswith("/body")


HARMLESS = [
    b"0",
    b"-0",
    b"-0.0",
    b"true",
    b"null",
    b'""',
    b"[]",
    b"{}",
    b" [ ] ",
    b"[" * 64 + b"]" * 64,
    b"1" * 400,
    b"-" + b"9" * 399,
    b'{"a":' + b"9" * 350 + b"}",
    b"[1." + b"0" * 397 + b"]",
    b"[18446744073709551615,18446744073709551616,-9223372036854775809]",
    str(2**256 - 1).encode(),
    b"[12345678901234567890123]",
    b"[1.5,115792089237316195423570985008687907853269984665640564039457584007913129639935]",
    b'{"a":":","b":"x:y","c":{"a":"::"}}',
    b'{"a" : 1, "b"\t:\n2}',
    b'{"\\"a\\"":1,"a":2}',
    b'["\\\\u0000","\\\\\\\\ud800"]',
    b'["\\ud83d\\ude00"]',
    '["\U0001f600é\u2028"]'.encode(),
    b'["\x7f","\\b\\f\\n\\r\\t\\/"]',
    b'["' + b"," * (MAX_VALUES + 9) + b'"]',
    b'["' + b"[" * 100 + b'","' + b"{" * 100 + b'"]',
    b'["\\"' + b"[" * 100 + b'\\\\"]',
    b"[" + b"0," * (MAX_VALUES - 2) + b"0]",
    b"1e308",
    b"5e-324",
    b"1e-400",
    b"[0.1,1E5,1e+5]",
]


def same(left: Any, right: Any) -> bool:
    """Return whether values and all nested types are equal."""
    return json.dumps(left) == json.dumps(right)


@pytest.mark.parametrize("raw", HARMLESS, ids=lambda raw: raw[:40].decode("ascii", "replace"))
def test_agrees_with_the_standard_library(raw: bytes) -> None:
    assert same(load_json(raw), json.loads(raw))


texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], min_codepoint=1), st.sampled_from('":\\[{,u0')
    )
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**398), 10**398)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(value=values, ascii_only=st.booleans(), indent=st.sampled_from([None, 0, 1]))
def test_agrees_with_the_standard_library_on_every_value(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert same(load_json(raw), json.loads(raw))


@settings(max_examples=150, deadline=None)
@given(value=values, at=st.integers(0, 400), byte=st.integers(0, 255))
def test_never_accepts_input_that_the_standard_library_rejects(
    value: Any, at: int, byte: int
) -> None:
    """After a change of one byte, both accept the document with equal results, or the guard rejects
    it.
    """
    raw = bytearray(json.dumps(value).encode())
    raw[at % len(raw)] = byte
    try:
        ours = load_json(bytes(raw))
    except InvalidRequest:
        return
    assert same(ours, json.loads(bytes(raw).decode("utf-8")))


@settings(max_examples=100, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from(["a", "b", "\\u0061", 'q\\"', ":"]), texts), max_size=5
    )
)
def test_finds_every_duplicate_key(pairs: list[tuple[str, str]]) -> None:
    raw = "{" + ",".join(f'"{key}":{json.dumps(value)}' for key, value in pairs) + "}"
    keys = [json.loads(f'"{key}"') for key, _ in pairs]
    if len(set(keys)) == len(keys):
        assert load_json(raw.encode()) == json.loads(raw)
    else:
        with pytest.raises(InvalidRequest, match="duplicate"):
            load_json(raw.encode())


class TestCheckText:
    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ("\0", "/b"),
            (["ok", {"x": "a\0"}], "/b/1/x"),
            ({"a/b~c": "\ud800"}, "/b/a~1b~0c"),
            ({"\0": 1}, "/b"),
        ],
    )
    def test_names_the_position(self, value: Any, path: str) -> None:
        with pytest.raises(InvalidRequest) as refused:
            check_text(value, "/b")
        assert refused.value.violations[0].path == path

    def test_accepts_other_text(self) -> None:
        check_text({"a": ["\x01", "é", 1, None, True]}, "/b")

    def test_step_is_no_longer_than_needed(self) -> None:
        assert len(pointer_step("k" * 10_000)) == 100


class TestHeaders:
    def test_joins_repeated_headers(self) -> None:
        raw = [(b"accept", b"a"), (b"x", b"1"), (b"accept", b"b")]
        assert check_headers(raw) == {b"accept": b"a, b", b"x": b"1"}

    @pytest.mark.parametrize(
        "name",
        [b"host", b"content-length", b"transfer-encoding", b"content-type", b"authorization"],
    )
    def test_rejects_repeated_single_headers(self, name: bytes) -> None:
        with pytest.raises(InvalidRequest, match="once"):
            check_headers([(name, b"1"), (b"accept", b"x"), (name, b"1")])

    def test_rejects_two_framings(self) -> None:
        with pytest.raises(InvalidRequest, match="Transfer-Encoding"):
            check_headers([(b"content-length", b"1"), (b"transfer-encoding", b"chunked")])

    def test_rejects_nul(self) -> None:
        with pytest.raises(InvalidRequest, match="/header/X-A: must not hold a NUL"):
            check_headers([(b"x-a", b"a\0b")])
        with pytest.raises(InvalidRequest, match="must not hold a NUL"):
            check_headers([(b"x\0a", b"b")])

    def test_accepts_at_most_a_hundred_headers(self) -> None:
        raw = [(b"x%d" % index, b"") for index in range(MAX_HEADER_COUNT)]
        assert len(check_headers(raw)) == 100
        with pytest.raises(HeadersTooLarge):
            check_headers([*raw, (b"y", b"")])

    def test_counts_repeated_headers_too(self) -> None:
        with pytest.raises(HeadersTooLarge):
            check_headers([(b"x", b"")] * (MAX_HEADER_COUNT + 1))

    def test_accepts_at_most_16_KiB(self) -> None:
        assert check_headers([(b"x", b"v" * (MAX_HEADERS - 1))])
        with pytest.raises(HeadersTooLarge):
            check_headers([(b"x", b"v" * MAX_HEADERS)])

    def test_accepts_a_target_of_at_most_8_KiB(self) -> None:
        check_target(b"/" + b"a" * (MAX_TARGET - 2), b"q")
        with pytest.raises(TargetTooLong):
            check_target(b"/" + b"a" * (MAX_TARGET - 1), b"q")


class TestText:
    @pytest.mark.parametrize("raw", [b"\xff", b"\xed\xa0\x80", b"\xc0\xaf"])
    def test_rejects_invalid_utf8(self, raw: bytes) -> None:
        with pytest.raises(InvalidRequest, match="/x: is not valid UTF-8"):
            decode_text(raw, "/x")

    def test_rejects_nul(self) -> None:
        with pytest.raises(InvalidRequest, match="NUL"):
            decode_text(b"a\0", "/x")

    @pytest.mark.parametrize(
        ("raw", "text"), [(b"a%2Fb", "a/b"), (b"%C3%A9", "é"), (b"a+b", "a+b"), (b"%25", "%")]
    )
    def test_decodes_percent(self, raw: bytes, text: str) -> None:
        assert decode_percent(raw, "/path") == text

    @pytest.mark.parametrize("raw", [b"%", b"%2", b"%zz", b"a%-1", b"%ff", b"%00", b"%ED%A0%80"])
    def test_rejects_invalid_percent_encoding(self, raw: bytes) -> None:
        with pytest.raises(InvalidRequest):
            decode_percent(raw, "/path")


class TestUnquoting:
    @given(st.text(st.sampled_from("%=_ +\r\n\t.éA0f9z")))
    def test_agrees_with_urllib(self, text: str) -> None:
        assert unquote(text.encode()) == unquote_to_bytes(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "1\r\nX-B: 2"),
        ("X-A", "\0"),
        ("X-A", "\x01"),
        ("X-A", "\x7f"),
        ("X-A", "\u20ac"),
        ("X A", "1"),
        ("X-A:", "1"),
        ("X-A\r\nX-B", "1"),
        ("Connection", "close"),
        ("content-length", "1"),
        ("Transfer-Encoding", "chunked"),
    ],
)
def test_handlers_cannot_set_some_headers(name: str, value: str) -> None:
    check_answer_headers((("X-Good", "caf\xe9"),))
    with pytest.raises(ValueError, match=r"header|latin-1"):
        check_answer_headers((("X-Good", "yes"), (name, value)))
