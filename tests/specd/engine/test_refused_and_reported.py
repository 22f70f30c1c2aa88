"""Errors that stop a start, findings of `specd check`, and the URLs of documents."""

from typing import Any

import pytest

from specd._engine.document.checking import find_faults
from specd._engine.document.schemas import Schemas
from specd._engine.mocking.service import build_mock
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.union import Document
from tests.specd.engine.client import Client
from tests.specd.engine.services import document, operation


def _with_schema(schema: dict[str, Any], version: str = "3.0.3") -> dict[str, Any]:
    return document({}, version, schemas={"S": schema})


DEFAULTS = [
    ({"type": "string", "format": "uri", "default": ""}, False),
    ({"type": "string", "pattern": "^[A-Z]{2}$", "default": ""}, False),
    ({"type": "integer", "minimum": 1, "default": 0}, False),
    ({"type": "string", "enum": ["a"], "default": "b"}, False),
    ({"type": "string", "nullable": True, "default": None}, False),
    ({"type": "string", "default": 1}, True),
    ({"type": "string", "default": None}, True),
    ({"type": "array", "items": {"type": "integer"}, "default": "x"}, True),
]


@pytest.mark.parametrize(("schema", "is_wrong"), DEFAULTS)
def test_default_of_another_type_stops_the_start(schema: dict[str, Any], is_wrong: bool) -> None:
    assert bool(find_faults(_with_schema(schema), is_thorough=False)) is is_wrong


def test_invalid_default_is_reported() -> None:
    said = [bool(find_faults(_with_schema(s), is_thorough=True)) for s, _ in DEFAULTS]
    assert said == [True, True, True, True, False, True, True, True]


def test_null_missing_in_an_enum_is_reported() -> None:
    wrong = {"type": "string", "nullable": True, "enum": ["x"]}
    assert not find_faults(_with_schema(wrong), is_thorough=False)
    (fault,) = find_faults(_with_schema(wrong), is_thorough=True)
    assert fault.at == ("components", "schemas", "S", "enum")
    right = {**wrong, "enum": ["x", None]}
    assert not find_faults(_with_schema(right), is_thorough=True)


SERVERS = {
    **document(
        {
            "/events": {"servers": [{"url": "/v2"}], "get": operation("events")},
            "/uploads": {"post": operation("upload", servers=[{"url": "https://up.example/f"}])},
        }
    ),
    "servers": [
        {"url": "https://api.example.com/v1"},
        {
            "url": "https://{region}.example.com/{stage}/v1",
            "variables": {
                "region": {"default": "eu", "enum": ["eu", "us"]},
                "stage": {"default": "staging", "enum": ["staging", "test"]},
            },
        },
    ],
}


def test_servers_of_paths_and_operations_are_reported() -> None:
    assert not find_faults(SERVERS, is_thorough=False)
    assert {fault.at for fault in find_faults(SERVERS, is_thorough=True)} == {
        ("paths", "/events", "servers", 0),
        ("paths", "/uploads", "post", "servers", 0),
    }


def test_server_of_many_operations_is_reported_once() -> None:
    servers = [{"url": "https://up.example/f"}]
    paths = {f"/p{n}": {"get": operation(f"p{n}", servers=servers)} for n in range(9)}
    (fault,) = find_faults(document(paths), is_thorough=True)
    assert fault.at == ("paths", "/p0", "get", "servers", 0)
    assert "8 more times" in str(fault)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/v1/events", 200),
        ("/staging/v1/events", 200),
        ("/test/v1/events", 200),
        ("/events", 200),
        ("/v2/events", 404),
        ("/other/v1/events", 404),
    ],
)
def test_mock_has_all_urls_of_the_document(target: str, status: int) -> None:
    client = Client(build_mock([Document("t", SERVERS)]))
    assert client.get(target).status == status


@pytest.mark.parametrize(
    ("url", "path"),
    [("v1", "/v1"), ("./v1/", "/v1"), ("../v1", "/v1"), ("/", ""), ("", ""), ("//a/b", "/b")],
)
def test_relative_server_is_below_the_root(url: str, path: str) -> None:
    assert base_path_of({"servers": [{"url": url}]}) == path


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        (r"^[^]{1,5}$", ""),
        (r"^[^\0]*$", ""),
        (r"^[\b]?$", ""),
        ("^[a-z]+]$", ""),
        ("^.{0,65535}$", "is larger than this server compiles"),
        (r"^\S{1,32768}$", "is larger than this server compiles"),
        (r'^(?<q>["x]).*\k<q>$', "is no regular expression of ECMA-262 that this server compiles"),
        ("[a", "is no regular expression: unterminated character set at character 1"),
    ],
)
def test_pattern_is_served_or_rejected_with_the_reason(
    version: str, pattern: str, fault: str
) -> None:
    found = find_faults(_with_schema({"pattern": pattern}, version), is_thorough=False)
    assert list(map(str, found)) == ([f'"{pattern}" {fault}'] if fault else [])


def test_notation_of_ecma_262_has_the_same_meaning() -> None:
    schemas = Schemas({"openapi": "3.1.0"}, drop="readOnly")
    cases = [
        (r"^[^]{1,5}$", "a\nb", ""),
        (r"^[^\0]*$", "ab", "a\0"),
        (r"^[\b]$", "\b", "b"),
        ("^[a-z]+]$", "ab]", "ab"),
        ("^[]$", None, ""),
    ]
    for pattern, right, wrong in cases:
        check = schemas.compile({"pattern": pattern}, "")
        assert not (right is not None and check(right, "")), pattern
        assert check(wrong, ""), pattern


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "string", "enum": [1.0, 2.0]}, ("enum",)),
        ({"type": "integer", "enum": ["1"]}, ("enum",)),
        ({"type": "string", "minLength": 5, "enum": ["abc"]}, ("enum",)),
        (
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["a"],
                "properties": {"bcd": {}},
            },
            ("required", 0),
        ),
        ({"type": "integer", "enum": ["x", 1.0]}, None),
        ({"type": "string", "minLength": 2, "enum": ["a", "ab"]}, None),
    ],
)
def test_schema_without_valid_values_is_reported(
    schema: dict[str, Any], place: tuple[Any, ...] | None
) -> None:
    found = [fault.at[3:] for fault in find_faults(_with_schema(schema), is_thorough=True)]
    assert found == ([place] if place else [])
