"""Every operation rejects query parameters that its document does not define."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

import specs
from tests.support.contract import ContractClient
from tests.support.documents import resolved
from tests.support.served import documents_of

METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return operationId, document and operation of all documents.

    The operation includes `path`, `method` and all parameters.
    """
    for name in documents_of("payment"):
        document = specs.load(name)
        for path, item in document["paths"].items():
            for method in METHODS:
                if method in item:
                    declared = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                    parameters = [resolved(document, parameter) for parameter in declared]
                    facts = {"path": path, "method": method, "parameters": parameters}
                    yield item[method]["operationId"], document, item[method] | facts


ALL = {operation_id: parts for operation_id, *parts in operations()}
QUERIES = [
    (operation_id, parameter["name"])
    for operation_id, (_, operation) in ALL.items()
    for parameter in operation["parameters"]
    if parameter["in"] == "query"
]


def target(document: dict[str, Any], operation: dict[str, Any]) -> str:
    """Return the operation's path with the parameters of its examples."""
    path: str = operation["path"]
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(example(document, parameter)))
    return path


def example(document: dict[str, Any], parameter: dict[str, Any]) -> str:
    if "example" in parameter:
        shown = parameter["example"]
    elif "examples" in parameter:
        shown = resolved(document, next(iter(parameter["examples"].values())))["value"]
    else:
        shown = "1"  # a cursor belongs to a project
    value = shown[0] if isinstance(shown, list) else shown
    return value if isinstance(value, str) else json.dumps(value)


def is_list(document: dict[str, Any], parameter: dict[str, Any]) -> bool:
    return bool(resolved(document, parameter["schema"]).get("type") == "array")


def refusals(api: ContractClient, operation: dict[str, Any], url: str) -> dict[str, str]:
    """Return the errors of the query by location."""
    answer = api.request(operation["method"].upper(), url)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "invalid_request"
    return {
        detail["path"]: detail["message"]
        for detail in answer.json()["details"]
        if detail["path"].startswith("/query")
    }


def test_all_operations_are_listed() -> None:
    assert len(ALL) >= 17
    assert len(QUERIES) >= 10


@pytest.mark.parametrize(("operation_id", "name"), QUERIES)
class TestEveryParameter:
    def test_mistyped_name_is_reported_with_the_parameter(
        self, api: ContractClient, operation_id: str, name: str
    ) -> None:
        document, operation = ALL[operation_id]
        mistyped = name.capitalize()
        url = f"{target(document, operation)}?{mistyped}=1"
        assert refusals(api, operation, url) == {
            f"/query/{mistyped}": f"is not a parameter of this operation; did you mean {name}?"
        }

    def test_repeated_parameter_is_rejected_unless_it_is_a_list(
        self, api: ContractClient, operation_id: str, name: str
    ) -> None:
        document, operation = ALL[operation_id]
        parameter = next(each for each in operation["parameters"] if each["name"] == name)
        value = f"{name}={quote(example(document, parameter))}"
        url = f"{target(document, operation)}?{value}&{value}"
        if is_list(document, parameter):
            answer = api.request(operation["method"].upper(), url)
            assert answer.status_code == 200, answer.text
        else:
            assert refusals(api, operation, url) == {f"/query/{name}": "must be sent once"}


@pytest.mark.parametrize("operation_id", ALL)
class TestEveryOperation:
    def test_rejects_an_unknown_parameter(self, api: ContractClient, operation_id: str) -> None:
        document, operation = ALL[operation_id]
        found = refusals(api, operation, f"{target(document, operation)}?colour=red&tx_hash=")
        assert list(found) == ["/query/colour", "/query/tx_hash"]

    def test_credentials_are_checked_before_the_query(
        self, client: ContractClient, operation_id: str
    ) -> None:
        document, operation = ALL[operation_id]
        url = f"{target(document, operation)}?colour=red"
        assert client.request(operation["method"].upper(), url).status_code == 401
