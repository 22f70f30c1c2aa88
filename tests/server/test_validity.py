"""The quick check of documents says valid of nothing that connexion would refuse."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from connexion.exceptions import InvalidSpecification
from connexion.spec import OpenAPISpecification

import services
import specs
from server.document.validity import check_validity, is_certainly_valid

Schema = dict[str, Any]
INTEGER: Schema = {"type": "integer", "minimum": 3}


def document(schema: Schema) -> Schema:
    """A document of one operation, whose answer has this schema."""
    content = {"application/json": {"schema": schema, "example": {"default": "x"}}}
    answer = {"description": "All is well.", "content": content}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "/{v}", "variables": {"v": {"default": "a", "enum": ["a"]}}}],
        "paths": {"/": {"get": {"operationId": "look", "responses": {"default": answer}}}},
        "components": {"schemas": {"Many": INTEGER}},
    }


GOOD = {
    "none": {"type": "string"},
    "plain": {**INTEGER, "default": 3},
    "null": {**INTEGER, "nullable": True, "default": None},
    "of many": {"allOf": [{"$ref": "#/components/schemas/Many"}], "default": 3},
    "a property of that name": {"properties": {"default": INTEGER, "enum": INTEGER}},
    "an object": {"type": "object", "default": {"default": "x"}},
}
BAD = {
    "too small": {**INTEGER, "default": 2},
    "null": {**INTEGER, "default": None},
    "of many": {"allOf": [{"$ref": "#/components/schemas/Many"}], "default": 2},
    "under a property called enum": {"properties": {"enum": {**INTEGER, "default": 2}}},
    "under a property called default": {"properties": {"default": {**INTEGER, "default": 2}}},
    "no schema": {"type": "whole number"},
    "no list": {"required": "name"},
}


@pytest.mark.parametrize("name", services.DOCUMENTS)
def test_ours_need_no_other_check(name: str) -> None:
    assert is_certainly_valid(specs.load(name))


@pytest.mark.parametrize("schema", GOOD.values(), ids=GOOD)
def test_what_is_valid(schema: Schema) -> None:
    OpenAPISpecification(document(schema))
    assert is_certainly_valid(document(schema))


@pytest.mark.parametrize("schema", BAD.values(), ids=BAD)
def test_what_is_not_is_refused_in_the_same_words(schema: Schema) -> None:
    assert not is_certainly_valid(document(schema))
    with pytest.raises(InvalidSpecification) as slow:
        OpenAPISpecification(document(schema))
    with pytest.raises(InvalidSpecification) as soon:
        check_validity(document(schema))
    assert soon.value.message == slow.value.message
    assert list(soon.value.absolute_path) == list(slow.value.absolute_path)


def test_faults_of_the_frame() -> None:
    good = document({"type": "string"})
    for key in ("openapi", "info", "paths"):
        bad = copy.deepcopy(good)
        del bad[key]
        assert not is_certainly_valid(bad)
    bad = copy.deepcopy(good)
    bad["servers"][0]["variables"]["v"]["default"] = "b"
    assert not is_certainly_valid(bad)
