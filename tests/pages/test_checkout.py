"""The checkout page and its status without a browser: texts, statuses and headers of each state."""

from __future__ import annotations

import logging
import re
import traceback
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from models.errors import DatabaseUnavailable
from tests.pages.stage import (
    CONTRACT,
    DEPOSIT,
    PAID,
    PARTIAL,
    PROCESSING,
    START,
    TOKEN,
    URI,
    Stage,
    make_view,
)

PAGE = f"/checkout/{TOKEN}"
STATUS = f"{PAGE}/status"
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
        "You sent 0.5 TUSD more than asked for",
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
        "Paid, with 0.000001 TUSD too much",
        "The shop received 12.500001 TUSD for an amount of 12.5 TUSD.",
    ),
    "expired": (EXPIRED, 410, "expired", "The time to pay is over", "Send nothing any more"),
    "expired-partial": (
        {**PARTIAL, **EXPIRED},
        410,
        "expired",
        "The time to pay is over, with a part paid",
        "5 TUSD of 12.5 TUSD arrived in time.",
    ),
    "expired-reorged": (
        {**EXPIRED, "exception": "reorged"},
        410,
        "reorged",
        "The chain dropped your payment",
        "Send nothing any more",
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
        "Send nothing",
    ),
    "canceled-late": (
        {"status": "canceled", "exception": "late", "amount_pending": 12_500_000},
        200,
        "late",
        "A payment arrived after cancellation",
        "Send nothing any more",
    ),
    "closed": (ENDED, 410, "closed", "This checkout link has expired", "go back to the shop"),
    "closed-partial": (
        {**PARTIAL, **ENDED},
        410,
        "closed",
        "This checkout link has expired",
        "5 TUSD of 12.5 TUSD arrived and is kept.",
    ),
}
PAYABLE = {"unpaid", "partial", "reorged"}

SECURE = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


@pytest.fixture
def client(stage: Stage) -> FlaskClient:
    return stage.build().test_client()


def element(answer: TestResponse, name: str) -> str:
    """The text of the element with this id, which must hold no other element."""
    found = re.search(rf'id="{name}"[^>]*>([^<]*)<', answer.text)
    assert found, f"no #{name}"
    return found[1]


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


class TestAmounts:
    @pytest.mark.parametrize(
        ("atoms", "text"),
        [
            (1, "0.000001"),
            (1_000_000, "1"),
            (1_234_567_890_123, "1234567.890123"),
            (2**53 + 1, "9007199254.740993"),
            (
                2**256 - 1,
                "115792089237316195423570985008687907853269984665640564039457584007913129.639935",
            ),
        ],
    )
    def test_are_exact(self, client: FlaskClient, stage: Stage, atoms: int, text: str) -> None:
        uri = URI.replace("12500000", str(atoms))
        stage.set(amount=atoms, amount_remaining=atoms, payment_uri=uri)
        answer = client.get(PAGE)
        assert element(answer, "amount") == text
        assert element(answer, "exact") == text
        assert uri.replace("&", "&amp;") in answer.text

    def test_the_uri_of_a_part_payment_asks_for_the_rest(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        stage.set(**PARTIAL)
        answer = client.get(PAGE)
        assert element(answer, "amount") == "7.5"
        assert URI.replace("12500000", "7500000").replace("&", "&amp;") in answer.text
        assert "uint256=12500000" not in answer.text


class TestTimeLeft:
    @pytest.mark.parametrize(
        ("ahead", "text"),
        [
            (timedelta(0), "30:00"),
            (timedelta(minutes=29, seconds=58.5), "0:01"),
            (-timedelta(minutes=30, seconds=1), "1:00:01"),
        ],
    )
    def test_is_written_by_the_server(
        self, client: FlaskClient, stage: Stage, ahead: timedelta, text: str
    ) -> None:
        stage.set(now=START + ahead)
        assert element(client.get(PAGE), "time-left") == text

    def test_ends_with_the_session_when_the_invoice_lasts_longer(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        stage.set(now=START, session_expires_at=START + timedelta(minutes=5))
        assert element(client.get(PAGE), "time-left") == "5:00"

    def test_the_session_is_over_at_its_last_millisecond(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        end = make_view().session_expires_at
        stage.set(now=end - timedelta(milliseconds=1))
        assert client.get(PAGE).status_code == 200
        stage.set(now=end)
        assert client.get(PAGE).status_code == 410


class TestUnknownToken:
    @pytest.mark.parametrize(
        "token", [TOKEN[:-1], TOKEN + "A", TOKEN.swapcase(), "x", "%00", "..", "<script>"]
    )
    def test_is_a_404_page_that_does_not_repeat_it(self, client: FlaskClient, token: str) -> None:
        answer = client.get(f"/checkout/{token}")
        assert answer.status_code == 404
        assert answer.content_type == "text/html; charset=utf-8"
        assert "<h1>Page not found</h1>" in answer.text
        assert token == "x" or token not in answer.text
        assert {header: answer.headers[header] for header in SECURE} == SECURE

    def test_has_no_status(self, client: FlaskClient) -> None:
        answer = client.get("/checkout/x/status")
        assert answer.status_code == 404
        assert answer.get_json() == {"state": "unknown"}


class TestMethods:
    @pytest.mark.parametrize("path", [PAGE, STATUS, "/docs", "/docs/payment"])
    def test_head_answers_as_get_without_the_body(self, client: FlaskClient, path: str) -> None:
        got, head = client.get(path), client.head(path)
        assert head.status_code == got.status_code == 200
        assert head.data == b""
        assert head.headers["Content-Length"] == got.headers["Content-Length"]

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
    @pytest.mark.parametrize("path", [PAGE, STATUS, "/docs", "/docs/payment"])
    def test_others_are_refused(self, client: FlaskClient, path: str, method: str) -> None:
        answer = client.open(path, method=method)
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, HEAD"
        assert {header: answer.headers[header] for header in SECURE} == SECURE


class TestSecrets:
    def test_the_page_never_holds_the_token(self, client: FlaskClient) -> None:
        for path in (PAGE, STATUS):
            assert TOKEN not in client.get(path).text

    @pytest.mark.parametrize("path", [PAGE, STATUS])
    def test_the_token_is_not_logged_when_the_page_fails(
        self, client: FlaskClient, stage: Stage, caplog: pytest.LogCaptureFixture, path: str
    ) -> None:
        caplog.set_level(logging.DEBUG)
        stage.failure = ZeroDivisionError("bug")
        client.application.config["PROPAGATE_EXCEPTIONS"] = False
        with capture_logs() as lines:
            answer = client.get(path)
        assert answer.status_code == 500
        assert "bug" not in answer.text
        [line] = lines
        assert line["event"] == "page failed"
        assert line["page"] == ("show_checkout" if path == PAGE else "read_status")
        told = "".join(traceback.format_exception(*line.pop("exc_info")))
        assert "ZeroDivisionError: bug" in told
        assert TOKEN not in f"{line} {told} {caplog.text}"

    def test_a_failing_database_is_a_503_page(
        self, client: FlaskClient, stage: Stage, caplog: pytest.LogCaptureFixture
    ) -> None:
        stage.failure = DatabaseUnavailable()
        with capture_logs() as lines:
            answer = client.get(PAGE)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert "<h1>Please try again in a moment</h1>" in answer.text
        assert lines == [
            {
                "event": "page not available",
                "log_level": "warning",
                "page": "show_checkout",
                "code": "database_unavailable",
            }
        ]
        assert TOKEN not in caplog.text

    def test_nothing_is_loaded_from_outside(self, client: FlaskClient) -> None:
        for path in (PAGE, "/docs", "/docs/payment", "/checkout/x"):
            links = re.findall(r'(?:src|href|action)="([^"]*)"', client.get(path).text)
            outside = [link for link in links if not link.startswith(("/", "ethereum:"))]
            assert [link for link in outside if link != ""] == []
            assert [link for link in links if link.startswith("//")] == []

    def test_nothing_is_inline(self, client: FlaskClient) -> None:
        for path in (PAGE, "/docs", "/docs/payment", "/checkout/x"):
            page = client.get(path).text
            assert re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", page) is None
