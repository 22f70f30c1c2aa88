"""Security events record the actor, key, address and request.

Derived from the documents and the tables of errors, so that a new operation is covered immediately.
`tests/handlers/chat/test_security_events.py` tests the changes of state.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from models.chat.identity.key_digests import digest_of
from specd._composition import find_errors
from specd._engine import errors as engine
from specd._error_table import find_refusals
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import Cast
from tests.support.contract import ContractClient, operations_of
from tests.support.payment.app import PaymentApp
from tests.support.served import served
from wsgi import project

ADDRESS = "127.0.0.1"
CHAT, PAYMENT = served("chat"), served("payment")
Lines = list[MutableMapping[str, Any]]


def guarded(document: Mapping[str, Any]) -> list[str]:
    """Return the operations that require a credential."""
    return [
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
        if isinstance(operation, Mapping)
        and "operationId" in operation
        and operation.get("security") != []
    ]


def security(lines: Lines) -> Lines:
    return [line for line in lines if line["event"] == "security"]


@pytest.fixture
def lines() -> Iterator[Lines]:
    with capture_logs() as captured:
        yield captured


def refusal(answer: httpx.Response, operation: str, service: str, **more: Any) -> dict[str, Any]:
    return {
        "event": "security",
        "log_level": "warning",
        "name": "credential_refused",
        "actor": None,
        "address": ADDRESS,
        "id": answer.headers["Request-Id"],
        "service": service,
        "operation": operation,
        **more,
    }


@pytest.mark.parametrize("operation", guarded(CHAT))
def test_chat_records_each_rejected_key(
    operation: str, chat_app: ChatApp, cast: Cast, lines: Lines
) -> None:
    client = ChatClient(chat_app, cast.hamlet.host, replace(cast.hamlet, key="x" * 32))
    answer = client.request(*_filled(CHAT, operation))
    assert answer.status_code == 401
    key = digest_of("x" * 32)[:8]
    told = refusal(answer, operation, "chat", key=key, reason="InvalidApiKey")
    assert security(lines) == [told]


@pytest.mark.parametrize("operation", guarded(PAYMENT))
def test_payment_records_each_rejected_key(
    operation: str, payment_app: PaymentApp, client: ContractClient, lines: Lines
) -> None:
    key = "prk_test_0123abcd_" + "x" * 43
    method, path = _filled(PAYMENT, operation)
    answer = client.with_key(key).request(method, path)
    assert answer.status_code == 401
    told = refusal(answer, operation, "payment", key="0123abcd", reason="Unauthenticated")
    assert security(lines) == [told]


def test_request_from_another_site_is_recorded_before_authentication(
    chat_app: ChatApp, cast: Cast, lines: Lines
) -> None:
    client = ChatClient(chat_app, cast.hamlet.host, cast.hamlet)
    answer = client.request("POST", "/messages", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    (line,) = security(lines)
    told = refusal(answer, "", "chat", name="foreign_origin", key=None, reason="ForeignOrigin")
    assert line == {**told, "operation": None}


def test_each_rejection_of_a_credential_and_each_limit_has_a_name() -> None:
    """In the tables of errors: every error with status 401 or 429."""
    for service in project.services:
        table = find_errors(service)
        kinds = find_refusals((service.models, service.handlers))
        for kind in (*kinds, *engine.ENGINE_ERRORS):
            row = table.find_row(kind)
            if row is not None and (row.status or kind.status) in (401, 429):
                assert _named(kind, table.security_events) is not None, kind
        assert table.security_events[engine.ForeignOrigin] == "foreign_origin"


def _named(kind: type[Exception], table: Mapping[type[Exception], Any]) -> Any:
    return next((table[base] for base in kind.__mro__ if base in table), None)


def _filled(document: Mapping[str, Any], operation: str) -> tuple[str, str]:
    """Return the operation's method, and its path with a value for each parameter."""
    method, path = operations_of(document)[operation]
    while "{" in path:
        start, _, rest = path.partition("{")
        name, _, rest = rest.partition("}")
        path = f"{start}{'x@y.example' if name == 'email' else 1}{rest}"
    return method, path
