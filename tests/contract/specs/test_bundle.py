"""Documents that borrow components of others stand alone when they are published."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from openapi_spec_validator import validate

import specs
from services import DOCUMENTS
from specs.bundle import bundle
from tests.support.served import documents_of

NEIGHBOUR = """
components:
  schemas:
    A:
      description: Has a B.
      properties:
        b: {$ref: "#/components/schemas/B"}
        c: {$ref: "#/components/schemas/C"}
    # This is about B.
    B: {type: string}  # as it is

    C: {enum: [theirs]}
    D: {type: integer}
  headers:
    H: {schema: {$ref: "#/components/schemas/D"}}
"""
OWN = """
paths:
  /a: {$ref: "other.yaml#/components/schemas/A"}
  /h: {$ref: "other.yaml#/components/headers/H"}
components:
  schemas:
    B: {$ref: "other.yaml#/components/schemas/B"}
    C: {enum: [ours]}
    # The last word.
"""


def bundled(text: str) -> tuple[str, Any]:
    made = bundle(text, {"other": NEIGHBOUR}.__getitem__)
    return made, yaml.safe_load(made)


def references(node: Any) -> list[str]:
    if isinstance(node, Mapping):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for item in node.values() for found in references(item)]
    if isinstance(node, list):
        return [found for item in node for found in references(item)]
    return []


def test_what_is_borrowed_comes_with_what_it_needs() -> None:
    _, made = bundled(OWN)
    theirs = yaml.safe_load(NEIGHBOUR)["components"]
    assert made["components"] == {
        "schemas": {
            "A": theirs["schemas"]["A"],
            "B": {"type": "string"},
            "C": {"enum": ["ours"]},
            "D": {"type": "integer"},
        },
        "headers": theirs["headers"],
    }
    assert made["paths"] == {
        "/a": {"$ref": "#/components/schemas/A"},
        "/h": {"$ref": "#/components/headers/H"},
    }


def test_it_is_copied_letter_for_letter() -> None:
    text, _ = bundled(OWN)
    assert "    B: {type: string}  # as it is\n" in text
    assert "This is about B" not in text
    assert text.endswith("    # The last word.\n")


def test_a_component_that_the_neighbour_lacks_is_an_error() -> None:
    with pytest.raises(KeyError, match="Z"):
        bundled(OWN.replace("schemas/A", "schemas/Z"))


def test_a_document_that_borrows_nothing_stays() -> None:
    assert bundle(NEIGHBOUR, {}.__getitem__) is NEIGHBOUR


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_document_stands_alone(name: str) -> None:
    document = specs.load(name)
    assert [to for to in references(document) if not to.startswith("#/components/")] == []
    if name not in documents_of("chat"):  # whose own test does it
        validate(document)


def test_what_is_shared_is_written_once() -> None:
    own, payment = specs.load("payment-events"), specs.load("payment")
    shared = {
        (kind, name)
        for kind, components in own["components"].items()
        for name in components
        if name in payment["components"].get(kind, {})
    }
    assert ("schemas", "Invoice") in shared
    for kind, name in shared - {("schemas", "ErrorCode")}:
        assert own["components"][kind][name] == payment["components"][kind][name]
