"""Several documents of one service: how they are combined, conflicts, and serving."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from specd import Context
from specd._engine.errors import DocumentError
from specd._engine.openapi.union import Document, unite
from specd._engine.serving.app import build_app
from tests.specd.engine.client import Client
from tests.specd.engine.services import module, shop_service

THING = {
    "type": "object",
    "description": "Something.",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}
CODE = {"type": "string", "x-may-grow": True, "enum": ["a", "b"]}
PARAMETER = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}


def operation(name: str, schema: str = "Thing") -> dict[str, Any]:
    shown = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    answers = {"200": {"description": "It.", "content": shown}}
    return {"operationId": name, "tags": ["things"], "security": [], "responses": answers}


def document(paths: dict[str, Any]) -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {"title": "Things", "version": "1"},
        "servers": [{"url": "/"}],
        "tags": [{"name": "things", "description": "Things."}],
        "paths": paths,
        "components": {"schemas": {"Thing": copy.deepcopy(THING), "Code": dict(CODE)}},
    }


def pair() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two compatible documents that share a path."""
    make = document(
        {"/things": {"post": operation("make")}, "/things/{id}": {"get": operation("read")}}
    )
    make["paths"]["/things/{id}"]["parameters"] = [PARAMETER]
    find = document(
        {"/things": {"get": operation("find")}, "/things/{id}": {"put": operation("change")}}
    )
    find["paths"]["/things/{id}"]["parameters"] = [PARAMETER]
    find["info"] = {"title": "More things", "version": "7"}
    find["components"]["schemas"]["Thing"]["description"] = "A thing."
    find["components"]["schemas"]["Code"]["enum"] = ["b", "c"]
    return make, find


def united(one: dict[str, Any], other: dict[str, Any]) -> Any:
    return unite("shop", [Document("make", one), Document("find", other)])


def serve(
    one: dict[str, Any], other: dict[str, Any], change: Callable[..., Any] | None = None
) -> Client:
    def answer(ctx: Context) -> dict[str, Any]:
        return {"name": ctx.operation.operation_id}

    def answer_one(ctx: Context, *, id_: int) -> dict[str, Any]:
        return {"name": f"{ctx.operation.operation_id} {id_}"}

    service = shop_service(
        documents=[Document("make", one, b"one: 1\nservers:\n- url: /\n"), Document("find", other)],
        handlers=module(
            "things", make=answer, find=answer, read=answer_one, change=change or answer_one
        ),
    )
    return Client(build_app([service]), "/shop")


class TestUnion:
    def test_single_document_is_unchanged(self) -> None:
        one, _ = pair()
        whole = unite("shop", [Document("make", one)])
        assert {**whole, "paths": one["paths"]} == one
        assert whole["paths"]["/things"] == one["paths"]["/things"]

    def test_path_can_be_a_reference(self) -> None:
        one, _ = pair()
        things = one["paths"]["/things"]
        parameter = {"name": "q", "in": "query", "schema": {}}
        one["paths"]["/again"] = {"$ref": "#/paths/~1things", "parameters": [parameter]}
        one["components"]["pathItems"] = {"Bare": {"get": {"responses": {}}}}
        one["paths"]["/bare/{id}"] = {"$ref": "#/components/pathItems/Bare"}
        whole = unite("shop", [Document("make", one)])["paths"]
        assert whole["/again"]["post"] == {**things["post"], "parameters": [parameter]}
        assert whole["/bare/{id}"] == {"get": {"responses": {}, "operationId": "get_bare_id"}}

    def test_paths_that_refer_to_each_other_in_a_cycle(self) -> None:
        one, _ = pair()
        one["paths"]["/a"] = {"$ref": "#/paths/~1b"}
        one["paths"]["/b"] = {"$ref": "#/paths/~1a"}
        with pytest.raises(DocumentError, match="/a: #/paths/~1b refers to itself"):
            unite("shop", [Document("make", one)])

    def test_methods_of_any_name_are_not_served(self) -> None:
        one, _ = pair()
        one["paths"]["/things"]["additionalOperations"] = {"COPY": {}}
        with pytest.raises(DocumentError, match="/things: additionalOperations are not served"):
            unite("shop", [Document("make", one)])

    def test_paths_are_merged_and_info_is_that_of_the_first(self) -> None:
        one, other = pair()
        whole = united(one, other)
        assert {path: set(item) for path, item in whole["paths"].items()} == {
            "/things": {"post", "get"},
            "/things/{id}": {"get", "put"},
        }
        assert whole["info"] == one["info"]
        assert whole["tags"] == one["tags"]
        assert whole["paths"]["/things/{id}"]["put"]["parameters"] == [PARAMETER]

    def test_reference_to_a_parameter_of_a_path_is_resolved(self) -> None:
        one, _ = pair()
        parameter = {"name": "q", "in": "query", "schema": {}}
        one["paths"]["/things"]["parameters"] = [parameter]
        again = {"$ref": "#/paths/~1things/parameters/0"}
        one["paths"]["/again"] = {"get": {"responses": {}, "parameters": [again]}}
        whole = unite("shop", [Document("make", one)])["paths"]
        assert whole["/again"]["get"]["parameters"] == [parameter]

    def test_parameter_of_an_operation_overrides_that_of_the_path(self) -> None:
        one, _ = pair()
        own = {**PARAMETER, "schema": {"type": "string"}}
        one["paths"]["/things/{id}"]["get"]["parameters"] = [own]
        whole = unite("shop", [Document("make", one)])["paths"]
        assert whole["/things/{id}"]["get"]["parameters"] == [own]

    def test_equal_derived_names_are_numbered(self) -> None:
        bare: dict[str, Any] = {"get": {"responses": {}}}
        paths = {"/a/b": bare, "/a/{b}": bare, "/a-b": bare}
        whole = unite("shop", [Document("made", document(copy.deepcopy(paths)))])["paths"]
        names = [item["get"]["operationId"] for item in whole.values()]
        assert names == ["get_a_b", "get_a_b_2", "get_a_b_3"]

    def test_documents_are_not_changed(self) -> None:
        one, other = pair()
        united(one, other)
        assert (one, other) == pair()

    def test_enumeration_that_may_grow_has_the_values_of_both(self) -> None:
        assert united(*pair())["components"]["schemas"]["Code"]["enum"] == ["a", "b", "c"]

    def test_texts_are_those_of_the_first(self) -> None:
        assert united(*pair())["components"]["schemas"]["Thing"] == THING

    def test_property_named_like_a_keyword_is_compared(self) -> None:
        one, other = pair()
        for made, kind in ((one, "string"), (other, "integer")):
            properties = made["components"]["schemas"]["Thing"]["properties"]
            properties["description"] = {"type": kind}
        with pytest.raises(DocumentError, match="components/schemas/Thing differs"):
            united(one, other)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (
                lambda other: other["paths"]["/things"].update(post=operation("another")),
                "shop: POST /things is in both documents make and find",
            ),
            (
                lambda other: other["paths"]["/things"]["get"].update(operationId="make"),
                "shop: operationId make is in both documents make and find",
            ),
            (
                lambda other: other["components"]["schemas"]["Thing"].update(required=["x"]),
                "shop: components/schemas/Thing differs between the documents make and find",
            ),
            (
                lambda other: other["components"]["schemas"]["Code"].update(minLength=1),
                "shop: components/schemas/Code differs between the documents make and find",
            ),
            (
                lambda other: other["tags"][0].update({"x-group": 1}),
                "shop: the tag things differs between the documents make and find",
            ),
            (
                lambda other: other.update(security=[{}]),
                "shop: security differs between the documents make and find",
            ),
            (
                lambda other: other.update(servers=[{"url": "/other"}]),
                "shop: servers differs between the documents make and find",
            ),
        ],
    )
    def test_conflict_stops_the_start(self, change: Callable[[Any], Any], words: str) -> None:
        one, other = pair()
        change(other)
        with pytest.raises(DocumentError, match=words):
            serve(one, other)

    def test_equivalent_path_templates_stop_the_start(self) -> None:
        one, other = pair()
        other["paths"]["/things/{name}"] = other["paths"].pop("/things/{id}")
        other["paths"]["/things/{name}"]["parameters"] = [{**PARAMETER, "name": "name"}]

        def answer(ctx: Context, **_: int) -> dict[str, Any]:
            return {}

        with pytest.raises(DocumentError, match="cannot be told from"):
            serve(one, other, answer)

    def test_reference_must_be_resolved_in_its_own_document(self) -> None:
        one, other = pair()
        del other["components"]["schemas"]["Thing"]
        with pytest.raises(DocumentError, match=r"find: .* points nowhere"):
            serve(one, other)


class TestServing:
    def test_path_accepts_the_methods_of_both(self) -> None:
        client = serve(*pair())
        assert client.get("/things").json == {"name": "find"}
        assert client.post("/things").json == {"name": "make"}
        assert client.get("/things/7").json == {"name": "read 7"}
        assert client.send("PUT", "/things/7").json == {"name": "change 7"}

    def test_allow_names_the_methods_of_both(self) -> None:
        client = serve(*pair())
        asked = client.send("OPTIONS", "/things")
        assert (asked.status, asked.header("Allow")) == (204, "GET, HEAD, OPTIONS, POST")
        refused = client.send("DELETE", "/things")
        assert (refused.status, refused.header("Allow")) == (405, "GET, HEAD, OPTIONS, POST")

    def test_each_document_is_published_separately(self) -> None:
        one, other = pair()
        client = serve(one, other)
        assert client.get("/openapi.yaml").body == b"one: 1\nservers:\n- url: /\n"
        assert client.get("/openapi.json").json == one
        assert client.get("/find.json").json == other
        assert client.get("/find.yaml").header("Content-Type") == "application/yaml"
        assert client.get("/make.json").status == 404
