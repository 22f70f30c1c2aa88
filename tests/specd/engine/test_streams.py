"""Responses of any media type, and responses sent while their handler creates them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from specd import Response
from specd._engine.document.media import frame_event
from specd._engine.document.responses import Responses
from specd._engine.document.schemas import Schemas
from specd._engine.errors import NonConformingResponse
from specd._engine.response import Stream
from specd._engine.serving.app import stop_waiting
from tests.specd.engine.client import Answer
from tests.specd.engine.database import Books
from tests.specd.engine.services import operation, serve
from tests.specd.engine.wire import Connection

JSON = "application/json"
LINES = "application/jsonl"
EVENTS = "text/event-stream"


def answers(*media_types: str, **media: Any) -> dict[str, Any]:
    content = {media_type: media for media_type in media_types}
    return {"200": {"description": "Fine.", "content": content}}


def served(function: Callable[..., Any], *media_types: str, **changes: Any) -> Any:
    described = {**operation("read_a"), "responses": answers(*media_types)}
    described["responses"]["404"] = {"description": "No.", "content": {JSON: {}}}
    return serve({"/a": {"get": described}}, {"read_a": function}, **changes)


class TestMediaTypes:
    @pytest.mark.parametrize(
        ("media_types", "reply", "media_type", "body"),
        [
            (("text/plain",), "h\u00e9", "text/plain; charset=utf-8", "h\u00e9".encode()),
            (("text/csv; header=present",), "a", "text/csv; header=present", b"a"),
            (("application/xml",), "<a/>", "application/xml", b"<a/>"),
            (("image/png",), b"\x89", "image/png", b"\x89"),
            ((JSON, "text/html"), {"a": 1}, JSON, b'{"a":1}'),
            ((JSON, "text/html"), "<p>", "text/html; charset=utf-8", b"<p>"),
            (("text/html", JSON), [1], JSON, b"[1]"),
            ((JSON,), "text", JSON, b'"text"'),
            (("application/problem+json",), {"a": 1}, "application/problem+json", b'{"a":1}'),
            (("image/*",), (b"x", 200, {"content-type": "image/gif"}), "image/gif", b"x"),
            (("*/*",), "x", "text/plain; charset=utf-8", b"x"),
            (("*/*",), b"x", "application/octet-stream", b"x"),
            (("*/*",), {"a": 1}, JSON, b'{"a":1}'),
            (("text/plain", "text/html"), ("x", 200, {"Content-Type": "text/html"}),
             "text/html; charset=utf-8", b"x"),
            (("text/plain",), Response(200, b"x", media_type="text/plain"), "text/plain", b"x"),
        ],
    )  # fmt: skip
    def test_body_has_the_media_type_of_the_document(
        self, media_types: tuple[str, ...], reply: Any, media_type: str, body: bytes
    ) -> None:
        answer = served(lambda ctx: reply, *media_types).get("/a")
        assert (answer.status, answer.header("Content-Type")) == (200, media_type)
        assert answer.body == body

    def test_each_status_has_its_media_type(self) -> None:
        answer = served(lambda ctx: ({"a": 1}, 404), "text/plain").get("/a")
        assert (answer.status, answer.header("Content-Type")) == (404, JSON)

    @pytest.mark.parametrize(
        ("media_types", "reply"),
        [
            (("image/*",), (b"x", 200, {"Content-Type": "text/plain"})),
            (("image/png",), (b"x", 200, {"Content-Type": "image/gif"})),
            (("text/plain",), {"a": 1}),
        ],
    )
    def test_other_media_type_is_a_bug(self, media_types: tuple[str, ...], reply: Any) -> None:
        assert served(lambda ctx: reply, *media_types).get("/a").status == 500


class TestChecks:
    @staticmethod
    def responses(declared: dict[str, Any]) -> Responses:
        return Responses(declared, Schemas({}, drop="writeOnly"), "read_a")

    @pytest.mark.parametrize(
        ("key", "schema", "media_type", "body", "words"),
        [
            ("application/*", {"type": "array"}, "application/a+json", b"[]", None),
            ("application/*", {"type": "array"}, "application/a+json", b"{}", "type array"),
            ("*/*", {"type": "string", "maxLength": 1}, "text/plain", b"ab", "1 characters"),
            ("text/plain", {"type": "integer"}, "text/plain; charset=utf-8", b"5", None),
            ("text/plain", {"type": "integer"}, "text/plain", b"five", "type integer"),
            ("text/csv", {"type": "array"}, "text/csv", b"a,b", None),
            ("application/xml", {"type": "object"}, "application/xml", b"<a>\xff", None),
            ("image/*", {}, "text/plain", b"a", "media type text/plain"),
            ("a/b; v=1", {}, "a/b; v=1", b"a", None),
            ("a/b; v=1", {}, "a/b; v=2", b"a", "media type a/b; v=2"),
        ],
    )
    def test_media_types(
        self, key: str, schema: Any, media_type: str, body: bytes, words: str | None
    ) -> None:
        declared = {"200": {"content": {key: {"schema": schema}}}}
        response = Response(200, body, media_type=media_type)
        if words is None:
            self.responses(declared).check(response, {})
        else:
            with pytest.raises(NonConformingResponse, match=words):
                self.responses(declared).check(response, {})

    @pytest.mark.parametrize("key", ["2XX", "2xx", "default", "201"])
    def test_statuses(self, key: str) -> None:
        declared = {key: {"content": {JSON: {}}}, "200": {"content": {}}}
        self.responses(declared).check(Response(201, b"1"), {})

    def test_most_specific_status_is_used(self) -> None:
        nodes = {"2XX": {"type": "object"}, "201": {"type": "array"}, "default": {"type": "null"}}
        declared = {key: {"content": {JSON: {"schema": schema}}} for key, schema in nodes.items()}
        del declared["default"]["content"][JSON]["schema"]
        responses = self.responses(declared)
        responses.check(Response(201, b"[]"), {})
        responses.check(Response(202, b"{}"), {})
        responses.check(Response(302, b"5"), {})
        with pytest.raises(NonConformingResponse, match="2XX/body must be of type object"):
            responses.check(Response(202, b"[]"), {})

    @pytest.mark.parametrize(
        ("sent", "words"),
        [
            ({"x-rate": "5", "x-list": "1, 2", "x-json": '{"a":1}'}, None),
            ({"x-rate": "5"}, None),
            ({}, "lacks the header x-rate"),
            ({"x-rate": "five"}, "200/header/X-Rate must be of type integer"),
            ({"x-rate": "5", "x-list": "1,x"}, "200/header/X-List/1 must be of type integer"),
            ({"x-rate": "5", "x-json": "{"}, "200/header/X-Json is not valid JSON"),
        ],
    )
    def test_headers(self, sent: dict[str, str], words: str | None) -> None:
        numbers = {"type": "array", "items": {"type": "integer"}}
        headers = {
            "X-Rate": {"required": True, "schema": {"type": "integer"}},
            "X-List": {"schema": numbers},
            "X-Json": {"content": {JSON: {"schema": {"type": "object"}}}},
            "Content-Type": {"required": True, "schema": {"type": "integer"}},
            "Request-Id": {"required": True, "schema": {"type": "string"}},
        }
        responses = self.responses({"200": {"headers": headers}})
        if words is None:
            responses.check(Response(200, b""), sent)
        else:
            with pytest.raises(NonConformingResponse, match=words):
                responses.check(Response(200, b""), sent)


class Talk:
    """A request of a client that stays connected, and its response so far."""

    def __init__(self, client: Any, *, method: str = "GET") -> None:
        self.answer = Answer()
        self.pieces: list[bytes] = []
        self.is_whole = False
        self.left = asyncio.Event()
        self._client = client
        self._method = method

    async def __call__(self) -> "Talk":
        is_read = False

        async def receive() -> dict[str, Any]:
            nonlocal is_read
            if is_read:
                await self.left.wait()
                return {"type": "http.disconnect"}
            is_read = True
            return {"type": "http.request", "body": b""}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.answer.status = message["status"]
                self.answer.headers = [(n.decode(), v.decode()) for n, v in message["headers"]]
                return
            if message.get("body"):
                self.pieces.append(message["body"])
            self.is_whole = not message.get("more_body", False)

        scope = {
            "type": "http",
            "method": self._method,
            "path": "/t/a",
            "raw_path": b"/t/a",
            "query_string": b"",
            "headers": [],
            "client": ("127.0.0.1", 1),
        }
        await self._client.app(scope, receive, send)
        return self


def talk(client: Any, **options: Any) -> Talk:
    async def run() -> Talk:
        async with asyncio.timeout(10):
            return await Talk(client, **options)()

    return asyncio.run(run())


def letters(ctx: Any) -> Iterator[Any]:
    yield "a"
    yield b"b"


async def letters_async(ctx: Any) -> AsyncIterator[Any]:
    yield "a"
    await asyncio.sleep(0)
    yield b"b"


async def letters_later(ctx: Any) -> AsyncIterator[Any]:
    return letters_async(ctx)


WAYS = [
    letters,
    letters_async,
    letters_later,
    lambda ctx: letters(ctx),
    lambda ctx: (letters(ctx), 200, {"X-More": "1"}),
    lambda ctx: Stream(200, b"", (), "text/csv", letters(ctx)),
]


class TestStreams:
    @pytest.mark.parametrize("database", [None, False, True])
    @pytest.mark.parametrize("way", WAYS)
    def test_pieces_are_sent_separately(
        self, way: Callable[..., Any], database: bool | None
    ) -> None:
        books = None if database is None else Books(inline=database)
        result = talk(served(way, "text/csv", database=books))
        assert result.answer.status == 200
        assert result.answer.header("Content-Type") == "text/csv"
        assert result.answer.header("Content-Length") is None
        assert (result.pieces, result.is_whole) == ([b"a", b"b"], True)

    def test_json_can_be_streamed(self) -> None:
        result = talk(served(lambda ctx: iter(["[1", ",2]"]), JSON))
        assert (result.answer.header("Content-Type"), result.pieces) == (JSON, [b"[1", b",2]"])

    def test_empty_stream_is_sent(self) -> None:
        result = talk(served(lambda ctx: iter(()), "text/csv"))
        assert (result.answer.status, result.pieces, result.is_whole) == (200, [], True)

    def test_head_has_no_pieces_and_ends_the_handler(self) -> None:
        ended = threading.Event()

        def endless(ctx: Any) -> Iterator[str]:
            try:
                while True:
                    yield "a"
            finally:
                ended.set()

        result = talk(served(endless, "text/csv"), method="HEAD")
        assert (result.answer.status, result.pieces, result.is_whole) == (200, [], True)
        assert ended.wait(5)

    @pytest.mark.parametrize("is_async", [False, True])
    def test_error_before_the_first_piece_gives_an_error_response(self, is_async: bool) -> None:
        def fail(ctx: Any) -> Iterator[str]:
            raise PermissionError
            yield ""

        async def fail_async(ctx: Any) -> AsyncIterator[str]:
            raise PermissionError
            yield ""

        result = talk(served(fail_async if is_async else fail, "text/csv"))
        assert (result.answer.status, result.is_whole) == (500, True)

    def test_later_error_cuts_the_response_off(self, logs: Any) -> None:
        async def fail(ctx: Any) -> AsyncIterator[str]:
            yield "a"
            raise LookupError("later")

        result = talk(served(fail, "text/csv"))
        assert (result.answer.status, result.pieces, result.is_whole) == (200, [b"a"], False)
        (line,) = [line for line in logs() if line["event"] == "stream failed"]
        assert "LookupError: later" in line["exception"]
        assert line["id"] == result.answer.header("Request-Id")

    def test_late_piece_cuts_the_response_off(self, logs: Any) -> None:
        ended: list[str] = []

        async def wait(ctx: Any) -> AsyncIterator[str]:
            yield "a"
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("here")

        result = talk(served(wait, "text/csv", stream_timeout_s=0.05))
        assert (result.pieces, result.is_whole, ended) == ([b"a"], False, ["here"])
        assert [line for line in logs() if line["event"] == "stream cut off"]

    @pytest.mark.parametrize("is_async", [False, True])
    def test_late_first_piece_is_a_bug(self, is_async: bool) -> None:
        released = threading.Event()

        def wait(ctx: Any) -> Iterator[str]:
            released.wait(5)
            yield "a"

        async def wait_async(ctx: Any) -> AsyncIterator[str]:
            await asyncio.Event().wait()
            yield "a"

        result = talk(served(wait_async if is_async else wait, "text/csv", stream_timeout_s=0.05))
        released.set()
        assert (result.answer.status, result.is_whole) == (500, True)

    @pytest.mark.parametrize("how", ["leaves", "stops"])
    def test_stream_ends_with_the_client_and_with_the_server(self, how: str) -> None:
        ended: list[str] = []

        async def tick(ctx: Any) -> AsyncIterator[str]:
            try:
                yield "a"
                await asyncio.Event().wait()
            finally:
                ended.append("here")

        async def run() -> Talk:
            client = served(tick, "text/csv")
            there = Talk(client)
            task = asyncio.create_task(there())
            async with asyncio.timeout(10):
                while not there.pieces:
                    await asyncio.sleep(0.001)
                if how == "leaves":
                    there.left.set()
                else:
                    stop_waiting(client.app)
                return await task

        result = asyncio.run(run())
        assert (result.pieces, result.is_whole, ended) == ([b"a"], False, ["here"])

    def test_timeout_around_several_pieces_applies(self) -> None:
        async def tick(ctx: Any) -> AsyncIterator[str]:
            async with asyncio.timeout(5):
                yield "a"
                await asyncio.sleep(0)
                yield "b"

        assert talk(served(tick, "text/csv")).pieces == [b"a", b"b"]

    def test_chunks_on_the_wire(self) -> None:
        async def run() -> bytes:
            connection = Connection(served(letters_async, "text/csv").app)
            connection.feed(b"GET /t/a HTTP/1.1\r\nHost: a\r\n\r\n")
            async with asyncio.timeout(10):
                while not connection.wire.written.endswith(b"0\r\n\r\n"):
                    await asyncio.sleep(0.001)
            connection.protocol.connection_lost(None)
            return connection.wire.written

        head, _, body = asyncio.run(run()).partition(b"\r\n\r\n")
        assert b"transfer-encoding: chunked" in head
        assert body == b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n"


ITEM = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


class TestItems:
    @staticmethod
    def stream(media_type: str, items: list[Any], **media: Any) -> Stream:
        responses = Responses(answers(media_type, **media), Schemas({}, drop="writeOnly"), "read_a")
        response = responses.as_response(iter(items), validates=True)
        assert isinstance(response, Stream)
        responses.check(response, {})
        return response

    @pytest.mark.parametrize(
        ("media_type", "expected"),
        [
            (LINES, b'{"n":1}\n{"n":2}\nraw'),
            ("application/x-ndjson", b'{"n":1}\n{"n":2}\nraw'),
            ("application/json-seq", b'\x1e{"n":1}\n\x1e{"n":2}\nraw'),
        ],
    )
    def test_values_become_a_sequence(self, media_type: str, expected: bytes) -> None:
        stream = self.stream(media_type, [{"n": 1}, {"n": 2}, "raw"], itemSchema=ITEM)
        assert stream.media_type == media_type
        assert b"".join(map(stream.frame, stream.pieces)) == expected  # type: ignore[arg-type]

    def test_values_are_checked_individually(self) -> None:
        stream = self.stream(LINES, [], itemSchema=ITEM)
        with pytest.raises(NonConformingResponse, match="read_a: 200/body/n must be of type"):
            stream.frame({"n": "1"})
        assert stream.frame({"n": 1}) == b'{"n":1}\n'

    def test_text_that_is_not_a_sequence_accepts_no_values(self) -> None:
        with pytest.raises(TypeError, match="must be bytes or str, and is dict"):
            self.stream("text/csv", []).frame({"n": 1})

    @pytest.mark.parametrize(
        ("event", "text"),
        [
            ({"data": "a"}, "data: a\n\n"),
            (
                {"event": "new", "id": "5", "data": "a\nb"},
                "event: new\nid: 5\ndata: a\ndata: b\n\n",
            ),
            ({"data": {"n": 1}, "retry": 100}, 'data: {"n":1}\nretry: 100\n\n'),
            ({"data": ""}, "data: \n\n"),
        ],
    )
    def test_server_sent_events(self, event: dict[str, Any], text: str) -> None:
        schema = {"type": "object", "properties": {"retry": {"type": "integer"}}}
        stream = self.stream(EVENTS, [], itemSchema=schema)
        assert stream.frame(event) == text.encode()

    @pytest.mark.parametrize("event", [{"id": "a\nb"}, {"event": "a\r"}, {"other": "a"}])
    def test_invalid_events_are_rejected(self, event: dict[str, str]) -> None:
        with pytest.raises(ValueError, match="server-sent event"):
            frame_event(event)
