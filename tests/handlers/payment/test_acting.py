"""Errors of chain nodes are reported to the merchant with advice."""

from typing import Any

import pytest

from tests.handlers.payment.test_chains import ACTS, path
from tests.support.contract import ContractClient
from tests.support.payment.app import PaymentApp
from tests.support.payment.invoices import error


@pytest.mark.parametrize(("act", "body"), ACTS)
class TestActing:
    @pytest.mark.reaches("chain_cannot_do_that")
    def test_reports_the_nodes_error(
        self, api: ContractClient, payment_app: PaymentApp, act: str, body: dict[str, Any]
    ) -> None:
        payment_app.development.refusal = "rejects anvil_mine: Method not found"
        answer = api.post(path(act), json=body)
        assert error(answer) == (409, "chain_cannot_do_that", [])
        assert answer.json()["message"] == "Chain 31337 rejects anvil_mine: Method not found."

    def test_reports_that_the_chain_does_not_respond(
        self, api: ContractClient, payment_app: PaymentApp, act: str, body: dict[str, Any]
    ) -> None:
        payment_app.development.is_silent = True
        answer = api.post(path(act), json=body)
        assert error(answer) == (503, "chain_unavailable", [])
        assert answer.headers["Retry-After"] == "5"
