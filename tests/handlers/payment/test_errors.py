"""The error table: every failure of the domain has its row, and every code is in the document."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from connexion.exceptions import BadRequestProblem, ProblemException

import models.payment
import specs
from handlers.payment.wire.errors import ERRORS, ROWS
from models.payment import errors as domain
from specd import Refusal
from specd._composition import list_failures
from specd._engine.errors import ENGINE_ERRORS, RequestTimeout
from specd.errors import DatabaseUnavailable, RateLimited
from tests.support.served import documents_of, served
from wsgi import project

# Raised only by commands of the operator, never by HTTP requests.
OPERATORS_ONLY = {
    domain.InvalidXpub,
    domain.PrivateKeyRefused,
    domain.InvalidMethod,
    domain.MainNetRefused,
    domain.PaymentMethodExists,
    domain.PaymentMethodDoesNotExist,
    domain.InvalidName,
    domain.InvalidTolerance,
    domain.ProjectDoesNotExist,
    domain.KeyDoesNotExist,
    domain.ChainIsUnknown,
}


def every_failure() -> set[type[Refusal]]:
    """Return all Refusals of the payment models, in any module."""
    for module in pkgutil.walk_packages(models.payment.__path__, "models.payment."):
        importlib.import_module(module.name)

    def below(kind: type[Refusal]) -> Iterator[type[Refusal]]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    return {
        kind
        for kind in below(Refusal)
        if kind.__module__.startswith("models.payment") or kind is DatabaseUnavailable
    }


class TestTable:
    @pytest.mark.parametrize("kind", sorted(every_failure(), key=lambda kind: kind.__name__))
    def test_every_failure_has_a_row_or_is_for_operators(self, kind: type[Refusal]) -> None:
        mapped = ERRORS.find_row(kind) is not None
        assert mapped != (kind in OPERATORS_ONLY)

    def test_code_of_a_row_belongs_to_a_failure(self) -> None:
        codes = {kind.code for kind in (*every_failure(), *ENGINE_ERRORS)}
        assert {code for code in ROWS if isinstance(code, str)} <= codes

    def test_codes_and_document_agree(self) -> None:
        table = {failure.code for failure in list_failures(project["payment"])}
        assert table == set(served("payment")["components"]["schemas"]["ErrorCode"]["enum"])

    @pytest.mark.parametrize("name", documents_of("payment"))
    def test_every_code_is_explained_in_the_documents_description(self, name: str) -> None:
        head = specs.load(name)["info"]["description"]
        codes = specs.load(name)["components"]["schemas"]["ErrorCode"]["enum"]
        assert [code for code in codes if f"| `{code}` |" not in head] == []

    def test_only_repeatable_refusals_are_definitive(self) -> None:
        kept = {code for code, row in ROWS.items() if row is not None and row.is_definitive}
        assert kept == {
            "invoice_not_cancelable",
            "order_attempt_exists",
            "invalid_amount",
            "payment_method_not_allowed",
        }


class TestRespond:
    @pytest.mark.parametrize(
        ("error", "status", "code", "headers"),
        [
            (RateLimited(limit=600, retry_after_s=7), 429, "rate_limited", {"Retry-After": "7"}),
            (RequestTimeout(15.0), 408, "request_timeout", {}),
            (DatabaseUnavailable(), 503, "database_unavailable", {"Retry-After": "1"}),
            (BadRequestProblem("no"), 422, "invalid_request", {}),
            (ProblemException(status=401), 401, "unauthorized", {"WWW-Authenticate": "Bearer"}),
            (RuntimeError("boom"), 500, "internal_error", {}),
            (domain.PrivateKeyRefused(), 500, "internal_error", {}),
        ],
    )
    def test_response_has_the_error_format(
        self, error: Exception, status: int, code: str, headers: dict[str, str]
    ) -> None:
        response = ERRORS.respond(error, "abc123def456")
        link = {"Link": f'</docs/payment/errors#{code}>; rel="help"'}
        assert (response.status, dict(response.headers)) == (status, headers | link)
        assert f'"code":"{code}"'.encode() in response.body
        assert b'"request_id":"abc123def456"' in response.body

    @pytest.mark.parametrize(
        "secret", ["SELECT secret FROM api_key", "https://user:pass@rpc.example/key"]
    )
    def test_message_of_an_unknown_error_is_not_repeated(self, secret: str) -> None:
        error: Any = RuntimeError(secret)
        assert secret.encode() not in ERRORS.respond(error, "abc123def456").body
