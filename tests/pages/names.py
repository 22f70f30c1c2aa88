"""Generated names that pages must show unchanged, and a check of their display."""

from __future__ import annotations

import random
from urllib.parse import urlsplit

from tests.models.chat.injections import SCRIPTS
from tests.pages.browser import Browser

PIECES = (
    *SCRIPTS,
    "{{7*7}}",
    "${alert(1)}",
    "&lt;b&gt;",
    "<b>",
    "</a></li></ul></nav>",
    "</script>",
    "</textarea>",
    "\\u003cimg\\u003e",
    "%3Cscript%3E",
    "#narrow/channel/1",
    "../../",
    "__proto__",
    "constructor",
    "\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe",
    "\N{RIGHT-TO-LEFT ISOLATE}abc",
    "\N{ZERO WIDTH JOINER}",
    "e" + "\N{COMBINING ACUTE ACCENT}" * 40,
    "\N{ARABIC LIGATURE BISMILLAH AR-RAHMAN AR-RAHEEM}",
    "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}",
    "W" * 60,
    "null",
    "0",
    "'",
    '"',
    "`",
    "a b",
)


def names(count: int, *, seed: int, longest: int) -> list[str]:
    """Return `count` different names of at most `longest` characters, without spaces around them.

    Every second name begins with a complete piece, so that truncation does not split it.
    """
    chance, made = random.Random(seed), dict[str, None]()
    while len(made) < count:
        name = ""
        for _ in range(chance.randint(1, 4)):
            name += chance.choice(PIECES) + chance.choice(("", " ", "x"))
        name = name[chance.choice((0, 0, 1)) :][:longest].strip()
        if name:
            made[name] = None
    return list(made)


LOOK = """
const own = new Set(arguments[1]);
const shown = [...document.querySelectorAll(arguments[0])].filter(e => own.has(e.textContent));
return {
  texts: shown.map(e => e.textContent),
  elements: shown.flatMap(e => [...e.querySelectorAll('*')]).map(e => e.outerHTML),
  unseen: shown.filter(e => {
    const box = e.getBoundingClientRect();
    return !e.checkVisibility() || !box.width || !box.height;
  }).map(e => e.textContent),
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes])
    .filter(a => /^on/i.test(a.name) || /^javascript:/i.test(a.value.trim()) || a.name == 'srcdoc')
    .map(a => a.name + '=' + a.value),
};
"""


def shows(
    browser: Browser, selector: str, expected: list[str], *, base: str, is_still: bool = False
) -> int:
    """Return how many elements `selector` matches. Their texts must be exactly the expected names.

    Each name must be shown at least once, contain only text, be visible, and fit the window. No
    script may have run, and no other host may have been contacted. `is_still` means that the caller
    has already waited for the page.
    """

    def found() -> dict[str, list[str]]:
        return dict(browser.run(LOOK, selector, expected))

    browser.wait(lambda: set(expected) <= set(found()["texts"]), f"the names in {selector}")
    if not is_still:
        browser.wait_still("body")
    look = found()
    for fault in ("elements", "unseen", "handlers"):
        assert look[fault] == [], f"{fault}: {look[fault]}"
    assert look["wide"] == 0, "the page is wider than its window"
    assert browser.console() == []
    foreign = [url for url in browser.requested() if urlsplit(base).netloc != urlsplit(url).netloc]
    assert [url for url in foreign if not url.startswith(("about:", "data:"))] == []
    return len(look["texts"])
