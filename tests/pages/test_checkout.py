"""The checkout page without a browser: amounts, times, tokens, methods, secrets."""

from __future__ import annotations

import logging
import re
import traceback
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs

from specd._pages.languages import GROUP
from specd.errors import DatabaseUnavailable
from tests.pages.stage import (
    PAGE,
    PARTIAL,
    SECURE,
    START,
    STATUS,
    TOKEN,
    URI,
    Stage,
    element,
    make_view,
)


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
    def test_amounts_are_exact(
        self, client: FlaskClient, stage: Stage, atoms: int, text: str
    ) -> None:
        uri = URI.replace("12500000", str(atoms))
        stage.set(amount=atoms, amount_remaining=atoms, payment_uri=uri)
        answer = client.get(PAGE)
        assert element(answer, "amount").replace(GROUP, "") == text
        assert element(answer, "exact") == text
        assert uri.replace("&", "&amp;") in answer.text

    def test_uri_requests_the_remainder_after_a_part_payment(
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

    def test_ends_with_the_session_if_the_invoice_lasts_longer(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        stage.set(now=START, session_expires_at=START + timedelta(minutes=5))
        assert element(client.get(PAGE), "time-left") == "5:00"

    def test_session_ends_at_its_last_millisecond(self, client: FlaskClient, stage: Stage) -> None:
        end = make_view().session_expires_at
        stage.set(now=end - timedelta(milliseconds=1))
        assert client.get(PAGE).status_code == 200
        stage.set(now=end)
        assert client.get(PAGE).status_code == 410


class TestUnknownToken:
    @pytest.mark.parametrize(
        "token", [TOKEN[:-1], TOKEN + "A", TOKEN.swapcase(), "x", "%00", "..", "<script>"]
    )
    def test_gives_a_404_page_that_does_not_repeat_it(
        self, client: FlaskClient, token: str
    ) -> None:
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
    def test_head_answers_like_get_without_the_body(self, client: FlaskClient, path: str) -> None:
        got, head = client.get(path), client.head(path)
        assert head.status_code == got.status_code == 200
        assert head.data == b""
        assert head.headers["Content-Length"] == got.headers["Content-Length"]

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
    @pytest.mark.parametrize("path", [PAGE, STATUS, "/docs", "/docs/payment"])
    def test_other_methods_are_rejected(self, client: FlaskClient, path: str, method: str) -> None:
        answer = client.open(path, method=method)
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, HEAD"
        assert {header: answer.headers[header] for header in SECURE} == SECURE


class TestSecrets:
    def test_page_never_contains_the_token(self, client: FlaskClient) -> None:
        for path in (PAGE, STATUS):
            assert TOKEN not in client.get(path).text

    @pytest.mark.parametrize("path", [PAGE, STATUS])
    def test_token_is_not_logged_if_the_page_fails(
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
        logged = "".join(traceback.format_exception(*line.pop("exc_info")))
        assert "ZeroDivisionError: bug" in logged
        assert TOKEN not in f"{line} {logged} {caplog.text}"

    def test_failing_database_gives_a_503_page(
        self, client: FlaskClient, stage: Stage, caplog: pytest.LogCaptureFixture
    ) -> None:
        stage.failure = DatabaseUnavailable()
        answer = client.get(PAGE)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert "<h1>Please try again in a moment</h1>" in answer.text
        assert TOKEN not in caplog.text

    def test_nothing_is_loaded_from_other_hosts(self, client: FlaskClient) -> None:
        for path in (PAGE, "/docs", "/docs/payment", "/checkout/x"):
            links = re.findall(r'(?:src|href|action)="([^"]*)"', client.get(path).text)
            outside = [link for link in links if not link.startswith(("/", "ethereum:", "?lang="))]
            assert [link for link in outside if link != ""] == []
            assert [link for link in links if link.startswith("//")] == []

    def test_page_has_no_inline_scripts_or_styles(self, client: FlaskClient) -> None:
        for path in (PAGE, "/docs", "/docs/payment", "/checkout/x"):
            page = client.get(path).text
            assert re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", page) is None


def test_transaction_is_linked_to_the_explorer_of_its_chain(
    client: FlaskClient, stage: Stage
) -> None:
    tx_hash = "0x" + "ab" * 32
    stage.set(status="paid", transactions=(tx_hash,), chain_id=11155111)
    assert f'href="https://sepolia.etherscan.io/tx/{tx_hash}"' in client.get(PAGE).text
    stage.set(status="paid", transactions=(tx_hash,))
    page = client.get(PAGE).text
    assert tx_hash in page
    assert f"tx/{tx_hash}" not in page
