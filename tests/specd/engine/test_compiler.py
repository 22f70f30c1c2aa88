"""Start-up fails with the operation and the reason."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specd import Context, Response
from specd._engine.errors import DocumentError
from specd._engine.openapi.mistakes import Mistakes
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.specd.engine.client import Client
from tests.specd.engine.services import (
    ANYTHING,
    SHOP,
    document,
    module,
    operation,
    respond,
    serve,
    shop_service,
)

LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}


def ok(ctx: Context) -> dict[str, Any]:
    return {}


def refused(paths: dict[str, Any], functions: dict[str, Callable[..., Any]], **options: Any) -> str:
    with pytest.raises(DocumentError) as error:
        serve(paths, functions, **options)
    return str(error.value)


class TestHandlers:
    def test_missing_function_is_reported(self) -> None:
        message = refused({"/a": {"get": operation("read_a")}}, {"other": lambda: {}})
        assert "made" in message
        assert "read_a" in message
        assert "made_things.things" in message

    def test_missing_module_is_reported(self) -> None:
        message = refused({"/a": {"get": operation("read_a", tag="elsewhere")}}, {"read_a": ok})
        assert "made_things.elsewhere" in message

    def test_unused_handler_is_reported(self) -> None:
        message = refused(
            {"/a": {"get": operation("read_a")}},
            {"read_a": ok, "forgotten": lambda ctx: {}},
        )
        assert "made_things.things.forgotten is a handler" in message

    def test_other_functions_in_the_module_are_ignored(self) -> None:
        def borrowed(ctx: Context) -> None: ...

        def helper(value: int) -> None: ...

        package = module("things", read_a=ok, helper=helper, _private=lambda ctx: {})
        import sys

        sys.modules[f"{package}.things"].borrowed = borrowed  # type: ignore[attr-defined]
        service = shop_service(
            document=document({"/a": {"get": operation("read_a")}}),
            handlers=package,
        )
        assert build_app([service])

    def test_parameter_missing_in_the_handler_is_reported(self) -> None:
        message = refused({"/a": {"get": operation("read_a", parameters=[LIMIT])}}, {"read_a": ok})
        assert "read_a (GET /a)" in message
        assert "does not take the parameter limit" in message

    def test_parameter_missing_in_the_document_is_reported(self) -> None:
        message = refused(
            {"/a": {"get": operation("read_a")}}, {"read_a": lambda ctx, *, limit=1: {}}
        )
        assert "takes limit, which the document does not know" in message

    def test_optional_parameter_required_by_the_handler_is_reported(self) -> None:
        message = refused(
            {"/a": {"get": operation("read_a", parameters=[LIMIT])}},
            {"read_a": lambda ctx, *, limit: {}},
        )
        assert "needs limit, which the document makes optional" in message

    def test_parameter_with_a_default_is_always_passed(self) -> None:
        sure = {**LIMIT, "schema": {"type": "integer", "default": 3}}
        client = serve(
            {"/a": {"get": operation("read_a", parameters=[sure])}},
            {"read_a": lambda ctx, *, limit: {"limit": limit}},
        )
        assert client.get("/a").json == {"limit": 3}

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            (lambda limit: {}, "must take `ctx` first"),
            (lambda: {}, "must take `ctx` first"),
            (lambda ctx, limit: {}, "limit must be keyword-only"),
            (lambda ctx, *limit: {}, "limit must be keyword-only"),
        ],
    )
    def test_invalid_signature_is_reported(self, function: Callable[..., Any], words: str) -> None:
        message = refused(
            {"/a": {"get": operation("read_a", parameters=[LIMIT])}}, {"read_a": function}
        )
        assert words in message
        assert "read_a (GET /a)" in message

    def test_body_missing_in_the_handler_is_reported(self) -> None:
        body = {"required": True, "content": {"application/json": {"schema": {}}}}
        message = refused({"/a": {"post": operation("make_a", requestBody=body)}}, {"make_a": ok})
        assert "does not take the parameter body" in message

    def test_form_field_missing_in_the_handler_is_reported(self) -> None:
        body = {
            "required": True,
            "content": {
                "application/x-www-form-urlencoded": {
                    "schema": {"type": "object", "properties": {"to": {"type": "string"}}}
                }
            },
        }
        message = refused({"/a": {"post": operation("make_a", requestBody=body)}}, {"make_a": ok})
        assert "does not take the parameter to" in message


class TestDocuments:
    def test_first_tag_is_the_module(self) -> None:
        made = {**operation("read_a"), "tags": ["things", "others"]}
        assert serve({"/a": {"get": made}}, {"read_a": ok}).get("/a").status == 200

    def test_module_without_tags_is_operations(self) -> None:
        made = {**operation("read_a"), "tags": []}
        client = serve({"/a": {"get": made}}, {"read_a": ok}, tag="operations")
        assert client.get("/a").status == 200

    def test_missing_operation_id_is_derived_from_method_and_path(self) -> None:
        bare = operation("")
        del bare["operationId"]
        client = serve({"/a-b": {"get": bare}}, {"get_a_b": ok})
        assert client.get("/a-b").status == 200

    def test_all_errors_are_reported_together(self) -> None:
        paths = {f"/{name}": {"get": operation(f"read_{name}")} for name in "abc"}
        with pytest.raises(Mistakes) as error:
            serve(paths, {"read_b": ok, "dead": lambda ctx: {}})
        absent, other, dead = error.value.found
        assert [absent.place, other.place] == ["paths./a.get", "paths./c.get"]
        assert "GET /a" in absent.message
        assert "GET /c" in other.message
        assert "made_things.things.dead is a handler" in dead.message
        assert dead.file == str(Path(__file__).relative_to(Path.cwd()))

    def test_duplicate_operation_id_is_reported(self) -> None:
        message = refused(
            {"/a": {"get": operation("read_a")}, "/b": {"get": operation("read_a")}}, {"read_a": ok}
        )
        assert 'paths./b.get.operationId: "read_a" is the operationId of GET /a too' in message

    def test_undeclared_path_parameter_is_reported(self) -> None:
        message = refused({"/a/{id}": {"get": operation("read_a")}}, {"read_a": ok})
        assert "paths./a/{id}.get: the path has {id}, but no parameter" in message

    def test_path_parameter_missing_in_the_path_is_reported(self) -> None:
        message = refused(
            {"/a": {"get": operation("read_a", parameters=[ID])}},
            {"read_a": lambda ctx, *, id_: {}},
        )
        assert 'paths./a.get.parameters[0]: "id" is not in the path "/a"' in message

    def test_equivalent_path_templates_are_reported(self) -> None:
        message = refused(
            {
                "/a/{id}": {"get": operation("read_a", parameters=[ID])},
                "/a/{x}": {"get": operation("read_b", parameters=[{**ID, "name": "x"}])},
            },
            {"read_a": lambda ctx, *, id_: {}, "read_b": lambda ctx, *, x: {}},
        )
        assert 'paths./a/{x}: has the same shape as "/a/{id}"' in message

    @pytest.mark.parametrize(
        ("where", "place"),
        [
            ("parameter", "parameters[0].schema"),
            ("body", "requestBody.content.application/json.schema"),
            ("response", "responses.200.content.application/json.schema"),
        ],
    )
    def test_invalid_pattern_is_reported(self, where: str, place: str) -> None:
        bad = {"type": "string", "pattern": "("}
        media = {"content": {"application/json": {"schema": bad}}}
        facts: dict[str, Any] = {
            "parameter": {"parameters": [{**LIMIT, "schema": bad}]},
            "body": {"requestBody": {"required": True, **media}},
            "response": {"responses": {"200": {"description": "d", **media}}},
        }[where]
        message = refused(
            {"/a": {"get": {**operation("read_a"), **facts}}},
            {"read_a": lambda ctx, *, limit=1, body=None: {}},
        )
        assert f'paths./a.get.{place}.pattern: "(" is no regular expression' in message

    def test_pattern_of_another_language_is_reported(self) -> None:
        bad = {**LIMIT, "schema": {"type": "string", "pattern": r"\A\S[\p{Print}]*\z"}}
        message = refused({"/a": {"get": operation("read_a", parameters=[bad])}}, {"read_a": ok})
        assert "paths./a.get.parameters[0].schema.pattern: " in message

    def test_broken_reference_is_reported(self) -> None:
        lost = {**LIMIT, "schema": {"$ref": "#/components/schemas/Lost"}}
        message = refused({"/a": {"get": operation("read_a", parameters=[lost])}}, {"read_a": ok})
        assert "paths./a.get.parameters[0].schema.$ref" in message

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda made: made.update(openapi="3.0"), "openapi"),
            (lambda made: made.pop("info"), "info"),
            (lambda made: made["paths"]["/items"]["get"].pop("responses"), "items"),
            (lambda made: made["paths"]["/items"]["get"].update(surprise=1), "items"),
            (lambda made: made["paths"]["/items"]["get"]["parameters"][0].pop("schema"), "items"),
            (
                lambda made: made["paths"]["/items"]["get"]["parameters"][0]["schema"].update(
                    type="integre"
                ),
                "items",
            ),
            (
                lambda made: made["paths"]["/items"]["get"]["parameters"][0]["schema"].update(
                    default="x"
                ),
                "x",
            ),
        ],
    )
    def test_invalid_document_is_reported(self, change: Callable[[Any], Any], words: str) -> None:
        made = copy.deepcopy(SHOP)
        change(made)
        with pytest.raises(DocumentError, match=r"(?s)shop.*" + words):
            build_app([shop_service(document=made)])

    def test_role_without_a_check_is_reported(self) -> None:
        with pytest.raises(DocumentError, match=r"read_a \(GET /a\).*x-required-role"):
            serve(
                {"/a": {"get": operation("read_a", **{"x-required-role": "owner"})}}, {"read_a": ok}
            )


class TestServing:
    def test_two_services_in_one_application_are_separate(self) -> None:
        def service(name: str) -> Any:
            return shop_service(
                name=name,
                document=document({"/a": {"get": operation("read_a", tag=name)}}),
                handlers=module(name, read_a=lambda ctx: {"service": name}),
                base_path=f"/{name}",
            )

        client = Client(build_app([service("left"), service("right")]))
        assert client.get("/left/a").json == {"service": "left"}
        assert client.get("/right/a").json == {"service": "right"}
        assert client.get("/right/b").json["code"] == "NotFound"

    def test_document_can_contain_its_prefix(self) -> None:
        client = serve({"/t/a": {"get": operation("read_a")}}, {"read_a": ok})
        assert client.get("/a").status == 200

    def test_references_to_shared_parts_are_resolved(self) -> None:
        client = serve(
            {
                "/a/{id}": {
                    "parameters": [{"$ref": "#/components/parameters/Id"}],
                    "post": {
                        "tags": ["things"],
                        "operationId": "make_a",
                        "requestBody": {"$ref": "#/components/requestBodies/A"},
                        "responses": {"200": {"$ref": "#/components/responses/A"}, **ANYTHING},
                    },
                }
            },
            {"make_a": lambda ctx, *, id_, body: {"id": id_, **body}},
            components={
                "parameters": {"Id": ID},
                "requestBodies": {
                    "A": {
                        "required": True,
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/A"}}
                        },
                    }
                },
                "responses": {"A": ANYTHING["default"]},
                "schemas": {"A": {"type": "object", "required": ["x"]}},
            },
        )
        assert client.post("/a/5", value={"x": 1}).json == {"id": 5, "x": 1}
        assert client.post("/a/5", value={}).json["details"][0]["path"] == "/body"

    def test_shop_uses_its_error_table(self) -> None:
        assert shop_service().respond is respond


class TestNewerVersions:
    @pytest.mark.parametrize("version", ["3.1.0", "3.1.1", "3.2.0"])
    def test_document_is_served(self, version: str) -> None:
        made = document(
            {
                "/things/{id}.json": {
                    "parameters": [{"$ref": "#/components/parameters/Id"}],
                    "get": {
                        "parameters": [
                            {
                                "name": "size",
                                "in": "query",
                                "schema": {"$ref": "#/components/schemas/Size", "default": 4},
                            }
                        ],
                        "responses": ANYTHING,
                    },
                    "head": {"operationId": "look", "responses": ANYTHING},
                }
            },
            schemas={"Size": {"type": ["integer", "null"], "exclusiveMaximum": 5}},
            parameters={"Id": {**ID, "schema": {"type": "integer", "const": 7}}},
        )
        made["openapi"] = version
        made["webhooks"] = {"paid": {"post": {"responses": ANYTHING}}}
        if version == "3.2.0":
            made["paths"]["/things/{id}.json"]["query"] = {
                "operationId": "search",
                "requestBody": {"content": {"application/json": {"schema": True}}},
            }
        functions = {
            "get_things_id_json": lambda ctx, *, id_, size=4: {"id": id_, "size": size},
            "look": lambda ctx, *, id_: Response(202, b""),
        }
        if version == "3.2.0":
            functions["search"] = lambda ctx, *, id_, body=None: {"found": body}
        service = Service(
            name="made",
            documents=[Document("made", made)],
            handlers=module("operations", **functions),
            base_path="/t",
            respond=respond,
        )
        client = Client(build_app([service]), "/t")
        assert client.get("/things/7.json").json == {"id": 7, "size": 4}
        assert client.get("/things/7.json?size=3").json == {"id": 7, "size": 3}
        for wrong in ("/things/7.json?size=5", "/things/8.json"):
            assert client.get(wrong).status == 422
        assert client.send("HEAD", "/things/7.json").status == 202
        if version == "3.2.0":
            found = client.send("QUERY", "/things/7.json", value={"a": 1})
            assert found.json == {"found": {"a": 1}}
