"""What a person does on a reference page (Swagger UI)."""

from __future__ import annotations

import time
from contextlib import suppress

from selenium.common.exceptions import ElementClickInterceptedException
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.pages.browser import Browser

DRAWN = 40
"""Looks at a page that grows no more: most of a second."""
LIVE = ".live-responses-table tbody"
HEED_PRESSES = """
window.hasPressed = false;
document.addEventListener("click", event => {
  if (event.target.closest(".btn.execute")) window.hasPressed = true;
}, {capture: true});
"""


def open_reference(browser: Browser, base: str, service: str = "payment") -> None:
    browser.open(f"{base}/docs/{service}")
    counts: list[int] = []

    def are_drawn() -> bool:
        """A long document shows its tags, folded; a short one its operations."""
        ready = "#reference[data-ready]"
        counts.append(len(browser.find_all(f"{ready} .opblock, {ready} .opblock-tag")))
        return len(counts) > DRAWN and 0 < min(counts[-DRAWN:]) == max(counts[-DRAWN:])

    browser.wait(are_drawn, "all operations")


def authorize(browser: Browser, key: str) -> None:
    browser.find(".btn.authorize").click()
    browser.find(".modal-ux input").send_keys(key)
    browser.find(".modal-ux .btn.authorize").click()
    browser.find(".modal-ux .btn-done").click()


def open_operation(browser: Browser, operation_id: str) -> None:
    """By its line; where that is folded away, by the table of contents."""
    line = f"[id$='-{operation_id}'] .opblock-summary-control"
    if browser.find_all(line):
        browser.find(line).click()
    else:
        browser.run(f"document.querySelector(\"#contents a[href$='/{operation_id}']\").click()")
    browser.wait(lambda: browser.find_all(".btn.execute"), "the operation to open")
    browser.wait_still(".btn.execute")


def send(browser: Browser) -> tuple[str, str]:
    """Press Execute in the open operation; the status and body of the answer as shown."""
    if browser.find_all(".btn-clear"):
        browser.find(".btn-clear").click()
    browser.run(HEED_PRESSES)
    pressed = 0.0

    def is_sent() -> bool:
        """A page that still draws itself loses a press, which is repeated after a second. A press
        that the button has got is not, however long its request takes.
        """
        nonlocal pressed
        if browser.find_all(".btn-clear"):
            return True
        if time.monotonic() - pressed > 1 and not browser.run("return window.hasPressed"):
            pressed = time.monotonic()
            with suppress(ElementClickInterceptedException):
                browser.find(".btn.execute").click()
        return False

    browser.wait(is_sent, "the request to be sent")
    browser.wait(lambda: browser.find_all(f"{LIVE} .response-col_status"), "the answer")
    status = browser.text(f"{LIVE} .response-col_status").split()[0]
    return status, browser.text(f"{LIVE} .highlight-code code")


def authorize_as(browser: Browser, name: str, password: str) -> None:
    """Enter HTTP Basic credentials."""
    browser.find(".btn.authorize").click()
    user, secret = browser.find_all(".modal-ux input")
    user.send_keys(name)
    secret.send_keys(password)
    browser.find(".modal-ux .btn.authorize").click()
    browser.find(".modal-ux .btn-done").click()


def choose_body(browser: Browser, media_type: str) -> None:
    """Say how the open operation's body is written."""
    Select(browser.find(".body-param-content-type select")).select_by_value(media_type)


def fill(browser: Browser, name: str, text: str) -> None:
    """Write into the open operation's field of a parameter, instead of its example."""
    row = f".opblock.is-open tr:is([data-param-name='{name}'], [data-property-name='{name}'])"
    field = browser.find(f"{row} :is(input:not([type=checkbox]), textarea)")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(text)


def close_operation(browser: Browser, operation_id: str) -> None:
    browser.find(f"[id$='-{operation_id}'] .opblock-summary-control").click()
    browser.wait(lambda: not browser.find_all(".btn.execute"), "the operation to close")
