"""Layout rules for all pages at the usual widths and in print."""

from __future__ import annotations

from tests.pages.browser import Browser

WIDTHS = (390, 768, 1152, 1280, 1920)
MIN_TARGET = 24
"""Pixels per side of a target (WCAG 2.2, success criterion 2.5.8), except links in a line."""
MIN_TEXT = 200
"""Pixels of width of a paragraph with more than 60 letters."""

# After two frames, the page has the layout for the new width.
SETTLE = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
FAULTS = """
const [minTarget, minText] = arguments;
const faults = [];
const nameOf = (it) => `${it.tagName}#${it.id}.${it.className} "${it.innerText.slice(0, 30)}"`;
const isSeen = (it) => it.checkVisibility({visibilityProperty: true}) && !it.closest(".announce");
const wide = document.documentElement.scrollWidth;
if (wide > innerWidth) faults.push(`the page is ${wide} px wide in a window of ${innerWidth} px`);
for (const it of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
  const box = it.getBoundingClientRect();
  if (!isSeen(it) || box.width === 0) continue;
  const isInLine = it.tagName === "A" && getComputedStyle(it).display === "inline";
  const isInLabel = it.closest("label")?.getBoundingClientRect().height >= minTarget;
  if (!isInLine && !isInLabel && (box.width < minTarget || box.height < minTarget))
    faults.push(`${nameOf(it)} is a target of ${box.width} x ${box.height} px`);
}
for (const it of document.querySelectorAll("p, li, dd, td, .opblock")) {
  const texts = [...it.childNodes].filter((node) => node.nodeType === 3);
  const text = texts.map((node) => node.data).join("").trim();
  if (!isSeen(it) || (text.length <= 60 && !it.matches(".opblock"))) continue;
  const {width} = it.getBoundingClientRect();
  if (width < (it.matches(".opblock") ? Math.min(600, innerWidth - 80) : minText))
    faults.push(`${nameOf(it)} has ${Math.round(width)} px for its text`);
}
return faults;
"""


def check_layout(browser: Browser) -> None:
    """Check the open page at each width. All errors are reported together."""
    found = {}
    for width in WIDTHS:
        browser.show(width=width, dark=False)
        browser.driver.execute_async_script(SETTLE)
        faults = browser.run(FAULTS, MIN_TARGET, MIN_TEXT)
        if faults:
            found[width] = faults
    assert found == {}, found


CUT_OFF = """
return [...document.querySelectorAll("body, body *")].filter((it) => it.checkVisibility()
  && !it.matches("svg, svg *, .announce, .unseen, input, textarea, select")
  && getComputedStyle(it).overflowY !== "visible"
  && it.clientHeight > 1 && it.scrollHeight > it.clientHeight + 1
).map((it) => `${it.tagName}#${it.id}.${it.className}: ${it.scrollHeight} > ${it.clientHeight} px`);
"""


def check_print(browser: Browser) -> None:
    """Check that the open page is printed completely, because paper does not scroll."""
    browser.command("Emulation.setEmulatedMedia", media="print")
    browser.driver.execute_async_script(SETTLE)
    found = browser.run(CUT_OFF)
    assert found == [], found
    browser.command("Emulation.setEmulatedMedia", media="")
