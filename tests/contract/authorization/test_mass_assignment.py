"""Only documented parameters can be written.

Every column of every table and every field of every response is added to a valid request of each
writing operation. It must be ignored (chat) or rejected (payment).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import specs
from handlers.chat.wire.envelope import MAX_IGNORED
from models.chat.base import ChatBase
from models.payment.base import PaymentBase
from tests.contract.authorization.chat_stage import ChatStage
from tests.contract.authorization.contents import rows
from tests.contract.authorization.payment_stage import PaymentStage
from tests.contract.authorization.policy import ALLOWED, Case, load
from tests.support.contract import operations_of
from tests.support.documents import resolved

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PAYMENT, CHAT = load("payment"), load("chat")


def parameters_of(document: Mapping[str, Any], operation_id: str) -> set[str]:
    """Return every name that an operation uses: in its path, query and headers, and the fields of
    its body.
    """
    method, path = operations_of(document)[operation_id]
    item = document["paths"][path]
    operation = item[method.lower()]
    known = set()
    for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]:
        known.add(resolved(document, parameter)["name"])
    body = resolved(document, operation.get("requestBody", {}))
    for media in body.get("content", {}).values():
        known |= set(resolved(document, media["schema"]).get("properties", {}))
    return known


def property_names(node: Any) -> Iterator[str]:
    """Yield every property name in a document."""
    if isinstance(node, Mapping):
        if isinstance(node.get("properties"), Mapping):
            yield from node["properties"]
        for value in node.values():
            yield from property_names(value)
    elif isinstance(node, list):
        for value in node:
            yield from property_names(value)


def column_names(base: Any) -> set[str]:
    return {column.name for table in base.metadata.tables.values() for column in table.columns}


MADE_BY_CHANCE = {
    "create_bot": ("api_key",),
    "create_invitation_link": ("invite_link",),
    "regenerate_own_api_key": ("api_key",),
    "register_queue": ("queue_id",),
    "upload_file": ("url", "uri"),
    "upload_own_avatar": ("avatar_url",),
}
"""Operation -> random values, which differ in every response."""


OPERATIONS = operations_of(specs.load("chat"))


def is_written(case: Case) -> bool:
    """Return whether the case changes data when the owner sends it."""
    method, _ = OPERATIONS[case.operation]
    return method != "GET" and case.cells["owner"] == ALLOWED


@pytest.fixture(scope="module")
def every_name(chat_stage: ChatStage) -> frozenset[str]:
    """Return every name of a column or a property of the document."""
    return frozenset(column_names(ChatBase) | set(property_names(chat_stage.app.document)))


@pytest.mark.parametrize(
    "case", [c for c in CHAT.cases if is_written(c)], ids=lambda case: case.name
)
def test_chat_ignores_undocumented_parameters(
    case: Case, chat_stage: ChatStage, every_name: frozenset[str]
) -> None:
    document = chat_stage.app.document
    foreign = sorted(every_name - parameters_of(document, case.operation) - {"client", "method"})
    assert len(foreign) > 100
    plain = chat_stage.answer(case, "owner", "plain").json()
    laden = replace(case, request={**case.request, **dict.fromkeys(foreign, 1)})
    answer = chat_stage.answer(laden, "owner", "laden").json()
    assert answer.pop("ignored_parameters_unsupported") == foreign[:MAX_IGNORED]
    for name in MADE_BY_CHANCE.get(case.operation, ()):
        assert answer.pop(name) != plain.pop(name), "must differ in every request"
    assert answer == plain
    assert rows(chat_stage.place("laden")) == rows(chat_stage.place("plain"))


def body_fields(case: Case) -> set[str]:
    return set(case.request.get("body", {}))


@pytest.mark.parametrize(
    "case", [c for c in PAYMENT.cases if body_fields(c)], ids=lambda case: case.name
)
def test_payment_rejects_undocumented_properties(
    case: Case, shop: PaymentStage, sqlite_url: str
) -> None:
    file = Path(sqlite_url.removeprefix("sqlite:///"))
    everything = column_names(PaymentBase) | set(property_names(shop.app.document))
    foreign = sorted(everything - body_fields(case))
    assert len(foreign) > 40
    before = rows(file)
    accepted = []
    for name in foreign:
        laden = replace(case, request={**case.request, "body": {**case.request["body"], name: 1}})
        response = shop.answer(laden, "project")
        if response.status_code != 422 or response.json()["code"] != "invalid_request":
            accepted.append(name)
    assert accepted == []
    assert rows(file) == before
