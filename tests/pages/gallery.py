"""Pictures of all pages in all states for a reviewer: `python -m tests.pages.gallery DIRECTORY`.

Each state is shown once, then photographed on a phone and on a laptop, in light and dark colors.
`index.html` in the directory shows the pictures of a state next to each other.
"""

from __future__ import annotations

import base64
import html
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from selenium.webdriver.common.keys import Keys

from tests.pages.browser import Browser
from tests.pages.person import Person
from tests.pages.pictures import (
    CHANNEL,
    ORDERS,
    TOPIC,
    Demo,
    are_final,
    fill_chat,
    fill_shop,
    running_demo,
)
from tests.pages.reference_steps import open_operation, open_reference
from tests.pages.shopkeeper import Shopkeeper
from tests.pages.stage import PAGE, Stage, serving
from tests.pages.test_checkout_states import STATES

WINDOWS = ((390, 844), (1280, 800))
COLORS = ("light", "dark")
MAX_HEIGHT = 2400
OPEN = ".operation[open]"

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Pages</title>
<style>body { font: 16px/1.5 system-ui; margin: 1rem; } section { margin-bottom: 2rem; }
div { display: flex; gap: 1rem; overflow-x: auto; align-items: start; }
img { border: 1px solid #999; height: 30rem; }</style>
<h1>All pages in all states</h1><p>Each at 390 and at 1,280 pixels, in light and in dark colors.</p>
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A state of a page.

    If `is_whole` is true, the picture shows the complete page. `at` selects the element at the top
    of the picture.
    """

    page: str
    state: str
    show: Callable[[], object]
    is_whole: bool = False
    at: str = ""

    @property
    def name(self) -> str:
        return f"{self.page}-{self.state}"


def checkout_scenes(browser: Browser, stage: Stage, base: str) -> Iterator[Scene]:
    def opened(facts: dict[str, object]) -> Callable[[], None]:
        def show() -> None:
            stage.set(**facts)
            browser.open(base + PAGE)

        return show

    for state, (facts, *_) in STATES.items():
        yield Scene("checkout", state, opened(facts), is_whole=True)
    long: dict[str, object] = {"amount": 10**35, "amount_remaining": 10**35}
    yield Scene("checkout", "long", opened({**long, "external_order_id": "o" * 134}), is_whole=True)
    yield Scene("checkout", "unknown", lambda: browser.open(f"{base}/checkout/unknown"))


def reference_scenes(browser: Browser, base: str) -> Iterator[Scene]:
    def searched(path: str, text: str) -> Callable[[], None]:
        def show() -> None:
            browser.open(f"{base}{path}")
            browser.run("document.querySelectorAll('#contents').forEach(it => it.open = true)")
            browser.find("#search").send_keys(text)

        return show

    def operation(document: str, name: str, language: str) -> Callable[[], None]:
        def show() -> None:
            open_reference(browser, base, document)
            open_operation(browser, name)
            choose = "[...document.querySelectorAll('.language')]"
            browser.run(f"{choose}.find(it => it.textContent === arguments[0]).click()", language)

        return show

    yield Scene("front", "page", lambda: browser.open(f"{base}/"))
    yield Scene("reference", "documents", lambda: browser.open(f"{base}/docs"))
    yield Scene("reference", "payment", lambda: open_reference(browser, base, "payment"))
    yield Scene("reference", "chat", lambda: open_reference(browser, base, "chat"))
    yield Scene("reference", "search", searched("/docs/chat", "message"))
    yield Scene("reference", "json", operation("payment", "create_invoice", "Python"), at=OPEN)
    yield Scene("reference", "form", operation("chat", "send_message", "curl"), at=OPEN)
    yield Scene("reference", "query", operation("chat", "list_users", "JavaScript"), at=OPEN)
    for document in ("payment", "chat"):
        address = f"{base}/docs/{document}/errors"
        yield Scene("errors", document, lambda address=address: browser.open(address))  # type: ignore[misc]
    yield Scene("errors", "search", searched("/docs/chat/errors", "429 rate"))
    yield Scene("message", "not-found", lambda: browser.open(f"{base}/nothing"))


def dashboard_scenes(browser: Browser, demo: Demo) -> Iterator[Scene]:
    keeper = Shopkeeper(browser, demo.ready["base_url"])

    def refuse() -> None:
        keeper.open()
        keeper.sign_in("prk_test_wrong")
        keeper.see(".refusal", "")

    def enter() -> None:
        keeper.enter(demo.ready["key"])
        browser.wait(lambda: are_final(keeper.rows()), "the payments")

    def show_webhooks() -> None:
        browser.run("location.hash = '#webhooks'")
        keeper.see("#webhooks h1", "Webhooks")

    def choose() -> None:
        browser.run("location.hash = '#invoices'")
        keeper.choose(next(iter(ORDERS)))

    def lose() -> None:
        browser.connect(is_connected=False)
        keeper.see("#offline", "connection is lost")

    yield Scene("dashboard", "sign-in", keeper.open)
    yield Scene("dashboard", "refused", refuse)
    yield Scene("dashboard", "invoices", enter)
    yield Scene("dashboard", "invoice", choose)
    yield Scene("dashboard", "webhooks", show_webhooks)
    yield Scene("dashboard", "offline", lose)


def chat_scenes(browser: Browser, demo: Demo) -> Iterator[Scene]:
    email, key = demo.account("Hamlet")
    base = demo.ready["base_url"]
    person = Person(browser, base, email)

    def open_page() -> None:
        browser.connect(is_connected=True)
        browser.open(f"{base}/chat")
        person.see("#sign-in-title", "Sign in")

    def sign_in(secret: str) -> None:
        open_page()
        browser.find("#use-key").click()
        browser.find("#email").send_keys(email)
        browser.find("#secret").send_keys(secret, Keys.ENTER)

    def refuse() -> None:
        sign_in("wrong")
        person.see(".refusal", "")

    def enter() -> None:
        sign_in(key)
        person.see("#sidebar a", f"#{CHANNEL}")

    def go(*names: str) -> Callable[[], None]:
        def show() -> None:
            browser.show(width=1280, dark=False, height=800)
            for name in names:
                person.go_to(name)

        return show

    def open_menu() -> None:
        [*_, last] = browser.find_all(".message")
        browser.run("arguments[0].querySelector('.menu').open = true", last)

    def search() -> None:
        browser.run("location.hash = '#narrow/search/payment'")

    def lose() -> None:
        browser.connect(is_connected=False)
        person.see("#offline", "connection is lost")

    yield Scene("chat", "sign-in", open_page)
    yield Scene("chat", "refused", refuse)
    yield Scene("chat", "entered", enter)
    yield Scene("chat", "channel", go(f"#{CHANNEL}"))
    yield Scene("chat", "topic", go(TOPIC))
    yield Scene("chat", "menu", open_menu)
    yield Scene("chat", "direct", go("Cordelia"))
    yield Scene("chat", "search", search)
    yield Scene("chat", "offline", lose)


def take(browser: Browser, scene: Scene, directory: Path) -> list[str]:
    """Show a scene and save its pictures. Return their names."""
    print(scene.name, flush=True)
    width, height = WINDOWS[-1]
    browser.show(width=width, dark=False, height=height)
    scene.show()
    names = []
    for width, height in WINDOWS:
        for colors in COLORS:
            browser.show(width=width, dark=colors == "dark", height=height)
            if scene.is_whole:
                full = int(browser.run("return document.documentElement.scrollHeight"))
                height = min(max(full, height), MAX_HEIGHT)
                browser.show(width=width, dark=colors == "dark", height=height)
            if scene.at:
                browser.run("document.querySelector(arguments[0]).scrollIntoView()", scene.at)
            browser.wait_still("body")
            taken = base64.b64decode(browser.command("Page.captureScreenshot")["data"])
            picture = Image.open(io.BytesIO(taken)).convert("RGB")
            names.append(f"{scene.name}-{width}-{colors}.png")
            picture.quantize(256, dither=Image.Dither.NONE).save(directory / names[-1], "PNG")
    return names


def write_index(directory: Path, taken: dict[str, list[str]]) -> None:
    """Write index.html: a section for each scene."""
    sections = [
        f'<section id="{html.escape(name)}"><h2>{html.escape(name)}</h2><div>'
        + "".join(
            f'<a href="{picture}"><img src="{picture}" alt="{picture}" loading="lazy"></a>'
            for picture in pictures
        )
        + "</div></section>"
        for name, pictures in taken.items()
    ]
    (directory / "index.html").write_text(HEAD + "\n".join(sections))


def main() -> int:
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    taken: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="specd-gallery-") as name:
        browser = Browser(profile=Path(name) / "chromium")
        try:
            browser.reset()
            stage = Stage()
            with serving(stage.build()) as base:
                for scene in checkout_scenes(browser, stage, base):
                    taken[scene.name] = take(browser, scene, directory)
            with running_demo(Path(name) / "var") as demo:
                fill_shop(demo)
                fill_chat(demo)
                scenes = (
                    *reference_scenes(browser, demo.ready["base_url"]),
                    *dashboard_scenes(browser, demo),
                    *chat_scenes(browser, demo),
                )
                for scene in scenes:
                    taken[scene.name] = take(browser, scene, directory)
        finally:
            browser.quit()
            write_index(directory, taken)
    print(f"{directory / 'index.html'}: {sum(map(len, taken.values()))} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
