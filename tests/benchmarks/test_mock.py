"""The benchmark of mocks sends valid requests, and compares shapes of answers."""

from typing import Any

import pytest

from benchmarks.load.checkout import ROOT
from benchmarks.mock import DOCUMENTS, another_shape, operations_of
from specd._engine.mocking.service import build_mock
from specd._engine.openapi.loading import load
from specd._engine.openapi.union import Document
from tests.specd.engine.client import Client


@pytest.mark.parametrize(("name", "count"), [("payment", 5), ("pets", 4)])
def test_every_request_is_accepted(name: str, count: int) -> None:
    loaded = load(ROOT / DOCUMENTS[name])
    client = Client(build_mock([Document(name, loaded.content, loaded.text)]))
    operations = list(operations_of(loaded.content))
    assert len(operations) == count
    for operation in operations:
        headers = list(operation.headers.items())
        answer = client.send(
            operation.method, operation.path, headers=headers, body=operation.body.encode()
        )
        assert 200 <= answer.status < 300, (operation.name, answer.body)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": 1, "b": "x"}, {"a": 2.5}, ""),
        ([], [{"a": 1}], ""),
        ({"a": None}, {"a": "x"}, ""),
        ({"a": [{"b": "x"}]}, {"a": [{"b": 1}, {}]}, "/a/0/b is of str, Prism's of int"),
        (True, 1, " is of bool, Prism's of int"),
    ],
)
def test_shapes_are_compared_if_both_answers_have_a_value(
    one: Any, other: Any, expected: str
) -> None:
    assert another_shape(one, other) == expected
