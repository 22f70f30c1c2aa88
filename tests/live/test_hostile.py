"""Malformed raw requests to a real gunicorn over sockets.

Every response is a 4xx in the service's format, the next request is served, and the server uses
little CPU time and memory.
"""

import json
import os
import re
import select
import socket
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from specd._db import migrate
from specd.db import Database
from tests.live.running_server import RunningServer
from tests.support.payment.factories import make_merchant

MIB = 1024 * 1024
BODY_TIMEOUT_S = 1.0
TICKS = os.sysconf("SC_CLK_TCK")
INVOICE = {
    "external_order_id": "order-1",
    "attempt_no": 1,
    "amount": "1.5",
    "payment_method_id": "tusd-local",
}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    closed: bool


class Target:
    """One running server of one worker, and a merchant's key for it."""

    def __init__(self, server: RunningServer, key: str) -> None:
        self.port = server.port
        self.key = key.encode()
        (self.worker,) = server.worker_pids()
        self.slow = self.connect()  # the last test checks its state
        self.slow.sendall(b"GET /v1/payment-methods HTTP/1.1\r\nX: ")

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=15)

    def send(self, raw: bytes, *, then_close: bool = False) -> Answer:
        """Return the first response to `raw`, regardless of what follows."""
        with self.connect() as connection:
            try:
                connection.sendall(raw)
                if then_close:
                    connection.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the server had responded and closed before everything was written
            return read_answer(connection)

    def head(self, start: bytes, *headers: bytes) -> bytes:
        lines = (start, b"Host: localhost", b"Authorization: Bearer " + self.key, *headers)
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def create(self, body: bytes, *headers: bytes, length: int | None = None) -> bytes:
        """Return a request to create an invoice, valid except for the given parts."""
        named = b"".join(headers).lower()
        lines = [] if b"idempotency-key:" in named else [b"Idempotency-Key: hostile-key-1"]
        if b"content-type:" not in named:
            lines.append(b"Content-Type: application/json")
        if b"content-length:" not in named and b"transfer-encoding:" not in named:
            lines.append(b"Content-Length: %d" % (len(body) if length is None else length))
        return self.head(b"POST /v1/invoices HTTP/1.1", *lines, *headers) + body

    def memory(self) -> int:
        """Return the resident bytes of the worker."""
        status = Path(f"/proc/{self.worker}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]

    def peak(self) -> int:
        status = Path(f"/proc/{self.worker}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]

    def cpu(self) -> float:
        """Return the CPU seconds that the worker has used."""
        fields = Path(f"/proc/{self.worker}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def is_well(self) -> bool:
        answer = self.send(self.head(b"GET /v1/payment-methods HTTP/1.1"))
        return answer.status == 200 and b"tusd-local" in answer.body


def read_answer(connection: socket.socket) -> Answer:
    raw = b""
    while b"\r\n\r\n" not in raw:
        chunk = connection.recv(65536)
        assert chunk, f"the connection was closed after {raw!r}"
        raw += chunk
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
    status = int(lines[0].split()[1])
    if status == 100:
        return read_answer(connection)
    length = int(headers.get("content-length", "0"))
    closed = False
    while len(body) < length:
        chunk = connection.recv(65536)
        assert chunk, "the body was cut"
        body += chunk
    body, following = body[:length], body[length:]
    if headers.get("connection") == "close":
        connection.settimeout(5)
        try:
            following += connection.recv(64)
            assert following == b"", f"something follows the last answer: {following!r}"
            closed = True
        except (TimeoutError, ConnectionResetError):
            closed = False
    return Answer(status, headers, body, closed)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    directory = tmp_path_factory.mktemp("hostile")
    url = f"sqlite:///{directory / 'payment.db'}"
    migrate.upgrade(url, "payment")
    database = Database(url)
    merchant = database.run(lambda session: make_merchant(session, now=datetime.now(UTC)))
    database.dispose()
    settings = {
        "SPECD_PAYMENT_DATABASE_URL": url,
        "SPECD_WORKERS": "1",
        "SPECD_BODY_READ_TIMEOUT_S": str(BODY_TIMEOUT_S),
    }
    with RunningServer(directory, settings) as server:
        yield Target(server, merchant.key)


VALID = json.dumps(INVOICE).encode()


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def members(**changes: object) -> bytes:
    return json.dumps({**INVOICE, **changes}).encode()


BODIES: dict[str, tuple[bytes | Callable[[], bytes], int]] = {
    "empty": (b"", 422),
    "blank": (b"   ", 422),
    "truncated": (VALID[:-5], 422),
    "two values": (VALID + VALID, 422),
    "not an object": (b"[]", 422),
    "null": (b"null", 422),
    "nested 100,000 deep": (b"[" * 60_000, 422),
    "nested 20,000 deep and closed": (nested(20_000), 422),
    "objects nested 5,000 deep": (b'{"a":' * 5000 + b"1" + b"}" * 5000, 422),
    "deep behind an unterminated string": (b"[" * 65 + b'"' + b'\\"' * 30_000, 422),
    "integer of 5,000 digits": (VALID.replace(b": 1,", b": " + b"9" * 5000 + b","), 422),
    "integer of 400 digits": (VALID.replace(b": 1,", b": " + b"9" * 400 + b","), 422),
    "integer of 60,000 digits": (b"9" * 60_000, 422),
    "number of 1e999999": (VALID.replace(b": 1,", b": 1e999999,"), 422),
    "NaN": (VALID.replace(b": 1,", b": NaN,"), 422),
    "float for an integer": (VALID.replace(b": 1,", b": 1.0,"), 422),
    "integer over 32 bits": (VALID.replace(b": 1,", b": 2147483648,"), 422),
    "invalid UTF-8": (VALID.replace(b"order-1", b"order\xff"), 422),
    "UTF-16": (VALID.decode().encode("utf-16"), 422),
    "UTF-16 without a mark": (VALID.decode().encode("utf-16-be"), 422),
    "UTF-32": (VALID.decode().encode("utf-32"), 422),
    "byte order mark": (b"\xef\xbb\xbf" + VALID, 422),
    "NUL, raw": (VALID.replace(b"order-1", b"order\0"), 422),
    "NUL, escaped": (VALID.replace(b"order-1", b"order\\u0000"), 422),
    "NUL in a key": (VALID.replace(b'"amount"', b'"amount\\u0000"'), 422),
    "lone surrogate": (VALID.replace(b"order-1", b"order\\ud800"), 422),
    "lone surrogate in UTF-8": (VALID.replace(b"order-1", b"order\xed\xa0\x80"), 422),
    "duplicate key": (VALID.replace(b"{", b'{"amount": "1", '), 422),
    "duplicate key, escaped": (VALID.replace(b"{", b'{"\\u0061mount": "1", '), 422),
    "unknown key": (members(surprise=1), 422),
    "unknown key of 50 KiB": (members(**{"k" * 50_000: 1}), 422),
    "10,000 unknown keys": (b"{" + b",".join(b'"%d":0' % n for n in range(7000)) + b"}", 422),
    "30,000 empty lists": (b"[" + b"[]," * 20_000 + b"[]]", 422),
    "amount with a line break": (members(amount="1.5\n"), 422),
    "amount in full-width digits": (members(amount="\uff11"), 422),
    "amount of 60,000 digits": (members(amount="9" * 60_000), 422),
    "amount as a number": (members(amount=1.5), 422),
    "order of 60,000 characters": (members(external_order_id="x" * 60_000), 422),
    "order of escapes": (b'{"external_order_id":"' + b"\\u0041" * 10_000 + b'"}', 422),
    "one byte over the limit": (VALID + b" " * (65_537 - len(VALID)), 413),
    "10 MiB": (lambda: VALID + b" " * (10 * MIB), 413),
}


def assert_refused(answer: Answer, *statuses: int) -> None:
    assert answer.status in statuses, (answer.status, answer.body)
    assert answer.headers["content-type"] == "application/json"
    record = json.loads(answer.body)
    assert set(record) == {"code", "message", "request_id", "details"}
    assert record["request_id"] == answer.headers["request-id"]
    assert record["message"]


def body_of(name: str) -> bytes:
    body = BODIES[name][0]
    return body() if callable(body) else body


@pytest.mark.parametrize("name", BODIES)
def test_bodies(target: Target, name: str) -> None:
    assert_refused(target.send(target.create(body_of(name))), BODIES[name][1])
    assert target.is_well()


CHUNKED = b"Transfer-Encoding: chunked"


def requests(target: Target) -> dict[str, tuple[bytes, tuple[int, ...]]]:
    """Complete requests, each with its expected statuses."""
    create, head, key = target.create, target.head, b"Authorization: Bearer " + target.key
    get = b"GET /v1/payment-methods HTTP/1.1"
    bomb = zlib.compress(b" " * MIB, 9)
    return {
        "compressed": (create(bomb, b"Content-Encoding: gzip"), (415,)),
        "compressed by two": (create(bomb, b"Content-Encoding: deflate, gzip"), (415,)),
        "bogus charset": (create(VALID, b"Content-Type: application/json; charset=bogus"), (415,)),
        "UTF-16 charset": (create(VALID, b"Content-Type: application/json;charset=utf-16"), (415,)),
        "a form": (create(b"a=1", b"Content-Type: application/x-www-form-urlencoded"), (415,)),
        "multipart": (create(b"--x", b"Content-Type: multipart/form-data; boundary=x"), (415,)),
        "XML": (create(b"<a/>", b"Content-Type: application/xml"), (415,)),
        "no type": (create(VALID, b"Content-Type:"), (415,)),
        "NUL in a header": (create(VALID, b"X-A: a\0b"), (400, 422)),
        "NUL in the key": (create(VALID, b"Idempotency-Key: abc\0defgh"), (400, 422)),
        "key of Latin-1": (create(VALID, b"Idempotency-Key: caf\xe9-12345"), (422,)),
        "key too short": (create(VALID, b"Idempotency-Key: short"), (422,)),
        "key of 15 KiB": (create(VALID, b"Idempotency-Key: " + b"k" * 15_000), (422,)),
        "two keys": (
            create(VALID, b"Idempotency-Key: key-00001\r\nIdempotency-Key: key-00002"),
            (422,),
        ),
        "two lengths": (create(VALID, b"Content-Length: 5\r\nContent-Length: 6"), (400, 422)),
        "two equal lengths": (create(VALID, b"Content-Length: 5\r\nContent-Length: 5"), (400, 422)),
        "length and chunks": (create(b"0\r\n\r\n", b"Content-Length: 5", CHUNKED), (400, 422)),
        "chunks and length": (create(b"0\r\n\r\n", CHUNKED, b"Content-Length: 5"), (400, 422)),
        "two codings": (create(b"0\r\n\r\n", CHUNKED, CHUNKED), (400, 422)),
        "unknown coding": (create(b"", b"Transfer-Encoding: xchunked"), (400, 422)),
        "coding after chunked": (create(b"", b"Transfer-Encoding: chunked, gzip"), (400, 422)),
        "length with a sign": (create(VALID, b"Content-Length: +5"), (400, 422)),
        "length below zero": (create(VALID, b"Content-Length: -5"), (400, 422)),
        "length in words": (create(VALID, b"Content-Length: many"), (400, 422)),
        "length of 30 digits": (create(VALID, b"Content-Length: " + b"9" * 30), (422,)),
        "length too large": (create(b"", length=70_000), (413,)),
        "length too long for the body": (create(VALID, length=len(VALID) + 5), (408,)),
        "length too short for the body": (create(VALID, length=5), (400, 422)),
        "chunk size no number": (create(b"zz\r\n", CHUNKED), (422,)),
        "chunk size negative": (create(b"-1\r\n", CHUNKED), (422,)),
        "chunk size of 20 digits": (create(b"f" * 20 + b"\r\n", CHUNKED), (422,)),
        "chunk without its end": (create(b"1\r\nXY", CHUNKED), (422,)),
        "endless chunks": (
            create(b"1000\r\n" + b"x" * 4096 + b"\r\n", CHUNKED)
            + (b"1000\r\n" + b"x" * 4096 + b"\r\n") * 255,
            (413,),
        ),
        "chunks that stop": (create(b"5\r\nab", CHUNKED), (408,)),
        "expects to be refused": (create(b"", b"Expect: 100-continue", length=70_000), (413,)),
        "two authorizations": (head(get, key), (400, 401, 422)),
        "two hosts": (head(get, b"Host: elsewhere"), (400, 422)),
        "key of 16 KiB": (head(get).replace(target.key, b"k" * 16_000), (401, 431)),
        "key of 9 KiB": (head(get).replace(target.key, b"k" * 9_000), (401,)),
        "credentials of Latin-1": (head(get).replace(target.key, b"prk_test_\xff"), (401,)),
        "Basic": (head(get).replace(b"Bearer ", b"Basic "), (401,)),
        "headers of 20 KiB": (head(get, *[b"X-%d: " % n + b"v" * 500 for n in range(40)]), (431,)),
        "1,000 headers": (head(get, *[b"X-%d: v" % n for n in range(1000)]), (431,)),
        "one header of 200 KiB": (head(get, b"X: " + b"v" * 200_000), (400, 431)),
        "endless header": (head(get)[:-2] + b"X: " + b"v" * 2 * MIB, (400, 431)),
        "path of 20 KiB": (head(b"GET /v1/" + b"a" * 20_000 + b" HTTP/1.1"), (400, 431)),
        "query of 20 KiB": (
            head(b"GET /v1/payment-methods?" + b"a" * 20_000 + b" HTTP/1.1"),
            (400, 431),
        ),
        "bad percent in the path": (head(b"GET /v1/invoices/%zz HTTP/1.1"), (404, 422)),
        "half a percent in the path": (head(b"GET /v1/invoices/% HTTP/1.1"), (404, 422)),
        "NUL in the path": (head(b"GET /v1/invoices/%00 HTTP/1.1"), (404, 422)),
        "raw NUL in the path": (head(b"GET /v1/invoices/\0 HTTP/1.1"), (400, 422)),
        "bad UTF-8 in the path": (head(b"GET /v1/invoices/%ff%fe HTTP/1.1"), (404, 422)),
        "surrogate in the path": (head(b"GET /v1/invoices/%ED%A0%80 HTTP/1.1"), (404, 422)),
        "raw bytes in the path": (head(b"GET /v1/invoices/\xff HTTP/1.1"), (400, 404, 422)),
        "dots in the path": (head(b"GET /v1/../etc/passwd HTTP/1.1"), (401, 404, 422)),
        "slash in an id": (head(b"GET /v1/invoices/a%2Fb HTTP/1.1"), (404, 422)),
        "no such id": (
            head(b"GET /v1/invoices/5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90%0A HTTP/1.1"),
            (404, 422),
        ),
        "NUL in the query": (head(b"GET /v1/payment-methods?a=%00 HTTP/1.1"), (422,)),
        "bad UTF-8 in the query": (head(b"GET /v1/payment-methods?a=%ff HTTP/1.1"), (422,)),
        "2,000 query fields": (
            head(b"GET /v1/payment-methods?" + b"&" * 2000 + b" HTTP/1.1"),
            (422,),
        ),
        "unknown method": (head(b"BREW /v1/payment-methods HTTP/1.1"), (405, 422)),
        "wrong method": (head(b"DELETE /v1/payment-methods HTTP/1.1"), (405,)),
        "lower-case method": (head(b"get /v1/payment-methods HTTP/1.1"), (405, 422)),
        "no HTTP at all": (b"hello\r\n\r\n", (400,)),
        "bytes": (bytes(range(256)) * 4, (400,)),
        "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100, (400,)),
        "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 404, 405)),
        "HTTP/9": (head(b"GET /v1/payment-methods HTTP/9.9"), (422,)),
        "header without a colon": (head(get, b"nonsense"), (422,)),
        "header with a space": (head(get, b"Content-Length : 5"), (422,)),
        "folded header": (head(get, b"X: a\r\n b"), (422,)),
        "line break in a header": (head(get, b"X: a\rb"), (422,)),
        "line feeds only": (head(get).replace(b"\r\n", b"\n"), (422,)),
    }


def test_requests(target: Target) -> None:
    wrong = {}
    for name, (raw, statuses) in requests(target).items():
        try:
            assert_refused(target.send(raw), *statuses)
            assert target.is_well(), "the next request is not served"
        except (AssertionError, KeyError, ValueError, OSError) as error:
            wrong[name] = str(error)[:300]
    assert wrong == {}


def test_a_refused_framing_ends_the_connection(target: Target) -> None:
    """Data after a request with ambiguous framing must not be read as a request."""
    smuggled = target.head(b"GET /v1/payment-methods HTTP/1.1")
    for raw in (
        target.create(b"0\r\n\r\n" + smuggled, CHUNKED, b"Content-Length: 5"),
        target.create(b"abcde" + smuggled, b"Content-Length: 5\r\nContent-Length: 6"),
    ):
        answer = target.send(raw)
        assert_refused(answer, 400, 422)
        assert answer.closed


def test_a_body_in_drips_is_cut_at_the_deadline(target: Target) -> None:
    with target.connect() as connection:
        connection.sendall(target.create(b"", length=1000))
        for _ in range(150):  # fewer bytes than the body has
            connection.sendall(b" ")
            if select.select([connection], [], [], 0.2)[0]:
                break
        connection.settimeout(10)
        answer = read_answer(connection)
        assert answer.status == 408
        assert json.loads(answer.body)["code"] == "request_timeout"
    assert target.is_well()


def test_many_at_once_leave_the_server_well(target: Target) -> None:
    """200 connections send half a request and wait, while other requests are served."""
    waiting = [target.connect() for _ in range(200)]
    try:
        for connection in waiting:
            connection.sendall(target.create(VALID, length=len(VALID) + 1))
        assert target.is_well()
        assert all(read_answer(connection).status == 408 for connection in waiting)
    finally:
        for connection in waiting:
            connection.close()
    assert target.is_well()


def test_pipelined_requests_are_answered_in_order(target: Target) -> None:
    get = target.head(b"GET /v1/payment-methods HTTP/1.1")
    with target.connect() as connection:
        connection.sendall(get + target.create(VALID[:-1]) + get)
        raw = b""
        while raw.count(b"HTTP/1.1 ") < 3:
            chunk = connection.recv(65536)
            assert chunk, raw
            raw += chunk
    assert re.findall(rb"HTTP/1.1 (\d+)", raw) == [b"200", b"422", b"200"]


def test_processor_and_memory_stay_bounded(target: Target) -> None:
    """All bodies again: at most 250 ms for each MiB, and 20 ms for each request."""
    target.is_well()
    memory, cpu = target.memory(), target.cpu()
    size = 0
    for name, (_, status) in BODIES.items():
        raw = target.create(body_of(name))
        size += len(raw)
        assert target.send(raw).status == status
    assert target.cpu() - cpu < 0.25 * size / MIB + 0.02 * len(BODIES)
    assert target.memory() - memory < 16 * MIB
    assert target.peak() - memory < 32 * MIB


def test_headers_that_never_end_are_cut(target: Target) -> None:
    with target.slow:
        assert_refused(read_answer(target.slow), 408)
    assert target.is_well()
