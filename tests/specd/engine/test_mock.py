"""Mocks with the complete engine: each response is valid, for all selections by the client."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from specd import Response
from specd._engine.errors import DocumentError
from specd._engine.mocking.answers import preferences_of
from specd._engine.mocking.service import build_mock, mocked
from specd._engine.openapi.loading import load
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.union import Document
from specd._engine.response import JSON
from specd._engine.serving.app import build_app, engine_of
from tests.specd.engine.client import Answer, Client
from tests.specd.engine.services import document

ROOT = Path(__file__).parents[3]
KEY = ("X-Key", "anything")
PETS = """
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers:
  - url: https://{host}.example/{version}/
    variables: {host: {default: a}, version: {default: v2}}
security: [{key: []}]
paths:
  /pets:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer, maximum: 9}}]
      responses:
        "200":
          description: All pets.
          headers:
            X-Total: {required: true, schema: {type: integer, minimum: 3}}
            X-Tags: {schema: {type: array, items: {type: string}}, example: [a, b]}
            Link: {$ref: "#/components/headers/Link"}
          content:
            application/xml:
              schema: {$ref: "#/components/schemas/Pets"}
            application/json:
              schema: {$ref: "#/components/schemas/Pets"}
              examples:
                none: {value: []}
                two: {$ref: "#/components/examples/Two"}
            text/*: {schema: {type: string}}
        4XX: {$ref: "#/components/responses/Problem"}
        default:
          description: Anything else.
          content:
            application/problem+json:
              schema: {type: object, required: [title], properties: {title: {type: string}}}
    post:
      security: []
      requestBody:
        content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}
        required: true
      responses:
        "201":
          description: The new pet.
          headers: {Location: {schema: {type: string, format: uri-reference}}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}
        "409":
          description: There is one.
          content:
            application/json:
              schema: {type: object, required: [code], properties: {code: {const: twin}}}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    delete:
      responses: {"204": {description: Gone.}}
    get:
      responses:
        "200":
          description: A pet whose example is wrong.
          content:
            application/json: {schema: {$ref: "#/components/schemas/Pet"}, example: {name: 3}}
    put:
      responses:
        "200":
          description: A pet in quotes.
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Pet"}
              example: '{"name": "Tom"}'
  /events:
    get:
      responses:
        "200":
          description: Some events.
          content: {text/event-stream: {schema: {type: string, example: "data: 1\\n\\n"}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
  headers: {Link: {schema: {type: string}, example: </pets>; rel="next"}}
  examples: {Two: {value: [{name: Tom}, {name: Rex}]}}
  responses:
    Problem:
      description: A problem.
      content:
        application/json:
          schema: {type: object, required: [code], properties: {code: {type: string}}}
  schemas:
    Pet:
      type: object
      required: [name]
      additionalProperties: false
      properties:
        name: {type: string, pattern: "^[A-Z][a-z]{2,8}$"}
        born: {type: [string, "null"], format: date}
        secret: {type: string, writeOnly: true}
        mother: {$ref: "#/components/schemas/Pet"}
      xml: {name: pet}
    Pets: {type: array, items: {$ref: "#/components/schemas/Pet"}, maxItems: 3}
"""


def read(tmp_path: Path, text: str, name: str = "pets") -> Document:
    path = tmp_path / f"{name}.yaml"
    path.write_text(text)
    loaded = load(path)
    return Document(name, loaded.content, loaded.text, path)


@pytest.fixture
def pets(tmp_path: Path) -> Client:
    return Client(build_mock([read(tmp_path, PETS)]), "/v2")


def get(client: Client, path: str, prefer: str = "", accept: str = "") -> Answer:
    headers = [KEY, *([("Prefer", prefer)] if prefer else [])]
    return client.get(path, headers=[*headers, *([("Accept", accept)] if accept else [])])


class TestTheUsualAnswer:
    def test_is_the_first_example(self, pets: Client) -> None:
        answer = get(pets, "/pets")
        assert (answer.status, answer.json) == (200, [])
        assert answer.header("content-type") == "application/json"
        assert answer.header("x-total") == "3"
        assert answer.header("x-tags") == "a,b"
        assert answer.header("link") == '</pets>; rel="next"'
        assert answer.header("preference-applied") is None

    def test_is_generated_without_an_example(self, pets: Client) -> None:
        answer = pets.post("/pets", value={"name": "Tom"})
        assert answer.status == 201
        assert answer.header("location") == "/items/1"
        assert set(answer.json) == {"name", "born", "mother"}
        assert pets.post("/pets", value={"name": "Tom"}).body == answer.body

    def test_is_generated_if_the_example_is_invalid(self, pets: Client) -> None:
        assert isinstance(get(pets, "/pets/1").json["name"], str)

    def test_quoted_json_example_is_parsed(self, pets: Client) -> None:
        answer = pets.send("PUT", "/pets/1", headers=[KEY])
        assert answer.json == {"name": "Tom"}

    def test_is_empty_without_documented_content(self, pets: Client) -> None:
        answer = pets.send("DELETE", "/pets/1", headers=[KEY])
        assert (answer.status, answer.body) == (204, b"")

    def test_text_is_sent_unchanged(self, pets: Client) -> None:
        assert get(pets, "/events").body == b"data: 1\n\n"

    def test_base_path_is_optional(self, tmp_path: Path) -> None:
        client = Client(build_mock([read(tmp_path, PETS)]))
        assert get(client, "/pets").status == get(client, "/v2/pets").status == 200
        assert client.get("/healthz").status == 200


class TestRequestsAreChecked:
    def test_invalid_parameters_are_rejected(self, pets: Client) -> None:
        answer = get(pets, "/pets?limit=10", prefer="code=404")
        assert answer.status == 400
        assert answer.header("content-type") == "application/json"  # as documented
        assert json.loads(str(answer.header("sl-violations"))) == [
            {"path": "/query/limit", "message": "must be at most 9"}
        ]

    def test_operation_without_documented_errors(self) -> None:
        limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
        done = {"200": {"description": "Done."}}
        paths = {"/a": {"get": {"parameters": [limit], "responses": done}}}
        client = Client(build_mock([Document("a", document(paths))]))
        answer = client.get("/a?limit=x")
        assert answer.header("content-type") == "application/problem+json"
        assert answer.json["details"][0]["path"] == "/query/limit"

    def test_invalid_bodies_are_rejected(self, pets: Client) -> None:
        assert pets.post("/pets", value={"name": "tom"}).status == 400

    def test_missing_credentials_are_rejected(self, pets: Client) -> None:
        answer = pets.get("/pets")
        assert answer.status == 401
        assert answer.header("www-authenticate")

    def test_unknown_paths_and_methods_are_rejected(self, pets: Client) -> None:
        assert get(pets, "/cats").status == 404
        answer = pets.send("PATCH", "/pets", headers=[KEY])
        assert (answer.status, answer.header("allow")) == (405, "GET, HEAD, OPTIONS, POST")


class TestPreferences:
    @pytest.mark.parametrize(
        ("prefer", "status", "applied"),
        [
            ("code=200", 200, "code=200"),
            ("code=404", 404, "code=404"),
            ("code=503", 503, "code=503"),
            ('CODE = "418"; x=y', 418, "code=418"),
            ("code=999", 200, None),
            ("wait=10, code=404", 404, "code=404"),
            ("code=404, code=503", 404, "code=404"),
            ("respond-async", 200, None),
        ],
    )
    def test_code_selects_the_status(
        self, pets: Client, prefer: str, status: int, applied: str | None
    ) -> None:
        answer = get(pets, "/pets", prefer)
        assert (answer.status, answer.header("preference-applied")) == (status, applied)

    def test_undocumented_code_is_ignored(self, pets: Client) -> None:
        answer = get(pets, "/pets/1", "code=404")
        assert (answer.status, answer.header("preference-applied")) == (200, None)

    def test_example_is_selected_by_name(self, pets: Client) -> None:
        answer = get(pets, "/pets", "example=two")
        assert answer.json == [{"name": "Tom"}, {"name": "Rex"}]
        assert answer.header("preference-applied") == "example=two"
        assert get(pets, "/pets").json == []

    def test_unknown_example_is_ignored(self, pets: Client) -> None:
        answer = get(pets, "/pets", "example=three")
        assert (answer.json, answer.header("preference-applied")) == ([], None)

    def test_dynamic_generates_values(self, pets: Client) -> None:
        bodies = set()
        for _ in range(20):
            answer = get(pets, "/pets", "dynamic=true")
            assert answer.header("preference-applied") == "dynamic=true"
            bodies.add(answer.body)
        assert len(bodies) > 5

    def test_several_preferences_are_combined(self, pets: Client) -> None:
        answer = get(pets, "/pets", "code=200, dynamic=true")
        assert answer.header("preference-applied") == "code=200, dynamic=true"

    def test_are_parsed_as_standardized(self) -> None:
        assert preferences_of('a="x, \\"y\\"; z";p=1, B , c=d') == {
            "a": 'x, "y"; z',
            "b": "",
            "c": "d",
        }
        assert preferences_of(None) == preferences_of(",;=") == {}


class TestAccept:
    @pytest.mark.parametrize(
        ("accept", "media_type"),
        [
            ("*/*", "application/json"),
            ("application/xml", "application/xml"),
            ("application/json;q=0.1, application/xml", "application/xml"),
            ("text/csv", "text/plain"),
            ("text/html, */*;q=0.1", "application/json"),
        ],
    )
    def test_selects_the_media_type(self, pets: Client, accept: str, media_type: str) -> None:
        answer = get(pets, "/pets", accept=accept)
        assert (answer.status, answer.header("content-type")) == (200, media_type)

    def test_rejects_other_media_types(self, pets: Client) -> None:
        answer = get(pets, "/pets", accept="image/png")
        assert answer.status == 406
        assert "application/xml" in answer.json["detail"]

    def test_xml_has_the_names_of_the_schema(self, pets: Client) -> None:
        tree = ElementTree.fromstring(get(pets, "/pets", accept="application/xml").body)
        assert [child.tag for child in tree] == ["pet"]
        assert tree[0].find("name") is not None


class TestBrowsers:
    ORIGIN = ("Origin", "https://app.example")

    def test_may_send_requests_from_any_origin(self, pets: Client) -> None:
        asked = [self.ORIGIN, ("Access-Control-Request-Method", "POST"),
                 ("Access-Control-Request-Headers", "prefer, x-key")]  # fmt: skip
        preflight = pets.send("OPTIONS", "/pets", headers=asked)
        assert preflight.status == 204
        assert preflight.header("access-control-allow-origin") == self.ORIGIN[1]
        assert "prefer" in (preflight.header("access-control-allow-headers") or "")
        answer = pets.post("/pets", value={"name": "Tom"}, headers=[self.ORIGIN])
        assert answer.status == 201
        assert answer.header("access-control-allow-origin") == self.ORIGIN[1]
        assert answer.header("access-control-allow-credentials") == "true"
        missing = pets.get("/nothing", headers=[self.ORIGIN])
        assert (missing.status, missing.header("access-control-allow-origin")) == (
            404,
            self.ORIGIN[1],
        )


class TestSeveralDocuments:
    OTHER = """
openapi: 3.0.3
info: {title: Other, version: "1"}
paths: {/o: {get: {responses: {"200": {description: Nothing.}}}}}
"""

    def test_of_different_servers(self, tmp_path: Path) -> None:
        other = read(tmp_path, self.OTHER, "other")
        client = Client(build_mock([other, read(tmp_path, PETS)]))
        assert client.get("/o").status == 200
        assert get(client, "/v2/pets").status == 200

    def test_of_one_server_that_conflict_are_rejected(self, tmp_path: Path) -> None:
        one, other = read(tmp_path, self.OTHER, "one"), read(tmp_path, self.OTHER, "other")
        with pytest.raises(DocumentError, match="is in both documents one and other"):
            build_mock([one, other])


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ([], ""),
        ([{"url": "/"}], ""),
        ([{"url": "https://a.example/v1/"}], "/v1"),
        ([{"url": "{root}/x", "variables": {"root": {"default": "/y"}}}], "/y/x"),
    ],
)
def test_base_path_is_that_of_the_first_server(servers: Any, expected: str) -> None:
    assert base_path_of({"servers": servers}) == expected


SERVED = sorted(path.stem for path in (ROOT / "specs").glob("payment*.yaml"))
"""Documents of the services, if the tree contains them."""


@pytest.mark.parametrize("name", ["pets", *SERVED])
def test_every_response_is_valid(name: str, tmp_path: Path) -> None:
    """The engine's own check validates each operation, status and media type."""
    document = read(tmp_path, PETS)
    if name != "pets":
        loaded = load(ROOT / "specs" / f"{name}.yaml")
        document = Document(name, loaded.content, loaded.text)
    service = mocked([document])
    engine = engine_of(build_app([service]))
    assert engine is not None
    checked = 0
    for operation in engine.apis[0].operations:
        declared = service.document["paths"]
        at = operation.path.removeprefix(service.base_path)
        raw = declared[operation.path if operation.path in declared else at][
            operation.method.lower()
        ]
        for status in raw["responses"]:
            code = str(status).upper().replace("XX", "00").replace("DEFAULT", "500")
            for prefer in (f"code={code}", f"code={code}, dynamic=true"):
                response = operation.function(_Asking(prefer))
                assert isinstance(response, Response)
                assert response.status == int(code)
                names = frozenset(header.lower() for header, _ in response.headers)
                if response.media_type == JSON:
                    operation.responses.check(response, names | {"request-id", "content-type"})
                    checked += 1
    assert checked >= 10


class _Asking:
    """A context with only the headers that a mock reads."""

    def __init__(self, prefer: str) -> None:
        self._headers = {"prefer": prefer}

    def header(self, name: str) -> str | None:
        return self._headers.get(name)


def test_documents_are_published(pets: Client) -> None:
    published = pets.get("/openapi.yaml", headers=[KEY])
    assert published.body.startswith(b"openapi: 3.1.0\n")
    assert b"#/components/examples/" not in published.body  # relative to their own URL
    assert json.loads(pets.get("/openapi.json").body)["info"]["title"] == "Pets"


def test_documents_of_connexion_and_of_large_numbers() -> None:
    scheme = {"type": "http", "scheme": "bearer", "x-scopeValidateFunc": "absent.function"}
    made = {
        "openapi": "3.0.3",
        "info": {"title": "x", "version": "1"},
        "paths": {
            "/a": {"get": {"security": [{"key": []}], "responses": {"204": {"description": "d"}}}}
        },
        "components": {
            "securitySchemes": {"key": scheme},
            "schemas": {"Large": {"type": "integer", "maximum": 2**64}},
        },
    }
    client = Client(build_mock([Document("made", made)]))
    assert client.get("/a", headers=[("Authorization", "Bearer x")]).status == 204
    assert client.get("/openapi.json").json["components"]["schemas"]["Large"]["maximum"] == 2**64


def test_invalid_default_does_not_stop_the_start() -> None:
    wrong = {"name": "sort", "in": "query", "schema": {"type": "string", "default": None}}
    answers = {"200": {"description": "All."}}
    made = document({"/pets": {"get": {"parameters": [wrong], "responses": answers}}})
    assert Client(build_mock([Document("made", made)])).get("/pets").status == 200
