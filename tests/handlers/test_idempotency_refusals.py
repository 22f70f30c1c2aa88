"""Errors of idempotency keys come from the library, and each service documents its form of them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from specd import Refusal
from specd._composition import find_errors
from specd._db.idempotency import IdempotencyInProgress, IdempotencyKeyReused
from tests.support.served import served
from wsgi import project


def example(service: str, code: str) -> Any:
    """Return the example of a document with the code, which is equal at all places."""
    found = {json.dumps(each, sort_keys=True) for each in _bodies(served(service), code)}
    (shown,) = found
    return json.loads(shown)


def _bodies(node: Any, code: str) -> Iterator[Any]:
    if isinstance(node, Mapping):
        if node.get("code") == code:
            yield node
        node = list(node.values())
    if isinstance(node, list | tuple):
        for each in node:
            yield from _bodies(each, code)


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [(IdempotencyInProgress, 409, "1"), (IdempotencyKeyReused, 422, None)],
)
@pytest.mark.parametrize("service", ["payment", "chat"])
def test_response_equals_the_documented_example(
    service: str, error: type[Refusal], status: int, retry_after: str | None
) -> None:
    answer = find_errors(project[service]).respond(error(), "3fa85f6457174562b3fc2c963f66afa6")
    code = error.code.upper() if service == "chat" else error.code
    shown = example(service, code)
    assert answer.status == status
    assert dict(answer.headers).get("Retry-After") == retry_after
    assert json.loads(answer.body) == {**shown, **_request_id(shown)}
    assert f"/docs/{service}/errors#{code}>" in dict(answer.headers)["Link"]


def _request_id(shown: Any) -> dict[str, str]:
    return {"request_id": "3fa85f6457174562b3fc2c963f66afa6"} if "request_id" in shown else {}
