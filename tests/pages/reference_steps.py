"""What a person does on a reference page (Swagger UI)."""

from __future__ import annotations

from tests.pages.browser import Browser

LIVE = ".live-responses-table tbody"


def open_reference(browser: Browser, base: str, service: str = "payment") -> None:
    browser.open(f"{base}/docs/{service}")
    browser.wait(lambda: browser.find_all("#reference[data-ready] .opblock"), "the operations")


def authorize(browser: Browser, key: str) -> None:
    browser.find(".btn.authorize").click()
    browser.find(".modal-ux input").send_keys(key)
    browser.find(".modal-ux .btn.authorize").click()
    browser.find(".modal-ux .btn-done").click()


def open_operation(browser: Browser, operation_id: str) -> None:
    browser.find(f"[id$='-{operation_id}'] .opblock-summary-control").click()
    browser.wait(lambda: browser.find_all(".btn.execute"), "the operation to open")


def send(browser: Browser) -> tuple[str, str]:
    """Press Execute in the open operation; the status and body of the answer as shown."""
    if browser.find_all(".btn-clear"):
        browser.find(".btn-clear").click()
    browser.find(".btn.execute").click()
    browser.wait(lambda: browser.find_all(f"{LIVE} .response-col_status"), "the answer")
    status = browser.text(f"{LIVE} .response-col_status").split()[0]
    return status, browser.text(f"{LIVE} .highlight-code")
