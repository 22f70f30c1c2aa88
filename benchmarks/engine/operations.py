"""The three operations as requests: the loaded one, its response, and those to reject.

The check before the load, the load itself and the tests all use them, so that all three send the
same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

TOKEN = "bench-token-0123456789abcdef"
OWNER = "merchant"

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `body` is the exact text."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """A request with the only correct response, and invalid requests for validating servers."""

    name: str
    title: str
    request: Request
    status: int
    answer: Any
    refused: Mapping[str, Request]


ITEM = {"name": "blue-lamp", "quantity": 3, "price": "12.50", "gift": False}
MESSAGES = [101, 102, 105, 106, 107, 110, 111, 118]
FLAGS = {"messages": json.dumps(MESSAGES), "op": "add", "flag": "read"}


def _get(path: str, headers: Mapping[str, str]) -> Request:
    return Request("GET", path, headers)


def _post_item(**changes: Any) -> Request:
    return Request("POST", "/v1/items", JSON, json.dumps(ITEM | changes))


def _post_flags(**changes: str) -> Request:
    return Request("POST", "/v1/flags", FORM, urlencode(FLAGS | changes))


OPERATIONS = (
    Operation(
        name="get",
        title="GET, integer in the path, bearer token",
        request=_get("/v1/items/42", BEARER),
        status=200,
        answer={"id": 42, "name": "item-42", "owner": OWNER},
        refused={
            "no token": _get("/v1/items/42", {}),
            "wrong token": _get("/v1/items/42", {"Authorization": "Bearer nobody"}),
            "path not an integer": _get("/v1/items/forty-two", BEARER),
            "path out of range": _get("/v1/items/0", BEARER),
        },
    ),
    Operation(
        name="post",
        title="POST, JSON body of four fields",
        request=_post_item(),
        status=201,
        answer={"id": 1, **ITEM},
        refused={
            "unknown field": _post_item(colour="red"),
            "pattern": _post_item(price="12.505"),
            "type": _post_item(quantity="3"),
            "range": _post_item(quantity=1001),
            "missing field": Request("POST", "/v1/items", JSON, '{"name": "lamp"}'),
            "broken JSON": Request("POST", "/v1/items", JSON, '{"name": '),
        },
    ),
    Operation(
        name="form",
        title="POST, urlencoded form with a JSON-encoded array",
        request=_post_flags(),
        status=200,
        answer={"messages": MESSAGES, "op": "add", "flag": "read"},
        refused={
            "unknown field": _post_flags(colour="red"),
            "broken JSON in a field": _post_flags(messages="[1, 2"),
            "array of strings": _post_flags(messages='["a"]'),
            "empty array": _post_flags(messages="[]"),
            "not in the enumeration": _post_flags(op="toggle"),
            "pattern": _post_flags(flag="Read!"),
        },
    ),
)
