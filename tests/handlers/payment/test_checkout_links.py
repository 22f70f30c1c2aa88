"""Return URLs: accepted values, and the links of the checkout page."""

from datetime import datetime
from typing import Any

import httpx
import pytest
from flask import Flask

from models.payment.checkout_sessions import find_checkout
from models.payment.tables import CheckoutSession
from pages import checkout as page
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant, make_invoice, pay
from tests.support.payment.invoices import checkout, count
from tests.support.service_pages import build_pages

SUCCESS = "https://shop.example/orders/1042?paid=1&x=%22"
CANCEL = "http://localhost:3000/cart"


@pytest.fixture
def invoice_id(database: Database, ada: Merchant, now: datetime) -> str:
    order = "order <b>1042</b>"
    return database.run(
        lambda session: make_invoice(session, ada, now=now, external_order_id=order)
    ).id


@pytest.fixture
def pages(database: Database, now: datetime) -> Flask:
    def look_up(token: str) -> Any:
        with database.reading() as connection:
            return find_checkout(connection, token, now)

    return build_pages(documents={}, own=[lambda app: page.install(app, look_up)])


def ask(api: ContractClient, invoice_id: str, **body: Any) -> httpx.Response:
    return api.post(f"/v1/invoices/{invoice_id}/checkout-sessions", json=body)


def show(pages: Flask, made: dict[str, Any]) -> str:
    return pages.test_client().get(f"/checkout/{made['checkout_token']}").text


def test_page_links_back_with_shop_and_order(
    api: ContractClient, database: Database, invoice_id: str, pages: Flask, now: datetime
) -> None:
    made = ask(api, invoice_id, success_url=SUCCESS, cancel_url=CANCEL).json()
    assert (made["success_url"], made["cancel_url"]) == (SUCCESS, CANCEL)
    before = show(pages, made)
    assert f'href="{CANCEL}" rel="nofollow noopener noreferrer">Back to <bdi>' in before
    assert "localhost:3000</span>" in before
    assert "shop.example" not in before
    assert '<bdi id="merchant">Ada&#39;s Books</bdi>' in before
    assert '<bdi id="order">order &lt;b&gt;1042&lt;/b&gt;</bdi>' in before
    pay(database, invoice_id, at=now, head_number=110)
    after = show(pages, made)
    assert 'href="https://shop.example/orders/1042?paid=1&amp;x=%22"' in after
    assert "localhost" not in after


@pytest.mark.parametrize("body", [None, {}])
def test_page_without_return_urls_has_no_links(
    api: ContractClient, invoice_id: str, pages: Flask, body: dict[str, Any] | None
) -> None:
    answer = checkout(api, invoice_id) if body is None else ask(api, invoice_id)
    assert answer.status_code == 201
    assert answer.json().keys() == {"invoice_id", "checkout_token", "checkout_url", "expires_at"}
    assert 'id="back"' not in show(pages, answer.json())


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example",
        "https://SHOP.example:8443/a/b;c=(d)?e=%C3%A4&f=/?:@",
        "https://10.0.0.7/staging",
        "http://127.0.0.1:5000/thanks",
        "http://[::1]:5000/",
        "https://shop.example/" + "a" * (2000 - len("https://shop.example/")),
    ],
)
def test_accepts_web_urls(api: ContractClient, invoice_id: str, url: str) -> None:
    answer = ask(api, invoice_id, success_url=url)
    assert (answer.status_code, answer.json().get("success_url")) == (201, url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/thanks",
        "//shop.example/",
        "shop.example/thanks",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://shop.example/",
        "http://shop.example/thanks",
        "http://localhost.shop.example/",
        "http://127.0.0.1.shop.example/",
        "https://user@shop.example/",
        "https://user:pass@shop.example/",
        "https://shop.example/#done",
        "https://shop.example\\@evil.example/",
        "https://shop.example/a b",
        "https://shop.example/\n",
        "https://shop.example/\u0000",
        "https://shop.example/\u202e",
        "https://sh\u00f6p.example/",
        'https://shop.example/"onclick=',
        "https://shop.example/<script>",
        "https:///thanks",
        "https://[5.3a]/",
        "https://[2001:db8::1]/",
        "http://127.0.0.256/",
        "https://shop.example:65536/",
        "https://shop.example/" + "a" * 2000,
        None,
        7,
    ],
)
@pytest.mark.parametrize("name", ["success_url", "cancel_url"])
def test_rejects_other_urls(
    api: ContractClient, database: Database, invoice_id: str, name: str, url: Any
) -> None:
    answer = ask(api, invoice_id, **{name: url})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert {detail["path"] for detail in answer.json()["details"]} == {f"/body/{name}"}
    assert count(database, CheckoutSession) == 0


def test_rejects_unknown_properties(api: ContractClient, invoice_id: str) -> None:
    assert ask(api, invoice_id, return_url="https://shop.example/").status_code == 422
