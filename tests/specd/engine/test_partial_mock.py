"""A mock serves the correct parts of a document with errors, and lists the others."""

from pathlib import Path

import pytest

from specd._engine.errors import DocumentError
from specd._engine.mocking.sound import build_partial_mock
from specd._engine.openapi.mistakes import Mistakes, in_order
from tests.specd.engine.client import Client

TEXT = """
openapi: 3.0.3
info: {title: Vendor}
tags: [{description: no name}]
security: [{nothing: []}]
paths:
  /right: {get: {responses: {"200": {$ref: "#/components/responses/Right"}}}}
  /half:
    get: {responses: {"200": {description: ok}}}
    post: {responses: {"2OO": {description: ok}}}
  /parameters:
    parameters: [{name: a, in: query}]
    get: {responses: {"200": {description: ok}}}
  /nowhere: {get: {responses: {"200": {$ref: "#/components/responses/Nowhere"}}}}
  /behind: {get: {responses: {"200": {$ref: "#/components/responses/Behind"}}}}
  /elsewhere: {get: {responses: {"200": {$ref: "gone.yaml#/x"}}}}
  /braces/{: {get: {responses: {"200": {description: ok}}}}
  /xml:
    get:
      parameters: [{name: a, in: query, required: true, content: {application/xml: {}}}]
      responses: {"200": {description: ok}}
  /left: {get: {security: [{lacking: []}], responses: {"200": {description: ok}}}}
components:
  responses:
    Right: {description: ok, content: {application/json: {schema: {type: integer}, example: 5}}}
    Behind:
      description: ok
      content: {application/json: {schema: {$ref: "#/components/schemas/Holder"}}}
  schemas:
    Holder: {type: object, properties: {it: {$ref: "#/components/schemas/Wrong"}}}
    Wrong: {type: objekt}
    Unused: {type: strnig}
  securitySchemes: {lacking: {type: http}}
"""


def test_mock_serves_the_operations_without_errors(tmp_path: Path) -> None:
    file = tmp_path / "vendor.yaml"
    file.write_text(TEXT)
    mock = build_partial_mock([file])
    assert sorted(mock.left_out) == sorted(
        (
            *("POST /half", "GET /parameters", "GET /nowhere", "GET /behind", "GET /elsewhere"),
            *("GET /braces/{", "GET /xml", "GET /left"),
        )
    )
    client = Client(mock.app)
    assert client.get("/right").json == 5
    assert client.get("/half").status == 200
    assert client.send("OPTIONS", "/half").header("Allow") == "GET, HEAD, OPTIONS"
    assert client.get("/behind").status == 404
    messages = "\n".join(map(str, in_order(mock.mistakes)))
    for part in ("objekt", "strnig", "2OO", "gone.yaml", "Nowhere", "application/xml"):
        assert part in messages, part


def test_mock_serves_references_into_an_omitted_operation(tmp_path: Path) -> None:
    file = tmp_path / "vendor.yaml"
    file.write_text("""
openapi: 3.1.0
info: {title: Vendor, version: "1"}
paths:
  /wrong:
    get:
      parameters: [{name: n, in: query, schema: {type: integer}}]
      responses:
        "200":
          description: ok
          headers: {Left: {schema: {$ref: "#/paths/~1wrong/get/parameters/0/schema"}, example: 3}}
        "2OO": {description: ok}
  /right:
    get:
      parameters: [{$ref: "#/paths/~1wrong/get/parameters/0"}]
      responses: {"200": {$ref: "#/paths/~1wrong/get/responses/200"}}
  /schema: {post: {requestBody: {content: {text/plain: {schema: {$ref: "#/info/title"}}}},
                   responses: {"200": {description: ok}}}}
""")
    mock = build_partial_mock([file])
    assert sorted(mock.left_out) == ["GET /wrong", "POST /schema"]
    client = Client(mock.app)
    answer = client.get("/right?n=1")
    assert (answer.status, answer.header("Left")) == (200, "3")
    assert client.get("/right?n=x").status == 400


def test_document_without_operations_is_rejected_by_name(tmp_path: Path) -> None:
    file = tmp_path / "vendor.yaml"
    file.write_text('{openapi: 3.1.0, info: {title: Vendor, version: "1"}, paths: {}}')
    with pytest.raises(DocumentError, match="without operations"):
        build_partial_mock([file])


def test_document_without_correct_operations_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "vendor.yaml"
    file.write_text(TEXT.replace("openapi: 3.0.3", "openapi: 3.0.3\nx-a: 1").split("  /right")[0]
                    + '  /a: {get: {responses: {"2OO": {description: ok}}}}\n')  # fmt: skip
    with pytest.raises(Mistakes):
        build_partial_mock([file])


def test_error_in_a_shared_file_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "path.yaml").write_text(
        'get: {responses: {"200": {description: ok, content: {text/plain: {$ref: a.yaml}}}}}\n'
    )
    (tmp_path / "a.yaml").write_text("schema: {type: string}\n")
    paths = "".join(f"  /p{n}: {{$ref: path.yaml}}\n" for n in range(50))
    file = tmp_path / "vendor.yaml"
    file.write_text(
        f'openapi: 3.0.3\ninfo: {{title: t, version: "1"}}\npaths:\n{paths}'
        + "".join(f"  /o{n}: {{get: {{$ref: op.yaml}}}}\n" for n in range(9))
        + '  /ok: {get: {responses: {"200": {description: ok}}}}\n'
    )
    mock = build_partial_mock([file])
    assert len(mock.left_out) == 59
    messages = [mistake.message for mistake in in_order(mock.mistakes)]
    text = 'a "$ref" cannot stand here: write it out (and at {} more places)'
    assert sorted(messages) == sorted([text.format(49), text.format(8)])


def test_example_that_looks_like_a_reference_omits_nothing(tmp_path: Path) -> None:
    file = tmp_path / "vendor.yaml"
    file.write_text("""
openapi: 3.0.3
info: {title: Vendor, version: "1"}
paths:
  /a:
    get:
      responses:
        "200":
          description: ok
          content:
            application/json:
              schema: {type: object}
              example: {$ref: part.yaml}
""")
    mock = build_partial_mock([file])
    assert (mock.left_out, mock.mistakes) == ([], [])
    assert Client(mock.app).get("/a").json == {"$ref": "part.yaml"}
