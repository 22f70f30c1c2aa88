"""What the checkout page and its status say in each state of an invoice, without a browser."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from tests.pages.stage import (
    CONTRACT,
    DEPOSIT,
    PAGE,
    PAID,
    PARTIAL,
    PROCESSING,
    SECURE,
    START,
    STATUS,
    Stage,
    element,
    make_view,
)

ENDED: dict[str, object] = {"session_expires_at": START - timedelta(seconds=1)}
EXPIRED: dict[str, object] = {
    "status": "expired",
    "expires_at": START - timedelta(seconds=1),
    **ENDED,
}

# facts, HTTP status, state, title, a piece of the text
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
PAYABLE = {"unpaid", "partial", "reorged"}


@pytest.mark.parametrize("name", STATES)
class TestEachState:
    def test_is_told_in_words(self, client: FlaskClient, stage: Stage, name: str) -> None:
        facts, code, state, title, text = STATES[name]
        stage.set(now=START, **facts)
        answer = client.get(PAGE)
        assert answer.status_code == code
        assert element(answer, "status-title") == title
        assert text in element(answer, "status-text")
        assert f'data-state="{state}"' in answer.text
        assert "<strong>TEST</strong>" in answer.text
        assert "Local test chain" in answer.text
        assert CONTRACT in answer.text

    def test_asks_for_money_only_while_it_can_be_paid(
        self, client: FlaskClient, stage: Stage, name: str
    ) -> None:
        stage.set(now=START, **STATES[name][0])
        answer = client.get(PAGE)
        asks = [mark in answer.text for mark in ('href="ethereum:', 'class="qr"', 'id="address"')]
        assert asks == [name in PAYABLE] * 3
        if name not in PAYABLE and not name.startswith(("paid", "over", "processing")):
            assert DEPOSIT not in answer.text

    def test_is_the_same_in_the_status_record(
        self, client: FlaskClient, stage: Stage, name: str
    ) -> None:
        facts, code, state, *_ = STATES[name]
        view = make_view(now=START, **facts)
        stage.set(now=START, **facts)
        answer = client.get(STATUS)
        assert answer.status_code == code
        record = answer.get_json()
        assert record.pop("revision") in client.get(PAGE).text
        assert record == {
            "state": state,
            "status": view.status,
            "exception": view.exception,
            "confirmations": view.confirmations,
            "confirmations_required": 2,
            "amount_paid": str(view.amount_paid),
            "amount_pending": str(view.amount_pending),
            "is_payable": name in PAYABLE,
            "is_final": view.status in ("paid", "canceled"),
            "now": 1936774800000,
            "deadline": int(min(view.expires_at, view.session_expires_at).timestamp() * 1000),
        }

    def test_carries_the_security_headers(
        self, client: FlaskClient, stage: Stage, name: str
    ) -> None:
        stage.set(now=START, **STATES[name][0])
        for path in (PAGE, STATUS):
            answer = client.get(path)
            assert {header: answer.headers[header] for header in SECURE} == SECURE
            assert "Set-Cookie" not in answer.headers


class TestRevision:
    def test_differs_exactly_when_the_sheet_differs(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        sheets: dict[str, str] = {}
        for facts, *_ in STATES.values():
            stage.set(now=START, **facts)
            revision = client.get(STATUS).get_json()["revision"]
            _, sheet = client.get(PAGE).text.split('id="sheet"')
            assert sheets.setdefault(revision, sheet) == sheet
        assert len(set(sheets.values())) == len(sheets) > 12

    def test_stays_while_only_time_passes(self, client: FlaskClient, stage: Stage) -> None:
        before = client.get(STATUS).get_json()
        stage.ahead = timedelta(minutes=1)
        after = client.get(STATUS).get_json()
        assert before["revision"] == after["revision"]
        assert after["now"] - before["now"] >= 60_000
