"""`specd routes` lists operations and their handlers."""

import json
from pathlib import Path

from tests.cli.runner import Specd

DOCUMENT = """
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: /v1}]
security: [{key: []}, {}]
paths:
  /pets/{id}:
    get: {responses: {"200": {description: A pet.}}}
    delete:
      tags: [pet store]
      operationId: remove
      security: [{key: [], token: [write]}]
      responses: {"204": {description: Gone.}}
  /ping: {$ref: "#/components/pathItems/Ping"}
components:
  pathItems:
    Ping:
      post:
        x-openapi-router-controller: tools.health
        operationId: ping
        security: []
        responses: {"204": {description: Well.}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    token: {type: http, scheme: bearer}
"""


def test_lists_the_operations_of_a_file(specd: Specd, tmp_path: Path) -> None:
    document = tmp_path / "pets.yaml"
    document.write_text(DOCUMENT)
    status, out, err = specd("routes", str(document), "--format", "json")
    assert (status, err) == (0, "")
    assert [tuple(route.values()) for route in json.loads(out)] == [
        ("pets", "GET", "/v1/pets/{id}", "get_pets_id", True,
         "pets.handlers.operations.get_pets_id", "key or nothing"),
        ("pets", "DELETE", "/v1/pets/{id}", "remove", False,
         "pets.handlers.pet_store.remove", "key and token [write]"),
        ("pets", "POST", "/v1/ping", "ping", False, "tools.health.ping", "-"),
    ]  # fmt: skip


def test_marks_derived_names(specd: Specd, tmp_path: Path) -> None:
    document = tmp_path / "pets.yaml"
    document.write_text(DOCUMENT)
    _, out, _ = specd("routes", str(document))
    assert "get_pets_id *" in out
    assert "remove *" not in out


def test_lists_every_service(specd: Specd) -> None:
    _, out, _ = specd("routes", "--format", "json")
    handlers = {route["handler"] for route in json.loads(out)}
    assert "handlers.payment.events.list_events" in handlers
    assert "handlers.chat.messages.send_message" in handlers
    assert len(handlers) > 150


def test_reports_why_a_file_is_not_a_document(specd: Specd, tmp_path: Path) -> None:
    document = tmp_path / "pets.yaml"
    document.write_text("paths: [")
    status, out, err = specd("routes", str(document))
    assert (status, out) == (1, "")
    assert err.startswith(f"{document}:")
