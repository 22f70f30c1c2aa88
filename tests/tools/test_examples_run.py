"""A new demo answers each example of each operation with 2xx, in the order of the documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

import specs
from tests.support.pictures import PIXEL
from tests.tools.example_requests import JSON, ExampleRequest, example_requests

EXCEPTIONS = {
    "payment-events": {
        "resolve_invoice refunded": "the demo's invoice is canceled, and no money has come",
        "resolve_invoice accepted": "the same",
    },
    "chat": {
        "deactivate_user farewell": "the example before it has deactivated the user",
        "receive_json deployed": "the key of a bot is the server's to give",
        "receive_webhook ping": "the same",
        "receive_webhook text": "the same",
        "get_temporary_url": "the name of a file is the server's to give",
        "accept_invitation address": "of a reusable link, and the demo's token is of a mail",
        "update_channel restore": "the channel is not archived",
        "complete_vendor_authorization": "the code is the vendor's to give",
        "receive_vendor_notice withdrawn": "the demo's vendor sends no notices",
        "deactivate_own_user": "the demo's owner is the only one, so no example ends the account",
    },
}
"""Document -> the examples that a new demo rejects, with the reason."""
LEAST = {"payment": 7, "payment-events": 17, "chat": 215}
"""Document -> the minimum number of examples answered with 2xx."""
BASES = {"payment": "", "payment-events": "", "chat": "/api/v1"}


def send(ready: Mapping[str, Any], document: str, request: ExampleRequest) -> httpx.Response:
    headers = dict(request.headers)
    more: dict[str, Any] = {}
    if request.is_signed and document == "chat":
        owner = ready["chat_users"][0]
        more["auth"] = (owner["email"], owner["api_key"])
    elif request.is_signed:
        headers["Authorization"] = f"Bearer {ready['key']}"
    if request.media_type == JSON:
        more["json"] = request.body
    elif request.media_type:
        more["files"] = {name: (f"{name}.png", PIXEL) for name in request.body}
    return httpx.request(
        request.method,
        f"{ready['base_url']}{BASES[document]}{request.path}",
        params=request.query,
        headers=headers,
        timeout=20,
        **more,
    )


def test_examples_are_answered(ready: Mapping[str, Any]) -> None:
    for document in BASES:
        refused = {}
        requests = list(example_requests(specs.load(document)))
        for request in requests:
            answer = send(ready, document, request)
            if not answer.is_success:
                refused[request.name] = f"{answer.status_code} {answer.text.strip()}"
        assert refused.keys() == EXCEPTIONS.get(document, {}).keys(), refused
        assert len(requests) - len(refused) >= LEAST[document]


@pytest.mark.parametrize("document", BASES)
def test_operations_that_end_access_come_last(document: str) -> None:
    ends = [request.ends_access for request in example_requests(specs.load(document))]
    assert ends == sorted(ends)
    assert sum(ends) == (2 if document == "chat" else 0)


def test_each_operation_has_different_idempotency_keys() -> None:
    keys = [
        request.headers["Idempotency-Key"]
        for document in BASES
        for request in example_requests(specs.load(document))
        if "Idempotency-Key" in request.headers
    ]
    assert len(keys) >= 9
    assert len(keys) == len(set(keys))
