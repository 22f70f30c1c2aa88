"""Path, query and header parameters: conversion from text to values."""

from typing import Any

import pytest

from specd import Context, parse_pairs
from specd._engine.errors import DocumentError
from specd._engine.http.queries import MAX_QUERY_FIELDS
from specd._engine.openapi.naming import argument_name
from specd.errors import InvalidRequest
from tests.specd.engine.services import echo, operation, serve

INTEGER = {"type": "integer", "minimum": -5, "maximum": 5}
NUMBER = {"type": "number", "minimum": 0, "maximum": 1e300}
BOOLEAN = {"type": "boolean"}
WORDS = {"type": "array", "maxItems": 3, "items": {"type": "string", "pattern": "^[a-z ]+$"}}
NUMBERS = {"type": "array", "items": {"type": "integer", "minimum": 0}}
EITHER = {"oneOf": [{"type": "integer"}, NUMBERS]}
REFUSED = object()

SCALARS: list[tuple[dict[str, Any], str, Any]] = [
    (INTEGER, "5", 5),
    (INTEGER, "-5", -5),
    (INTEGER, "-0", 0),
    (INTEGER, "6", REFUSED),
    (INTEGER, "1.0", REFUSED),
    (INTEGER, "%2B1", REFUSED),
    (INTEGER, "1e0", REFUSED),
    (INTEGER, "0x1", REFUSED),
    (INTEGER, "1%0A", REFUSED),
    (INTEGER, "+1", REFUSED),
    (INTEGER, "", REFUSED),
    (INTEGER, "%D9%A1", REFUSED),
    (INTEGER, "1_0", REFUSED),
    ({"type": "integer"}, "9" * 400, int("9" * 400)),
    ({"type": "integer"}, "9" * 401, REFUSED),
    (NUMBER, "0.5", 0.5),
    (NUMBER, "1", 1),
    (NUMBER, "1e3", 1000.0),
    (NUMBER, "1e400", REFUSED),
    (NUMBER, "NaN", REFUSED),
    (NUMBER, "Infinity", REFUSED),
    (NUMBER, ".5", REFUSED),
    (NUMBER, "-1", REFUSED),
    (BOOLEAN, "true", True),
    (BOOLEAN, "false", False),
    (BOOLEAN, "True", REFUSED),
    (BOOLEAN, "1", REFUSED),
    (BOOLEAN, "", REFUSED),
    ({"type": "string"}, "5", "5"),
    ({"type": "string"}, "", ""),
    ({"type": "string"}, "a+b%2Bc", "a b+c"),
    ({"type": "string"}, "%F0%9F%98%80", "\U0001f600"),
    ({"type": "string"}, "%zz", "%zz"),
    ({"type": "string"}, "%00", REFUSED),
    ({"type": "string"}, "%ED%A0%80", REFUSED),
    ({"type": "string"}, "%FF", REFUSED),
    ({"type": "string", "pattern": "^a$"}, "a", "a"),
    ({"type": "string", "pattern": "^a$"}, "a%0A", REFUSED),
    ({"type": "string", "enum": ["up"]}, "up", "up"),
    ({"type": "string", "enum": ["up"]}, "Up", REFUSED),
    ({"type": "string", "maxLength": 1}, "\u00e9", "\u00e9"),
    ({"type": "string", "format": "uuid"}, "5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90", None),
    ({"type": "string", "format": "uuid"}, "5f0c2e846b1d4c7a9a352d8e1f4b7c90", REFUSED),
    ({"type": "string", "format": "date"}, "2024-02-29", "2024-02-29"),
    ({"type": "string", "format": "date"}, "2023-02-29", REFUSED),
    ({}, "anything", "anything"),
]


def check(client: Any, target: str, expected: Any, **options: Any) -> None:
    answer = client.get(target, **options)
    if expected is REFUSED:
        assert answer.status == 422, answer.body
        assert all(path.split("/")[2:3] in (["value"], []) for path in answer.paths)
    else:
        assert (answer.status, answer.json) == (200, {"value": expected})


@pytest.mark.parametrize(("schema", "text", "expected"), SCALARS)
def test_query_scalars(schema: dict[str, Any], text: str, expected: Any) -> None:
    check(echo(schema), f"/things?value={text}", text if expected is None else expected)


ARRAYS: list[tuple[dict[str, Any], dict[str, Any], str, Any]] = [
    (WORDS, {}, "value=a&value=b", ["a", "b"]),
    (WORDS, {}, "value=a", ["a"]),
    (WORDS, {}, "value=a,b", REFUSED),
    (WORDS, {}, "value=a&value=b&value=c&value=d", REFUSED),
    (WORDS, {}, "value=A", REFUSED),
    (WORDS, {}, "value=", REFUSED),
    (WORDS, {}, "", "absent"),
    (WORDS, {"explode": False}, "value=a,b", ["a", "b"]),
    (WORDS, {"explode": False}, "value=", REFUSED),
    ({"type": "array", "items": {"type": "string"}}, {"explode": False}, "value=", [""]),
    (WORDS, {"explode": False}, "value=a,,b", REFUSED),
    (WORDS, {"style": "spaceDelimited", "explode": False}, "value=a%20b", ["a", "b"]),
    (WORDS, {"style": "pipeDelimited", "explode": False}, "value=a|b", ["a", "b"]),
    (NUMBERS, {}, "value=1&value=2", [1, 2]),
    (NUMBERS, {"explode": False}, "value=1,2", [1, 2]),
    (NUMBERS, {"explode": False}, "value=1,x", REFUSED),
    (NUMBERS, {"explode": False}, "value=1,-1", REFUSED),
    (EITHER, {}, "value=1", 1),
    (EITHER, {}, "value=1&value=2", [1, 2]),
    (EITHER, {}, "value=x", REFUSED),
]


@pytest.mark.parametrize(("schema", "style", "query", "expected"), ARRAYS)
def test_query_arrays(
    schema: dict[str, Any], style: dict[str, Any], query: str, expected: Any
) -> None:
    check(echo(schema, **style), f"/things?{query}", expected)


OBJECT = {"type": "object", "additionalProperties": False, "properties": {"a": INTEGER}}
CONTENT = {"content": {"application/json": {"schema": OBJECT}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%7B%22a%22:1%7D", {"a": 1}),
        ("{}", {}),
        ("%7B%22a%22:6%7D", REFUSED),
        ("%7B%22a%22:1,%22a%22:1%7D", REFUSED),
        ("%7B%22b%22:1%7D", REFUSED),
        ("%7B", REFUSED),
        ("", REFUSED),
        ("[]", REFUSED),
        ("[" * 65 + "]" * 65, REFUSED),
        ('"%5Cu0000"', REFUSED),
    ],
)
def test_json_in_a_query_parameter(text: str, expected: Any) -> None:
    check(echo({}, **CONTENT), f"/things?value={text}", expected)


JSON_TEXTS: list[tuple[Any, str, Any]] = [
    (NUMBERS, "value=[1,2]", [1, 2]),
    (NUMBERS, "value=%5B1%2C%202%5D", [1, 2]),
    (NUMBERS, "value=1&value=2", [1, 2]),
    (NUMBERS, "value=1", [1]),
    (NUMBERS, "value=[]", []),
    (NUMBERS, "value=[-1]", REFUSED),
    (NUMBERS, "value=1&value=-1", REFUSED),
    (NUMBERS, "value=1&value=x", REFUSED),
    (NUMBERS, "value=x", REFUSED),
    (NUMBERS, "value=", REFUSED),
    (NUMBERS, "value=1,2", REFUSED),
    (NUMBERS, "value=%7B%7D", REFUSED),
    (OBJECT, "value=%7B%22a%22:1%7D", {"a": 1}),
    (OBJECT, "value=%7B%22a%22:6%7D", REFUSED),
    (OBJECT, "value=[]", REFUSED),
    (OBJECT, 'value="%5Cu0000"', REFUSED),
    ({"type": "array", "items": OBJECT}, "value=%7B%22a%22:1%7D", [{"a": 1}]),
    ({"type": "array", "items": {"type": "string"}}, "value=a&value=1", ["a", "1"]),
    ({"type": "array", "items": {"type": "string"}}, "value=a", REFUSED),
]


@pytest.mark.parametrize(("schema", "query", "expected"), JSON_TEXTS)
def test_json_in_a_text_is_parsed(schema: dict[str, Any], query: str, expected: Any) -> None:
    """Its schema is next to the schema of the text, which other readers of the document use."""
    text = {"type": "string", "x-content-schema": schema}
    check(echo(text), f"/things?{query}", expected)


class TestHeaders:
    @pytest.mark.parametrize(
        ("schema", "sent", "expected"),
        [
            (INTEGER, "5", 5),
            (INTEGER, "x", REFUSED),
            (BOOLEAN, "true", True),
            ({"type": "string"}, "a,b", "a,b"),
            ({"type": "string"}, "caf\xe9", "caf\xe9"),
            (NUMBERS, "1,2", [1, 2]),
            (NUMBERS, "1 ,\t2", [1, 2]),
            (NUMBERS, "1;2", REFUSED),
        ],
    )
    def test_values(self, schema: dict[str, Any], sent: str, expected: Any) -> None:
        check(echo(schema, where="header"), "/things", expected, headers=[("VALUE", sent)])

    def test_repeated_headers_are_one_list(self) -> None:
        client = echo(NUMBERS, where="header")
        check(client, "/things", [1, 2], headers=[("Value", "1"), ("Value", "2")])

    def test_json(self) -> None:
        client = echo({}, where="header", **CONTENT)
        check(client, "/things", {"a": 2}, headers=[("Value", '{"a":2}')])


@pytest.mark.parametrize(
    ("schema", "style", "segment", "expected"),
    [
        (INTEGER, {}, "5", 5),
        (INTEGER, {}, "6", REFUSED),
        (INTEGER, {}, "x", REFUSED),
        (INTEGER, {}, "%35", 5),
        (NUMBER, {}, "0.25", 0.25),
        (NUMBERS, {}, "1,2", [1, 2]),
        ({"type": "string"}, {}, "a%2Fb", "a/b"),
        ({"type": "string"}, {}, "a+b", "a+b"),
        ({"type": "string", "maxLength": 2}, {}, "abc", REFUSED),
    ],
)
def test_path_parameters(
    schema: dict[str, Any], style: dict[str, Any], segment: str, expected: Any
) -> None:
    check(echo(schema, where="path", **style), f"/things/{segment}", expected)


class TestPresence:
    def test_missing_value_has_the_default(self) -> None:
        check(echo({**INTEGER, "default": 3}), "/things", 3)

    def test_missing_value_without_a_default_is_not_passed(self) -> None:
        check(echo(INTEGER), "/things", "absent")

    @pytest.mark.parametrize("where", ["query", "header"])
    def test_missing_required_parameter_is_rejected(self, where: str) -> None:
        answer = echo(INTEGER, where=where, required=True).get("/things")
        assert answer.status == 422
        assert answer.json["details"] == [{"path": f"/{where}/value", "message": "is required"}]

    def test_last_of_a_repeated_scalar_is_used(self) -> None:
        check(echo(INTEGER), "/things?value=x&value=2", 2)

    def test_all_errors_are_reported_together(self, shop: Any) -> None:
        answer = shop.get("/items?limit=0&sort=x&ids=a&filter=x", headers=[("X-Depth", "10")])
        assert answer.status == 422
        assert sorted(answer.paths) == [
            "/header/X-Depth",
            "/query/filter",
            "/query/ids/0",
            "/query/limit",
            "/query/sort",
        ]

    def test_unknown_parameters_are_passed_to_the_handler(self, shop: Any) -> None:
        assert shop.get("/items?b=1&a=2&limit=3").json["unknown"] == ["a", "b"]

    def test_reference_is_resolved(self) -> None:
        client = serve(
            {
                "/things": {
                    "get": operation(
                        "read_thing", parameters=[{"$ref": "#/components/parameters/Value"}]
                    )
                }
            },
            {"read_thing": lambda ctx, *, value=None: {"value": value}},
            components={
                "parameters": {
                    "Value": {
                        "name": "value",
                        "in": "query",
                        "schema": {"$ref": "#/components/schemas/Small"},
                    }
                },
                "schemas": {"Small": INTEGER},
            },
        )
        check(client, "/things?value=2", 2)
        check(client, "/things?value=9", REFUSED)

    def test_operation_overrides_its_path(self) -> None:
        def read_thing(ctx: Context, *, value: int = 0) -> dict[str, Any]:
            return {"value": value}

        client = serve(
            {
                "/things": {
                    "parameters": [{"name": "value", "in": "query", "schema": {"type": "string"}}],
                    "get": operation(
                        "read_thing",
                        parameters=[{"name": "value", "in": "query", "schema": INTEGER}],
                    ),
                }
            },
            {"read_thing": read_thing},
        )
        check(client, "/things?value=2", 2)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("id", "id_"),
        ("filter", "filter_"),
        ("class", "class_"),
        ("limit", "limit"),
        ("Idempotency-Key", "idempotency_key"),
        ("X.Y", "x_y"),
        ("names[]", "names"),
        ("petId", "pet_id"),
        ("HTTPCode2Name", "http_code2_name"),
        ("X-petId", "x_pet_id"),
        ("2fa", "_2fa"),
        ("$filter", "_filter"),
    ],
)
def test_argument_names(name: str, argument: str) -> None:
    assert argument_name(name) == argument


def test_parameters_with_one_name_are_separate_arguments() -> None:
    def read_thing(
        ctx: Context,
        *,
        id_: str,
        id_query: int,
        id_header: str,
        id_cookie: str,
        ctx_query: str,
        a_b: str,
        a_b_query: str,
        a_b_query_2: str,
    ) -> dict[str, Any]:
        return {name: value for name, value in locals().items() if name != "ctx"}

    text = {"type": "string"}
    parameters = [
        {"name": "id", "in": "cookie", "schema": text, "required": True},
        {"name": "Id", "in": "header", "schema": text, "required": True},
        {"name": "id", "in": "query", "schema": INTEGER, "required": True},
        *(
            {"name": name, "in": "query", "schema": text, "required": True}
            for name in ("ctx", "a-b", "a_b", "aB")
        ),
        {"name": "id", "in": "path", "schema": text, "required": True},
    ]
    client = serve(
        {"/things/{id}": {"get": operation("read_thing", parameters=parameters)}},
        {"read_thing": read_thing},
    )
    answer = client.get(
        "/things/p?id=5&ctx=c&a-b=1&a_b=2&aB=3", headers=[("ID", "h"), ("Cookie", "id=c")]
    )
    assert answer.json == {
        "id_": "p",
        "id_query": 5,
        "id_header": "h",
        "id_cookie": "c",
        "ctx_query": "c",
        "a_b": "1",
        "a_b_query": "2",
        "a_b_query_2": "3",
    }


@pytest.mark.parametrize("where", ["query", "cookie"])
def test_parameter_with_a_style_can_be_renamed(where: str) -> None:
    def read_thing(ctx: Context, *, ids: list[int] | None = None) -> dict[str, Any]:
        return {"value": ids}

    parameters = [
        {"name": "ids", "in": where, "explode": False, "schema": NUMBERS},
        {"name": "id", "in": where, "explode": False, "schema": NUMBERS, "x-alias-of": "ids"},
    ]
    described = operation("read_thing", parameters=parameters)
    client = serve({"/things": {"get": described}}, {"read_thing": read_thing})

    def send(sent: str) -> Any:
        if where == "query":
            return client.get(f"/things?{sent}")
        return client.get("/things", headers=[("Cookie", sent.replace("&", "; "))])

    assert send("id=1,2").json == {"value": [1, 2]}
    assert send("ids=1,2&id=3").paths == [f"/{where}/ids"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"schema": {"type": "string", "pattern": "["}}, "is no regular expression"),
        ({"schema": {"$ref": "#/components/schemas/Nowhere"}}, "Nowhere"),
    ],
)
def test_start_fails_for_unsupported_parameters(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(DocumentError, match=words) as refused:
        echo(facts["schema"], **{k: v for k, v in facts.items() if k != "schema"})
    place = str(refused.value)
    assert "read_thing" in place or "paths./things.get.parameters[0].schema" in place


class TestPairs:
    @pytest.mark.parametrize(
        ("raw", "pairs"),
        [
            (b"", {}),
            (b"a=1&b=2&a=3", {"a": ["1", "3"], "b": ["2"]}),
            (b"a", {"a": [""]}),
            (b"a=b=c", {"a": ["b=c"]}),
            (b"&&a=1&", {"a": ["1"]}),
            (b"=x&&=y", {"": ["x", "y"]}),
            (b"a+b=c+d", {"a b": ["c d"]}),
            (b"%61=%2B", {"a": ["+"]}),
            ("é=é".encode(), {"é": ["é"]}),
            (b"a=%", {"a": ["%"]}),
        ],
    )
    def test_parses_like_browsers(self, raw: bytes, pairs: dict[str, list[str]]) -> None:
        assert parse_pairs(raw, "query") == pairs

    @pytest.mark.parametrize("raw", [b"a=%00", b"%00=a", b"a=\0", b"a=%FF", b"\xff", b"%C0%80=1"])
    def test_rejects_invalid_pairs(self, raw: bytes) -> None:
        with pytest.raises(InvalidRequest):
            parse_pairs(raw, "query")

    def test_accepts_at_most_a_thousand_fields(self) -> None:
        assert len(parse_pairs(b"&".join(b"%d" % i for i in range(MAX_QUERY_FIELDS)), "q")) == 1000
        with pytest.raises(InvalidRequest, match="1000 fields"):
            parse_pairs(b"&" * MAX_QUERY_FIELDS, "q")
