"""Responses of a mock for media types with parameters, and without a possible response."""

from typing import Any

import pytest
import yaml

from specd._engine.mocking.service import build_mock
from specd._engine.openapi.union import Document
from tests.specd.engine.client import Client

TEXT = """
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /versions:
    get:
      responses:
        "200":
          description: ok
          content:
            application/vnd.acme+json;version=1: {example: {v: 1}}
            application/vnd.acme+json;version=2: {example: {v: 2}}
            text/plain: {example: v}
    post:
      requestBody: {content: {application/json: {schema: {}}, text/plain: {schema: {}}}}
      responses: {"204": {description: ok}}
  /undescribed:
    get:
      responses:
        "200":
          description: ok
          content: {image/png: {}, text/csv: {schema: {}}, application/json: {}}
  /headers:
    get:
      responses:
        "200":
          description: ok
          headers:
            Connection: {schema: {type: string}, example: keep-alive}
            Content-Encoding: {schema: {type: string}, example: gzip}
            transfer-encoding: {schema: {type: string}, example: chunked}
            bad name: {schema: {type: string}, example: a}
            X-Mine: {schema: {type: string}, example: a}
          content: {application/json: {example: 1}}
  /ws: {get: {responses: {"101": {description: websocket}}}}
  /hints: {get: {responses: {"103": {description: early}, "404": {description: none}}}}
  /endless:
    get:
      responses:
        "200":
          description: ok
          content: {application/json: {schema: {$ref: "#/components/schemas/Endless"}}}
  /secret: {get: {security: [{key: []}, {basic: []}], responses: {"204": {description: ok}}}}
  /xml:
    get:
      responses:
        "200":
          description: ok
          content:
            application/xml:
              schema:
                allOf:
                  - {type: object, xml: {name: page}, properties: {total: {type: integer}}}
                  - properties:
                      data:
                        type: array
                        xml: {name: stations, wrapped: true}
                        items: {$ref: "#/components/schemas/Station"}
              example: {total: 0, data: [{id: 0}]}
components:
  schemas:
    Endless:
      type: object
      required: [next]
      properties: {next: {$ref: "#/components/schemas/Endless"}}
    Station:
      allOf:
        - {type: object, xml: {name: station}}
        - {properties: {id: {allOf: [{type: integer}, {xml: {attribute: true}}]}}}
  securitySchemes:
    key: {type: apiKey, in: cookie, name: sid}
    basic: {type: http, scheme: basic}
"""


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(build_mock([Document("t", yaml.safe_load(TEXT))]))


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("application/vnd.acme+json", {"v": 1}),
        ("application/vnd.acme+json;version=2", {"v": 2}),
        ("application/vnd.acme+json;version=2;q=0.5, application/vnd.acme+json", {"v": 1}),
        ("application/vnd.acme+json;version=1;q=0, application/*", {"v": 2}),
        ("application/*", {"v": 1}),
        ("*/*", {"v": 1}),
        ("*/*, application/vnd.acme+json;version=2", {"v": 2}),
        ("application/vnd.acme+json;version=3", 406),
        ("image/png", 406),
    ],
)
def test_range_without_parameters_includes_media_types_with_parameters(
    client: Client, accept: str, expected: Any
) -> None:
    answer = client.get("/versions", headers=[("Accept", accept)])
    if isinstance(expected, int):
        assert answer.status == expected
    else:
        assert (answer.status, answer.json) == (200, expected)


def test_mock_sends_no_transport_headers(client: Client) -> None:
    answer = client.get("/headers")
    assert (answer.status, answer.json, answer.header("X-Mine")) == (200, 1, "a")
    sent = {name.lower() for name, _ in answer.headers}
    assert sent.isdisjoint({"connection", "content-encoding", "transfer-encoding", "bad name"})


def test_mock_never_switches_protocols(client: Client) -> None:
    assert client.get("/ws").status == 501
    assert client.get("/hints").status == 404
    assert client.get("/hints", headers=[("Prefer", "code=103")]).status == 501


def test_schema_without_valid_values_is_named(client: Client) -> None:
    answer = client.get("/endless")
    assert answer.status == 501
    assert answer.json["detail"] == (
        "No value fits the schema of GET /endless 200 application/json."
    )


def test_error_names_the_remedy(client: Client) -> None:
    secret = client.get("/secret")
    challenges = [value for name, value in secret.headers if name == "www-authenticate"]
    assert challenges == ['ApiKey in="cookie", name="sid"', 'Basic realm="api", charset="UTF-8"']
    assert (secret.status, challenges[0] in secret.json["detail"]) == (401, True)
    wrong = client.post("/versions", body=b"<a/>", content_type="text/xml")
    assert (wrong.status, wrong.header("accept")) == (415, "application/json, text/plain")
    assert wrong.json["detail"] == (
        "Send the body as application/json or text/plain, as UTF-8 and not compressed."
    )
    assert client.get("/nowhere").json["detail"] == "The document has no such path."
    assert "GET" in client.send("DELETE", "/versions").json["detail"]


def test_xml_has_the_names_of_all_parts(client: Client) -> None:
    assert client.get("/xml").body.decode() == (
        '<page><total>0</total><stations><station id="0"></station></stations></page>'
    )


@pytest.mark.parametrize(
    ("media_type", "body"), [("image/png", b""), ("text/csv", b""), ("application/json", b"{}")]
)
def test_undescribed_body_has_its_media_type(client: Client, media_type: str, body: bytes) -> None:
    answer = client.send("GET", "/undescribed", headers=[("Accept", media_type)])
    assert (answer.status, answer.body) == (200, body)
    assert ("content-type", media_type) in answer.headers
