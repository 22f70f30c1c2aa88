"""The payment documents can grow: requests are closed, answers are open (docs/contributing.md)."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

import specs
from tests.contract.specs.examples import operations
from tests.support.contract import ContractClient, OutsideTheDocument
from tests.support.documents import schemas_in
from tests.support.served import documents_of, served

DOCUMENTS = documents_of("payment")


def found(name: str, *parts: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    document = specs.load(name)
    for _, _, operation, _ in operations(document):
        for part in parts:
            yield from schemas_in(document, operation.get(part))


@pytest.mark.parametrize("name", DOCUMENTS)
class TestObjects:
    def test_of_requests_take_nothing_else(self, name: str) -> None:
        places = dict(found(name, "parameters", "requestBody"))
        assert places, "a document without a request cannot tell"
        for place, schema in places.items():
            assert schema["additionalProperties"] is False, place

    def test_of_answers_may_get_another_property(self, name: str) -> None:
        """The keyword is absent: `true` would make every mistyped name a property in TypeScript."""
        places = dict(found(name, "responses"))
        assert len(places) > 5
        for place, schema in places.items():
            assert "additionalProperties" not in schema, place


class Answers:
    """A service that gives one answer to everything."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._body = body

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        headers = {"Request-Id": "9c41d2f07ab35e1800000001"}
        return [httpx.Response(200, json=self._body, headers=headers) for _ in requests]


def test_our_own_answers_have_nothing_that_the_document_does_not_name() -> None:
    methods = {"environment": "test", "methods": []}
    headers = {"Authorization": "Bearer prk_test_00000000_" + "a" * 43}

    def ask(body: dict[str, Any]) -> None:
        client = ContractClient(Answers(body), served("payment"), headers)
        client.get("/v1/payment-methods")

    ask(methods)
    with pytest.raises(OutsideTheDocument, match="more"):
        ask(methods | {"more": 1})
