"""Strict queries: rejected parameters, messages, and services without them."""

from typing import Any

import pytest

from specd import Context
from specd._engine.http.queries import MAX_NAMED
from tests.specd.engine.client import Client
from tests.specd.engine.services import operation, serve

WORDS = {"type": "array", "items": {"type": "string"}}
PARAMETERS = [
    {"name": "status", "in": "query", "schema": WORDS},
    {"name": "tags", "in": "query", "explode": False, "schema": WORDS},
    {"name": "limit", "in": "query", "schema": {"type": "integer"}},
    {"name": "external_order_id", "in": "query", "schema": {"type": "string"}},
]


def list_things(
    ctx: Context,
    *,
    status: Any = None,
    tags: Any = None,
    limit: Any = None,
    external_order_id: Any = None,
) -> dict[str, Any]:
    found = {"status": status, "tags": tags, "limit": limit, "order": external_order_id}
    return found | {"unknown": list(ctx.unknown_parameters)}


def served(**changes: Any) -> Client:
    paths = {"/things": {"get": operation("list_things", parameters=PARAMETERS)}}
    return serve(paths, {"list_things": list_things}, **changes)


@pytest.fixture(scope="module")
def strict() -> Client:
    return served(strict_queries=True)


def refused(client: Client, query: str) -> dict[str, str]:
    """Return the messages of a rejection by path."""
    answer = client.get(f"/things?{query}")
    assert answer.status == 422, answer.body
    return {detail["path"]: detail["message"] for detail in answer.json["details"]}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("Status", "status"),
        ("statuses", "status"),
        ("status[]", "status"),
        ("external-order-id", "external_order_id"),
        ("order_id", "external_order_id"),
        ("Limit", "limit"),
        ("exception", None),
        ("", None),
        ("x" * 1000, None),
    ],
)
def test_unknown_parameter_is_rejected_with_a_suggestion(
    strict: Client, name: str, nearest: str | None
) -> None:
    told = "is not a parameter of this operation"
    message = told if nearest is None else f"{told}; did you mean {nearest}?"
    assert refused(strict, f"{name}=1") == {f"/query/{name[:100]}": message}


def test_single_value_cannot_be_repeated(strict: Client) -> None:
    twice = "limit=1&limit=2&tags=a,b&tags=c&external_order_id=1&external_order_id=1"
    once = "must be sent once"
    assert refused(strict, twice) == {
        "/query/limit": once,
        "/query/tags": once,
        "/query/external_order_id": once,
    }


def test_list_can_be_repeated(strict: Client) -> None:
    answer = strict.get("/things?status=a&status=b&tags=c,d&limit=1")
    assert answer.json == {
        "status": ["a", "b"],
        "tags": ["c", "d"],
        "limit": 1,
        "order": None,
        "unknown": [],
    }


def test_all_errors_are_reported_together(strict: Client) -> None:
    assert list(refused(strict, "page=1&limit=x")) == ["/query/page", "/query/limit"]


def test_message_does_not_list_a_thousand_names(strict: Client) -> None:
    query = "&".join(f"{'n' * 4}{number}=" for number in range(900))
    assert len(refused(strict, query)) == MAX_NAMED


def test_other_services_pass_unknown_parameters_to_handlers() -> None:
    answer = served().get("/things?Status=a&limit=1&limit=2")
    assert answer.json["unknown"] == ["Status"]
    assert answer.json["limit"] == 2
