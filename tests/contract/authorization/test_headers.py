"""The headers of all responses against content sniffing, caching and plain HTTP."""

from __future__ import annotations

import pytest

from tests.contract.authorization.chat_stage import ChatStage
from tests.contract.authorization.policy import load
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant
from tests.support.service_pages import build_pages

CHAT = load("chat")
HSTS = "max-age=31536000"


@pytest.mark.parametrize("actor", ["owner", "nobody"])
def test_responses_of_chat(actor: str, chat_stage: ChatStage) -> None:
    chat_stage.forget()
    for case in CHAT.cases:
        headers = chat_stage.try_out(case, actor).headers
        assert headers.get_list("X-Content-Type-Options") == ["nosniff"], case.name
        (kept,) = headers.get_list("Cache-Control")
        assert "no-store" in kept, case.name
        assert "Strict-Transport-Security" not in headers, "acme.example is served over HTTP"


def test_responses_of_payment(client: ContractClient, ada: Merchant) -> None:
    api = client.with_key(ada.key)
    for method, path in (
        ("GET", "/v1/payment-methods"),
        ("OPTIONS", "/v1/payment-methods"),
        ("POST", "/v1/invoices"),
        ("GET", "/v1/invoices/1"),
        ("GET", "/v1/nowhere"),
    ):
        for each in (api, client):
            headers = each.request(method, path).headers
            assert headers.get_list("X-Content-Type-Options") == ["nosniff"], path
            assert headers.get_list("Strict-Transport-Security") == [HSTS], path
            assert headers.get_list("Cache-Control") == ["no-store"], path


def test_responses_of_pages() -> None:
    for is_https, wanted in ((True, HSTS), (False, None)):
        pages = build_pages(documents={}, is_https=is_https)
        for path in ("/docs", "/nowhere", "/static/nothing"):
            headers = pages.test_client().get(path).headers
            assert headers.get("Strict-Transport-Security") == wanted
            assert headers["X-Content-Type-Options"] == "nosniff"
