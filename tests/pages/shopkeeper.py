"""A merchant at the dashboard, in a separate browser."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.pages.visitor import Visitor

ROWS = (
    "return [...document.querySelectorAll('#invoices a')].map(a => ["
    "a.querySelector('.order').innerText, a.querySelector('.state').innerText.trim(),"
    " a.querySelector('.sum').innerText])"
)
LINES = (
    "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
    ".map(e => e.innerText.split(/\\s+/).join(' ').trim())"
)


class Shopkeeper(Visitor):
    """The actions of a merchant: sign-in, list, open invoice."""

    def open(self, place: str = "") -> None:
        self.browser.open(f"{self.base}/dashboard{place}")
        self.see("#sign-in h1", "Merchant dashboard")

    def sign_in(self, key: str) -> None:
        self.browser.find("#key").clear()
        self.browser.find("#key").send_keys(key, Keys.ENTER)

    def enter(self, key: str, place: str = "") -> None:
        self.open(place)
        self.sign_in(key)
        self.gone("#sign-in")
        self.browser.wait(lambda: self.is_following, "the first long poll")

    @property
    def is_following(self) -> bool:
        return any("wait_s=30" in address for address in self.browser.requested())

    def rows(self) -> list[tuple[str, str, str]]:
        """Return (order, state, amount) of each invoice in the list."""
        return [(order, state, amount) for order, state, amount in self.browser.run(ROWS)]

    def has_rows(self, *expected: tuple[str, str, str]) -> None:
        self.browser.wait(lambda: self.rows() == list(expected), f"the rows {expected}")

    def lists(self, *orders: str) -> None:
        self.browser.wait(
            lambda: [order for order, _, _ in self.rows()] == list(orders), f"the orders {orders}"
        )

    def choose(self, order: str) -> None:
        """Open an invoice from the list."""
        self.see("#invoices .order", order)
        [link] = [one for one in self.browser.find_all("#invoices .order") if one.text == order]
        link.click()
        self.browser.wait(
            lambda: self.browser.find("#invoice").get_attribute("aria-busy") == "false",
            "the invoice",
        )

    def lines(self, selector: str) -> list[str]:
        """Return the visible text of each of these elements, with single spaces."""
        return list(self.browser.run(LINES, selector))

    def search(self, order: str) -> None:
        field = self.browser.find("#order")
        field.clear()
        field.send_keys(order, Keys.ENTER)

    def tick(self, status: str) -> None:
        """Select or clear a status of the filter."""
        self.browser.find(f"#filter [value={status}]").click()
