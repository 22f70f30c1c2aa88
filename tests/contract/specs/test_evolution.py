"""The documents can be extended: responses are open, and the payment service's requests are closed
(docs/contributing.md).
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import httpx
import pytest

import specs
from tests.contract.specs.examples import operations
from tests.support.contract import ContractClient, OutsideTheDocument
from tests.support.documents import resolved, schemas_in
from tests.support.served import documents_of, served
from wsgi import project

BOTH_WAYS = {"#/components/schemas/AnonymousGroup"}
"""Objects that requests contain too, which are therefore closed."""


def found(name: str, *parts: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    document = specs.load(name)
    for _, _, operation, _ in operations(document):
        for part in parts:
            yield from schemas_in(document, operation.get(part))


@pytest.mark.parametrize("name", documents_of("payment"))
def test_request_objects_reject_other_properties(name: str) -> None:
    places = dict(found(name, "parameters", "requestBody"))
    assert places, "the document has no request"
    for place, schema in places.items():
        assert schema["additionalProperties"] is False, place


@pytest.mark.parametrize("name", project.documents)
def test_response_objects_may_get_more_properties(name: str) -> None:
    """The keyword is absent, because `true` would make every mistyped name a property in
    TypeScript.
    """
    places = dict(found(name, "responses"))
    assert len(places) > 5
    closed = {place for place, schema in places.items() if "additionalProperties" in schema}
    assert closed == BOTH_WAYS & places.keys()


def test_kinds_of_events_stay_distinct_when_extended() -> None:
    """Two kinds differ in a value that both require, so that SDKs match only one."""
    document = specs.load("chat")
    union = document["components"]["schemas"]["Event"]["oneOf"]
    kinds = [resolved(document, kind) for kind in union]
    assert len(kinds) > 70

    def values(kind: Mapping[str, Any], name: str) -> set[str]:
        schema = resolved(document, kind["properties"].get(name, {}))
        return set(schema.get("enum", ())) if name in kind["required"] else set()

    for one, other in combinations(kinds, 2):
        both = [(values(one, name), values(other, name)) for name in ("type", "op")]
        assert any(a and b and not a & b for a, b in both), (one["example"], other["example"])


class Answers:
    """A service that gives the same response to everything."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._body = body

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        headers = {"Request-Id": "9c41d2f07ab35e1800000001"}
        return [httpx.Response(200, json=self._body, headers=headers) for _ in requests]


def test_responses_have_no_undocumented_properties() -> None:
    methods = {"environment": "test", "methods": []}
    headers = {"Authorization": "Bearer prk_test_00000000_" + "a" * 43}

    def ask(body: dict[str, Any]) -> None:
        client = ContractClient(Answers(body), served("payment"), headers)
        client.get("/v1/payment-methods")

    ask(methods)
    with pytest.raises(OutsideTheDocument, match="more"):
        ask(methods | {"more": 1})
