"""A POST can specify another method. An unreadable body specifies none."""

import pytest

from specd._engine.serving.override import media_type_of, overriding_method

FORM = b"application/x-www-form-urlencoded"
PARTS = b"multipart/form-data; boundary=x"


def part(name: bytes, value: bytes) -> bytes:
    return b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (name, value)


@pytest.mark.parametrize(
    ("content_type", "raw", "method"),
    [
        (FORM, b"method=patch", "PATCH"),
        (FORM + b"; charset=utf-8", b"a=1&method=DELETE", "DELETE"),
        (FORM, b"method=get&method=put", "PUT"),
        (FORM, b"%6dethod=put&x=method", "PUT"),
        (FORM, b"a=method", None),
        (FORM, b"method=%FF", None),
        (FORM, b"method=put" + b"&" * 1000, None),
        (PARTS, part(b"method", b"patch") + b"--x--", "PATCH"),
        (PARTS, part(b"a", b"method") + b"--x--", None),
        (PARTS, part(b"method", b"\xff") + b"--x--", "\ufffd"),
        (PARTS, part(b"method", b"put"), None),
        (PARTS, b"--x\r\nContent-Disposition: form-data\r\n\r\nmethod\r\n--x--", None),
        (PARTS, part(b"method", b"put") * 1001 + b"--x--", None),
        (b"multipart/form-data", part(b"method", b"put") + b"--x--", None),
        (b"multipart/form-data; boundary=\xe9", b"method", None),
        (b"application/json", b'{"method":"put"}', None),
        (b"", b"method=put", None),
    ],
)
def test_specified_method_is_used(content_type: bytes, raw: bytes, method: str | None) -> None:
    assert overriding_method(raw, {b"content-type": content_type}) == method


def test_case_and_parameters_of_media_types_are_ignored() -> None:
    assert media_type_of({b"content-type": b" Text/HTML ; charset=x"}) == "text/html"
    assert media_type_of({}) == ""
