"""A user with a separate browser, on a page that is a client of the API."""

from __future__ import annotations

import re
from collections.abc import Iterable

import httpx

from tests.pages.browser import Browser

KEPT = "return [localStorage.length, sessionStorage.length, document.cookie]"


class Visitor:
    """Looks at a page and waits for its content."""

    def __init__(self, browser: Browser, base: str) -> None:
        self.browser, self.base = browser, base

    def see(self, selector: str, text: str) -> None:
        script = (
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(e => e.checkVisibility()).map(e => e.innerText)"
        )
        self.browser.wait(
            lambda: any(text in shown for shown in self.browser.run(script, selector)),
            f"{text!r} in {selector}",
        )

    def gone(self, selector: str) -> None:
        seen = "return [...document.querySelectorAll(arguments[0])].some(e => e.checkVisibility())"
        self.browser.wait(lambda: not self.browser.run(seen, selector), f"no {selector}")

    def leaves_no_trace(self, *, page: str, operations: Iterable[str], secret: str) -> None:
        """Check that there were no errors, requests to other hosts or stored data.

        `page` is the path of the page, and `operations` are templates of the paths that it may
        request.
        """
        patterns = [re.sub(r"\{[^}]+\}", "[^/]+", path) for path in operations]
        assert self.browser.console() == []
        for address in self.browser.requested():
            path = httpx.URL(address).path
            assert address.startswith(f"{self.base}/")
            is_of_the_api = any(re.fullmatch(pattern, path) for pattern in patterns)
            assert is_of_the_api or path == page or path.startswith("/static/"), address
            assert secret not in address
        assert self.browser.run(KEPT) == [0, 0, ""]
        assert secret not in self.browser.driver.page_source
