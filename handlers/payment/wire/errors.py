"""The payment service's one error table: what can be raised, and how it reads on the wire."""

from dataclasses import dataclass
from typing import Any

from connexion.exceptions import ProblemException

from models.payment import errors as domain
from models.payment.test_helpers import errors as helpers
from specd import Refusal, Response, SecurityEvent, encode, help_link
from specd._engine import errors as engine
from specd.errors import DatabaseUnavailable

Detail = tuple[str, str]
"""A JSON pointer into the request, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of the table. `is_definitive`: the same request would be refused again, so an
    idempotency key keeps this answer. `retry_after_s`: when trying again can help.
    """

    status: int
    code: str
    is_definitive: bool = False
    retry_after_s: int | None = None
    at: Detail | None = None
    shown: tuple[str, ...] = ()
    """The facts that the detail has as properties, for programs."""


DOMAIN: dict[type[Refusal], Answer] = {
    domain.InvoiceDoesNotExist: Answer(404, "invoice_not_found"),
    domain.EventDoesNotExist: Answer(404, "event_not_found"),
    domain.EventsGone: Answer(
        410, "events_gone", at=("/query/after", "is older than the oldest event that is kept")
    ),
    domain.WebhookEndpointDoesNotExist: Answer(404, "webhook_endpoint_not_found"),
    domain.InsufficientScope: Answer(403, "insufficient_scope"),
    domain.TooManyWebhookEndpoints: Answer(409, "too_many_webhook_endpoints"),
    domain.WebhookEndpointNotEnabled: Answer(409, "webhook_endpoint_disabled"),
    domain.WebhookTestInProgress: Answer(409, "webhook_test_in_progress", retry_after_s=5),
    domain.InvalidWebhookUrl: Answer(422, "invalid_webhook_url", at=("/body/url", "{problem}")),
    domain.InvalidMetadata: Answer(422, "invalid_metadata", at=("/body/metadata", "{problem}")),
    domain.TooManyInvoices: Answer(422, "too_many_invoices"),
    domain.TooManyPayments: Answer(422, "too_many_payments"),
    domain.InvalidCursor: Answer(
        422,
        "invalid_cursor",
        at=("/query/cursor", "is not a cursor of this list with these filters in this order"),
    ),
    domain.InvoiceNotCancelable: Answer(409, "invoice_not_cancelable", is_definitive=True),
    domain.InvoiceNotResolvable: Answer(409, "invoice_not_resolvable"),
    domain.InvoiceNotPayable: Answer(409, "invoice_not_payable"),
    domain.OrderAttemptExists: Answer(
        409,
        "order_attempt_exists",
        is_definitive=True,
        at=("/body/attempt_no", "Invoice {invoice_id} is this attempt's."),
        shown=("invoice_id",),
    ),
    domain.IdempotencyInProgress: Answer(409, "idempotency_in_progress", retry_after_s=1),
    domain.IdempotencyKeyReused: Answer(422, "idempotency_key_reused"),
    domain.InvalidAmount: Answer(
        422,
        "invalid_amount",
        is_definitive=True,
        at=("/body/amount", "must be positive and at most 2^256 - 1 atomic units"),
    ),
    domain.PaymentMethodNotAllowed: Answer(
        422,
        "payment_method_not_allowed",
        is_definitive=True,
        at=("/body/payment_method_id", "is not a method that this project can use"),
    ),
    domain.ChainNotConfigured: Answer(503, "chain_not_configured", retry_after_s=60),
    domain.ChainUnavailable: Answer(503, "chain_unavailable", retry_after_s=5),
    helpers.ChainDoesNotExist: Answer(404, "chain_not_found"),
    helpers.ScenarioDoesNotExist: Answer(404, "scenario_not_found"),
    helpers.RunDoesNotExist: Answer(404, "run_not_found"),
    helpers.ChainIsNoTestBench: Answer(409, "chain_cannot_do_that"),
    helpers.NothingIsDue: Answer(409, "nothing_due"),
    helpers.InvoiceNotExpirable: Answer(409, "invoice_not_expirable"),
    helpers.InvalidShopUrl: Answer(422, "invalid_webhook_url", at=("/body/shop_url", "{problem}")),
    helpers.TooFewConfirmations: Answer(409, "too_few_confirmations"),
    helpers.NoNextAttempt: Answer(409, "no_next_attempt"),
    helpers.TooManyRuns: Answer(409, "too_many_runs", retry_after_s=5),
    DatabaseUnavailable: Answer(503, "database_unavailable", retry_after_s=1),
}

ENGINE: dict[type[ProblemException], str] = {
    engine.InvalidRequest: "invalid_request",
    engine.Unauthenticated: "unauthorized",
    engine.ForeignOrigin: "foreign_origin",
    engine.NotFound: "not_found",
    engine.MethodNotAllowed: "method_not_allowed",
    engine.RequestTimeout: "request_timeout",
    engine.BodyTooLarge: "body_too_large",
    engine.UnsupportedMediaType: "unsupported_media_type",
    engine.RateLimited: "rate_limited",
    engine.HeadersTooLarge: "headers_too_large",
    engine.InternalError: "internal_error",
}
BY_STATUS = {kind.status: code for kind, code in ENGINE.items()} | {
    engine.TargetTooLong.status: "headers_too_large"
}
"""Connexion's own problems are known by their status only."""
WIRE_STATUSES = {400: 422, engine.TargetTooLong.status: engine.HeadersTooLarge.status}
"""The interface has no 400 for invalid requests, and no 414 for long addresses, which the chat has:
the released document promises 431 (decision 29).
"""

SECURITY_EVENTS: dict[type[Exception], SecurityEvent] = {
    engine.Unauthenticated: SecurityEvent.CREDENTIAL_REFUSED,
    engine.RateLimited: SecurityEvent.LIMIT_HIT,
    engine.ForeignOrigin: SecurityEvent.FOREIGN_ORIGIN,
}
"""Errors that are logged as security events."""

SENTENCES = {
    "unauthorized": "Send a valid API key of the project as Authorization: Bearer prk_test_...",
    "foreign_origin": "A page of another origin sent this; call the interface from your backend.",
    "not_found": "There is no such path; GET /v1/openapi.json lists the operations.",
    "method_not_allowed": "This path does not take that method; the Allow header says which.",
    "request_timeout": "The body did not arrive in time; send the request again.",
    "body_too_large": "The body is too large; send at most {limit} bytes.",
    "unsupported_media_type": "Send the body as {accepted}, not compressed.",
    "invalid_request": "The request does not fit the interface; correct what the details name.",
    "rate_limited": "Too many requests; wait for the seconds that Retry-After says.",
    "headers_too_large": "The address or the headers are too long; shorten them.",
    "internal_error": "Something went wrong on our side and nothing was changed; try again.",
}


def respond(error: Exception, request_id: str) -> Response:
    """Return the answer to any exception. One that the table lacks is a bug of ours: 500."""
    if isinstance(error, Refusal):
        answer = find_answer(error)
        if answer is not None:
            return _domain(error, answer, request_id)
    if isinstance(error, ProblemException) and error.status in BY_STATUS:
        return _engine(error, request_id)
    return _envelope(500, "internal_error", SENTENCES["internal_error"], request_id)


def find_answer(error: Exception) -> Answer | None:
    """Return the row of the error's class, or of the nearest class it derives from."""
    return next((DOMAIN[kind] for kind in type(error).__mro__ if kind in DOMAIN), None)


def wire_status(status: int) -> int:
    """Return the status that the interface has for a status of the engine."""
    return WIRE_STATUSES.get(status, status)


def is_definitive(error: Exception) -> bool:
    """Return whether the same request would be refused again at any time."""
    answer = find_answer(error)
    return answer is not None and answer.is_definitive


def link_of(code: str) -> tuple[str, str]:
    """Return the header that links to the advice for a code."""
    return help_link("payment", code)


def _domain(error: Refusal, answer: Answer, request_id: str) -> Response:
    details: list[dict[str, str]] = []
    if answer.at is not None:
        pointer, message = answer.at
        shown = {name: str(error.facts[name]) for name in answer.shown}
        details.append({"path": pointer, "message": message.format(**error.facts), **shown})
    headers: dict[str, str] = {}
    if answer.retry_after_s is not None:
        headers["Retry-After"] = str(answer.retry_after_s)
    return _envelope(answer.status, answer.code, str(error), request_id, details, headers)


def _engine(error: ProblemException, request_id: str) -> Response:
    code = BY_STATUS[error.status]
    status = wire_status(error.status)
    facts: dict[str, Any] = {}
    details: list[dict[str, str]] = []
    headers: dict[str, str] = {}
    if isinstance(error, engine.InvalidRequest):
        details = [
            {"path": violation.path, "message": violation.message} for violation in error.violations
        ]
    elif isinstance(error, engine.MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allow)
    elif isinstance(error, engine.RateLimited):
        headers["Retry-After"] = str(error.retry_after_s)
        headers.update(error.rate_headers)
    elif status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    facts["limit"] = getattr(error, "limit", "65536")
    facts["accepted"] = " or ".join(getattr(error, "accepted", ("application/json",)))
    return _envelope(status, code, SENTENCES[code].format(**facts), request_id, details, headers)


def _envelope(
    status: int,
    code: str,
    message: str,
    request_id: str,
    details: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    body = {
        "code": code,
        "message": message,
        "request_id": request_id,
        "details": details or [],
    }
    return Response(status, encode(body), (link_of(code), *(headers or {}).items()))
