"""Show the twenty most common constructs of messages in several clients: `python -m
tests.pages.constructs DIRECTORY`.

A message of each construct is sent in a new demo. Pictures of /chat at two widths and in both color
schemes, a picture of what zulip-js receives, and the screen of zulip-term as text are written to
the directory, for manual inspection. zulip-term and zulip-js are skipped unless `scripts/clients
install` has installed them. `SPECD_TEST_AXE` names the source of axe-core, which must report
nothing.
"""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
from selenium.webdriver.common.keys import Keys

from tests.clients.installed import NODE, TERMINAL
from tests.clients.terminal import Terminal
from tests.live.daily_chat import AXE
from tests.pages.browser import Browser
from tests.pages.person import Person
from tests.pages.pictures import Demo, running_demo

CHANNEL, TOPIC = "shop", "formatting"
CONSTRUCTS = (
    "**bold**, *italics*, ***both***, ~~struck~~ and `inline  code`",
    "https://example.com/a_b_c?q=1, example.org and [a named link](example.net/docs)",
    "@**Iago**, @_**Othello**, @**all** and @*nobody*",
    f"#**{CHANNEL}** and #**{CHANNEL}>{TOPIC}**",
    ":tada: :+1: 🙂 and :not_an_emoji:",
    "* one\n* two\n  * nested\n  * again\n* three",
    "1. one\n  * a bullet\n2. two\n3. three",
    "> a quoted line\n> and another\n\nand an answer",
    "```quote\nOuter\n```quote\nInner\n```\nOuter again\n```\nMy words",
    '```python\ndef greet(name: str) -> str:\n    return f"Hello, {name}"  # a comment\n```',
    "```\nplain code, a very long line: " + "0123456789 " * 20 + "\n```",
    "```spoiler The end\nIt was the **butler**.\n```",
    "| left | middle | right |\n|:--|:-:|--:|\n| a | b | 1 |\n| longer cell | `code` | 1000 |",
    "# Heading one\n## Heading two\ntext below",
    "Inline $$e^{i\\pi} + 1 = 0$$ and\n```math\n\\int_0^1 x^2 \\, dx = \\frac{1}{3}\n```",
    "See you at <time:2026-11-30T15:00:00+01:00>, not <time:sometime>",
    "/me waves",
    "before\n\n---\n\nafter\nnext line",
    "edit pkg/__init__.py in C:\\_work and ¯\\_(ツ)_/¯",
    "/poll Lunch?\nSoup\nSalad",
)
LOOKS = ((1280, False), (1280, True), (390, False), (390, True))
RETRIEVE = """
const zulip = require("zulip-js");
zulip({zuliprc: process.argv[1]}).then(async (client) => {
  const [channel, topic] = process.argv.slice(2);
  const narrow = [{operator: "channel", operand: channel}, {operator: "topic", operand: topic}];
  const found = await client.messages.retrieve(
    {narrow, anchor: "newest", num_before: 100, num_after: 0});
  console.log(JSON.stringify(found.messages.map((message) => message.content)));
});
"""


def fill(demo: Demo) -> None:
    """Send the messages. No other messages are unread, so zulip-term shows them first."""
    for name in ("Cordelia", "Hamlet", "Othello", "Iago"):
        post(demo, name, "/users/me/subscriptions", subscriptions=json.dumps([{"name": CHANNEL}]))
    post(demo, "Othello", "/mark_all_as_read")
    for content in CONSTRUCTS:
        where = {"type": "channel", "to": CHANNEL, "topic": TOPIC}
        post(demo, "Cordelia", "/messages", content=content, **where)


def post(demo: Demo, name: str, path: str, **fields: str) -> None:
    url = f"{demo.ready['chat_url']}{path}"
    httpx.post(url, auth=demo.account(name), data=fields, timeout=30).raise_for_status()


def configuration(demo: Demo, directory: Path) -> Path:
    """Write Othello's zuliprc."""
    email, key = demo.account("Othello")
    path = directory / "zuliprc"
    path.write_text(f"[api]\nemail={email}\nkey={key}\nsite={demo.ready['base_url']}\n")
    path.chmod(0o600)
    return path


def look_at_page(browser: Browser, demo: Demo, directory: Path) -> list[str]:
    """Take pictures of the complete conversation in /chat. Return the findings of axe-core."""
    file = os.environ.get("SPECD_TEST_AXE")
    axe = Path(file).read_text() if file else ""
    violations: list[str] = []
    for width, dark in LOOKS:
        browser.reset()
        browser.show(width=1280, height=900, dark=dark)
        email, key = demo.account("Hamlet")
        person = Person(browser, demo.ready["base_url"], email)
        browser.open(f"{demo.ready['base_url']}/chat")
        person.see("#sign-in-title", "Sign in")
        browser.find("#use-key").click()
        browser.find("#email").send_keys(email)
        browser.find("#secret").send_keys(key, Keys.ENTER)
        person.go_to(f"#{CHANNEL}")
        person.go_to(TOPIC)
        browser.show(width=width, height=900, dark=dark)
        needed = browser.run(
            "const list = document.querySelector('#timeline');"
            "return list.scrollHeight - list.clientHeight + innerHeight"
        )
        browser.show(width=width, height=int(needed) + 50, dark=dark)
        if axe:
            browser.run(axe)
            violations += browser.driver.execute_async_script(AXE)
        picture = browser.driver.get_screenshot_as_png()
        (directory / f"chat-{width}-{'dark' if dark else 'light'}.png").write_bytes(picture)
    return violations


def look_at_javascript(browser: Browser, file: Path, directory: Path) -> None:
    """Take a picture of the HTML that zulip-js receives."""
    got = subprocess.run(
        ["node", "-e", RETRIEVE, str(file), CHANNEL, TOPIC],
        env={**os.environ, "NODE_PATH": str(NODE / "node_modules")},
        stdout=subprocess.PIPE,
        check=True,
    )
    contents = json.loads(got.stdout)
    assert len(contents) == len(CONSTRUCTS), contents
    rows = "<hr>".join(contents)
    page = directory / "zulip-js.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>zulip-js</title>{rows}")
    sources = "<hr>".join(f"<pre>{html.escape(content)}</pre>" for content in contents)
    (directory / "zulip-js-source.html").write_text(f"<!doctype html>{sources}")
    browser.reset()
    browser.show(width=800, height=2200, dark=False)
    browser.open(page.as_uri())
    (directory / "zulip-js.png").write_bytes(browser.driver.get_screenshot_as_png())


def look_at_terminal(file: Path, directory: Path) -> None:
    """Save the screen of zulip-term at the first and the last message."""
    with Terminal(file, lines=60) as terminal:
        terminal.begin("# shop")
        terminal.type("", seconds=3)
        screens = list(terminal.lines)
        terminal.type("\x1b[C")  # page down moves below the last message of a page
        for key in "GjGjG":  # below the last message of a page is the next page
            terminal.type(key, seconds=2)
        screens += terminal.lines
        (directory / "zulip-term.txt").write_text("\n".join(screens))


def main() -> int:
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="specd-constructs-") as name:
        browser = Browser(profile=Path(name) / "chromium")
        try:
            with running_demo(Path(name) / "var") as demo:
                fill(demo)
                file = configuration(demo, Path(name))
                violations = look_at_page(browser, demo, directory)
                if NODE.exists():
                    look_at_javascript(browser, file, directory)
                if TERMINAL.exists():
                    look_at_terminal(file, directory)
        finally:
            browser.quit()
    print(f"{len(violations)} violations", *violations, sep="\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
