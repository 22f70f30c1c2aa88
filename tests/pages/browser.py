"""Headless Chromium for tests: emulation, logs, and waiting without sleeping."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zxingcpp
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    # Only this machine can be resolved, so a request to another host always fails visibly.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


STILL = 10
LOOK_UNTIL_STILL = """
const [selector, looks, done] = arguments;
let last = '', alike = 0;
const look = () => {
  const element = document.querySelector(selector);
  const box = element ? element.getBoundingClientRect() : null;
  const place = box && [box.x + scrollX, box.y + scrollY, box.width, box.height].join();
  alike = place && place === last ? alike + 1 : 0;
  last = place;
  if (alike >= looks) done(); else setTimeout(look, 20);
};
look();
"""
"""Ends when an element was at the same place in `looks` checks. In a single script, because each
command of a driver takes as long as a check.
"""


class Browser:
    """A wrapper around selenium's Chrome. `driver` gives access to its other features."""

    def __init__(self, *, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)

    def quit(self) -> None:
        self.driver.quit()

    def reset(self) -> None:
        self.driver.get("about:blank")
        self.command("Emulation.setScriptExecutionDisabled", value=False)
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)
        self.connect(is_connected=True)
        self.show(width=1180, dark=False)
        self.console()
        self.requested()

    def command(self, name: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, parameters)

    def connect(self, *, is_connected: bool) -> None:
        """Connect or disconnect the network, and wait until the page has noticed."""
        conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.command("Network.enable")
        self.command("Network.emulateNetworkConditions", offline=not is_connected, **conditions)
        self.wait(lambda: self.run("return navigator.onLine") is is_connected, "the network")

    def show(self, *, width: int, dark: bool, height: int = 900) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        self.driver.get(address)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        # A single script instead of find and read, because the page may replace the element in
        # between.
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait_still(self, selector: str) -> None:
        """Wait until the element stops moving. A click at an old position would miss it."""
        self.driver.execute_async_script(LOOK_UNTIL_STILL, selector, STILL)

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 20) -> None:
        """Wait until `condition()` is true, or fail with `what` in the message."""
        WebDriverWait(self.driver, seconds, poll_frequency=0.02).until(
            lambda _driver: condition(), f"waited in vain for {what}"
        )

    def console(self) -> list[str]:
        """Return and clear the messages of the console, including errors and policy violations."""
        return [entry["message"] for entry in self.console_entries()]

    def console_entries(self) -> list[dict[str, Any]]:
        """Return and clear the entries of the console with their `source`, which is "network" for
        requests that failed.
        """
        return self._log("browser")

    def requested(self) -> list[str]:
        """Return and clear the requested addresses, except `data:`, which needs no network."""
        messages = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        addresses = [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]
        return [address for address in addresses if not address.startswith("data:")]

    def _log(self, name: str) -> list[dict[str, Any]]:
        return list(self.driver.get_log(name))  # type: ignore[no-untyped-call]

    def decode_qr(self, selector: str) -> str:
        """Read the QR code from a screenshot of the element, as the camera of a phone would."""
        element = self.find(selector)
        # The driver scrolls only to elements that are completely invisible, and captures only the
        # visible part.
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        picture = Image.open(io.BytesIO(element.screenshot_as_png)).convert("L")
        [code] = zxingcpp.read_barcodes(picture)
        return str(code.text)
