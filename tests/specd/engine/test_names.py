"""Every name in a document maps to its own function and keyword."""

from typing import Any
from urllib.parse import quote

import pytest

from specd import Context
from specd._engine.errors import DocumentErrors
from specd._engine.mocking.service import build_mock
from specd._engine.openapi import rules
from specd._engine.openapi.mistakes import Mistakes
from specd._engine.openapi.union import Document
from tests.specd.engine.client import Client
from tests.specd.engine.services import document, operation, serve


def _echo(ctx: Context, **arguments: Any) -> dict[str, Any]:
    return arguments


def _parameter(name: str, where: str = "query", **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": where,
        **({"required": True} if where == "path" else {}),
        "schema": schema or {"type": "string"},
    }


@pytest.fixture(scope="module")
def client() -> Client:
    names = ("имя", "页码", "größe", "اسم", "नाम", "a-b", "a.b", "🎉")
    query = [_parameter(name, type="integer") for name in names]
    deep = {
        **_parameter("глубоко", type="object", properties={"é": {"type": "integer"}}),
        "style": "deepObject",
    }
    cookies = [_parameter(name, "cookie", type="integer") for name in ("имя", "c")]
    paths = {
        "/q": {"get": operation("q", parameters=[*query, deep])},
        "/b/{имя}": {"get": operation("in-path", parameters=[_parameter("имя", "path")])},
        "/c": {"get": operation("c", parameters=cookies)},
        "/users": {
            "get": operation("get-user"),
            "delete": operation("get_user"),
            "put": operation("get user"),
        },
        "/list": {"get": operation("list"), "put": operation("dict")},
        "/других": {"get": operation("получить")},
    }
    functions: dict[str, Any] = {"q": _echo, "in_path": _copy(_echo), "c": _copy(_echo)}
    functions |= {
        name: _saying(name)
        for name in ("get_user", "get_user_2", "get_user_3", "list", "dict_", "получить")
    }
    return serve(paths, functions)


def _saying(name: str) -> Any:
    def handler(ctx: Context) -> str:
        return name

    return handler


def _copy(function: Any) -> Any:
    def handler(ctx: Context, **arguments: Any) -> Any:
        return function(ctx, **arguments)

    return handler


def test_method_runs_its_own_function(client: Client) -> None:
    said = [client.send(method, "/users").json for method in ("GET", "DELETE", "PUT")]
    assert said == ["get_user", "get_user_2", "get_user_3"]
    assert client.send("GET", f"/{quote('других')}").json == "получить"


def test_name_that_a_module_uses_maps_to_its_function(
    client: Client,
) -> None:
    assert client.send("GET", "/list").json == "list"
    assert client.send("PUT", "/list").json == "dict_"


def test_names_of_every_script_are_keywords(client: Client) -> None:
    names = {"имя": 1, "页码": 2, "größe": 3, "اسم": 4, "नाम": 5, "a-b": 6, "a.b": 7, "🎉": 8}
    query = "&".join(f"{quote(name)}={value}" for name, value in names.items())
    got = client.send("GET", f"/q?{query}&{quote('глубоко')}%5B{quote('é')}%5D=9").json
    assert got == {
        **{"имя": 1, "页码": 2, "größe": 3, "اسم": 4, "नाम": 5, "a_b": 6, "a_b_query": 7, "_": 8},
        "глубоко": {"é": 9},
    }
    refused = client.send("GET", f"/q?{quote('页码')}=y")
    assert (refused.status, refused.json["details"][0]["path"]) == (422, "/query/页码")


def test_names_of_every_script_are_in_paths_and_cookies(client: Client) -> None:
    assert client.send("GET", f"/b/{quote('я')}").json == {"имя": "я"}
    for name in (quote("имя"), "имя".encode().decode("latin-1")):
        assert client.send("GET", "/c", headers=[("Cookie", f"{name}=5; c=6")]).json == {
            "имя": 5,
            "c": 6,
        }


def test_second_handwritten_function_is_requested_by_name() -> None:
    paths = {"/a": {"get": operation("get-user"), "delete": operation("get_user")}}
    with pytest.raises((DocumentErrors, Mistakes), match=r"things\.get_user_2"):
        serve(paths, {"get_user": _saying("get")})


def test_check_shows_which_function_has_a_number() -> None:
    paths = {"/a": {"get": operation("get-user"), "delete": operation("get_user")}}
    paths["/a"]["put"] = operation("put", parameters=[_parameter("größe", "header")])
    found = rules.find_faults(rules.Checked(document(paths)), rules.ADVICE)
    said = {fault.at: str(fault) for fault in found}
    assert said.keys() == {
        ("paths", "/a", "delete", "operationId"),
        ("paths", "/a", "put", "parameters", 0, "name"),
    }
    assert said["paths", "/a", "delete", "operationId"] == (
        'the function "get_user" is that of GET /a, so this operation has "get_user_2": '
        "name it otherwise"
    )


def test_base_path_can_have_letters_of_every_script() -> None:
    described = document({"/a": {"get": operation("a")}}) | {"servers": [{"url": "/größe"}]}
    mock = Client(build_mock([Document("t", described)]))
    assert mock.get("/größe/a").status == 200
    assert mock.get("/größe/openapi.yaml").status == 200
    assert mock.get("/a").status == 404
