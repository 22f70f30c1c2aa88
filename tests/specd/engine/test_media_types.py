"""Bodies of any media type: selection of the key, and the arguments of the handler."""

from pathlib import Path
from typing import Any

import pytest

from specd import Context, File, FileIntake
from specd._engine.document.bodies import Body
from specd._engine.document.media import find_key, is_json, is_text
from specd._engine.document.parameters import ArgumentNames
from specd._engine.document.schemas import Schemas
from specd._engine.errors import DocumentError
from specd.errors import InvalidRequest
from tests.specd.engine.client import Answer, Client
from tests.specd.engine.services import operation, post, serve

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
COUNT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"n": {"type": "integer"}},
}
BINARY = {"type": "string", "format": "binary"}


def make_thing(ctx: Context, *, body: Any = "absent") -> dict[str, Any]:
    if isinstance(body, File):
        return {"file": list(body.path.read_bytes()), "type": body.media_type}
    return {"bytes": list(body)} if isinstance(body, bytes) else {"body": body}


def taking(content: dict[str, Any], **facts: Any) -> Client:
    return post(content, make_thing, **facts)


@pytest.mark.parametrize(
    ("sent", "keys", "found"),
    [
        ("application/json", ["application/json"], "application/json"),
        ("Application/JSON; charset=UTF-8", ["application/json"], "application/json"),
        ("application/json", ["application/json; charset=utf-8"],
         "application/json; charset=utf-8"),
        ("application/json", ["*/*", "application/*", "application/json"], "application/json"),
        ("application/xml", ["*/*", "application/*", "application/json"], "application/*"),
        ("text/plain", ["*/*", "application/*", "application/json"], "*/*"),
        ("text/plain", ["application/*", "application/json"], None),
        ("a/b; v=2", ["a/b", "a/b; v=1", "a/b; v=2"], "a/b; v=2"),
        ("a/b; v=3", ["a/b", "a/b; v=1", "a/b; v=2"], "a/b"),
        ("a/b", ["a/b; v=1"], None),
        ("a/b+json", ["a/b"], None),
    ],
)  # fmt: skip
def test_most_specific_key_is_selected(sent: str, keys: list[str], found: str | None) -> None:
    assert find_key(sent, keys) == found


@pytest.mark.parametrize(
    ("media_type", "json", "text"),
    [
        ("application/json", True, False),
        ("application/vnd.a.b+JSON; v=1", True, False),
        ("text/json", True, False),
        ("text/plain", False, True),
        ("text/csv; header=present", False, True),
        ("text/xml", False, False),
        ("application/xml", False, False),
        ("application/jsonl", False, False),
        ("application/octet-stream", False, False),
    ],
)
def test_media_types_are_classified(media_type: str, json: bool, text: bool) -> None:
    assert (is_json(media_type), is_text(media_type)) == (json, text)


EVERYTHING: dict[str, Any] = {
    JSON: {"schema": COUNT},
    "application/merge-patch+json": {"schema": {"type": "array"}},
    "text/plain": {"schema": {"type": "string", "maxLength": 3}},
    "text/csv": {"schema": {"type": "array", "items": {"type": "object"}}},
    "text/x-number": {"schema": {"type": "integer"}},
    "application/xml": {"schema": COUNT},
    "image/*": {"schema": BINARY},
    "application/vnd.a; v=2": {},
    URLENCODED: {"schema": COUNT},
}


@pytest.mark.parametrize(
    ("content_type", "raw", "expected"),
    [
        (JSON, b'{"n":1}', {"body": {"n": 1}}),
        (JSON, b'{"n":"1"}', 422),
        (JSON, b'{"n":', 422),
        (JSON + "; charset=utf-8", b'{"n":1}', {"body": {"n": 1}}),
        (JSON + "; charset=utf-16", b'{"n":1}', 415),
        ("application/merge-patch+json", b"[1]", {"body": [1]}),
        ("application/merge-patch+json", b"{}", 422),
        ("application/patch+json", b"[]", 415),
        ("text/plain", b"abc", {"body": "abc"}),
        ("text/plain", b"", {"body": ""}),
        ("text/plain", b"abcd", 422),
        ("text/plain", b"\xff", 422),
        ("text/plain", b"a\0", 422),
        ("text/plain; charset=latin-1", b"a", 415),
        ("text/csv", b"a,b", {"body": "a,b"}),
        ("text/x-number", b"5", {"body": 5}),
        ("text/x-number", b"five", 422),
        ("text/html", b"a", 415),
        ("application/xml", b"<n>\xe9</n>", {"bytes": list(b"<n>\xe9</n>")}),
        ("application/xml; charset=latin-1", b"<n/>", {"bytes": list(b"<n/>")}),
        ("image/png", b"\x89PNG\0", {"bytes": list(b"\x89PNG\0")}),
        ("image/gif", b"", {"bytes": []}),
        ("application/vnd.a; v=2", b"x", {"bytes": list(b"x")}),
        ("application/vnd.a; v=1", b"x", 415),
        (URLENCODED, b"n=1", {"body": {"n": 1}}),
        (URLENCODED, b"n=x", 422),
        (URLENCODED, b"m=1", 422),
        ("video/mp4", b"x", 415),
        (None, b"x", 415),
        (None, b"", 422),
    ],
)
def test_each_media_type_has_its_own_schema(
    content_type: str | None, raw: bytes, expected: Any
) -> None:
    answer = taking(EVERYTHING).post("/things", body=raw, content_type=content_type)
    if isinstance(expected, int):
        assert answer.status == expected, answer.body
    else:
        assert (answer.status, answer.json) == (200, expected)


@pytest.mark.parametrize(
    ("schema", "content_type", "raw", "expected"),
    [
        ({}, JSON, b'{"n":1}', {"body": {"n": 1}}),
        (COUNT, "application/a+json", b'{"n":"1"}', 422),
        ({}, "text/plain", b"abc", {"body": "abc"}),
        ({}, URLENCODED, b"n=1&n=2&m=3", {"body": {"n": ["1", "2"], "m": "3"}}),
        (COUNT, URLENCODED, b"n=1", {"body": {"n": 1}}),
        ({}, "image/png", b"\xff", {"bytes": [255]}),
        ({}, None, b"\xff", {"bytes": [255]}),
        (BINARY, JSON, b"{", {"bytes": [123]}),
        (BINARY, URLENCODED, b"a", {"bytes": [97]}),
    ],
)
def test_range_is_read_by_the_sent_media_type(
    schema: Any, content_type: str | None, raw: bytes, expected: Any
) -> None:
    client = taking({"*/*": {"schema": schema}})
    answer = client.post("/things", body=raw, content_type=content_type)
    if isinstance(expected, int):
        assert answer.status == expected
    else:
        assert (answer.status, answer.json) == (200, expected)


def test_optional_body_of_bytes_can_be_missing() -> None:
    client = taking({"application/octet-stream": {}}, required=False)
    assert client.post("/things").json == {"body": "absent"}


def part(name: str, content: bytes, *, file: str = "", head: str = "") -> bytes:
    named = f'; filename="{file}"' if file else ""
    lines = f'Content-Disposition: form-data; name="{name}"{named}\r\n{head}\r\n'
    return f"--x\r\n{lines}".encode() + content + b"\r\n"


def send(client: Client, *parts: bytes) -> Answer:
    raw = b"".join(parts) + b"--x--\r\n"
    return client.post("/things", body=raw, content_type=f"{MULTIPART}; boundary=x")


class TestContract:
    """The fields of a single form are arguments. Any other content is the argument `body`."""

    def test_form_and_json_with_other_fields_give_a_body(self) -> None:
        other = {"type": "object", "properties": {"m": {"type": "integer"}}}
        client = taking({JSON: {"schema": other}, URLENCODED: {"schema": COUNT}})
        assert client.post("/things", value={"m": 1}).json == {"body": {"m": 1}}
        assert client.post("/things", form=[("n", "1")]).json == {"body": {"n": 1}}

    def test_two_forms_with_other_fields_give_a_body(self) -> None:
        other = {"type": "object", "properties": {"m": {"type": "integer"}}}
        client = taking({URLENCODED: {"schema": COUNT}, MULTIPART: {"schema": other}})
        assert client.post("/things", form=[("n", "1")]).json == {"body": {"n": 1}}
        assert send(client, part("m", b"2")).json == {"body": {"m": 2}}

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            (None, {"a": "1", "b": ["2", "x"]}),
            ({"type": "object"}, {"a": "1", "b": ["2", "x"]}),
            ({"type": "object", "additionalProperties": {"type": "integer"}}, 422),
            (
                {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": {"type": "string"}},
                },
                {"a": ["1"], "b": ["2", "x"]},
            ),
        ],
    )
    def test_form_without_named_fields_gives_a_body(self, schema: Any, expected: Any) -> None:
        client = taking({URLENCODED: {} if schema is None else {"schema": schema}})
        answer = client.post("/things", form=[("a", "1"), ("b", "2"), ("b", "x")])
        if expected == 422:
            assert (answer.status, answer.paths) == (422, ["/body/b"])
        else:
            assert answer.json == {"body": expected}

    def test_fields_of_branches_are_combined(self) -> None:
        schema = {
            "allOf": [
                {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
                {"oneOf": [{"properties": {"b": {"type": "boolean"}}}]},
            ]
        }

        def take(ctx: Context, *, a: int, b: bool | None = None) -> dict[str, Any]:
            return {"got": [a, b]}

        client = post({URLENCODED: {"schema": schema}}, take)
        assert client.post("/things", form=[("a", "1"), ("b", "true")]).json == {"got": [1, True]}
        assert client.post("/things", form=[("b", "true")]).status == 422

    def test_fields_and_parameters_can_share_a_name(self) -> None:
        def take(ctx: Context, *, n: int, n_body: int, body: str = "") -> dict[str, Any]:
            return {"got": [n, n_body, body]}

        schema = {
            "type": "object",
            "required": ["n"],
            "properties": {"n": {"type": "integer"}, "body": {"type": "string"}},
        }
        described = operation(
            "take",
            parameters=[
                {"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}}
            ],
            requestBody={"required": True, "content": {URLENCODED: {"schema": schema}}},
        )
        client = serve({"/a": {"post": described}}, {"take": take})
        answer = client.post("/a?n=1", form=[("n", "2"), ("body", "b")])
        assert answer.json == {"got": [1, 2, "b"]}

    def test_parameter_can_be_named_body(self) -> None:
        def take(ctx: Context, *, body: Any, body_query: str = "") -> dict[str, Any]:
            return {"got": [body, body_query]}

        described = operation(
            "take",
            parameters=[{"name": "body", "in": "query", "schema": {"type": "string"}}],
            requestBody={"required": True, "content": {JSON: {}}},
        )
        client = serve({"/a": {"post": described}}, {"take": take})
        assert client.post("/a?body=q", value=[1]).json == {"got": [[1], "q"]}


def form_of(properties: dict[str, Any], encoding: Any = None) -> dict[str, Any]:
    """Return the form together with a media type that makes it the argument `body`."""
    media = {"schema": {"type": "object", "properties": properties}, "encoding": encoding or {}}
    return {MULTIPART: media, "application/xml": {}}


COLORS: Any = {"R": 1, "G": 2}
RGB: Any = {"type": "object", "properties": {name: {"type": "integer"} for name in "RG"}}
STRING: Any = {"type": "string"}
WORDS: Any = {"type": "array", "items": STRING}
PIPES: Any = {"style": "pipeDelimited", "explode": True}
MAP: Any = {"type": "object", "additionalProperties": {"type": "integer"}}


class TestEncoding:
    def test_parts_have_their_media_types(self) -> None:
        properties = {
            "xml": {"type": "string"},
            "json": {"type": "string"},
            "text": {"type": "string"},
            "object": {"type": "object"},
        }
        encoding = {
            "xml": {"contentType": "application/xml, text/xml"},
            "json": {"contentType": "application/vnd.a+json"},
            "text": {"contentType": "text/markdown"},
        }
        body = Body({"content": form_of(properties, encoding)}, Schemas({}, drop=""), "x")
        raw = b"".join(
            (part("xml", b"\xff"), part("json", b'"a"'), part("text", b'"a"'),
             part("object", b'{"a": 1}'), b"--x--")
        )  # fmt: skip
        arguments, _ = body.decode(raw, {b"content-type": f"{MULTIPART}; boundary=x".encode()}, {})
        expected = {"xml": b"\xff", "json": "a", "text": '"a"', "object": {"a": 1}}
        assert arguments == {"body": expected}

    @pytest.mark.parametrize(
        ("media_type", "status"),
        [
            ("image/png", 200),
            ("Image/JPEG; q=1", 200),
            ("text/html", 422),
            ("application/octet-stream", 200),
            ("", 200),
        ],
    )
    @pytest.mark.parametrize("is_stored", [False, True])
    def test_file_of_another_type_is_rejected(
        self, tmp_path: Path, is_stored: bool, media_type: str, status: int
    ) -> None:
        content = form_of({"file": BINARY}, {"file": {"contentType": "image/png, image/jpeg"}})
        files = FileIntake(tmp_path, 100, ValueError) if is_stored else None
        client = post(content, lambda ctx, *, body: {}, files=files)
        head = f"Content-Type: {media_type}\r\n" if media_type else ""
        answer = send(client, part("file", b"x", file="f", head=head))
        assert answer.status == status
        if status == 422:
            details = answer.json["details"]
            message = "must be of media type image/png, image/jpeg"
            assert details == [{"path": "/body/file", "message": message}]

    def test_headers_of_parts_are_checked(self) -> None:
        headers = {
            "X-Count": {"required": True, "schema": {"type": "integer"}},
            "Content-Type": {"required": True, "schema": {"type": "string"}},
        }
        client = taking(form_of({"a": {"type": "string"}}, {"a": {"headers": headers}}))
        assert send(client, part("a", b"v", head="X-Count: 5\r\n")).json == {"body": {"a": "v"}}
        assert send(client, part("a", b"v", head="X-Count: x\r\n")).paths == ["/body/a/X-Count"]
        assert send(client, part("a", b"v")).paths == ["/body/a/X-Count"]

    @pytest.mark.parametrize(
        ("style", "schema", "fields", "expected"),
        [
            ({"style": "form"}, RGB, [("R", "1"), ("G", "2")], COLORS),
            ({"explode": False}, RGB, [("a", "R,1,G,2")], COLORS),
            ({"style": "deepObject"}, RGB, [("a[R]", "1"), ("a[G]", "2")], COLORS),
            ({"explode": True}, WORDS, [("a", "x,y"), ("a", "z")], ["x,y", "z"]),
            ({"explode": False}, WORDS, [("a", "x,y")], ["x", "y"]),
            ({"style": "pipeDelimited", "explode": False}, WORDS, [("a", "x|y")], ["x", "y"]),
            ({"style": "spaceDelimited", "explode": False}, WORDS, [("a", "x y")], ["x", "y"]),
        ],
    )
    def test_fields_can_have_a_style(
        self, style: Any, schema: Any, fields: list[tuple[str, str]], expected: Any
    ) -> None:
        content = form_of({"a": schema}, {"a": style})
        content[URLENCODED] = content[MULTIPART]
        client = taking(content, version="3.1.0")
        text = "&".join(f"{name}={value.replace(' ', '%20')}" for name, value in fields)
        answer = client.post("/things", body=text.encode(), content_type=URLENCODED)
        assert answer.json == {"body": {"a": expected}}
        answer = send(client, *(part(name, value.encode()) for name, value in fields))
        assert answer.json == {"body": {"a": expected}}

    def test_openapi_3_0_has_no_styles_in_multipart(self) -> None:
        client = taking(form_of({"a": STRING, "b": RGB}, dict.fromkeys("ab", PIPES)))
        answer = send(client, part("a", b"x|y"), part("b", b'{"R": 1}'))
        assert answer.json == {"body": {"a": "x|y", "b": {"R": 1}}}

    @pytest.mark.parametrize(
        ("text", "expected"), [(b"a=5", [5]), (b"a=5&a=6", [5, 6]), (b"a=null", None)]
    )
    def test_field_can_be_a_list_or_null(self, text: bytes, expected: Any) -> None:
        schema = {"type": ["array", "null"], "items": {"type": "integer"}}
        form = {"schema": {"type": "object", "properties": {"a": schema}}}
        schemas = Schemas({"openapi": "3.1.1"}, drop="")
        body = Body({"content": {URLENCODED: form}}, schemas, "x")
        headers = {b"content-type": URLENCODED.encode()}
        assert body.decode(text, headers, {}) == ({"a": expected}, set())

    def test_object_collects_all_other_names(self) -> None:
        content = form_of({"a": MAP, "b": {"type": "string"}}, {"a": {"style": "form"}})
        client = taking({URLENCODED: content[MULTIPART], "application/xml": {}})
        answer = client.post("/things", form=[("b", "x"), ("c", "1"), ("d", "2")])
        assert answer.json == {"body": {"a": {"c": 1, "d": 2}, "b": "x"}}

    def test_separators_inside_an_item_are_kept(self) -> None:
        client = taking(
            {
                URLENCODED: form_of({"a": WORDS}, {"a": {"explode": False}})[MULTIPART],
                "application/xml": {},
            }
        )
        answer = client.post("/things", body=b"a=x%2Cy,z+%2B", content_type=URLENCODED)
        assert answer.json == {"body": {"a": ["x,y", "z +"]}}

    @pytest.mark.parametrize(
        ("schema", "is_new", "expected"),
        [
            ({"type": "string", "contentMediaType": "image/png"}, True, b"\xff"),
            ({"type": "string", "contentMediaType": "text/html"}, True, InvalidRequest),
            (
                {"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"},
                True,
                InvalidRequest,
            ),
            ({}, True, b"\xff"),
            ({}, False, InvalidRequest),
            ({"type": "array", "items": {}}, True, [b"\xff"]),
            ({"type": "array", "items": BINARY}, False, [b"\xff"]),
        ],
    )
    def test_binary_schemas_are_recognized(self, schema: Any, is_new: bool, expected: Any) -> None:
        body = Body(
            {"content": {MULTIPART: {"schema": {"properties": {"a": schema}}}}},
            Schemas({"openapi": "3.1.0" if is_new else "3.0.3"}, drop=""),
            "x",
            names=ArgumentNames(),
        )
        headers = {b"content-type": f"{MULTIPART}; boundary=x".encode()}
        raw = part("a", b"\xff", file="f") + b"--x--"
        if isinstance(expected, type):
            with pytest.raises(expected):
                body.decode(raw, headers, {})
        else:
            assert body.decode(raw, headers, {}) == ({"a": expected}, set())


class TestFiles:
    def test_file_body_is_on_the_disk(self, tmp_path: Path) -> None:
        files = FileIntake(tmp_path, 5, lambda: ValueError("large"))
        client = taking({"image/*": {"schema": BINARY}, "text/plain": {}}, files=files)
        answer = client.post("/things", body=b"\x89PNG", content_type="image/png")
        assert answer.json == {"file": list(b"\x89PNG"), "type": "image/png"}
        assert client.post("/things", chunks=[b"", b"a", b"b"], content_type="image/gif").json == {
            "file": [97, 98],
            "type": "image/gif",
        }
        empty = client.post("/things", body=b"", content_type="image/gif")
        assert empty.json == {"file": [], "type": "image/gif"}
        assert client.post("/things", body=b"a", content_type="text/plain").json == {"body": "a"}
        assert client.post("/things", body=b"a", content_type="video/mp4").status == 415
        gzip = [("Content-Encoding", "gzip")]
        answer = client.post("/things", body=b"a", content_type="image/png", headers=gzip)
        assert answer.status == 415
        assert client.post("/things", chunks=[b"123456"], content_type="image/png").status == 500
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("is_counted", [True, False])
    def test_larger_file_gives_413_by_default(self, tmp_path: Path, is_counted: bool) -> None:
        client = taking({"image/*": {"schema": BINARY}}, files=FileIntake(tmp_path, 3))
        sent: dict[str, Any] = {"body": b"1234"} if is_counted else {"chunks": [b"12", b"34"]}
        answer = client.post("/things", content_type="image/png", **sent)
        assert answer.status == 413
        assert client.post("/things", body=b"123", content_type="image/png").status == 200
        assert list(tmp_path.iterdir()) == []

    def test_form_can_have_several_files(self, tmp_path: Path) -> None:
        def take(ctx: Context, *, one: File, many: list[File], text: str = "") -> dict[str, Any]:
            return {"got": [[f.name, list(f.path.read_bytes())] for f in (one, *many)] + [text]}

        schema = {
            "type": "object",
            "required": ["one", "many"],
            "properties": {
                "one": BINARY,
                "many": {"type": "array", "minItems": 2, "items": BINARY},
                "text": {"type": "string"},
            },
        }
        files = FileIntake(tmp_path, 4, lambda: ValueError("large"))
        client = post({MULTIPART: {"schema": schema}}, take, files=files)
        first, second = part("many", b"1", file="f1"), part("many", b"2", file="f2")
        answer = send(client, first, part("one", b"0", file="f0"), part("text", b"t"), second)
        assert answer.json == {"got": [["f0", [48]], ["f1", [49]], ["f2", [50]], "t"]}
        assert send(client, part("one", b"0", file="f"), first).paths == ["/body/many"]
        one = part("one", b"0", file="f")
        assert send(client, one, one, first, second).paths == ["/body/one"]
        too_much = part("many", b"345", file="f")
        assert send(client, one, first, too_much).status == 500
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("media_type", "raw", "expected"),
    [
        ("application/jsonl", b'{"n":1}\n\n{"n":2}\r\n', [{"n": 1}, {"n": 2}]),
        ("application/x-ndjson", b'{"n":1}', [{"n": 1}]),
        ("application/json-seq", b'\x1e{"n":1}\n\x1e{\n"n":2}\n', [{"n": 1}, {"n": 2}]),
        ("application/jsonl", b"", []),
        ("application/jsonl", b'{"n":1}\n{"n":"2"}', "/body/1/n"),
        ("application/jsonl", b'{"n":1}\n{', "/body/1"),
    ],
)
def test_sequences_are_read(media_type: str, raw: bytes, expected: Any) -> None:
    body = Body({"content": {media_type: {"itemSchema": COUNT}}}, Schemas({}, drop=""), "x")
    headers = {b"content-type": media_type.encode()}
    if isinstance(expected, list):
        assert body.decode(raw, headers, {}) == ({"body": expected}, set())
    else:
        with pytest.raises(InvalidRequest) as refused:
            body.decode(raw, headers, {})
        assert [each.path for each in refused.value.violations] == [expected]


def test_items_of_other_media_types_are_rejected() -> None:
    with pytest.raises(DocumentError, match="x request body text/event-stream: itemSchema is"):
        Body({"content": {"text/event-stream": {"itemSchema": {}}}}, Schemas({}, drop=""), "x")
