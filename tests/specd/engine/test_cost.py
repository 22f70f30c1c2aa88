"""No input costs more than 250 ms of processor time per MiB, or more than 32 MiB of memory.

Each input runs in a separate process, forked from one that has warmed up. Its memory is the
increase of that process's peak. Other programs use the machine too, so a long time is measured
again, up to nine times. Inputs count as at least 128 KiB, so that the fixed cost of a request is
not attributed to its size.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from specd._engine.http.guard import check_headers
from tests.specd.engine.client import Client
from tests.specd.engine.services import ADA, KEY, shop
from tests.support.cpu import cost_of

KIB, MIB = 1024, 1024 * 1024
SECONDS_PER_MIB = 0.25
MAX_GROWTH = 32 * MIB
SIZES = {"64 KiB": 64 * KIB, "1 MiB": MIB}
TRIES = 3


def repeat(unit: bytes, size: int, *, at_most: int = 10**9) -> bytes:
    return unit * min(size // len(unit), at_most)


def listed(unit: bytes, size: int, *, at_most: int = 10**9) -> bytes:
    number = min((size - 2) // (len(unit) + 1), at_most)
    return b"[" + b",".join([unit] * number) + b"]"


def keyed(number: int, *, pad: int = 0) -> bytes:
    return b"{" + b",".join(b'"%0*d":0' % (pad, n) for n in range(number)) + b"}"


def deep(inner: bytes, levels: int = 31) -> bytes:
    return b'{"children":[' * levels + inner + b"]}" * levels


JSON_INPUTS: dict[str, Callable[[int], bytes]] = {
    "deep nesting": lambda n: b"[" * n,
    "deep nesting, closed": lambda n: b"[" * (n // 2) + b"]" * (n // 2),
    "closing brackets": lambda n: b"[" * 65 + b"]" * (n - 65),
    "64 levels, many times": lambda n: listed(b"[" * 63 + b"]" * 63, n),
    "deep, then an unterminated string": lambda n: b"[" * 65 + b'"' + repeat(b'\\"', n - 70),
    "deep, then empty strings": lambda n: b"[" * 65 + repeat(b'""', n - 70),
    "deep, then strings and commas": lambda n: b"[" * 65 + repeat(b'",,"",', n - 70),
    "deep, then backslashes": lambda n: b'["' + repeat(b"\\", n - 70) + b'"' + b"[" * 65,
    "unterminated strings": lambda n: repeat(b'"\\', n),
    "zeros": lambda n: listed(b"0", n, at_most=49_000),
    "too many zeros": lambda n: listed(b"0", n),
    "floats": lambda n: listed(b"1.5", n, at_most=49_000),
    "empty lists": lambda n: listed(b"[]", n, at_most=24_000),
    "empty objects": lambda n: listed(b"{}", n, at_most=24_000),
    "small objects": lambda n: listed(b'{"":0}', n, at_most=24_000),
    "nested objects": lambda n: listed(b'{"":{"a":1}}', n, at_most=16_000),
    "nested lists": lambda n: listed(b"[[[[[0]]]]]", n, at_most=8_000),
    "short strings": lambda n: listed(b'"a"', n, at_most=49_000),
    "colons in strings": lambda n: listed(b'":"', n, at_most=49_000),
    "one long string": lambda n: b'["' + b"x" * (n - 4) + b'"]',
    "one string of escapes": lambda n: b'["' + repeat(b"\\u0041", n - 4) + b'"]',
    "one string of surrogate pairs": lambda n: b'["' + repeat(b"\\ud83d\\ude00", n - 4) + b'"]',
    "one string of NULs": lambda n: b'["' + repeat(b"\\u0000", n - 4) + b'"]',
    "strings of escapes": lambda n: listed(b'"\\ud83d\\ude00"', n, at_most=49_000),
    "emoji": lambda n: b'["' + repeat("\U0001f600".encode(), n - 4) + b'"]',
    "colons": lambda n: b'["' + b":" * (n - 4) + b'"]',
    "commas": lambda n: b'["' + b"," * (n - 4) + b'"]',
    "brackets in a string": lambda n: b'["' + b"[" * (n - 4) + b'"]',
    "one long integer": lambda n: b"[" + b"9" * (n - 2) + b"]",
    "one long fraction": lambda n: b"[1." + b"9" * (n - 4) + b"]",
    "one long exponent": lambda n: b"[1e" + b"9" * (n - 4) + b"]",
    "integers of 400 digits": lambda n: listed(b"9" * 400, n),
    "integers of 20 digits": lambda n: listed(b"12345678901234567890", n, at_most=49_000),
    "fractions of 400 digits": lambda n: listed(b"1." + b"9" * 398, n),
    "keys": lambda n: keyed(min(n // 9, 49_000)),
    "long keys": lambda n: keyed(min(n // 24, 49_000), pad=18),
    "duplicate keys": lambda n: b"{" + b",".join([b'"a":0'] * min(n // 6, 49_000)) + b"}",
    "one long key": lambda n: b'{"' + b"k" * (n - 8) + b'":0}',
    "one long key over many values": lambda n: (
        b'{"' + b"k" * (n // 2) + b'":' + listed(b"0", n // 2, at_most=49_000) + b"}"
    ),
    "one long key over many NULs": lambda n: (
        b'{"' + b"k" * (n // 2) + b'":' + listed(b'"\\u0000"', n // 2, at_most=9000) + b"}"
    ),
    "white space": lambda n: b"[" + b" " * (n - 2) + b"]",
    "wrong children": lambda n: (
        b'{"children":' + listed(b'{"name":""}', n - 20, at_most=16_000) + b"}"
    ),
    "wrong, deep inside": lambda n: deep(listed(b'{"name":""}', n - 900, at_most=16_000)[1:-1]),
    "a long name, deep inside": lambda n: deep(b'{"name":"' + b"x" * (n - 900) + b'"}'),
    "many keys, deep inside": lambda n: deep(keyed(min((n - 900) // 9, 40_000))),
    "invalid UTF-8 at the end": lambda n: b'["' + b"x" * (n - 5) + b'\xff"]',
    "bytes": lambda n: bytes(range(256)) * (n // 256),
}

FORM_INPUTS: dict[str, Callable[[int], bytes]] = {
    "ampersands": lambda n: b"&" * n,
    "fields": lambda n: repeat(b"a=1&", n, at_most=999),
    "too many fields": lambda n: repeat(b"a=1&", n),
    "percents": lambda n: b"text=" + repeat(b"%41", n - 5),
    "bad percents": lambda n: b"text=" + b"%" * (n - 5),
    "percents in many fields": lambda n: b"&".join([b"names=" + b"%61" * (n // 3400)] * 999),
    "plus": lambda n: b"text=" + b"+" * (n - 5),
    "one name": lambda n: b"n" * n,
    "one name of percents": lambda n: repeat(b"%6e", n) + b"=%00",
    "JSON in a field": lambda n: b"to=" + listed(b"0", n - 3, at_most=49_000),
    "JSON in many fields": lambda n: b"&".join([b"to=" + listed(b"0", n // 1000)] * 999),
    "deep JSON in a field": lambda n: b"extra=" + b"[" * (n - 6),
    "an unterminated string in a field": lambda n: (
        b"extra=" + b"[" * 65 + b'"' + repeat(b'\\"', n - 75)
    ),
    "many unknown fields": lambda n: b"&".join(b"x%d=" % i for i in range(999)),
}

PART = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
MULTIPART_INPUTS: dict[str, Callable[[int], bytes]] = {
    "parts": lambda n: repeat(PART % (b"names", b"a"), n, at_most=999) + b"--x--\r\n",
    "too many parts": lambda n: repeat(PART % (b"names", b"a"), n) + b"--x--\r\n",
    "one long part": lambda n: PART % (b"text", b"x" * (n - 80)) + b"--x--\r\n",
    "line breaks": lambda n: repeat(b"\r\n", n),
    "line feeds": lambda n: b"\n" * n,
    "carriage returns": lambda n: b"\r" * n,
    "line breaks in a part": lambda n: PART % (b"text", repeat(b"\r\n", n - 80)) + b"--x--\r\n",
    "carriage returns in a part": lambda n: PART % (b"text", b"\r" * (n - 80)) + b"--x--\r\n",
    "almost boundaries": lambda n: PART % (b"text", repeat(b"\r\n--", n - 80)) + b"--x--\r\n",
    "boundaries without a break": lambda n: repeat(b"--x", n),
    "boundaries in a part": lambda n: PART % (b"text", repeat(b"--x", n - 80)) + b"--x--\r\n",
    "a boundary and spaces": lambda n: b"--x" + b" " * n,
    "boundaries and spaces": lambda n: repeat(b"\r\n--x" + b" " * 100, n),
    "headers of a part": lambda n: b"--x\r\n" + repeat(b"A: b\r\n", n),
    "one long header of a part": lambda n: b"--x\r\nContent-Disposition: " + b"a" * n,
    "parameters of a part": lambda n: (
        b"--x\r\nContent-Disposition: form-data" + repeat(b"; a=b", n) + b"\r\n\r\n"
    ),
    "quotes of a part": lambda n: (
        b'--x\r\nContent-Disposition: form-data; name="' + repeat(b'\\"', n) + b"\r\n\r\n"
    ),
    "continuations of a part": lambda n: b"--x\r\nA: b" + repeat(b"\r\n ", n) + b"\r\n\r\n",
}


def assert_bounded(work: Callable[[], Any], size: int) -> None:
    allowed = SECONDS_PER_MIB * max(size, 128 * KIB) / MIB
    seconds, growth, _ = cost_of(work)
    for _ in range(TRIES):
        if seconds >= allowed:  # other programs use this machine too
            seconds = min(seconds, cost_of(work, tries=TRIES).seconds)
    assert seconds < allowed, f"{seconds * 1000:.0f} ms for {size} bytes"
    assert growth < MAX_GROWTH, f"{growth / MIB:.0f} MiB for {size} bytes"


@pytest.fixture(scope="module")
def client() -> Client:
    """The shop with a limit that permits all of these inputs, warmed up."""
    made = shop(body_limit=2 * MIB, validate_responses=False)
    made.post("/items", headers=[ADA, KEY], value={"name": "", "price": "x", "children": [{}]})
    made.post("/notes", form=[("text", ""), ("to", "[")])
    made.post(
        "/notes",
        body=PART % (b"text", b"a") + b"--x--\r\n",
        content_type="multipart/form-data; boundary=x",
    )
    return made


def table(inputs: dict[str, Callable[[int], bytes]]) -> Any:
    rows = [(make, size) for make in inputs.values() for size in SIZES.values()]
    return pytest.mark.parametrize(
        ("make", "size"), rows, ids=[f"{name}-{size}" for name in inputs for size in SIZES]
    )


def send(client: Client, target: str, raw: bytes, content_type: str) -> Callable[[], Any]:
    """Send a complete request, which must be answered without an internal error."""
    headers = [ADA, KEY] if target == "/items" else []

    def work() -> None:
        answer = asyncio.run(
            client.exchange("POST", target, headers=headers, body=raw, content_type=content_type)
        )
        assert answer.status in (200, 201, 413, 422), answer.body[:200]
        assert len(answer.body) < 64 * KIB

    return work


@table(JSON_INPUTS)
def test_json(client: Client, make: Callable[[int], bytes], size: int) -> None:
    raw = make(size)
    assert_bounded(send(client, "/items", raw, "application/json"), len(raw))


@table(FORM_INPUTS)
def test_forms(client: Client, make: Callable[[int], bytes], size: int) -> None:
    raw = make(size)
    assert_bounded(send(client, "/notes", raw, "application/x-www-form-urlencoded"), len(raw))


@table(MULTIPART_INPUTS)
def test_multipart(client: Client, make: Callable[[int], bytes], size: int) -> None:
    raw = make(size)
    assert_bounded(send(client, "/notes", raw, "multipart/form-data; boundary=x"), len(raw))


def test_headers_and_targets(client: Client) -> None:
    """uvicorn accepts at most 32 KiB. Ten times as much is still cheap."""
    size = 320 * KIB
    many = [(b"x%d" % index, b"v") for index in range(size // 8)]
    same = [(b"accept", b"v")] * (size // 8)
    for raw in (many, same, [(b"x", b"v" * size)], [(b"x", b"\0" * size)]):

        def work(raw: Any = raw) -> None:
            with pytest.raises(Exception, match=r"431|400"):
                check_headers(raw)

        assert_bounded(work, size)
    for target in (
        "/" + "a" * size,
        "/a" * (size // 2),
        "/%61" * (size // 4),
        "/items?" + "&" * size,
        "/items?" + "a=1&" * (size // 4),
    ):
        assert_bounded(lambda target=target: client.get(target), size)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 60_000 + "!"),
        ("^([a-z]+)*$", "a" * 60_000 + "!"),
        ("^(a|a)*$", "a" * 60_000 + "!"),
        ("^(.*)*x$", "a" * 60_000),
        ("^(?=.*b)(a+)+$", "a" * 3_000 + "!"),
        (r"^(0|[1-9][0-9]{0,71})(\.[0-9]{1,6})?$", "1" * 60_000),
        ("^[A-Za-z0-9._:-]{8,100}$", "a" * 60_000),
    ],
)
def test_patterns(pattern: str, text: str) -> None:
    """A pattern is matched in linear time, and one with look-around within the limits of its
    engine.
    """
    from specd._engine.document.schemas import Schemas

    validate = Schemas({}, drop="readOnly").compile({"type": "string", "pattern": pattern}, "here")
    validate("a", "/v")
    assert_bounded(lambda: validate(text, "/v"), len(text))


def spend(seconds: float) -> None:
    """Use the given processor time, regardless of the speed of the machine and of Python."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_costly_input_is_detected() -> None:
    """Verifies the measurement itself."""
    with pytest.raises(AssertionError, match="ms for"):
        assert_bounded(lambda: spend(SECONDS_PER_MIB / 2), 64 * KIB)
    with pytest.raises(AssertionError, match="MiB for"):
        assert_bounded(lambda: len(b"x" * 64 * MIB), MIB)
