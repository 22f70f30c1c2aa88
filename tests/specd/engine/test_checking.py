"""Every error of a document is found at its position, and all errors are reported together."""

import copy
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specd import _applications as applications
from specd._engine.document.checking import check_file, find_faults, locate, read
from specd._engine.openapi.mistakes import MOST, PLACES, Mistake, Mistakes, in_order, report
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from tests.specd.engine.corpus import CORPUS
from tests.specd.engine.services import respond, shop_service
from tests.specd.sample import Sample


@pytest.mark.parametrize("name", CORPUS)
def test_correct_document_has_no_errors(name: str) -> None:
    assert find_faults(CORPUS[name], is_thorough=True) == []


class TestSyntax:
    @pytest.mark.parametrize(
        ("text", "spot", "says"),
        [
            ("openapi: 3.1.0\ninfo:\n  title: a\n   version: b\n", (4, 11), "indented too far"),
            ("openapi: 3.1.0\ninfo: [\n", (3, 1), "did not find expected node content"),
            ("openapi: 3.1.0\ninfo:\n\ttitle: a\n", (3, 1), "indent by spaces, not by tabs"),
            ("openapi: 3.1.0\ninfo: {title: 'a' b}\n", (2, 19), "did not find expected ',' or '}'"),
            ("- a\n", (1, 1), "a document is an object"),
            ("openapi: *a\n", (1, 10), "found undefined alias"),
        ],
    )
    def test_text_that_is_not_yaml_is_reported(
        self, tmp_path: Path, text: str, spot: tuple[int, int], says: str
    ) -> None:
        file = tmp_path / "a.yaml"
        file.write_text(text)
        (found,) = check_file(file)
        assert (found.line, found.column) == spot
        assert found.file == str(file)
        assert says in found.message
        with pytest.raises(Mistakes) as raised:
            read(file)
        assert str(raised.value) == str(found)

    def test_duplicate_keys_do_not_hide_other_errors(self, tmp_path: Path) -> None:
        file = tmp_path / "a.yaml"
        file.write_text("openapi: 3.1.0\ninfo: {title: a, title: b}\ninfo: {title: c}\npaths: {}\n")
        assert [(m.line, m.column) for m in check_file(file)] == [(2, 18), (3, 1), (3, 1)]
        with pytest.raises(Mistakes) as raised:
            read(file)
        assert [mistake.line for mistake in raised.value.found] == [2, 3, 3]

    def test_json_errors_are_reported(self, tmp_path: Path) -> None:
        document = {"openapi": "3.1.0", "info": {"title": "a", "version": 1}, "paths": {}}
        file = tmp_path / "a.json"
        file.write_text(json.dumps(document, indent=4))
        (found,) = check_file(file)
        assert (found.line, found.column, found.place) == (5, 9, "info.version")


class TestFiles:
    OTHER = """
components:
  parameters:
    Limit:
      name: limit
      in: query
      schema: {type: integr}
"""
    OWN = """
openapi: 3.0.3
info: {title: a, version: b}
paths:
  /a: {$ref: "paths/a.yaml"}
components:
  schemas:
    A: {$ref: "other.yaml#/components/schemas/B"}
"""
    PATH = """
parameters:
  - {$ref: "../other.yaml#/components/parameters/Limit"}
get:
  responses:
    200: {descriptio: a}
    404: {$ref: "../other.yaml#/components/responses/No"}
"""

    def test_each_error_is_reported_in_its_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "paths").mkdir()
        for name, text in (("own", self.OWN), ("other", self.OTHER), ("paths/a", self.PATH)):
            (tmp_path / f"{name}.yaml").write_text(text)
        found = check_file(tmp_path / "own.yaml")
        assert [(m.file, m.line) for m in found] == [
            ("own.yaml", 8),
            ("other.yaml", 7),
            ("paths/a.yaml", 6),
            ("paths/a.yaml", 7),
        ]
        assert found[1].place == "components.parameters.Limit.schema.type"

    def test_referenced_file_that_is_not_yaml_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "own.yaml").write_text(self.OWN)
        (tmp_path / "other.yaml").write_text("a: b: c")
        found = check_file(tmp_path / "own.yaml")
        assert (str(tmp_path / "other.yaml"), 1, 5) in [(m.file, m.line, m.column) for m in found]

    def test_merged_keys_and_aliases_are_reported_at_their_source(self, tmp_path: Path) -> None:
        text = """
openapi: 3.0.3
info: {title: a, version: b}
x-a: &a
  type: integr
paths: {}
components:
  schemas:
    A: {<<: *a, minimum: 1}
    B: {<<: [{maximum: 2}, *a]}
    C: *a
"""
        file = tmp_path / "a.yaml"
        file.write_text(text)
        assert {(m.line, m.column) for m in check_file(file)} == {(5, 3)}


NEWER: list[tuple[Any, str, str]] = [
    ({"type": "string", "nullable": True}, "nullable", 'write `type: [string, "null"]`'),
    ({"type": ["string", "nul"]}, "type[1]", '"nul" is no type; did you mean "null"?'),
    ({"type": "integr"}, "type", 'did you mean "integer"?'),
    ({"requierd": ["a"]}, "requierd", 'did you mean "required"?'),
    ({"exclusiveMinimum": True}, "exclusiveMinimum", "write `exclusiveMinimum: ...` in place of"),
    ({"required": "a"}, "required", "must be a list"),
    ({"pattern": "("}, "pattern", "is no regular expression"),
    ({"patternProperties": {"(": {}}}, "patternProperties.(", "is no regular expression"),
    ({"minItems": 3, "maxItems": 2}, "minItems", "is above maxItems 2"),
    ({"$ref": "#/$defs/A"}, "$ref", "points nowhere"),
    ({"$ref": "#Somewhere"}, "$ref", "points nowhere"),
    ({"$defs": {"A": {"type": "sting"}}}, "$defs.A.type", 'did you mean "string"?'),
    ({"type": "integer", "examples": [1, "a"]}, "examples[1]", "must be of type integer"),
    ({"type": "integer", "default": "a"}, "default", "must be of type integer"),
    ({"prefixItems": {}}, "prefixItems", "must be a list"),
    (3, "", "must be true or false or an object, not an integer"),
    (
        {"discriminator": {"propertyName": "a", "mapping": {"b": "X"}}},
        "discriminator.mapping.b",
        "there is no schema",
    ),
]
SOUND: list[Any] = [
    True,
    {"$anchor": "here", "properties": {"a": {"$ref": "#here"}}},
    {"$id": "https://example.com/a", "$defs": {"b": {}}, "items": {"$ref": "#/$defs/b"}},
    {"type": ["string", "null"], "const": None, "examples": [None]},
    {"x-anything": 1, "unknownWord": 2},
    {"$dynamicRef": "#node", "$defs": {"node": {"$dynamicAnchor": "node"}}},
    {"properties": {"nullable": {}, "type": {"type": "string"}, "$ref": {"type": "string"}}},
    {"enum": [{"type": "integr", "$ref": "#/no"}], "const": {"type": "integr", "$ref": "#/no"}},
]


def of_3_1(schema: Any) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "a", "version": "b"},
        "components": {"schemas": {"A": schema}},
    }


class TestOpenAPI31:
    @pytest.mark.parametrize(("schema", "place", "says"), NEWER)
    def test_errors_in_schemas_are_found(self, schema: Any, place: str, says: str) -> None:
        found = faults(of_3_1(schema))
        whole = f"components.schemas.A.{place}".removesuffix(".")
        assert whole in found
        assert says in found[whole]

    @pytest.mark.parametrize("schema", SOUND)
    def test_correct_schemas_are_accepted(self, schema: Any) -> None:
        assert faults(of_3_1(schema)) == {}

    def test_keyword_of_a_later_version_is_named(self) -> None:
        document = {**of_3_1({}), "openapi": "3.0.3", "webhooks": {}}
        assert "is of OpenAPI 3.1, the document of 3.0" in faults(document)["webhooks"]

    @pytest.mark.parametrize(
        ("statuses", "is_wrong"),
        [
            (["200"], False),
            (["303", "404"], False),
            (["2XX"], False),
            (["default"], False),
            (["404", "default"], False),
            (["404"], True),
            (["4XX", "500"], True),
            (["101"], True),
        ],
    )
    @pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
    def test_operation_that_documents_only_errors_is_named(
        self, version: str, statuses: list[str], is_wrong: bool
    ) -> None:
        responses = {"x-note": 1, **{status: {"description": "a"} for status in statuses}}
        document = {
            "openapi": version, "info": {"title": "a", "version": "b"},
            "paths": {"/a": {"get": {"responses": responses}}},
        }  # fmt: skip
        found = faults(document)
        assert found.keys() == ({"paths./a.get.responses"} if is_wrong else set())
        assert all("only errors are documented" in message for message in found.values())
        assert faults(document, is_thorough=False) == {}

    def test_webhooks_and_shared_paths_are_checked(self) -> None:
        document = of_3_1({})
        document["webhooks"] = {"paid": {"pots": {}}}
        document["components"]["pathItems"] = {"A": {"get": {"responses": {"20": {}}}}}
        assert faults(document).keys() == {
            "webhooks.paid.pots",
            "components.pathItems.A.get.responses.20",
        }


def faults(document: Any, *, is_thorough: bool = True) -> dict[str, str]:
    """Return the messages about a document, by position."""
    made = Document("made", document)
    found = find_faults(document, is_thorough=is_thorough)
    return {m.place: m.message for m in locate([made], found)}


class TestRules:
    @pytest.mark.parametrize(
        ("change", "place", "says"),
        [
            (
                {"security": [{"keys": []}]},
                "security[0].keys",
                'there is no security scheme "keys"; did you mean "key"?',
            ),
            (
                {"security": [{"oauth": ["reed"]}]},
                "security[0].oauth[0]",
                '"oauth" has no scope "reed"; did you mean "read"?',
            ),
            (
                {"servers": [{"url": "/{v}", "variables": {"v": {"default": "b", "enum": ["a"]}}}]},
                "servers[0].variables.v.default",
                '"b" is none of its values',
            ),
            ({"servers": [{"url": "/{v}"}]}, "servers[0].url", 'which "variables" does not desc'),
            ({"tags": [{"name": "a"}, {"name": "a"}]}, "tags[1]", "is there already"),
            ({"paths": None}, "paths", "must be an object, not null"),
            ({"paths": {"/a": {"get": []}}}, "paths./a.get", "must be an object, not a list"),
        ],
    )
    def test_each_rule(self, change: dict[str, Any], place: str, says: str) -> None:
        flows = {"clientCredentials": {"tokenUrl": "https://a", "scopes": {"read": ""}}}
        document = {
            "openapi": "3.0.3",
            "info": {"title": "a", "version": "b"},
            "paths": {},
            "components": {
                "securitySchemes": {
                    "key": {"type": "apiKey", "in": "header", "name": "Key"},
                    "oauth": {"type": "oauth2", "flows": flows},
                }
            },
        }
        assert faults(document) == {}
        found = faults({**document, **change})
        assert says in found[place]

    @pytest.mark.parametrize(
        ("section", "component", "found"),
        [
            (
                "securitySchemes",
                {"type": "http", "scheme": "basic", "bearerFormat": "x"},
                {"bearerFormat": '"bearerFormat" does not go with the other keys here'},
            ),
            ("securitySchemes", {}, {"": 'a security scheme needs "type"'}),
            (
                "securitySchemes",
                {"type": "mutualTLS"},
                {"": "has a form that OpenAPI 3.0 does not know"},
            ),
            (
                "parameters",
                {"in": "query", "name": "a", "content": {"a/b": {}}, "style": "form"},
                {"style": '"style" does not go with the other keys here'},
            ),
            (
                "parameters",
                {"in": "body", "name": "a", "schema": {}, "example": 1, "examples": {}},
                {
                    "": '"example" and "examples" exclude each other: keep one',
                    "in": '"body" cannot stand here; write "query", "header", "path" or "cookie"',
                },
            ),
        ],
    )
    def test_objects_with_several_forms(
        self, section: str, component: dict[str, Any], found: dict[str, str]
    ) -> None:
        document = {
            "openapi": "3.0.3",
            "info": {"title": "a", "version": "b"},
            "paths": {},
            "components": {section: {"A": component}},
        }
        place = f"components.{section}.A"
        assert faults(document) == {
            ".".join(filter(None, (place, key))): words for key, words in found.items()
        }

    def test_values_are_checked_for_their_direction(self) -> None:
        schema = {
            "type": "object",
            "additionalProperties": False,
            "required": ["id", "secret"],
            "properties": {
                "id": {"type": "integer", "readOnly": True},
                "secret": {"type": "string", "writeOnly": True},
            },
        }
        media = {"schema": {"$ref": "#/components/schemas/A"}}

        def document(sent: Any, answered: Any, shared: Any) -> dict[str, Any]:
            operation = {
                "requestBody": {"content": {"application/json": {**media, "example": sent}}},
                "responses": {
                    "200": {
                        "description": "a",
                        "content": {"application/json": {**media, "example": answered}},
                    }
                },
            }
            return {
                "openapi": "3.0.3",
                "info": {"title": "a", "version": "b"},
                "paths": {"/a": {"post": operation}},
                "components": {"schemas": {"A": {**schema, "example": shared}}},
            }

        right = {"secret": "s"}, {"id": 1}
        for shared in ({"id": 1, "secret": "s"}, {"id": 1}, {"secret": "s"}):
            assert faults(document(*right, shared)) == {}
        assert faults(document(*reversed(right), {})).keys() == {
            "components.schemas.A.example",
            "paths./a.post.requestBody.content.application/json.example",
            "paths./a.post.requestBody.content.application/json.example.id",
            "paths./a.post.responses.200.content.application/json.example",
            "paths./a.post.responses.200.content.application/json.example.secret",
        }

    def test_schema_of_3_0_is_an_object(self) -> None:
        schemas = {
            "A": True,
            "B": {"type": "object", "additionalProperties": False},
            "C": {"type": "strin"},
        }
        document = {
            "openapi": "3.0.3",
            "info": {"title": "a", "version": "b"},
            "paths": {},
            "components": {"schemas": schemas, "callbacks": {"D": 3}},
        }
        assert faults(document).keys() == {
            "components.schemas.A",
            "components.schemas.C.type",
            "components.callbacks.D",
        }

    def test_start_checks_only_the_specification(self) -> None:
        document = {
            "openapi": "3.0.3",
            "info": {"title": "a", "version": "b"},
            "paths": {},
            "components": {"schemas": {"A": {"type": "array", "example": 1, "format": "int23"}}},
        }
        assert len(faults(document)) == 3
        assert faults(document, is_thorough=False) == {}


class TestStart:
    """A start that fails because of errors in documents lists files and lines too."""

    def test_document_with_errors_stops_the_start(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        file = tmp_path / "shop.yaml"
        text = (Path(__file__).parent / "shop/shop.yaml").read_text()
        text = text.replace("      summary:", "      sumary:", 1)
        file.write_text(text)
        loaded = read(file)
        service = shop_service(document=loaded.content)
        service = replace(service, documents=[Document("shop", loaded.content, loaded.text, file)])
        with pytest.raises(Mistakes) as raised:
            build_app([service])
        line = text[: text.index("sumary")].count("\n") + 1
        assert str(raised.value).startswith(f"shop.yaml:{line}:7: paths./items.get")

    def test_process_ends_with_the_report(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> Any:
            raise Mistakes([Mistake("a.yaml", 1, 2, "info", "is wrong")])

        monkeypatch.setattr(applications, "build", fail)
        with pytest.raises(SystemExit) as ended:
            sample.project().application("app")
        assert ended.value.code == "a.yaml:1:2: info: is wrong"

    def test_handlers_with_errors_are_reported(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Handlers are compared with their document even if the document of another service is
        wrong.
        """
        wrong = shop_service(document={"openapi": "3.1.0"})
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        (tmp_path / "bench").mkdir()
        (tmp_path / "bench/planes.py").write_text(HANDLERS)
        (tmp_path / "bench.yaml").write_text(BENCH)
        content = read(tmp_path / "bench.yaml").content
        service = Service(
            name="bench",
            documents=[Document("bench", content, b"", tmp_path / "bench.yaml")],
            handlers="bench",
            base_path="/v1",
            respond=respond,
        )
        with pytest.raises(Mistakes) as raised:
            build_app([wrong, service])
        assert {m.file for m in raised.value.found[:-4]} == {wrong.documents[0].name}
        assert len(raised.value.found) > 4
        found = [(m.file, m.line, m.column, m.place) for m in raised.value.found[-4:]]
        assert found == [
            ("bench/planes.py", 5, 1, "paths./planes.get"),
            ("bench/planes.py", 9, 1, ""),
            ("bench.yaml", 12, 5, "paths./planes.post"),
            ("bench.yaml", 17, 5, "paths./saws.get"),
        ]
        messages = [mistake.message for mistake in raised.value.found[-4:]]
        messages = [*messages[2:], *messages[:2]]
        assert "no function bench.planes.make_planes; did you mean" in messages[0]
        assert "no function bench.saws.list_saws" in messages[1]
        assert "write `def list_saws(ctx, *, size, limit=None)`" in messages[1]
        assert "does not take the parameter limit" in messages[2]
        assert "the document wants `def list_planes(ctx, *, limit=None)`" in messages[2]
        assert "is a handler, but no operation" in messages[3]


BENCH = """
openapi: 3.0.3
info: {title: a, version: b}
paths:
  /planes:
    get:
      tags: [planes]
      operationId: list_planes
      parameters: [{name: limit, in: query, schema: {type: integer}}]
      responses: {200: {description: a}}
    # A comment.
    post:
      tags: [planes]
      operationId: make_planes
      responses: {200: {description: a}}
  /saws:
    get:
      tags: [saws]
      operationId: list_saws
      parameters:
        - {name: limit, in: query, schema: {type: integer}}
        - {name: size, in: query, required: true, schema: {type: integer}}
      responses: {200: {description: a}}
"""
HANDLERS = """
from specd._engine.phases import read_only

@read_only
def list_planes(ctx):
    return {}


def make_plane(ctx):
    return {}
"""


class TestReport:
    def test_is_sorted_by_file_and_line(self) -> None:
        mistakes = [
            Mistake("b", 2, 1, "x", "m"),
            Mistake("a", 2, 1, "x", "m"),
            Mistake("b", 1, 2, "", "m"),
            Mistake("b", 1, 1, "x", "m"),
            Mistake("b", 2, 1, "x", "m"),
        ]
        assert report(in_order(mistakes)).splitlines() == [
            "b:1:1: x: m",
            "b:1:2: m",
            "b:2:1: x: m",
            "a:2:1: x: m",
        ]

    def test_has_a_limited_length(self) -> None:
        many = [Mistake("a", line, 1, "x", f"m{line}") for line in range(1, MOST + 4)]
        lines = report(many).splitlines()
        assert len(lines) == MOST + 1
        assert lines[-1] == "... and 3 more"

    def test_groups_positions_of_one_error(self) -> None:
        """Documents of vendors are generated and can repeat an error hundreds of times."""
        same = [Mistake("a", line, 1, "x", "m\x1b") for line in range(1, 1001)]
        others = [Mistake("a", line, 1, "y", f"n{line}") for line in (3, 500, 2000)]
        assert report(in_order([*same, *others])).splitlines() == [
            *(f"a:{line}:1: x: m\\x1b" for line in (1, 2, 3)),
            "a:3:1: y: n3",
            *(f"a:{line}:1: x: m\\x1b" for line in range(4, PLACES + 1)),
            f"... and at {1000 - PLACES} more places: m\\x1b",
            "a:500:1: y: n500",
            "a:2000:1: y: n2000",
        ]

    def test_counts_omitted_positions(self) -> None:
        several = [Mistake("a", line, 1, "x", f"m{line}") for line in range(1, MOST - 1)]
        same = [Mistake("b", line, 1, "x", "m") for line in range(1, 1001)]
        lines = report([*several, *same]).splitlines()
        assert len(lines) == MOST + 1
        assert lines[-1] == "... and 998 more"


def test_check_never_fails_itself() -> None:
    """Parts of documents are moved to wrong places, and all rules run."""
    choose = random.Random(3)
    documents = [*CORPUS.values()]
    parts = [part for document in documents for part in _parts(document)]
    for _ in range(150):
        made = copy.deepcopy(choose.choice(documents))
        holders = [part for part in _parts(made) if part]
        for holder in choose.sample(holders, min(5, len(holders))):
            key = choose.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            holder[key] = copy.deepcopy(
                choose.choice([*parts, None, 1, -1.5, True, "", "#/x", [], {}, [[]], {"$ref": {}}])
            )
        for fault in find_faults(made, is_thorough=True):
            assert str(fault)


def _parts(node: Any) -> Any:
    """Yield the objects and lists of a document."""
    if isinstance(node, dict | list):
        yield node
        for part in node.values() if isinstance(node, dict) else node:
            yield from _parts(part)
