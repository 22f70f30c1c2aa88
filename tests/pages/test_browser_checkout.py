"""The checkout page in headless Chromium."""

from __future__ import annotations

from datetime import timedelta

import pytest
from selenium.webdriver.common.keys import Keys

from specd._pages.languages import GROUP
from specd.errors import DatabaseUnavailable
from tests.pages.browser import Browser
from tests.pages.names import names, shows
from tests.pages.stage import DEPOSIT, PAID, PARTIAL, PROCESSING, TOKEN, URI, Stage


@pytest.fixture
def page(address: str) -> str:
    return f"{address}/checkout/{TOKEN}"


def title(browser: Browser) -> str:
    return browser.text("#status-title")


class TestLiveStatus:
    def test_shows_each_change_without_a_reload(
        self, browser: Browser, stage: Stage, address: str, page: str
    ) -> None:
        browser.open(page)
        browser.run("window.isSamePage = true")
        assert title(browser) == "Waiting for your payment"

        stage.set(**PARTIAL)
        browser.wait(lambda: title(browser) == "Part of the payment is here", "partial")
        assert browser.text("#amount") == "7.5"
        assert browser.decode_qr(".qr") == URI.replace("12500000", "7500000")

        stage.set(**PROCESSING)
        browser.wait(lambda: title(browser) == "Payment found, being confirmed", "processing")
        assert "1 of 2 confirmations" in browser.text("#status-text")
        assert browser.find_all(".qr, #countdown") == []

        stage.set(**{**PROCESSING, "confirmations": 2})
        browser.wait(lambda: "2 of 2" in browser.text("#status-text"), "a confirmation")

        stage.set(**PAID)
        browser.wait(lambda: title(browser) == "Paid", "paid")
        assert browser.driver.title == "Paid · 12.5 TUSD"
        assert browser.run("return document.getElementById('announce').textContent") == (
            "Paid. The shop received 12.5 TUSD. You can close this page."
        )

        assert browser.run("return window.isSamePage") is True
        assert browser.console() == []
        requested = browser.requested()
        assert f"{page}/status" in requested
        assert [url for url in requested if not url.startswith(f"{address}/")] == []

    def test_reports_a_lost_connection_and_recovers(
        self, browser: Browser, stage: Stage, page: str
    ) -> None:
        browser.open(page)
        stage.failure = DatabaseUnavailable()
        browser.wait(lambda: browser.find("#offline").is_displayed(), "the notice")
        stage.failure = None
        stage.set(**PAID)
        browser.wait(lambda: title(browser) == "Paid", "paid")
        assert not browser.find("#offline").is_displayed()

    def test_removes_the_address_when_the_session_ends(
        self, browser: Browser, stage: Stage, page: str
    ) -> None:
        stage.ahead = timedelta(minutes=29, seconds=59)
        browser.open(page)
        assert browser.text("#address") == DEPOSIT
        browser.wait(lambda: title(browser) == "This checkout link has expired", "the end")
        assert DEPOSIT not in browser.driver.page_source

    def test_keeps_the_focus_when_the_sheet_changes(
        self, browser: Browser, stage: Stage, page: str
    ) -> None:
        browser.open(page)
        browser.run("document.getElementById('copy-address').focus()")
        stage.set(**PARTIAL)
        browser.wait(lambda: title(browser) == "Part of the payment is here", "partial")
        assert browser.run("return document.activeElement.id") == "copy-address"


class TestCountdown:
    def test_uses_the_clock_of_the_server(self, browser: Browser, stage: Stage, page: str) -> None:
        # The stage is in the year 2031: a countdown with the date of the computer would be wrong.
        stage.ahead = timedelta(minutes=28)
        browser.open(page)
        shown = browser.text("#time-left")
        assert shown in ("2:00", "1:59", "1:58")
        browser.wait(lambda: browser.text("#time-left") < shown, "the countdown to move")
        assert browser.find_all("#countdown.low")

    def test_follows_jumps_of_the_server_clock(
        self, browser: Browser, stage: Stage, page: str
    ) -> None:
        browser.open(page)
        stage.ahead = timedelta(minutes=20)
        browser.wait(lambda: browser.text("#time-left").startswith("9:5"), "the new time")


class TestCopy:
    @pytest.mark.parametrize(
        ("button", "text"), [("#copy-address", DEPOSIT), ("#copy-amount", "12.5")]
    )
    def test_copies_to_the_clipboard(
        self, browser: Browser, page: str, button: str, text: str
    ) -> None:
        browser.open(page)
        browser.command("Browser.grantPermissions", permissions=["clipboardReadWrite"])
        browser.find(button).click()
        browser.wait(lambda: browser.text(button) == "Copied", "the button to say so")
        pasted = browser.driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])"
        )
        assert pasted == text

    def test_copies_over_plain_http_without_a_clipboard_object(
        self, browser: Browser, page: str
    ) -> None:
        browser.open(page)
        browser.run(
            """
            Object.defineProperty(navigator, "clipboard", { value: undefined });
            addEventListener("copy", () => { window.copied = String(getSelection()); });
            """
        )
        browser.find("#copy-address").click()
        browser.wait(lambda: browser.text("#copy-address") == "Copied", "the button to say so")
        assert browser.run("return window.copied") == DEPOSIT
        browser.wait(lambda: browser.text("#copy-address") == "Copy", "the button to come back")

    def test_can_be_used_with_the_keyboard(self, browser: Browser, page: str) -> None:
        browser.open(page)
        visited = []
        for _ in range(3):
            browser.driver.switch_to.active_element.send_keys(Keys.TAB)
            visited.append(browser.run("return document.activeElement.id"))
        assert visited == ["open", "copy-address", "copy-amount"]
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        browser.wait(lambda: browser.text("#copy-amount") == "Copied", "the button to say so")


class TestLooks:
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    @pytest.mark.parametrize("width", [360, 1180])
    def test_page_fits_the_width_and_the_code_is_readable(
        self, browser: Browser, page: str, width: int, dark: bool
    ) -> None:
        browser.show(width=width, dark=dark)
        browser.open(page)
        assert browser.decode_qr(".qr") == URI
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.text("h1") == "Amount to pay\n12.5 TUSD"
        assert browser.text(".banner").startswith("TEST")
        assert browser.console() == []

    def test_largest_amount_fits_a_phone(self, browser: Browser, stage: Stage, page: str) -> None:
        atoms = 2**256 - 1
        uri = URI.replace("12500000", str(atoms))
        stage.set(amount=atoms, amount_remaining=atoms, payment_uri=uri)
        browser.show(width=360, dark=False)
        browser.open(page)
        assert browser.text("#amount").replace("\n", "").replace(GROUP, "") == (
            "115792089237316195423570985008687907853269984665640564039457584007913129.639935"
        )
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        assert browser.decode_qr(".qr") == uri


class TestWithoutJavaScript:
    def test_shows_everything_except_live_changes(
        self, browser: Browser, stage: Stage, page: str
    ) -> None:
        browser.command("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(page)
        assert browser.find("#amount").text == "12.5"
        assert browser.find("#address").text == DEPOSIT
        assert browser.find("#status-title").text == "Waiting for your payment"
        assert browser.find("#time-left").text.startswith("29:5")
        assert browser.decode_qr(".qr") == URI
        assert not browser.find("#copy-address").is_displayed()

        stage.set(**PAID)
        browser.find(".refresh a").click()
        assert browser.find("#status-title").text == "Paid"


class TestNames:
    def test_names_are_shown_unchanged(
        self, browser: Browser, stage: Stage, address: str, page: str
    ) -> None:
        """Generated names of shops and orders, and misleading names of tokens and chains."""
        orders = names(15, seed=23, longest=150)
        shops = names(15, seed=24, longest=100)
        for merchant, order in zip(shops, orders, strict=True):
            stage.set(merchant=merchant, external_order_id=order)
            browser.open(page)
            for width in (1180, 390):
                browser.show(width=width, dark=False)
                assert shows(browser, "#merchant", [merchant], base=address) == 1
                assert shows(browser, "#order", [order], base=address, is_still=True) == 1

    def test_page_that_interprets_names_as_markup_is_detected(
        self, browser: Browser, stage: Stage, address: str, page: str
    ) -> None:
        """Without this, the tests of names could never fail."""
        browser.open(page)
        for careless in ("<i>x</i>", "<span hidden>x</span>"):
            browser.run(f"document.getElementById('order').innerHTML = '{careless}'")
            with pytest.raises(AssertionError, match="elements"):
                shows(browser, "#order", ["x"], base=address)


def test_payment_deadline_is_in_local_time(browser: Browser, page: str) -> None:
    browser.command("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")
    try:
        browser.open(page)
        assert browser.text("#until").startswith(("18:30:", "6:30:"))
        assert browser.find("#until").get_attribute("title") == "09:30:00 UTC"
    finally:
        browser.command("Emulation.setTimezoneOverride", timezoneId="")


def test_phone_shows_the_button_and_the_address_before_the_code(
    browser: Browser, page: str
) -> None:
    browser.command("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.show(width=390, dark=False)
        browser.open(page)
        tops = [
            browser.run(f"return document.querySelector('{it}').getBoundingClientRect().top")
            for it in ("#open", "#address", "#exact", ".qr")
        ]
        assert tops == sorted(tops)
        assert not browser.find("#open").get_attribute("class").count("quiet")
    finally:
        browser.command("Emulation.setTouchEmulationEnabled", enabled=False)


def test_hash_of_the_payment_can_be_copied(browser: Browser, stage: Stage, page: str) -> None:
    stage.set(**PAID, transactions=("0x" + "ab" * 32,))
    browser.open(page)
    assert browser.text("#hash-1") == "0x" + "ab" * 32
    assert browser.find("#copy-hash-1").is_displayed()
    browser.find("#copy-invoice").click()
    browser.wait(lambda: browser.text("#copy-invoice span") == "Copied", "the copy")


def test_lost_network_is_reported_immediately(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.connect(is_connected=False)
    try:
        browser.wait(lambda: browser.find("#offline").is_displayed(), "the notice", seconds=2)
    finally:
        browser.connect(is_connected=True)
    browser.wait(lambda: not browser.find("#offline").is_displayed(), "the end of it")


def test_lost_network_is_not_reported_after_the_end(
    browser: Browser, stage: Stage, page: str
) -> None:
    stage.set(**PAID)
    browser.open(page)
    browser.connect(is_connected=False)
    browser.connect(is_connected=True)
    assert not browser.find("#offline").is_displayed()
