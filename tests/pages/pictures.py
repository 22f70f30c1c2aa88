"""The pictures of README: `python -m tests.pages.pictures DIRECTORY`.

A new demo gets invoices and a conversation, and is photographed in light and dark colors. Values
that differ between demos (times, random ids, the port) are replaced in the page before a picture is
taken. A file is kept if its picture looks the same.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from PIL import Image, ImageChops
from selenium.webdriver.common.keys import Keys

from demo.seed import METHOD_ID
from tests.live.running_server import free_port
from tests.pages.browser import Browser
from tests.pages.person import Person
from tests.pages.shopkeeper import Shopkeeper
from tests.pages.visitor import Visitor

WIDTH, HEIGHT = 1280, 800
MAX_DIFFERENCE = 8
"""The difference of a pixel's color, of 255. Chromium renders rounded corners inconsistently."""
MAX_BYTES = 150_000

WRITTEN_OVER = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", str(uuid.UUID(int=2**125))),
    (r"0x[0-9a-f]{64}", "0x" + "7f" * 32),
    (r"\d+ [A-Z][a-z]{2} 20\d\d", "5 Oct 2026"),
    (r"\d\d:\d\d:\d\d", "09:41:00"),
    (r"(?<![:\d])\d\d:\d\d(?![:\d])", "09:41"),
    (r"block \d+", "block 8"),
    (r"evt_\d+", "evt_0000000000000002"),
)
"""Values that differ between demos, as regular expressions of JavaScript, and their replacements in
pictures.
"""

FREEZE = """
for (let timer = setTimeout(() => {}); timer; timer -= 1) clearTimeout(timer);
document.activeElement.blur();
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  for (const [pattern, instead] of arguments[0]) {
    texts.currentNode.data = texts.currentNode.data.replace(new RegExp(pattern, "g"), instead);
  }
}
"""

ORDERS = {"order-1037": "48", "order-1038": "7.25", "order-1039": "120", "order-1040": "19.9"}
"""Orders and their amounts. The last order is canceled, and the others are paid."""
OPEN_ORDER, OPEN_AMOUNT = "order-1042", "12.5"

CHANNEL, TOPIC = "shop", "first test payment"
CONVERSATION = (
    ("Hamlet", "The checkout page is up on staging. Who sends the **first test payment**?"),
    ("Othello", "I do. Which network does the wallet need?"),
    (
        "Hamlet",
        "The local test chain. The order is created like this:\n"
        '```python\ninvoices.create_invoice(key, InvoiceCreation(amount="12.5", ...))\n```',
    ),
    ("Othello", "Sent, 12.5 TUSD. The page showed *processing* immediately :grinning:"),
    (
        "Cordelia",
        "Two confirmations later it is **paid**. @**Iago**, can you ship order-1042?",
    ),
    ("Iago", "On its way. Next: a webhook endpoint, then refunds."),
)
REACTIONS = {3: (("Cordelia", "heart"), ("Iago", "heart")), 5: (("Hamlet", "grinning"),)}
"""Number of the message -> (user, emoji). Common fonts have these emoji, so that pictures do not
depend on a font with colored emoji.
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """A running demo: its output, and the environment of its commands."""

    ready: Mapping[str, Any]
    env: Mapping[str, str]

    def account(self, name: str) -> tuple[str, str]:
        """Return the email and the API key of a user."""
        [user] = [user for user in self.ready["chat_users"] if user["name"] == name]
        return user["email"], user["api_key"]


@contextmanager
def running_demo(directory: Path) -> Iterator[Demo]:
    """Start a new demo. Stop it at the end."""
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPECD_")},
        "SPECD_DATA_DIR": str(directory),
        "SPECD_BIND": f"127.0.0.1:{free_port()}",
        "SPECD_CHAIN_PORT": str(free_port()),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "specd._cli.main", "demo", "--json"], env=env, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield Demo(json.loads(process.stdout.readline()), env)
    finally:
        process.terminate()
        process.wait(30)


def fill_shop(demo: Demo) -> str:
    """Create the invoices. Return the address of the checkout page of the open one."""
    headers = {"Authorization": f"Bearer {demo.ready['key']}"}
    with httpx.Client(base_url=demo.ready["base_url"], headers=headers, timeout=30) as client:

        def post(path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
            answer = client.post(
                path, json=body, headers={"Idempotency-Key": f"picture-{uuid.uuid4()}"}
            )
            answer.raise_for_status()
            found: dict[str, Any] = answer.json()
            return found

        def create(order: str, amount: str) -> str:
            body = {"external_order_id": order, "attempt_no": 1, "amount": amount}
            return str(post("/v1/invoices", {**body, "payment_method_id": METHOD_ID})["id"])

        *paid, canceled = [create(order, amount) for order, amount in ORDERS.items()]
        post(f"/v1/invoices/{canceled}/cancel")
        for invoice in paid:
            subprocess.run(
                [sys.executable, "-m", "specd._cli.main", "payment", "pay", invoice],
                env=demo.env,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        opened = create(OPEN_ORDER, OPEN_AMOUNT)
        return str(post(f"/v1/invoices/{opened}/checkout-sessions")["checkout_url"])


def are_final(rows: list[tuple[str, str, str]]) -> bool:
    """Return whether all orders are listed and either paid or canceled."""
    states = {order: state for order, state, _ in rows}
    return all(states.get(order) in ("Paid", "Canceled") for order in ORDERS)


def fill_chat(demo: Demo) -> None:
    """Send the messages of the users to a new channel."""

    def post(name: str, path: str, **fields: str) -> dict[str, Any]:
        url = f"{demo.ready['chat_url']}{path}"
        answer = httpx.post(url, auth=demo.account(name), data=fields, timeout=30)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    subscription = json.dumps([{"name": CHANNEL}])
    for name in {name: None for name, _ in CONVERSATION}:
        post(name, "/users/me/subscriptions", subscriptions=subscription)
    where = {"type": "channel", "to": CHANNEL, "topic": TOPIC}
    messages = [post(name, "/messages", content=text, **where) for name, text in CONVERSATION]
    for number, reactions in REACTIONS.items():
        for name, emoji in reactions:
            post(name, f"/messages/{messages[number]['id']}/reactions", emoji_name=emoji)
    ids = json.dumps([message["id"] for message in messages])
    post("Hamlet", "/messages/flags", messages=ids, op="add", flag="read")


def look(browser: Browser, directory: Path, name: str, show: Callable[[], None]) -> None:
    """Take the pictures of a page in light and dark colors."""
    for colors in ("light", "dark"):
        browser.reset()
        browser.command("Emulation.setTimezoneOverride", timezoneId="UTC")
        browser.command("Emulation.setLocaleOverride", locale="en-GB")
        browser.show(width=WIDTH, height=HEIGHT, dark=colors == "dark")
        show()
        browser.run(FREEZE, WRITTEN_OVER)
        keep(directory / f"{name}-{colors}.png", browser.driver.get_screenshot_as_png())


def keep(file: Path, taken: bytes) -> None:
    """Write a picture in 256 colors, unless it looks like the existing file."""
    picture = Image.open(io.BytesIO(taken)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    if file.exists() and looks_like(picture, file):
        return
    picture.save(file, "PNG", optimize=True)
    print(f"{file} is new, {file.stat().st_size:,} bytes")
    if file.stat().st_size > MAX_BYTES:
        sys.exit(f"{file} has more than {MAX_BYTES:,} bytes")


def looks_like(picture: Image.Image, file: Path) -> bool:
    """Return whether the picture is visually identical to the file."""
    with Image.open(file) as before:
        if before.size != picture.size:
            return False
        difference = ImageChops.difference(before.convert("RGB"), picture.convert("RGB"))
    return difference.point(lambda value: max(0, value - MAX_DIFFERENCE)).getbbox() is None


def main() -> int:
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="specd-pictures-") as name:
        browser = Browser(profile=Path(name) / "chromium")
        try:
            with running_demo(Path(name) / "var") as demo:
                checkout = fill_shop(demo)
                fill_chat(demo)
                shopkeeper = Shopkeeper(browser, demo.ready["base_url"])
                visitor = Visitor(browser, demo.ready["base_url"])

                def show_checkout() -> None:
                    browser.open(checkout)
                    visitor.see("#status-title", "Waiting")

                def show_dashboard() -> None:
                    shopkeeper.enter(demo.ready["key"])
                    browser.wait(lambda: are_final(shopkeeper.rows()), "the payments")
                    shopkeeper.choose(next(iter(ORDERS)))

                def show_chat() -> None:
                    email, key = demo.account("Hamlet")
                    browser.open(f"{demo.ready['base_url']}/chat")
                    visitor.see("#sign-in-title", "Sign in")
                    browser.find("#use-key").click()
                    browser.find("#email").send_keys(email)
                    browser.find("#secret").send_keys(key, Keys.ENTER)
                    person = Person(browser, demo.ready["base_url"], email)
                    person.go_to(f"#{CHANNEL}")
                    person.go_to(TOPIC)

                look(browser, directory, "checkout", show_checkout)
                look(browser, directory, "dashboard", show_dashboard)
                look(browser, directory, "chat", show_chat)
        finally:
            browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
