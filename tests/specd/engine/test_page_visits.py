"""Each request for a page is logged and counted by its route."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import structlog
from flask import Flask

from specd._engine.serving import page_visits
from specd._engine.serving.app import build_app
from specd._pages import app as pages_app
from specd._pages.app import build_pages
from tests.specd.engine.client import Client
from tests.specd.engine.services import shop_service

SECRET = "s3cret-0f8c1c5e2c444d1e9a55"
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def log_lines(logs: Callable[[], list[dict[str, Any]]]) -> Lines:
    return lambda: [line for line in logs() if line["event"] == "request"]


def test_log_and_metrics_use_the_same_route() -> None:
    assert pages_app.ROUTE == page_visits.ROUTE


def add_order(app: Flask) -> None:
    """Add a page whose path has a secret."""
    app.add_url_rule("/orders/<token>", view_func=lambda token: "An order")


def test_each_route_is_logged_and_counted_without_client_data(log_lines: Lines) -> None:
    pages = build_pages(documents={"shop": "/shop/openapi"}, own=[add_order])
    client = Client(build_app([shop_service()], pages=pages), "")
    rules = list(pages.url_map.iter_rules())
    assert len(rules) >= 5
    expected = []
    for rule in rules:
        path = re.sub("<[^>]*>", SECRET, rule.rule)
        answer = client.get(f"{path}?token={SECRET}", headers=[("X-Any", SECRET)])
        expected.append((rule.rule, answer.status, answer.header("request-id")))
    lines = log_lines()
    assert [(line["operation"], line["status"], line["id"]) for line in lines] == expected
    assert {line["service"] for line in lines} == {"pages"}
    assert SECRET not in str(lines)
    scrape = client.get("/metrics").body.decode()
    assert SECRET not in scrape
    for rule in rules:
        assert f'operation="{rule.rule}",service="pages"' in scrape


@pytest.mark.parametrize("path", [f"/nothing/{SECRET}", f"/orders/{SECRET}/nothing"])
def test_unknown_path_is_counted_as_one_route(log_lines: Lines, path: str) -> None:
    client = Client(build_app([shop_service()], pages=build_pages(documents={})), "")
    status = client.get(path).status
    (line,) = log_lines()
    assert (line["operation"], line["status"]) == (None, status)
    assert SECRET not in str(line)
    labels = f'operation="-",service="pages",status="{status}"'
    assert f"specd_requests_total{{{labels}}}" in client.get("/metrics").body.decode()


def test_failing_page_is_an_error_of_its_route(
    log_lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_app, "log", structlog.get_logger())
    pages = build_pages(documents={})
    pages.get("/broken")(lambda: str(1 // 0))
    client = Client(build_app([shop_service()], pages=pages), "")
    assert client.get("/broken").status == 500
    (line,) = log_lines()
    assert (line["operation"], line["status"]) == ("/broken", 500)
    labels = 'operation="/broken",service="pages"'
    assert f"specd_errors_total{{{labels}}} 1.0" in client.get("/metrics").body.decode()


def test_address_is_that_of_the_client_behind_the_proxy(log_lines: Lines) -> None:
    app = build_app(
        [shop_service()], pages=build_pages(documents={}), trusted_proxies=("0.0.0.0/0",)
    )
    Client(app, "").get("/docs", headers=[("X-Forwarded-For", "203.0.113.7")])
    (line,) = log_lines()
    assert line["address"] == "203.0.113.7"


def test_probes_are_not_logged(log_lines: Lines) -> None:
    client = Client(build_app([shop_service()], pages=build_pages(documents={})), "")
    for path in ("/healthz", "/readyz", "/metrics"):
        client.get(path)
    assert log_lines() == []
