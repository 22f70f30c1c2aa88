"""multipart/form-data, read strictly."""

from typing import NamedTuple

import pytest

from specd._engine.http.multipart import Head, PartStream, parse_parts
from specd.errors import InvalidRequest

TYPE = "multipart/form-data; boundary=x"


def body(*parts: bytes, end: bytes = b"--x--\r\n") -> bytes:
    return b"".join(b"--x\r\n" + part + b"\r\n" for part in parts) + end


def named(name: bytes, content: bytes = b"c", more: bytes = b"") -> bytes:
    return b"Content-Disposition: form-data; name=" + name + more + b"\r\n\r\n" + content


class Part(NamedTuple):
    """The checked properties of a part."""

    name: str
    content: bytes
    is_file: bool


def parts(raw: bytes, content_type: str = TYPE) -> list[Part]:
    found = parse_parts(raw, content_type, limit=3)
    return [Part(each.name, each.content, each.head.file_name is not None) for each in found]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (body(named(b'"a"')), Part("a", b"c", False)),
        (body(named(b"a")), Part("a", b"c", False)),
        (body(named(b'"a"', b"")), Part("a", b"", False)),
        (body(named(b'""')), Part("", b"c", False)),
        (body(named(b'"a"', b"\r\n\r\n--y\r\n")), Part("a", b"\r\n\r\n--y\r\n", False)),
        (body(named(b'"a"', b"\0\xff")), Part("a", b"\0\xff", False)),
        (body(named(b'"a"', more=b'; filename="f"')), Part("a", b"c", True)),
        (body(named(b'"a"', more=b"; filename*=UTF-8''f")), Part("a", b"c", True)),
        (body(named(b'"a\\"b"')), Part('a"b', b"c", False)),
        (body(named(b'"a%22b%0D%0A%41"')), Part('a"b\r\n%41', b"c", False)),
        (body(named(b'"a\\"')), Part("a\\", b"c", False)),
        (body(named('"é"'.encode())), Part("é", b"c", False)),
        (body(b"content-disposition:FORM-DATA;name=a\r\n\r\nc"), Part("a", b"c", False)),
        (body(b"Content-Type: text/plain\r\n" + named(b"a")), Part("a", b"c", False)),
        (body(b"Content-Transfer-Encoding: 8bit\r\n" + named(b"a")), Part("a", b"c", False)),
        (b"preamble\r\n" + body(named(b"a")) + b"epilogue", Part("a", b"c", False)),
        (body(named(b"a"), end=b"--x--"), Part("a", b"c", False)),
        (b"--x \t\r\n" + named(b"a") + b"\r\n--x--", Part("a", b"c", False)),
    ],
)
def test_reads_a_part(raw: bytes, expected: Part) -> None:
    assert parts(raw) == [expected]


def test_reads_several_parts_in_order() -> None:
    assert [part.name for part in parts(body(named(b"a"), named(b"b"), named(b"a")))] == [*"aba"]
    assert parts(b"--x--") == []


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"--x\r\n",
        body(named(b"a"), end=b""),
        body(named(b"a"), end=b"--x\r\n"),
        body(named(b"a"), end=b"--y--"),
        body(b"Content-Disposition: form-data\r\n\r\nc"),
        body(b"Content-Disposition: form-data; filename=a\r\n\r\nc"),
        body(b"Content-Disposition: attachment; name=a\r\n\r\nc"),
        body(b'Content-Disposition: form-data; name="a\r\n\r\nc'),
        body(b"Content-Type: text/plain\r\n\r\nc"),
        body(b"\r\nc"),
        body(b"c"),
        body(b"Content-Disposition: form-data; name=a\r\nc"),
        body(b"Content-Transfer-Encoding: base64\r\n" + named(b"a", b"Yw==")),
        body(named(b"a" * 5000)),
        body(named(b'"\xff"')),
        body(named(b'"\0"')),
        body(named(b"a")).replace(b"\r\n", b"\n"),
        body(named(b"a")).replace(b"--x\r", b"--xy\r"),
        body(*[named(b"a")] * 4),
    ],
)
def test_rejects_invalid_bodies(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parts(raw)


@pytest.mark.parametrize("boundary", ["", "é", '"a\\"b"', "x" * 201, "a\tb"])
def test_rejects_invalid_boundaries(boundary: str) -> None:
    with pytest.raises(InvalidRequest):
        parts(b"--x--", f"multipart/form-data; boundary={boundary}")


def test_accepts_bodies_of_clients() -> None:
    quoted = 'multipart/form-data; charset=utf-8; boundary="----WebKit Form"'
    raw = b'------WebKit Form\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
    assert parts(raw + b"------WebKit Form--\r\n", quoted) == [Part("a", b"b", False)]


def streamed(raw: bytes, size: int, content_type: str = TYPE) -> list[Part]:
    """Return the parts of a body that arrives in pieces of that size."""
    stream = PartStream(content_type, limit=3)
    found: list[tuple[Head, bytearray]] = []
    for at in range(0, len(raw), size):
        for item in stream.feed(raw[at : at + size]):
            if isinstance(item, Head):
                found.append((item, bytearray()))
            else:
                found[-1][1].extend(item)
    stream.end()
    return [Part(head.name, bytes(text), head.file_name is not None) for head, text in found]


class TestPartStream:
    bodies = (
        body(named(b'"a"'), named(b'"b"', b""), named(b'"f"', more=b'; filename="f"')),
        body(named(b'"a"', b"\r\n\r\n--y\r\n--\r\n--xx"[:12] + b"\r\n-x--")),
        b"preamble\r\n" + body(named(b"a", b"\r" * 40)) + b"epilogue\r\n--x\r\n",
        b"--x \t\r\n" + named(b"a") + b"\r\n--x--",
        body(named(b"a", bytes(range(256)) * 40)),
    )
    broken = (
        b"",
        b"--x\r\n" + named(b"a"),
        body(named(b"a"), end=b""),
        body(named(b"a"), end=b"--x"),
        body(named(b"a"), named(b"a"), named(b"a"), named(b"a")),
        b"--x\r\nContent-Disposition: form-data; name=a\r\n--x\r\n\r\nc\r\n--x--\r\n",
        b"--x\r\n" + b"a" * 5000 + b"\r\n\r\nc\r\n--x--\r\n",
        body(b"Content-Disposition: form-data\r\n\r\nc"),
    )

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10**6])
    def test_agrees_with_a_complete_body(self, size: int) -> None:
        for raw in self.bodies:
            end = raw.find(b"epilogue")
            assert streamed(raw, size) == parts(raw[:end] if end > 0 else raw)

    @pytest.mark.parametrize("size", [1, 5, 10**6])
    def test_rejects_like_a_complete_body(self, size: int) -> None:
        for raw in self.broken:
            with pytest.raises(InvalidRequest):
                parts(raw)
            with pytest.raises(InvalidRequest):
                streamed(raw, size)

    def test_buffers_at_most_one_piece(self) -> None:
        stream = PartStream(TYPE, limit=3)
        list(stream.feed(b"--x\r\n" + named(b"a", b"")))
        for _ in range(100):
            got = b"".join(
                item for item in stream.feed(b"\r\n--" * 1000) if isinstance(item, bytes)
            )
            assert len(got) >= 3990
            assert len(stream._buffer) < 10

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            (b'; filename="a b.png"', "a b.png"),
            (b'; filename="a\\"b"', 'a"b'),
            (b'; filename="\xc3\xa9"', "é"),
            (b'; filename="\xff"', "\ufffd"),
            (b"; filename*=UTF-8''%C3%A9.png", "é.png"),
            (b"; filename*=x", ""),
            (b'; filename=""', ""),
            (b"", None),
        ],
    )
    def test_returns_filenames(self, options: bytes, name: str | None) -> None:
        stream = PartStream(TYPE, limit=3)
        (head, *_) = stream.feed(body(named(b'"a"', more=options)))
        assert isinstance(head, Head)
        assert head.file_name == name
