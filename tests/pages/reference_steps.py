"""Steps of a user on a reference page, whose operations Swagger UI renders."""

from __future__ import annotations

import time
from contextlib import suppress

from selenium.common.exceptions import ElementClickInterceptedException
from selenium.webdriver.support.select import Select

from tests.pages.browser import Browser

LIVE = ".live-responses-table tbody"
HEED_PRESSES = """
window.hasPressed = false;
document.addEventListener("click", event => {
  if (event.target.closest(".btn.execute")) window.hasPressed = true;
}, {capture: true});
"""


def open_reference(browser: Browser, base: str, service: str = "payment") -> None:
    browser.open(f"{base}/docs/{service}")
    browser.wait(lambda: browser.find_all("#contents nav a"), "the table of contents")


def authorize(browser: Browser, *credentials: str) -> None:
    """Enter a key, or HTTP Basic credentials, in the open operation."""
    browser.find(".btn.authorize").click()
    for field, text in zip(browser.find_all(".modal-ux input"), credentials, strict=True):
        field.send_keys(text)
    browser.find(".modal-ux .btn.authorize").click()
    browser.find(".modal-ux .btn-done").click()


def open_operation(browser: Browser, operation_id: str) -> None:
    line = f".operation[data-name='{operation_id}']"
    browser.run("document.querySelector(arguments[0]).open = true", line)
    drawn = f"{line} [id$='-{operation_id}'] .btn.execute"
    browser.wait(lambda: browser.find_all(drawn), "the operation to open")
    browser.wait_still(".btn.execute")


def send(browser: Browser) -> tuple[str, str]:
    """Press Execute in the open operation. Return the displayed status and body of the answer."""
    if browser.find_all(".btn-clear"):
        browser.find(".btn-clear").click()
    browser.run(HEED_PRESSES)
    pressed = 0.0

    def is_sent() -> bool:
        """Return whether the request was sent.

        If the page is still rendering, a press can be lost, so it is repeated after a second. A
        press that the button has received is not repeated, even if its request is slow.
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


def choose_body(browser: Browser, media_type: str) -> None:
    """Select the media type of the body of the open operation."""
    Select(browser.find(".body-param-content-type select")).select_by_value(media_type)


def fill(browser: Browser, name: str, text: str) -> None:
    """Replace the example in a parameter's field of the open operation."""
    row = f".operation[open] tr:is([data-param-name='{name}'], [data-property-name='{name}'])"
    field = browser.find(f"{row} :is(input:not([type=checkbox]), textarea)")
    # Pasted in one step, because Swagger UI renders the operation again for each key.
    browser.run("arguments[0].focus(); arguments[0].select()", field)
    browser.command("Input.insertText", text=text)
