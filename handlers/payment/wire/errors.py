"""The payment service's error table: the response to each error, by its code."""

from models.payment.test_helpers.errors import InvalidShopUrl
from specd import ErrorTable
from specd.errors import Row

TOO_LONG = "The URL or the headers are too long; shorten them."
ROWS: dict[str | type[Exception], Row | None] = {
    "invoice_not_found": Row(404),
    "event_not_found": Row(404),
    "events_gone": Row(410, at=("/query/after", "is older than the oldest stored event")),
    "webhook_endpoint_not_found": Row(404),
    "insufficient_scope": Row(403),
    "too_many_webhook_endpoints": Row(409),
    "webhook_endpoint_disabled": Row(409),
    "webhook_test_in_progress": Row(409, retry_after_s=5),
    "invalid_webhook_url": Row(422, at=("/body/url", "{problem}")),
    "invalid_metadata": Row(422, at=("/body/metadata", "{problem}")),
    "too_many_invoices": Row(422),
    "too_many_payments": Row(422),
    "invalid_cursor": Row(
        422, at=("/query/cursor", "is not a cursor of this list with these filters in this order")
    ),
    "invoice_not_cancelable": Row(409, is_definitive=True),
    "invoice_not_resolvable": Row(409),
    "invoice_not_payable": Row(409),
    "order_attempt_exists": Row(
        409,
        is_definitive=True,
        at=("/body/attempt_no", "Invoice {invoice_id} belongs to this attempt."),
        shown=("invoice_id",),
    ),
    "invalid_amount": Row(
        422,
        is_definitive=True,
        at=("/body/amount", "must be positive and at most 2^256 - 1 atomic units"),
    ),
    "payment_method_not_allowed": Row(
        422,
        is_definitive=True,
        at=("/body/payment_method_id", "is not a method that this project can use"),
    ),
    "chain_not_configured": Row(503, retry_after_s=60),
    "chain_unavailable": Row(503, retry_after_s=5),
    "chain_not_found": Row(404),
    "scenario_not_found": Row(404),
    "run_not_found": Row(404),
    "chain_cannot_do_that": Row(409),
    "nothing_due": Row(409),
    "invoice_not_expirable": Row(409),
    InvalidShopUrl: Row(422, at=("/body/shop_url", "{problem}")),
    "too_few_confirmations": Row(409),
    "no_next_attempt": Row(409),
    "too_many_runs": Row(409, retry_after_s=5),
    "unauthorized": Row(
        sentence="Send a valid API key of the project as Authorization: Bearer prk_test_...",
        headers=(("WWW-Authenticate", "Bearer"),),
    ),
    "foreign_origin": Row(
        sentence=(
            "The request came from a web page of another origin; call the API from your backend."
        )
    ),
    "not_found": Row(sentence="There is no such path; GET /v1/openapi.json lists the operations."),
    "method_not_allowed": Row(
        sentence=(
            "This path does not support that method; the Allow header lists the supported methods."
        )
    ),
    "request_timeout": Row(sentence="The body did not arrive in time; send the request again."),
    "body_too_large": Row(sentence="The body is too large; send at most {limit} bytes."),
    "unsupported_media_type": Row(sentence="Send the body as {accepted}, not compressed."),
    "invalid_request": Row(
        422, sentence="The request does not match the API; correct the errors in details."
    ),
    "rate_limited": Row(sentence="Too many requests; wait the number of seconds in Retry-After."),
    "headers_too_large": Row(sentence=TOO_LONG),
    # The released document promises 431 (decision 29).
    "target_too_long": Row(431, code="headers_too_large", sentence=TOO_LONG),
    "internal_error": Row(
        sentence="An internal error occurred and nothing was changed; try again."
    ),
    "not_implemented": None,
}
ERRORS = ErrorTable(ROWS, service="payment")
