"""multipart/form-data, read strictly."""

import pytest

from server.errors import InvalidRequest
from server.wire.multipart import Part, parse_parts

TYPE = "multipart/form-data; boundary=x"


def body(*parts: bytes, end: bytes = b"--x--\r\n") -> bytes:
    return b"".join(b"--x\r\n" + part + b"\r\n" for part in parts) + end


def named(name: bytes, content: bytes = b"c", more: bytes = b"") -> bytes:
    return b"Content-Disposition: form-data; name=" + name + more + b"\r\n\r\n" + content


def parts(raw: bytes, content_type: str = TYPE) -> list[Part]:
    return parse_parts(raw, content_type, limit=3)


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
def test_reads(raw: bytes, expected: Part) -> None:
    assert parts(raw) == [expected]


def test_reads_several_in_order() -> None:
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
def test_refuses(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parts(raw)


@pytest.mark.parametrize("boundary", ["", "é", '"a\\"b"', "x" * 201, "a\tb"])
def test_refuses_strange_boundaries(boundary: str) -> None:
    with pytest.raises(InvalidRequest):
        parts(b"--x--", f"multipart/form-data; boundary={boundary}")


def test_takes_what_clients_write() -> None:
    quoted = 'multipart/form-data; charset=utf-8; boundary="----WebKit Form"'
    raw = b'------WebKit Form\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
    assert parts(raw + b"------WebKit Form--\r\n", quoted) == [Part("a", b"b", False)]
