"""/docs/<service>/errors in headless Chromium: readable on a laptop and on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from specd._composition import list_failures
from tests.pages.browser import Browser
from tests.pages.stage import serving
from tests.support.service_pages import build_pages
from wsgi import project

# The text of each code and its number of lines, and the overflow of each cell.
CODES = """
return [...document.querySelectorAll('td[data-label="Code"] code')].map(
  (code) => [code.textContent, new Set([...code.getClientRects()].map((box) => box.top)).size])
"""
STICKS_OUT = """
return [...document.querySelectorAll('.errors td')].filter(
  (cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)
"""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    failures = {each.name: list_failures(each) for each in project.services}
    documents = {"payment": "/v1/openapi", "chat": "/api/v1/openapi"}
    app = build_pages(documents=documents, failures=failures)
    with serving(app) as address:
        yield address


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("service", ["payment", "chat"])
def test_page_fits_and_codes_break_at_underscores(
    browser: Browser, base: str, service: str, width: int
) -> None:
    browser.show(width=width, dark=False)
    browser.open(f"{base}/docs/{service}/errors")
    assert browser.run("return document.documentElement.scrollWidth") == width
    assert browser.run(STICKS_OUT) == []
    codes = browser.run(CODES)
    assert len(codes) >= 10
    broken = [code for code, lines in codes if lines > code.count("_") + 1]
    assert broken == []
    assert browser.console() == []


def test_search_keeps_the_rows_with_all_words(browser: Browser, base: str) -> None:
    browser.open(f"{base}/docs/chat/errors")
    everything = len(browser.find_all("tbody tr"))
    browser.find("#search").send_keys("429 RATE_LIMIT")
    shown = [row.text for row in browser.find_all("tbody tr") if row.is_displayed()]
    assert 0 < len(shown) < everything / 10
    assert all("429" in text and "rate_limit" in text.lower() for text in shown)
    assert browser.text("#found").split()[0] == str(len(shown))
    assert [it.text for it in browser.find_all("main :is(h2, h3)") if it.is_displayed()] == []
    assert browser.console() == []


def test_row_links_to_itself_and_contents_to_each_group(browser: Browser, base: str) -> None:
    browser.open(f"{base}/docs/chat/errors")
    links = "return [...document.querySelectorAll(arguments[0])].map((it) => it.hash.slice(1))"
    rows = browser.run(links, "tr .here")
    assert rows == browser.run("return [...document.querySelectorAll('tr[id]')].map(it => it.id)")
    for target in browser.run(links, "#contents a"):
        assert browser.find_all(f"[id='{target}']"), target
