"""All states of the checkout page: the facts of the invoice, and the text of the page."""

from __future__ import annotations

from datetime import timedelta

from tests.pages.stage import PAID, PARTIAL, PROCESSING, START

ENDED: dict[str, object] = {"session_expires_at": START - timedelta(seconds=1)}
EXPIRED: dict[str, object] = {
    "status": "expired",
    "expires_at": START - timedelta(seconds=1),
    **ENDED,
}

# facts, HTTP status, state, title, an excerpt of the text
STATES: dict[str, tuple[dict[str, object], int, str, str, str]] = {
    "unpaid": ({}, 200, "unpaid", "Waiting for your payment", "Send exactly 12.5 TUSD on Local"),
    "partial": (
        PARTIAL,
        200,
        "partial",
        "Part of the payment is here",
        "5 TUSD of 12.5 TUSD arrived. Send the remaining 7.5 TUSD",
    ),
    "unpaid-late": (
        {"exception": "late", "amount_pending": 12_500_000, "amount_remaining": 0},
        200,
        "late",
        "Your payment arrived too late",
        "Do not send anything else",
    ),
    "reorged": (
        {"exception": "reorged"},
        200,
        "reorged",
        "The chain dropped a payment",
        "send 12.5 TUSD again",
    ),
    "processing": (
        PROCESSING,
        200,
        "processing",
        "Payment found, being confirmed",
        "1 of 2 confirmations. There is nothing more for you to send.",
    ),
    "processing-over": (
        {**PROCESSING, "amount_pending": 13_000_000, "amount_overpaid": 500_000},
        200,
        "processing",
        "Payment found, being confirmed",
        "You sent 0.5 TUSD more than due",
    ),
    "processing-reorged": (
        {**PROCESSING, "exception": "reorged", "confirmations": 0},
        200,
        "reorged",
        "Payment being confirmed again",
        "0 of 2 confirmations",
    ),
    "processing-closed": (
        {**PROCESSING, **ENDED},
        410,
        "processing",
        "Payment found, being confirmed",
        "1 of 2 confirmations",
    ),
    "paid": (PAID, 200, "paid", "Paid", "The shop received 12.5 TUSD."),
    "paid-closed": ({**PAID, **ENDED}, 410, "paid", "Paid", "The shop received 12.5 TUSD."),
    "over": (
        {**PAID, "exception": "over", "amount_paid": 12_500_001, "amount_overpaid": 1},
        200,
        "over",
        "Paid: 0.000001 TUSD more than due",
        "The shop received 12.500001 TUSD for an amount of 12.5 TUSD.",
    ),
    "expired": (
        EXPIRED,
        410,
        "expired",
        "The payment window has closed",
        "Do not send anything else",
    ),
    "expired-partial": (
        {**PARTIAL, **EXPIRED},
        410,
        "expired",
        "The payment window has closed, with a part paid",
        "5 TUSD of 12.5 TUSD arrived in time.",
    ),
    "expired-reorged": (
        {**EXPIRED, "exception": "reorged"},
        410,
        "reorged",
        "The chain dropped your payment",
        "Do not send anything else",
    ),
    "late": (
        {**EXPIRED, "exception": "late", "amount_paid": 12_500_000},
        410,
        "late",
        "Your payment arrived too late",
        "the order is not paid",
    ),
    "canceled": (
        {"status": "canceled"},
        200,
        "canceled",
        "The shop canceled this payment",
        "Do not send anything",
    ),
    "canceled-late": (
        {"status": "canceled", "exception": "late", "amount_pending": 12_500_000},
        200,
        "late",
        "A payment arrived after cancellation",
        "Do not send anything else",
    ),
    "closed": (ENDED, 410, "closed", "This checkout link has expired", "go back to the shop"),
    "closed-late": (
        {"exception": "late", "amount_pending": 1, "amount_remaining": 12_499_999, **ENDED},
        410,
        "late",
        "Your payment arrived too late",
        "Do not send anything else",
    ),
    "closed-reorged": (
        {"exception": "reorged", **ENDED},
        410,
        "closed",
        "This checkout link has expired",
        "go back to the shop",
    ),
    "closed-partial": (
        {**PARTIAL, **ENDED},
        410,
        "closed",
        "This checkout link has expired",
        "5 TUSD of 12.5 TUSD arrived and is kept.",
    ),
}
