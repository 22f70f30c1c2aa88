"""The additional documents of the payment service are consistent and closed."""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import specs
from tests.contract.specs.examples import operations as operations_in
from tests.support.documents import resolved, walk
from wsgi import project

_, *FURTHER = project["payment"].files
ERRORS = {"401", "422", "429", "431", "500", "503"}


@pytest.fixture(params=FURTHER)
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    loaded: dict[str, Any] = specs.load(request.param)
    return loaded


def operations(document: dict[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for method, path, operation, _ in operations_in(document):
        yield f"{method} {path}", operation


def test_every_operation_is_the_function_of_its_name(document: dict[str, Any]) -> None:
    for _, operation in operations(document):
        module = importlib.import_module(f"handlers.payment.{operation['tags'][0]}")
        function = getattr(module, operation["operationId"])
        first = (inspect.getdoc(function) or "").splitlines()[0]
        assert first == operation["summary"] + ".", "docstring and summary must be the same"


def test_every_tag_is_used_and_described(document: dict[str, Any]) -> None:
    used = {tag for _, operation in operations(document) for tag in operation["tags"]}
    assert {tag["name"] for tag in document["tags"] if tag["description"]} == used


def test_every_pattern_is_anchored(document: dict[str, Any]) -> None:
    for place, node in walk(document):
        if isinstance(node, Mapping) and isinstance(node.get("pattern"), str):
            assert re.fullmatch(r"\^.*\$", node["pattern"]), place


def test_every_error_is_the_error_record(document: dict[str, Any]) -> None:
    for place, operation in operations(document):
        assert operation["responses"].keys() >= ERRORS, place
        for status, node in operation["responses"].items():
            answer = resolved(document, node)
            headers = answer["headers"]
            assert {"Request-Id", "RateLimit", "RateLimit-Policy"} <= headers.keys(), place
            assert ("WWW-Authenticate" in headers) == (status == "401"), place
            if status[0] in "45":
                assert "Link" in headers, place
                (media,) = answer["content"].values()
                assert media["schema"]["$ref"].endswith("/ErrorResponse"), (place, status)


def test_every_error_code_has_an_example(document: dict[str, Any]) -> None:
    shown = {
        resolved(document, example)["value"]["code"]
        for _, operation in operations(document)
        for status, node in operation["responses"].items()
        if status[0] in "45"
        for example in resolved(document, node)["content"]["application/json"]["examples"].values()
    }
    codes = set(document["components"]["schemas"]["ErrorCode"]["enum"])
    assert shown == codes - {"method_not_allowed", "not_found"}
