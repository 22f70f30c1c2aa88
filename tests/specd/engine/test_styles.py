"""Styles of parameters: each cell of OpenAPI's table, written as in RFC 6570 and parsed again."""

from itertools import product
from typing import Any

import pytest
from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

from specd import parse_pairs
from specd._engine.document.kinds import kinds_of, shape_of
from specd._engine.document.parameters import Parameters
from specd._engine.document.schemas import Schemas
from specd._engine.document.styles import cookie_pairs
from specd._engine.errors import DocumentError
from specd._engine.http.queries import parse_raw_pairs
from specd.errors import InvalidRequest
from tests.specd.engine.rfc6570 import serialize
from tests.specd.engine.services import document, echo, operation, serve

STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
WORDS = {"type": "array", "items": STRING}
NUMBERS = {"type": "array", "items": {"type": "number"}}
COLOR = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"R": INTEGER, "name": STRING, "is_dark": {"type": "boolean"}},
}
MAP = {"type": "object", "additionalProperties": INTEGER}
# The examples of the specification, and texts that contain the delimiters of styles.
ODD = "a b+c%2F,d;e=f&g.h|i?\u00e9\U0001f600"
SCALARS = [(STRING, "blue"), (STRING, ODD), (INTEGER, -5), ({"type": "boolean"}, True)]
ARRAYS = [(WORDS, ["blue", "black", "brown"]), (WORDS, ["one"]), (WORDS, [ODD, "", "x"])]
ARRAYS += [(NUMBERS, [1, 2.5, -3])]
OBJECTS = [
    (COLOR, {"R": 100, "name": "dark red", "is_dark": True}),
    (COLOR, {"name": ODD}),
    (COLOR, {"R": 0}),
    (MAP, {"R": 100, "G": 200, "B": 150}),
]
BY_TYPE = {"scalar": SCALARS, "array": ARRAYS, "object": OBJECTS}
# place -> style -> types, as in "Style Values"
TABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "path": dict.fromkeys(("matrix", "label", "simple"), ("scalar", "array", "object")),
    "query": {
        "form": ("scalar", "array", "object"),
        "spaceDelimited": ("array", "object"),
        "pipeDelimited": ("array", "object"),
        "deepObject": ("object",),
    },
    "header": {"simple": ("scalar", "array", "object")},
    "cookie": {"form": ("scalar", "array", "object")},
}
EXPLODES = {"spaceDelimited": (False,), "pipeDelimited": (False,), "deepObject": (True, False)}


def can_be_sent(where: str, style: str, explode: bool, value: Any) -> bool:
    """Return whether the style can express the value at all.

    Headers have no escapes, labels do not escape dots, and values between spaces and pipes cannot
    contain them.
    """
    texts = list(value) if isinstance(value, list) else [value]
    if isinstance(value, dict):
        texts = list(value.values())
    odd = ODD in texts
    if where == "header":
        return not odd
    if style == "label":
        return not (explode and (odd or 2.5 in texts))
    return style not in ("spaceDelimited", "pipeDelimited") or not (odd or "dark red" in texts)


CELLS = [
    (where, style, explode, schema, value)
    for where, styles in TABLE.items()
    for style, types in styles.items()
    for explode in EXPLODES.get(style, (False, True))
    for kind in types
    for schema, value in BY_TYPE[kind]
    if can_be_sent(where, style, explode, value)
]


def target_and_headers(
    where: str, style: str, explode: bool, value: Any, *, reserved: bool = False
) -> tuple[str, list[tuple[str, str]]]:
    text = serialize(where, style, "value", value, explode=explode, reserved=reserved)
    if where == "path":
        return f"/things/{text}", []
    if where == "query":
        return f"/things?{text}", []
    return "/things", [("Cookie" if where == "cookie" else "Value", text)]


@pytest.mark.parametrize(("where", "style", "explode", "schema", "value"), CELLS)
def test_parses_the_text_of_rfc_6570(
    where: str, style: str, explode: bool, schema: Any, value: Any
) -> None:
    target, headers = target_and_headers(where, style, explode, value)
    answer = echo(schema, where=where, style=style, explode=explode).get(target, headers=headers)
    assert (answer.status, answer.json) == (200, {"value": value})


class Sent:
    """A request as openapi-core expects it."""

    host_url = "http://localhost/t"
    method = "get"
    body = None
    content_type = ""

    def __init__(self, target: str, headers: list[tuple[str, str]]) -> None:
        self.path, _, query = target.partition("?")
        pairs = parse_pairs(query.encode(), "query")
        cookies = cookie_pairs(dict(headers).get("Cookie", "").encode())
        self.parameters = RequestParameters(
            query=ImmutableMultiDict([(k, v) for k, vs in pairs.items() for v in vs]),
            header=Headers(headers),
            cookie=ImmutableMultiDict({k: vs[-1].decode() for k, vs in cookies.items()}),
        )


def is_read_by_openapi_core(where: str, style: str, explode: bool, schema: Any, value: Any) -> bool:
    """Return whether openapi-core can read the cell at all.

    It lacks labels and matrices, does not accept a space in a query as a separator, decodes before
    it splits, and does not find exploded objects.
    """
    if style in ("matrix", "label", "spaceDelimited") or (where == "cookie" and explode):
        return False
    if isinstance(value, dict):
        return value == {"R": 0} and explode == (style in ("deepObject", "simple"))
    return ODD not in (value if isinstance(value, list) else [value])


SECOND = [cell for cell in CELLS if is_read_by_openapi_core(*cell)]


@pytest.mark.parametrize(("where", "style", "explode", "schema", "value"), SECOND)
def test_agrees_with_openapi_core(
    where: str, style: str, explode: bool, schema: Any, value: Any
) -> None:
    parameter = {"name": "value", "in": where, "style": style, "explode": explode, "schema": schema}
    path = "/things"
    if where == "path":
        path, parameter["required"] = "/things/{value}", True
    described = operation("read_thing", parameters=[parameter])
    whole = {**document({path: {"get": described}}), "servers": [{"url": "/t"}]}
    target, headers = target_and_headers(where, style, explode, value)
    read = OpenAPI.from_dict(whole).unmarshal_request(Sent("/t" + target, headers))  # type: ignore[arg-type]
    assert not read.errors
    assert getattr(read.parameters, where) == {"value": value}
    answer = echo(schema, where=where, style=style, explode=explode).get(target, headers=headers)
    assert answer.json == {"value": value}


RGB: Any = {"type": "object", "properties": dict.fromkeys("RGB", INTEGER)}
IN_ARRAY = {"type": "array", "items": WORDS}
IN_OBJECT = {"type": "object", "properties": {"a": COLOR}}
MAP_OF_ARRAYS = {"type": "object", "additionalProperties": WORDS}
EITHER = {"oneOf": [WORDS, COLOR]}
COLORS: Any = {"R": 100, "G": 200, "B": 150}
BLUE: Any = ["blue", "black", "brown"]


class TestExamplesOfTheSpecification:
    """ "Style Examples" of OpenAPI 3.2.0, section 4.12.6, verbatim."""

    @pytest.mark.parametrize(
        ("style", "explode", "empty", "string", "array", "object_"),
        [
            ("matrix", False, ";value", ";value=blue", ";value=blue,black,brown",
             ";value=R,100,G,200,B,150"),
            ("matrix", True, ";value", ";value=blue", ";value=blue;value=black;value=brown",
             ";R=100;G=200;B=150"),
            ("label", False, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"),
            ("label", True, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"),
            ("simple", False, None, "blue", "blue,black,brown", "R,100,G,200,B,150"),
            ("simple", True, None, "blue", "blue,black,brown", "R=100,G=200,B=150"),
            ("form", False, "value=", "value=blue", "value=blue,black,brown",
             "value=R,100,G,200,B,150"),
            ("form", True, "value=", "value=blue", "value=blue&value=black&value=brown",
             "R=100&G=200&B=150"),
            ("spaceDelimited", False, None, None, "value=blue%20black%20brown",
             "value=R%20100%20G%20200%20B%20150"),
            ("pipeDelimited", False, None, None, "value=blue%7Cblack%7Cbrown",
             "value=R%7C100%7CG%7C200%7CB%7C150"),
            ("deepObject", True, None, None, None,
             "value%5BR%5D=100&value%5BG%5D=200&value%5BB%5D=150"),
        ],
    )  # fmt: skip
    def test_paths_and_queries(
        self,
        style: str,
        explode: bool,
        empty: str | None,
        string: str | None,
        array: str | None,
        object_: str,
    ) -> None:
        where = "path" if style in TABLE["path"] else "query"
        cells = [(STRING, empty, ""), (STRING, string, "blue")]
        cells += [(WORDS, array, BLUE), (RGB, object_, COLORS)]  # type: ignore[list-item]
        for schema, text, expected in cells:
            if text is not None:
                client = echo(schema, where=where, style=style, explode=explode)
                answer = client.get(f"/things{'/' if where == 'path' else '?'}{text}")
                assert answer.json == {"value": expected}, text

    @pytest.mark.parametrize(
        ("style", "explode", "schema", "sent", "expected"),
        [
            ("cookie", False, STRING, "value=", ""),
            ("cookie", False, WORDS, "value=blue,black,brown", BLUE),
            ("cookie", False, RGB, "value=R,100,G,200,B,150", COLORS),
            ("cookie", True, WORDS, "value=blue; value=black; value=brown", BLUE),
            ("cookie", True, RGB, "R=100; G=200; B=150", COLORS),
            ("cookie", True, STRING, "value=a%20b", "a%20b"),
            ("form", True, STRING, "other=1; value=a%20b;x", "a b"),
            ("form", True, WORDS, "value=blue&value=black&value=brown", BLUE),
            ("form", True, WORDS, "value=blue; value=black; value=brown", BLUE),
            ("form", True, RGB, "R=100&G=200&B=150", COLORS),
            ("form", True, RGB, "R=100; G=200; B=150", COLORS),
        ],
    )
    def test_cookies(
        self, style: str, explode: bool, schema: Any, sent: str, expected: Any
    ) -> None:
        assert read("cookie", schema, sent, style=style, explode=explode) == {"value": expected}


def read(where: str, schema: Any, sent: str, **facts: Any) -> dict[str, Any]:
    """Return the parsed value of a parameter, in any version of OpenAPI."""
    node = {"name": "value", "in": where, "schema": schema, **facts}
    parameters = Parameters(where, [node], Schemas({}, drop="readOnly"), "read_thing")
    if where == "cookie":
        return parameters.arguments({}, cookie_pairs(sent.encode()))
    return parameters.arguments(
        parse_pairs(sent.encode(), "query"), parse_raw_pairs(sent.encode(), "query")
    )


class TestWhatIsSent:
    @pytest.mark.parametrize("value", ["a+b", ODD.replace("&", ""), "1,2"])
    def test_reserved_characters(self, value: str) -> None:
        # of these, `&` and `#` end a value, and a percent sign begins an encoding
        value = value.replace("%2F", "")
        target, _ = target_and_headers("query", "form", False, value, reserved=True)
        assert echo(STRING, allowReserved=True).get(target).json == {"value": value}

    @pytest.mark.parametrize(
        ("facts", "query"),
        [
            ({"style": "spaceDelimited"}, "value=a+b"),
            ({"style": "pipeDelimited"}, "value=a|b"),
            ({"style": "pipeDelimited"}, "value=a%7cb"),
        ],
    )
    def test_separators_are_not_encoded(self, facts: dict[str, str], query: str) -> None:
        assert echo(WORDS, **facts).get(f"/things?{query}").json == {"value": ["a", "b"]}

    @pytest.mark.parametrize(
        ("where", "style", "explode", "schema", "sent"),
        [
            ("path", "label", False, STRING, "blue"),
            ("path", "matrix", False, STRING, "blue"),
            ("path", "matrix", False, STRING, ";other=blue"),
            ("path", "matrix", False, STRING, ";value=blue;value=red"),
            ("path", "matrix", True, WORDS, ";value=a;b=c"),
            ("path", "matrix", True, COLOR, "R=1"),
            ("path", "simple", False, COLOR, "R,1,name"),
            ("path", "simple", True, COLOR, "R=1,name"),
            ("path", "simple", False, COLOR, "X,1"),
            ("path", "simple", False, COLOR, "R,x"),
            ("path", "simple", False, STRING, "%FF"),
            ("path", "label", False, WORDS, ".a,%00"),
            ("query", "form", False, COLOR, "value=R,1,name"),
            ("query", "form", False, WORDS, "value=a,%FF"),
            ("query", "deepObject", True, COLOR, "value[X]=1"),
            ("query", "deepObject", True, COLOR, "value[R][S]=1"),
            ("query", "deepObject", True, COLOR, "value[R]=x"),
            ("query", "deepObject", True, COLOR, "value=1"),
            ("query", "deepObject", True, WORDS, "value[%D9%A3]=x"),
            pytest.param(
                *("query", "deepObject", True, WORDS, f"value[{'9' * 5000}]=x"), id="long index"
            ),
            ("header", "simple", False, COLOR, "R,x"),
            ("header", "simple", True, COLOR, "R"),
            ("cookie", "form", False, INTEGER, "value=x"),
            ("cookie", "form", True, STRING, "value=%FF"),
        ],
    )
    def test_invalid_values_are_rejected(
        self, where: str, style: str, explode: bool, schema: Any, sent: str
    ) -> None:
        name = "Cookie" if where == "cookie" else "Value"
        headers = [(name, sent)] if where in ("header", "cookie") else []
        target = {"path": f"/things/{sent}", "query": f"/things?{sent}"}.get(where, "/things")
        client = echo(schema, where=where, style=style, explode=explode)
        answer = client.get(target, headers=headers)
        assert answer.status == 422, answer.body
        assert all(path.startswith((f"/{where}/value", "/path")) for path in answer.paths)

    @pytest.mark.parametrize(
        ("schema", "query", "expected"),
        [
            ({"anyOf": [INTEGER, COLOR]}, "value=5", 5),
            ({"anyOf": [INTEGER, COLOR]}, "value[R]=5", {"R": 5}),
            ({"type": ["object", "null"], "properties": {"a": {"type": ["integer", "null"]}}},
             "value[a]=1", {"a": 1}),
        ],
    )  # fmt: skip
    def test_object_or_scalar(self, schema: Any, query: str, expected: Any) -> None:
        # parsed directly, because lists of types require OpenAPI 3.1
        node = {"name": "value", "in": "query", "style": "deepObject", "schema": schema}
        parameters = Parameters("query", [node], Schemas({}, drop=""), "x")
        texts = parse_raw_pairs(query.encode(), "query")
        (parameter,) = parameters.declared
        assert parameter.read is not None
        assert parameter.read(texts) == expected

    @pytest.mark.parametrize(
        ("schema", "query", "expected"),
        [
            (IN_OBJECT, "value[a][R]=5", {"a": {"R": 5}}),
            (MAP_OF_ARRAYS, "value[a][]=x&value[a][]=y&value[b]=z", {"a": ["x", "y"], "b": ["z"]}),
            (WORDS, "value[]=x&value[]=y", ["x", "y"]),
            (WORDS, "value[10]=z&value[9]=y", ["y", "z"]),
            (WORDS, "value=x&value=y", ["x", "y"]),
            ({"type": "array", "items": COLOR}, "value[0][R]=1&value[1][R]=2",
             [{"R": 1}, {"R": 2}]),
            (EITHER, "value[R]=1", {"R": 1}),
            (EITHER, "value[0]=1", ["1"]),
            (INTEGER, "value=5", 5),
        ],
    )  # fmt: skip
    def test_brackets_for_each_level(self, schema: Any, query: str, expected: Any) -> None:
        client = echo(schema, style="deepObject")
        assert client.get(f"/things?{query}").json == {"value": expected}

    @pytest.mark.parametrize(
        ("where", "style", "explode", "schema", "sent", "expected"),
        [
            ("query", "form", True, IN_ARRAY, 'value=["a,b"]&value=["c"]', [["a,b"], ["c"]]),
            ("query", "form", False, IN_ARRAY, "value=%5B%22a%2Cb%22%5D", [["a,b"]]),
            ("query", "form", True, IN_OBJECT, 'a={"R":1}', {"a": {"R": 1}}),
            ("path", "matrix", True, IN_OBJECT, ";a=%7B%22R%22:1%7D", {"a": {"R": 1}}),
            ("header", "simple", True, MAP_OF_ARRAYS, 'b=["x"]', {"b": ["x"]}),
        ],
    )
    def test_nested_arrays_and_objects_are_json(
        self, where: str, style: str, explode: bool, schema: Any, sent: str, expected: Any
    ) -> None:
        headers = [("Value", sent)] if where == "header" else []
        target = {"path": f"/things/{sent}", "query": f"/things?{sent}"}.get(where, "/things")
        client = echo(schema, where=where, style=style, explode=explode)
        assert client.get(target, headers=headers).json == {"value": expected}

    def test_depth_of_recursive_levels_is_limited(self) -> None:
        schema = {"$ref": "#/components/schemas/Node"}
        shared = {"Node": {"type": "object", "additionalProperties": schema}}
        schemas = Schemas({"components": {"schemas": shared}}, drop="")
        node = {"name": "value", "in": "query", "style": "deepObject", "schema": schema}
        (parameter,) = Parameters("query", [node], schemas, "x").declared
        assert parameter.read is not None
        assert list(parameter.read({"value" + "[a]" * 33: [b"x"]})) == ["a"]
        with pytest.raises(InvalidRequest):
            parameter.read({"value" + "[a]" * 34: [b"x"]})


@pytest.mark.parametrize("dot", [".", "%2E"])
def test_parameters_within_a_segment(dot: str) -> None:
    def read_thing(ctx: Any, *, first: list[str], second: int) -> dict[str, Any]:
        return {"got": [first, second]}

    parameters = [
        {"name": "first", "in": "path", "required": True, "schema": WORDS},
        {"name": "second", "in": "path", "required": True, "schema": INTEGER},
    ]
    described = operation("read_thing", parameters=parameters)
    client = serve({"/a/{first}.x{second}": {"get": described}}, {"read_thing": read_thing})
    assert client.get(f"/a/b%2Cc{dot}x5").json == {"got": [["b,c"], 5]}
    assert client.get(f"/a/b,%C3%A9{dot}x5").json == {"got": [["b", "\u00e9"], 5]}


class TestPresence:
    @pytest.mark.parametrize(
        ("where", "style"), [("query", "deepObject"), ("query", "form"), ("cookie", "form")]
    )
    def test_missing_required_object_is_rejected(self, where: str, style: str) -> None:
        answer = echo(COLOR, where=where, style=style, required=True).get("/things")
        assert answer.json["details"] == [{"path": f"/{where}/value", "message": "is required"}]

    def test_missing_value_has_the_default(self) -> None:
        client = echo({**COLOR, "default": {"R": 1}}, style="deepObject")
        assert client.get("/things").json == {"value": {"R": 1}}

    def test_names_of_an_object_are_not_unknown_parameters(self) -> None:
        def read_thing(
            ctx: Any, *, deep: Any = None, spread: Any = None, limit: int = 0
        ) -> dict[str, Any]:
            return {"deep": deep, "spread": spread, "unknown": ctx.unknown_parameters}

        parameters = [
            {"name": "deep", "in": "query", "style": "deepObject", "schema": COLOR},
            {"name": "spread", "in": "query", "schema": MAP},
            {"name": "limit", "in": "query", "schema": INTEGER},
        ]

        def client(chosen: list[Any], **facts: Any) -> Any:
            described = operation("read_thing", parameters=chosen)
            return serve({"/a": {"get": described}}, {"read_thing": read_thing}, **facts)

        sent = "/a?limit=1&deep[R]=2&G=3&B=4"
        for is_strict in (False, True):
            assert client(parameters, strict_queries=is_strict).get(sent).json == {
                "deep": {"R": 2},
                "spread": {"G": 3, "B": 4},
                "unknown": [],
            }
        parameters[1]["schema"] = COLOR
        assert client(parameters).get(sent + "&R=5").json == {
            "deep": {"R": 2},
            "spread": {"R": 5},
            "unknown": ["B", "G"],
        }
        assert client(parameters, strict_queries=True).get(sent).paths == ["/query/B", "/query/G"]


class TestContent:
    @pytest.mark.parametrize("media_type", ["application/json", "application/vnd.a+json; v=1"])
    @pytest.mark.parametrize("where", ["query", "path", "header", "cookie"])
    def test_json_of_every_name(self, where: str, media_type: str) -> None:
        client = echo({}, where=where, content={media_type: {"schema": COLOR}})
        text = "%7B%22R%22:5%7D"
        if where == "header":
            answer = client.get("/things", headers=[("Value", '{"R":5}')])
        elif where == "cookie":
            answer = client.get("/things", headers=[("Cookie", f"value={text}")])
        else:
            answer = client.get(f"/things{'/' if where == 'path' else '?value='}{text}")
        assert answer.json == {"value": {"R": 5}}

    def test_text(self) -> None:
        client = echo({}, where="cookie", content={"text/plain": {"schema": INTEGER}})
        assert client.get("/things", headers=[("Cookie", "value=5")]).json == {"value": 5}
        assert client.get("/things", headers=[("Cookie", "value=x")]).status == 422

    def test_other_media_types_are_rejected(self) -> None:
        with pytest.raises(DocumentError, match="content application/xml is not served"):
            echo({}, content={"application/xml": {"schema": COLOR}})


@pytest.mark.parametrize(
    ("where", "facts", "schema", "words"),
    [
        *(("query", {"style": style, "explode": False}, STRING, f"style {style} is for arrays and")
          for style in ("spaceDelimited", "pipeDelimited")),
        *(("query", {"style": style, "explode": True}, WORDS, "is not defined with explode: true")
          for style in ("spaceDelimited", "pipeDelimited")),
        ("header", {}, EITHER, "both an array and an object"),
    ],
)  # fmt: skip
def test_undefined_combination_is_rejected_by_name(
    where: str, facts: dict[str, Any], schema: Any, words: str
) -> None:
    with pytest.raises(DocumentError, match=words) as refused:
        echo(schema, where=where, **facts)
    path = "/things/{value}" if where == "path" else "/things"
    assert f"read_thing (GET {path}) {where} parameter value: " in str(refused.value)


@pytest.mark.parametrize(
    ("where", "style"), [p for p in product(TABLE, ("matrix", "form", "simple", "deepObject"))
                         if p[1] not in TABLE[p[0]]],
)  # fmt: skip
def test_style_of_another_place_is_rejected(where: str, style: str) -> None:
    node = {"name": "value", "in": where, "style": style, "schema": STRING}
    words = f"style {style} is not one of a {where} parameter"
    with pytest.raises(DocumentError, match=words):
        Parameters(where, [node], Schemas({}, drop=""), "read_thing")


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"name": "R", "in": "query", "schema": STRING}, "value and R both read the name R"),
        ({"name": "b", "in": "query", "schema": COLOR}, "value and b both read the name R"),
    ],
)
def test_two_parameters_with_one_name_are_rejected(second: dict[str, Any], words: str) -> None:
    first = {"name": "value", "in": "query", "schema": COLOR}
    with pytest.raises(DocumentError, match=words):
        Parameters("query", [first, second], Schemas({}, drop=""), "read_thing")


def test_two_parameters_for_all_names_are_rejected() -> None:
    nodes = [{"name": name, "in": "query", "schema": MAP} for name in ("a", "b")]
    with pytest.raises(DocumentError, match="a and b are exploded objects that both take"):
        Parameters("query", nodes, Schemas({}, drop=""), "read_thing")


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"type": ["integer", "null"]}, {"integer", "null"}),
        ({"const": 5}, {"integer", "number"}),
        ({"enum": ["a", None]}, {"string", "null"}),
        ({"properties": {}}, {"object"}),
        ({"prefixItems": [{}]}, {"array"}),
        ({"allOf": [{"type": "string"}, {"description": "x"}]}, {"string"}),
        ({"anyOf": [True, {"oneOf": [{"type": "integer"}]}]}, {"integer"}),
        ({"$ref": "#/components/schemas/Circle"}, {"string"}),
        (True, set()),
        ({}, set()),
    ],
)
def test_kinds_are_recognized(schema: Any, kinds: set[str]) -> None:
    circle = {"anyOf": [{"$ref": "#/components/schemas/Circle"}, {"type": "string"}]}
    schemas = Schemas({"components": {"schemas": {"Circle": circle}}}, drop="")
    assert kinds_of(schema, schemas) == kinds
    assert not shape_of(schema, schemas).scalars & {"null", "array", "object"}


def test_empty_headers() -> None:
    nodes = [{"name": name, "in": "header", "schema": INTEGER, "required": True}
             for name in ("Accept", "content-type", "Authorization", "X-Value")]  # fmt: skip
    parameters = Parameters("header", nodes, Schemas({}, drop=""), "read_thing")
    assert [each.name for each in parameters.declared] == ["X-Value"]
    with pytest.raises(InvalidRequest):
        parameters.arguments({"X-Value": ["x"]})


@pytest.mark.parametrize(
    ("sent", "items"),
    [
        ("a%2Cb", ["a", "b"]),
        ("a%2cb%2Cc", ["a", "b", "c"]),
        ("a,b%2Cc", ["a", "b,c"]),
        ("a", ["a"]),
    ],
)
def test_encoded_comma_separates_if_there_is_no_plain_comma(sent: str, items: list[str]) -> None:
    client = echo({"type": "array", "items": {"type": "string"}}, explode=False)
    assert client.get(f"/things?value={sent}").json == {"value": items}
