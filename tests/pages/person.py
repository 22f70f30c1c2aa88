"""A chat user in a separate browser."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.pages.browser import Browser
from tests.pages.visitor import Visitor
from tests.support.chat.people import PASSWORD


class Person(Visitor):
    """A user who has an account."""

    def __init__(self, browser: Browser, base: str, email: str) -> None:
        super().__init__(browser, base)
        self.email = email

    def open(self) -> None:
        self.browser.open(f"{self.base}/chat")
        self.see("#sign-in-title", "Sign in to Elsinore")

    def sign_in(self, secret: str = PASSWORD) -> None:
        self.browser.find("#email").clear()
        self.browser.find("#email").send_keys(self.email)
        self.browser.find("#secret").send_keys(secret, Keys.ENTER)

    def enter(self) -> None:
        self.open()
        self.sign_in()
        self.see("#realm", "Elsinore")
        self.browser.wait(lambda: self.has_queue, "the first poll")

    @property
    def has_queue(self) -> bool:
        return any("/api/v1/events?" in address for address in self.browser.requested())

    def go_to(self, name: str) -> None:
        """Choose a channel or conversation by its name in the list."""
        self.see("#sidebar a", name)
        [link] = [one for one in self.browser.find_all("#sidebar a .name") if one.text == name]
        link.click()
        self.see("#place", name)
        self.browser.wait(
            lambda: self.browser.find("#timeline").get_attribute("aria-busy") == "false",
            "the messages",
        )

    def write(self, text: str) -> None:
        self.browser.find("#content").send_keys(text, Keys.ENTER)

    def counts(self) -> dict[str, str]:
        """Return the numbers of unread messages by conversation."""
        return dict(
            self.browser.run(
                "return [...document.querySelectorAll('#sidebar a')]"
                ".filter(a => !a.querySelector('.count').hidden)"
                ".map(a => [a.querySelector('.name').innerText,"
                " a.querySelector('.count').firstChild.data])"
            )
        )

    def has_counts(self, **counts: str) -> None:
        self.browser.wait(lambda: self.counts() == counts, f"the counts {counts}")

    def choose(self, message: str, action: str) -> None:
        """Choose an action from the menu of a message, by its selector."""
        for item in self.browser.find_all(".message"):
            if message in item.text:
                self.browser.run(
                    "arguments[0].querySelector('summary').click();"
                    "arguments[0].querySelector(arguments[1]).click()",
                    item,
                    f".menu {action}",
                )
                return
        raise AssertionError(f"no message {message!r}")

    def choose_late(self, message: str, action: str) -> None:
        """Choose an action that appears after the menu is open."""
        [item, *_] = [each for each in self.browser.find_all(".message") if message in each.text]
        self.browser.run("arguments[0].querySelector('.menu').open = true", item)
        selector = f".menu {action}"
        found = "return arguments[0].querySelector(arguments[1]) !== null"
        self.browser.wait(lambda: self.browser.run(found, item, selector), action)
        self.browser.run("arguments[0].querySelector(arguments[1]).click()", item, selector)
