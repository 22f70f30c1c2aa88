"""Request bodies: reading within limits, JSON, and forms."""

import asyncio
from typing import Any, ClassVar

import pytest

from specd import Context
from specd._engine.document.bodies import Disconnected, read_body
from specd._engine.errors import BodyTooLarge, DocumentError, RequestTimeout
from specd.errors import InvalidRequest
from tests.specd.engine.client import Client
from tests.specd.engine.services import ADA, KEY, post

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

FIELDS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 20},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
        "flag": {"type": "boolean", "default": False},
        "numbers": {"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 0}},
        "words": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
        "extra": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "either": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "maybe": {"type": "integer", "nullable": True},
        "some": {"type": "array", "nullable": True, "items": {"type": "string"}},
        "loose": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
    },
}
ENCODING = {name: {"contentType": JSON} for name in ("numbers", "extra", "either", "maybe")}


def make_thing(
    ctx: Context,
    *,
    text: str,
    flag: bool,
    count: int | None = None,
    numbers: list[int] | None = None,
    words: list[str] | None = None,
    extra: dict[str, Any] | None = None,
    either: Any = None,
    maybe: Any = "absent",
    some: Any = "absent",
    loose: Any = None,
) -> dict[str, Any]:
    sent = {k: v for k, v in locals().items() if k != "ctx" and v is not None and v != "absent"}
    return {"sent": sent}


@pytest.fixture(scope="module")
def forms() -> Client:
    media = {"schema": FIELDS, "encoding": ENCODING}
    return post({URLENCODED: media, MULTIPART: media}, make_thing)


def multipart(fields: list[tuple[str, str]], *, boundary: str = "xyz") -> dict[str, Any]:
    parts = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields
    )
    return {
        "body": f"{parts}--{boundary}--\r\n".encode(),
        "content_type": f"{MULTIPART}; boundary={boundary}",
    }


FORMS: list[tuple[list[tuple[str, str]], dict[str, Any] | list[str]]] = [
    ([("text", "hi")], {"flag": False}),
    ([("text", "hi"), ("flag", "true")], {"flag": True}),
    ([("text", "hi"), ("flag", "True")], ["/body/flag"]),
    ([("text", "5")], {"text": "5", "flag": False}),
    ([("text", '"5"')], {"text": '"5"', "flag": False}),
    ([("text", "a"), ("text", "b")], {"text": "b", "flag": False}),
    ([], ["/body"]),
    ([("text", "")], ["/body/text"]),
    ([("text", "x" * 21)], ["/body/text"]),
    ([("text", "hi"), ("count", "3")], {"count": 3, "flag": False}),
    ([("text", "hi"), ("count", "10")], ["/body/count"]),
    ([("text", "hi"), ("count", "")], ["/body/count"]),
    ([("text", "hi"), ("count", "1.0")], ["/body/count"]),
    ([("text", "hi"), ("count", '"3"')], ["/body/count"]),
    ([("text", "hi"), ("numbers", "[1, 2]")], {"numbers": [1, 2], "flag": False}),
    ([("text", "hi"), ("numbers", "1"), ("numbers", "2")], {"numbers": [1, 2], "flag": False}),
    ([("text", "hi"), ("numbers", "1")], {"numbers": [1], "flag": False}),
    ([("text", "hi"), ("numbers", "[]")], {"numbers": [], "flag": False}),
    ([("text", "hi"), ("numbers", "[1,2,3,4]")], ["/body/numbers"]),
    ([("text", "hi"), ("numbers", "[1,")], ["/body/numbers"]),
    ([("text", "hi"), ("numbers", '["1"]')], ["/body/numbers/0"]),
    ([("text", "hi"), ("numbers", "{}")], ["/body/numbers"]),
    ([("text", "hi"), ("numbers", "[-1]")], ["/body/numbers/0"]),
    ([("text", "hi"), ("numbers", "[" * 65 + "]" * 65)], ["/body/numbers"]),
    ([("text", "hi"), ("words", "a")], {"words": ["a"], "flag": False}),
    ([("text", "hi"), ("words", "a"), ("words", "b")], {"words": ["a", "b"], "flag": False}),
    ([("text", "hi"), ("words", '["a","b"]')], {"words": ["a", "b"], "flag": False}),
    ([("text", "hi"), ("words", "true")], {"words": ["true"], "flag": False}),
    ([("text", "hi"), ("words", "1")], ["/body/words/0"]),
    ([("text", "hi"), ("words", "null")], ["/body/words"]),
    ([("text", "hi"), ("numbers", "null")], ["/body/numbers"]),
    ([("text", "hi"), ("extra", '{"a":1}')], {"extra": {"a": 1}, "flag": False}),
    ([("text", "hi"), ("extra", '{"a":1,"a":1}')], ["/body/extra"]),
    ([("text", "hi"), ("extra", '{"a":"1"}')], ["/body/extra/a"]),
    ([("text", "hi"), ("extra", "null")], ["/body/extra"]),
    ([("text", "hi"), ("either", "1")], {"either": 1, "flag": False}),
    ([("text", "hi"), ("either", "[1]")], {"either": [1], "flag": False}),
    ([("text", "hi"), ("either", "1"), ("either", "2")], {"either": [1, 2], "flag": False}),
    ([("text", "hi"), ("either", "x")], ["/body/either"]),
    ([("text", "hi"), ("maybe", "1")], {"maybe": 1, "flag": False}),
    ([("text", "hi"), ("maybe", "null")], {"flag": False}),
    ([("text", "hi"), ("some", "null")], {"flag": False}),
    ([("text", "hi"), ("some", '["null"]')], {"some": ["null"], "flag": False}),
    ([("text", "hi"), ("some", "null"), ("some", "a")], {"some": ["null", "a"], "flag": False}),
    ([("text", "hi"), ("loose", "1")], {"loose": 1, "flag": False}),
    ([("text", "hi"), ("loose", "one")], {"loose": "one", "flag": False}),
    ([("text", "hi"), ("loose", '"one"')], {"loose": "one", "flag": False}),
    ([("text", "hi"), ("loose", '"one')], {"loose": '"one', "flag": False}),
    ([("text", "hi"), ("loose", r'"\u0000"')], ["/body/loose"]),
    ([("text", "hi"), ("loose", r'"\ud800"')], ["/body/loose"]),
    ([("text", "hi"), ("zz", "1")], ["/body"]),
    ([("text", "hi"), ("count", "x"), ("zz", "1")], ["/body/count", "/body"]),
    ([("text", "h\U0001f600é")], {"text": "h\U0001f600é", "flag": False}),
]


@pytest.mark.parametrize(("fields", "expected"), FORMS, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("how", [URLENCODED, MULTIPART])
def test_form_fields_are_converted(
    forms: Client, how: str, fields: list[tuple[str, str]], expected: dict[str, Any] | list[str]
) -> None:
    options = {"form": fields} if how == URLENCODED else multipart(fields)
    answer = forms.post("/things", **options)
    if isinstance(expected, list):
        assert answer.status == 422, answer.body
        assert answer.paths == expected
    else:
        assert answer.status == 200, answer.body
        assert answer.json["sent"] == {"text": "hi", **expected}


BAD_FORMS = {
    "NUL": (b"text=a%00", URLENCODED, 422),
    "bad UTF-8": (b"text=%FF", URLENCODED, 422),
    "surrogate": (b"text=%ED%A0%80", URLENCODED, 422),
    "too many fields": (b"text=a" + b"&text=a" * 1000, URLENCODED, 422),
    "other charset": (b"text=a", f"{URLENCODED}; charset=latin-1", 415),
    "bogus charset": (b"text=a", f"{URLENCODED}; charset=bogus", 415),
    "no boundary": (b"--x\r\n", MULTIPART, 422),
    "empty boundary": (b"--x\r\n", f'{MULTIPART}; boundary=""', 422),
    "long boundary": (b"--x\r\n", f"{MULTIPART}; boundary={'x' * 201}", 422),
    "strange boundary": (b"--x\r\n", f"{MULTIPART}; boundary=\xe9", 422),
    "never ends": (
        b"--x\r\nContent-Disposition: form-data; name=text\r\n\r\nhi",
        f"{MULTIPART}; boundary=x",
        422,
    ),
    "no name": (
        b"--x\r\nContent-Disposition: form-data\r\n\r\nhi\r\n--x--\r\n",
        f"{MULTIPART}; boundary=x",
        422,
    ),
    "no disposition": (b"--x\r\n\r\nhi\r\n--x--\r\n", f"{MULTIPART}; boundary=x", 422),
    "multipart, NUL": (multipart([("text", "a\0")])["body"], f"{MULTIPART}; boundary=xyz", 422),
    "multipart, bad UTF-8": (
        b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n\xff\r\n--x--\r\n',
        f"{MULTIPART}; boundary=x",
        422,
    ),
    "multipart, too many parts": (
        multipart([("text", "a")] * 1001)["body"],
        f"{MULTIPART}; boundary=xyz",
        422,
    ),
    "multipart, rubbish": (b"\r\n" * 1000, f"{MULTIPART}; boundary=x", 422),
    "JSON": (b'{"text":"hi"}', JSON, 415),
    "no type": (b"text=hi", None, 415),
    "unknown type": (b"text=hi", "text/plain", 415),
    "almost the type": (b"text=hi", URLENCODED + "x", 415),
    "empty, unknown type": (b"", "text/plain", 415),
    "empty": (b"", None, 422),
}


@pytest.mark.parametrize(("body", "content_type", "status"), BAD_FORMS.values(), ids=BAD_FORMS)
def test_rejects_invalid_forms(
    forms: Client, body: bytes, content_type: str | None, status: int
) -> None:
    answer = forms.post("/things", body=body, content_type=content_type)
    assert answer.status == status, answer.body
    assert answer.json["request_id"] == answer.header("Request-Id")
    accepted = f"{URLENCODED}, multipart/form-data"
    assert answer.header("Accept") == (accepted if status == 415 else None)


def test_rejects_a_compressed_form(forms: Client) -> None:
    answer = forms.post("/things", form=[("text", "a")], headers=[("Content-Encoding", "gzip")])
    assert answer.status == 415


def test_media_types_are_compared_as_in_http(forms: Client) -> None:
    kind = 'Application/X-WWW-Form-UrlEncoded ; Charset="UTF-8"'
    assert forms.post("/things", body=b"text=hi", content_type=kind).status == 200


class TestFiles:
    media: ClassVar[dict[str, Any]] = {
        MULTIPART: {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "text": {"type": "string"},
                },
            }
        }
    }

    @staticmethod
    def make_thing(ctx: Context, *, file: Any, text: str = "") -> dict[str, Any]:
        return {"bytes": list(file), "text": text}

    @staticmethod
    def body(file: bytes, text: bytes = b"t") -> dict[str, Any]:
        return {
            "body": b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n'
            b"Content-Type: application/octet-stream\r\n\r\n" + file + b"\r\n"
            b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n' + text + b"\r\n--x--\r\n",
            "content_type": f"{MULTIPART}; boundary=x",
        }

    def test_file_can_contain_any_bytes(self) -> None:
        client = post(
            self.media, lambda ctx, *, file, text="": self.make_thing(ctx, file=file, text=text)
        )
        answer = client.post("/things", **self.body(b"\0\xff\r\n"))
        assert (answer.status, answer.json) == (200, {"bytes": [0, 255, 13, 10], "text": "t"})

    def test_text_field_next_to_a_file_cannot(self) -> None:
        client = post(self.media, lambda ctx, *, file, text="": {})
        assert client.post("/things", **self.body(b"x", b"\0")).status == 422


class TestJson:
    @pytest.mark.parametrize(
        "content_type",
        [
            JSON,
            "application/json; charset=utf-8",
            'APPLICATION/JSON;charset="UTF-8"',
            "application/json ; charset=us-ascii",
        ],
    )
    def test_accepts_the_documented_media_type(self, shop: Client, content_type: str) -> None:
        answer = shop.post(
            "/items",
            headers=[ADA, KEY],
            body=b'{"name":"a","price":"1"}',
            content_type=content_type,
        )
        assert answer.status == 201

    @pytest.mark.parametrize(
        "content_type",
        [
            "application/json; charset=utf-16",
            "application/json; charset=bogus",
            "text/json",
            "application/json+x",
            "text/plain",
            URLENCODED,
            "",
            "json",
            ";",
            "application/*",
        ],
    )
    def test_rejects_other_media_types(self, shop: Client, content_type: str) -> None:
        answer = shop.post(
            "/items",
            headers=[ADA, KEY],
            body=b'{"name":"a","price":"1"}',
            content_type=content_type,
        )
        assert (answer.status, answer.header("Accept")) == (415, JSON)

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip"])
    def test_rejects_compression(self, shop: Client, encoding: str) -> None:
        answer = shop.post(
            "/items",
            headers=[ADA, KEY, ("Content-Encoding", encoding)],
            value={"name": "a", "price": "1"},
        )
        assert (answer.status, answer.header("Accept")) == (415, None)
        assert answer.header("Accept-Encoding") == "identity"

    def test_missing_required_body_is_rejected(self, shop: Client) -> None:
        answer = shop.post("/items", headers=[ADA, KEY])
        assert (answer.status, answer.paths) == (422, ["/body"])
        answer = shop.post("/items", headers=[ADA, KEY], body=b"", content_type=JSON)
        assert (answer.status, answer.paths) == (422, ["/body"])

    def test_optional_body_can_be_missing(self) -> None:
        client = post(
            {JSON: {"schema": {"type": "object"}}},
            lambda ctx, *, body=None: {"body": body},
            required=False,
        )
        assert client.post("/things").json == {"body": None}
        assert client.post("/things", body=b"", content_type=JSON).json == {"body": None}
        assert client.post("/things", value={"a": 1}).json == {"body": {"a": 1}}
        assert client.post("/things", value=[]).status == 422

    def test_optional_form_can_be_missing(self) -> None:
        schema = {
            "type": "object",
            "required": ["text"],
            "properties": {
                "text": {"type": "string"},
                "flag": {"type": "boolean", "default": True},
            },
        }
        client = post(
            {URLENCODED: {"schema": schema}},
            lambda ctx, *, flag, text=None: {"got": [text, flag]},
            required=False,
        )
        assert client.post("/things").json == {"got": [None, True]}
        assert client.post("/things", form=[("text", "a"), ("flag", "false")]).json == {
            "got": ["a", False]
        }
        assert client.post("/things", form=[("flag", "true")]).status == 422

    def test_renamed_field_cannot_be_required(self) -> None:
        form = {
            "type": "object",
            "required": ["b"],
            "properties": {
                "b": {"type": "string"},
                "old_b": {"type": "string", "x-alias-of": "b"},
            },
        }
        with pytest.raises(DocumentError, match="b has the alias old_b, so it is not required"):
            post({URLENCODED: {"schema": form}}, lambda ctx, *, b=None: {})

    def test_json_next_to_a_form_is_another_notation_of_its_fields(self) -> None:
        form = {
            "type": "object",
            "required": ["a"],
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "string", "default": "none"},
                "old_b": {"type": "string", "x-alias-of": "b"},
                "c": {"type": "object"},
            },
        }
        whole = {"allOf": [form, {"type": "object"}]}
        client = post(
            {JSON: {"schema": whole}, URLENCODED: {"schema": form}},
            lambda ctx, *, a, b, c=None: {"got": [a, b, c]},
        )
        assert client.post("/things", form=[("a", "1")]).json == {"got": [1, "none", None]}
        assert client.post("/things", value={"a": 1}).json == {"got": [1, "none", None]}
        value = {"a": 1, "old_b": "5", "c": {"d": [None]}, "unknown": 1}
        assert client.post("/things", value=value).json == {"got": [1, "5", {"d": [None]}]}
        assert client.post("/things", body=b"a", content_type="text/plain").status == 415

    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ({"a": "1"}, "/body/a"),
            ({"a": 1, "b": 5}, "/body/b"),
            ({"b": "x"}, "/body"),
            ([1], "/body"),
            ("a=1", "/body"),
            (None, "/body"),
        ],
    )
    def test_json_next_to_a_form_is_not_read_as_text(self, value: Any, path: str) -> None:
        form = {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        }
        client = post(
            {JSON: {"schema": form}, URLENCODED: {"schema": form}},
            lambda ctx, *, a, b=None: {"got": [a, b]},
        )
        answer = client.post("/things", value=value)
        assert answer.status == 422
        assert [detail["path"] for detail in answer.json["details"]] == [path]

    def test_chunked_body_is_accepted(self, shop: Client) -> None:
        answer = shop.post(
            "/items",
            headers=[ADA, KEY],
            content_type=JSON,
            chunks=[b'{"name":"a",', b"", b'"price":"1"}'],
        )
        assert answer.status == 201

    def test_integers_stay_exact(self) -> None:
        client = post({JSON: {"schema": {"type": "object"}}}, lambda ctx, *, body: body)
        value = {"a": 2**256 - 1, "b": -(2**63) - 1, "c": 2**64, "d": [2**63, 0.1]}
        raw = str(value).replace("'", '"').encode()
        answer = client.post("/things", body=raw, content_type=JSON)
        assert answer.json == value
        assert type(answer.json["a"]) is int

    def test_violations_have_paths_in_the_body(self, shop: Client) -> None:
        body = {"name": "a", "price": "1", "children": [{"name": "b"}, {"name": "", "price": "1"}]}
        answer = shop.post("/items", headers=[ADA, KEY], value=body)
        assert answer.status == 422
        assert sorted(answer.paths) == [
            "/body/children/0",
            "/body/children/1/name",
            "/body/children/1/name",
        ]


@pytest.mark.parametrize(
    ("media", "words"),
    [
        ({JSON: {"schema": {"type": "string", "pattern": "("}}}, "is no regular expression"),
        (
            {
                URLENCODED: {
                    "schema": {"properties": {"a": {"type": "string"}}},
                    "encoding": {"a": {"style": "pipeDelimited"}},
                }
            },
            "field a: style pipeDelimited is for arrays and objects",
        ),
    ],
)
def test_start_fails_for_unsupported_bodies(media: dict[str, Any], words: str) -> None:
    with pytest.raises(DocumentError, match=f"(make_thing|post.requestBody).*{words}"):
        post(media, lambda ctx, *, body=None: {})


def read(chunks: list[bytes], headers: dict[bytes, bytes], *, limit: int = 10) -> bytes:
    remaining = list(chunks)

    async def receive() -> dict[str, Any]:
        if not remaining:
            return {"type": "http.disconnect"}
        chunk = remaining.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(remaining)}

    return asyncio.run(read_body(receive, headers, limit=limit, seconds=5))


CHUNKED = {b"transfer-encoding": b"chunked"}


class TestReading:
    def test_body_up_to_the_limit_is_read(self) -> None:
        assert read([b"12345", b"67890"], {b"content-length": b"10"}) == b"1234567890"
        assert read([b"12345", b"67890"], CHUNKED) == b"1234567890"

    @pytest.mark.parametrize("length", [b"11", b"9" * 400])
    def test_length_over_the_limit_reads_nothing(self, length: bytes) -> None:
        async def receive() -> dict[str, Any]:
            raise AssertionError("must not read")

        with pytest.raises(BodyTooLarge):
            asyncio.run(read_body(receive, {b"content-length": length}, limit=10, seconds=5))

    def test_chunks_over_the_limit_are_rejected(self) -> None:
        with pytest.raises(BodyTooLarge):
            read([b"123456", b"78901"], CHUNKED)

    def test_endless_body_is_rejected_at_the_limit(self) -> None:
        received = 0

        async def receive() -> dict[str, Any]:
            nonlocal received
            received += 1000
            return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

        with pytest.raises(BodyTooLarge):
            asyncio.run(read_body(receive, CHUNKED, limit=5000, seconds=60))
        assert received == 6000

    def test_endless_empty_chunks_end_at_the_deadline(self) -> None:
        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"type": "http.request", "body": b"", "more_body": True}

        with pytest.raises(RequestTimeout):
            asyncio.run(read_body(receive, CHUNKED, limit=10, seconds=0.05))

    def test_stalled_body_ends_at_the_deadline(self) -> None:
        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

        with pytest.raises(RequestTimeout):
            asyncio.run(read_body(receive, {b"content-length": b"3"}, limit=10, seconds=0.02))

    @pytest.mark.parametrize("length", [b"-1", b"+1", b"1.0", b"", b"1,1", b"0x1", b"\xb2"])
    def test_length_that_is_not_a_number_is_rejected(self, length: bytes) -> None:
        with pytest.raises(InvalidRequest):
            read([b"x"], {b"content-length": length})

    def test_no_framing_means_no_body(self) -> None:
        assert read([b"x"], {}) == b""
        assert read([b"x"], {b"content-length": b"0"}) == b""

    def test_disconnect_is_detected(self) -> None:
        with pytest.raises(Disconnected):
            read([], CHUNKED)
