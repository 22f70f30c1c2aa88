"""Heads made as bytes say what the ASGI messages say, byte for byte."""

import pytest

from server.response import JSON, Headers, Response
from server.wire.answering import Heads, raw_headers, start

STANDING = raw_headers((("X-Content-Type-Options", "nosniff"), ("X-Odd", "100%d %b %%")))
LIMITS = (("X-RateLimit-Limit", "200"), ("X-RateLimit-Remaining", "199"))


def of_asgi(response: Response, request_id: str, extra: Headers) -> bytes:
    message = start(response, [(b"request-id", request_id.encode())], extra, STANDING)
    return b"".join(b"%b: %b\r\n" % pair for pair in message["headers"])


@pytest.mark.parametrize("extra", [(), LIMITS])
@pytest.mark.parametrize("media_type", [JSON, "text/plain", 'a/b; c="100%d"'])
@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Location", "/a%20b"), ("X-Empty", "")),
        (("Cache-Control", "private"),),
        (("X-Latin", "caf\xe9 %s"),),
    ],
)
@pytest.mark.parametrize("status", [200, 204, 304, 404])
def test_every_usual_head(status: int, headers: Headers, media_type: str, extra: Headers) -> None:
    heads = Heads(STANDING)
    for body, request_id in ((b"{}", "a" * 24), (b"", "b" * 24)):  # made, and made again
        response = Response(status, body, headers, media_type)
        assert heads.head(response, request_id, extra) == of_asgi(response, request_id, extra)


@pytest.mark.parametrize(
    ("headers", "extra"),
    [
        ((("Connection", "close"),), ()),
        ((("Transfer-Encoding", "chunked"),), ()),
        ((("X-A", "1"), ("x-a", "2")), ()),
        ((("X-A", "1"),), (("X-A", "1"),)),
        ((("Content-Length", "1"),), ()),
        ((("X A", "1"),), ()),
        ((("X-A", "1\r\nX-B: 2"),), ()),
        ((), (("X-A", "\0"),)),
    ],
)
def test_an_unusual_head_is_left_to_the_server(headers: Headers, extra: Headers) -> None:
    heads = Heads(STANDING)
    for _ in range(2):
        assert heads.head(Response(200, b"", headers), "a" * 24, extra) is None


def test_a_media_type_that_cannot_go_out() -> None:
    assert Heads(STANDING).head(Response(200, b"", (), "a\nb"), "a" * 24, ()) is None
