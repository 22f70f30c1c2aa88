"""The checkout page and its status in each state of an invoice, without a browser."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from tests.pages.stage import (
    CONTRACT,
    DEPOSIT,
    PAGE,
    SECURE,
    START,
    STATUS,
    Stage,
    element,
    make_view,
)
from tests.pages.states import STATES

PAYABLE = {"unpaid", "partial", "reorged"}


@pytest.mark.parametrize("name", STATES)
class TestEachState:
    def test_text_describes_the_state(self, client: FlaskClient, stage: Stage, name: str) -> None:
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

    def test_money_is_requested_only_while_payment_is_possible(
        self, client: FlaskClient, stage: Stage, name: str
    ) -> None:
        stage.set(now=START, **STATES[name][0])
        answer = client.get(PAGE)
        asks = [mark in answer.text for mark in ('href="ethereum:', 'class="qr"', 'id="address"')]
        assert asks == [name in PAYABLE] * 3
        if name not in PAYABLE and not name.startswith(("paid", "over", "processing")):
            assert DEPOSIT not in answer.text

    def test_status_record_has_the_same_state(
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

    def test_security_headers_are_sent(self, client: FlaskClient, stage: Stage, name: str) -> None:
        stage.set(now=START, **STATES[name][0])
        for path in (PAGE, STATUS):
            answer = client.get(path)
            assert {header: answer.headers[header] for header in SECURE} == SECURE
            assert "Set-Cookie" not in answer.headers


class TestRevision:
    def test_differs_exactly_if_the_sheet_differs(self, client: FlaskClient, stage: Stage) -> None:
        sheets: dict[str, str] = {}
        for facts, *_ in STATES.values():
            stage.set(now=START, **facts)
            revision = client.get(STATUS).get_json()["revision"]
            _, sheet = client.get(PAGE).text.split('id="sheet"')
            assert sheets.setdefault(revision, sheet) == sheet
        assert len(set(sheets.values())) == len(sheets) > 12

    def test_stays_the_same_if_only_time_passes(self, client: FlaskClient, stage: Stage) -> None:
        before = client.get(STATUS).get_json()
        stage.ahead = timedelta(minutes=1)
        after = client.get(STATUS).get_json()
        assert before["revision"] == after["revision"]
        assert after["now"] - before["now"] >= 60_000
