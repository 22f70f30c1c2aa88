"""Script injections and generated Markdown through the service, checked in a real browser.

`scripts/injections` runs all of it; tests/pages/test_browser_messages.py runs a part.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from models.chat.rendering import Names, render
from models.chat.rendering.links import Linkifier, Linkifiers
from specd._db import migrate
from specd.db import Database
from tests.models.chat.injections import vectors
from tests.pages.browser import Browser
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import CAST_MADE_AT, make_cast
from tests.support.frozen_clock import FrozenClock

WORDS = (
    "to",
    "be",
    "or",
    "not",
    "Ærø",
    "汉字",
    "🙂",
    "\u202e",
    "\u200b",
    "a_b",
    "2 < 3",
    "&amp;",
    "x>y",
)
INLINE = (
    "**{}**", "*{}*", "~~{}~~", "`{}`", "``{}``", "[{}](https://a.example/?q={})", "![{}](/x.png)",
    "<b>{}</b>", "@**Othello** {}", "@_**Othello|5** {}", "@*players* {}", "#**Denmark>{}**",
    ":smile: {}", "<time:2026-11-21T12:00:00Z> {}", "$${}$$", "https://a.example/{}",
    "{}@a.example", "\\{}", "&#x3c;{}&#x3e;", "<!-- {} -->",
)  # fmt: skip
BLOCKS = (
    "{}", "# {}", "> {}", "* {}\n  * {}", "1. {}\n2. {}", "```\n{}\n```", "```python\n{}\n```",
    "```quote\n{}\n```", "```spoiler {}\n{}\n```", "```math\n{}\n```", "~~~ {}\n{}", "| {} | {} |\n"
    "|---|:-:|\n| {} | {} |", "---", "    {}", "/me {}", "<div>{}</div>",
    "[{}]: javascript:alert(1)",
)  # fmt: skip
CATASTROPHE = "(([a-z])+.)+[A-Z]([a-z])+#42"
"""28 characters for which a backtracking engine needs hours."""
PAGE = """<!doctype html><meta charset="utf-8"><script>
window.ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"])
  window[name] = (...said) => window.ran.push(name + said);
window.texts = %s;
</script><body>%s</body>"""
# In the page: every element is inspected, then receives each event that a handler could wait for.
JUDGE = """
const faults = [];
const plain = new Set(["http:", "https:", "mailto:", "file:"]);
for (const element of document.body.querySelectorAll("*")) {
  if (/^(script|style|iframe|object|embed|base|meta|link|form|svg|math)$/i.test(element.localName)
      && !element.closest("semantics, .katex")) faults.push("element " + element.localName);
  for (const {name, value} of element.attributes) {
    if (/^on/i.test(name) || /^(srcdoc|formaction|ping|background)$/i.test(name))
      faults.push(name + "=" + value);
    if (/^(href|src|action|xlink:href|data|poster|cite)$/i.test(name)) {
      let protocol;
      try { protocol = new URL(value, document.baseURI).protocol; } catch { protocol = "none"; }
      if (protocol !== "none" && !plain.has(protocol)) faults.push(name + "=" + value);
    }
  }
  for (const kind of ["click", "mouseover", "focus", "error", "load", "toggle", "animationstart"])
    if (kind !== "click" || element.localName !== "a") element.dispatchEvent(new Event(kind));
}
return {faults: faults.slice(0, 20), ran: window.ran, parts: document.body.children.length};
"""


def documents(count: int, seed: int) -> list[str]:
    """Return random Markdown. Each text depends only on the seed and its number."""
    made = []
    scripts = vectors()
    for number in range(count):
        chance = random.Random(f"{seed} {number}")

        def phrase(depth: int, chance: random.Random = chance) -> str:
            roll = chance.random()
            if roll < 0.15:
                return chance.choice(scripts)
            if depth == 0 or roll < 0.45:
                return " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))
            shape = chance.choice(INLINE)
            return "".join(
                piece + (phrase(depth - 1) if last < shape.count("{}") else "")
                for last, piece in enumerate(shape.split("{}"))
            )

        blocks = []
        for _ in range(chance.randint(1, 5)):
            shape = chance.choice(BLOCKS).split("{}")
            blocks.append("".join(p + (phrase(2) if n < len(shape) - 1 else "")
                                  for n, p in enumerate(shape)))  # fmt: skip
        made.append(chance.choice(("\n\n", "\n")).join(blocks))
    return made


@dataclass(slots=True)
class Verdict:
    """The findings of the browser. Everything except the counts must be empty."""

    texts: int = 0
    fragments: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """The reasons for which the service rejected a text both as a message and as an edit, with
    counts.
    """
    ran: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.ran or self.faults or self.requests)


@contextmanager
def speaking(directory: Path) -> Iterator[ChatClient]:
    """A client of the service with a new SQLite database and the objects that the documents name: a
    channel `Denmark`, and a group `players` that all users may mention.
    """
    url = f"sqlite:///{directory / 'chat.db'}"
    migrate.upgrade(url, "chat")
    database = Database(url)
    cast = database.run(lambda session: make_cast(session, now=CAST_MADE_AT))
    people = [cast.hamlet, cast.othello]
    database.run(lambda session: make_channel(session, cast, "Denmark", subscribers=people))
    app = ChatApp(database, FrozenClock(CAST_MADE_AT), directory)
    try:
        client = ChatClient(app, "acme.example", cast.hamlet)
        group = {"name": "players", "description": "", "members": [cast.othello.id]}
        assert client.post("/user_groups/create", **group)["result"] == "success"
        yield client
    finally:
        app.close()
        database.dispose()


def fragments_of(client: ChatClient, text: str, next_text: str, refused: Counter[str]) -> list[str]:
    """Return the HTML of a message, of its edit and of the difference. Count rejections."""
    wish = {"type": "channel", "to": "Denmark", "topic": "t", "content": text}
    sent = client.post("/messages", **wish)
    if sent["result"] == "error":
        refused[sent["msg"]] += 1
        return []
    path = f"/messages/{sent['id']}"
    edited = client.patch(path, content=next_text)
    if edited["result"] == "error":
        refused[f"edit: {edited['msg']}"] += 1
    history = client.get(f"{path}/history")["message_history"]
    return [
        item[name]
        for item in history
        for name in ("rendered_content", "content_html_diff")
        if name in item
    ]


def judge(
    browser: Browser, client: ChatClient, texts: Sequence[str], directory: Path, *, batch: int = 100
) -> Verdict:
    """Send every text, edit it into the next, and show all results in the browser."""
    verdict = Verdict(texts=len(texts))
    page = directory / "page.html"
    for start in range(0, len(texts), batch):
        shown: list[str] = []
        for number in range(start, min(start + batch, len(texts))):
            shown += fragments_of(
                client, texts[number], texts[(number + 1) % len(texts)], verdict.refused
            )
        body = "".join(f"<section>{html}</section>" for html in shown)
        page.write_text(PAGE % (json.dumps(start), body), encoding="utf-8", errors="replace")
        browser.requested()
        browser.open(page.as_uri())
        seen = browser.run(JUDGE)
        asked = [address for address in browser.requested() if address != page.as_uri()]
        verdict.fragments += len(shown)
        verdict.ran += seen["ran"]
        verdict.faults += seen["faults"]
        if seen["parts"] != len(shown):
            verdict.faults.append(f"{len(shown)} parts became {seen['parts']}")
        verdict.requests += asked
    return verdict


def catastrophe_ms() -> float:
    """Return the best of five times of a message with the slowest linkifier."""
    names = Names(linkifiers=Linkifiers([Linkifier(CATASTROPHE, "https://a.example/x")]))
    times = []
    for _ in range(5):
        began = time.perf_counter()
        render("a" * 1000, names)
        times.append(time.perf_counter() - began)
    return min(times) * 1000
