"""Modules of /chat in headless Chromium, without a service: what they make of odd texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pages import chat_client
from pages.app import build_pages
from tests.models.chat.injections import vectors
from tests.pages.browser import Browser
from tests.pages.stage import serving

FORBIDDEN = {"embed", "form", "iframe", "img", "input", "math", "object", "script", "style", "svg"}
RENDERED = """
const [texts, done] = arguments;
import("/static/chat/rendered.js").then(({ nodesOf }) => {
  const place = document.createElement("div");
  for (const text of texts) place.append(nodesOf(text));
  document.body.append(place);
  const elements = [...place.querySelectorAll("*")];
  const attributes = elements.flatMap((element) => [...element.attributes]);
  const pairs = attributes.map(({ name, value }) => [name, value]);
  done([elements.map((element) => element.localName), pairs, place.innerText]);
});
"""
ADDRESS = """
const [place, done] = arguments;
import("/static/chat/places.js").then(({ addressOf, placeAt }) => {
  location.hash = addressOf(place);
  done(placeAt(location.hash));
});
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Browser]:
    """The page of a server that has no chat service."""
    with serving(build_pages(documents={}, own=[chat_client.install])) as base:
        browser.open(f"{base}/chat")
        browser.wait(lambda: browser.text("#sign-in-refusal"), "what is missing")
        browser.console()
        browser.requested()
        yield browser
        browser.open("about:blank")


def render(page: Browser, *texts: str) -> tuple[list[str], list[list[str]], str]:
    """The elements, attributes and words that become of HTML."""
    names, attributes, words = page.driver.execute_async_script(RENDERED, texts)
    return names, attributes, words


def test_hostile_markup_is_dropped_here_too(page: Browser) -> None:
    """The server lets none of it through; the page would not show it either."""
    names, attributes, _ = render(page, *sorted(set(vectors())))
    assert len(names) > 20
    assert FORBIDDEN.isdisjoint(names)
    assert [name for name, _ in attributes if name.startswith("on") or name == "style"] == []
    links = [value for name, value in attributes if name == "href"]
    assert [link for link in links if "script:" in link and not link.startswith("http")] == []
    # The policy speaks up as soon as such markup is parsed; what it blocks is gone a moment later.
    assert [line for line in page.console() if "The action has been blocked" not in line] == []
    assert [url for url in page.requested() if "/static/chat/" not in url] == []


def test_what_the_server_renders_is_kept(page: Browser) -> None:
    names, attributes, words = render(
        page,
        '<p>A <a href="https://example.com/x">link</a> and <a href="/#narrow/channel/9-a/topic/b">'
        'a topic</a> <span class="emoji emoji-1f419" title="octopus">:octopus:</span></p>',
        '<div class="spoiler-block"><div class="spoiler-header"><p>Who?</p></div>'
        '<div class="spoiler-content" aria-hidden="true"><p>The butler</p></div></div>',
        '<img class="emoji" src="https://evil.example/a.png" alt=":ours:">',
    )
    assert names == ["p", "a", "a", "span", "details", "summary", "p"]
    assert ["href", "#narrow/channel/9/topic/b"] in attributes
    assert ["rel", "noopener noreferrer nofollow"] in attributes
    assert words.split() == ["A", "link", "and", "a", "topic", "\N{OCTOPUS}", "Who?", ":ours:"]


@pytest.mark.parametrize(
    "place",
    [
        {"userIds": [4, 5]},
        {"channelId": 9},
        *({"channelId": 9, "topic": t} for t in ("", "a b", "50% of #1/2 > a.b?", "ü 🏰", ".2E")),
    ],
    ids=str,
)
def test_an_address_leads_to_its_place(page: Browser, place: dict[str, object]) -> None:
    assert page.driver.execute_async_script(ADDRESS, place) == place


@pytest.mark.parametrize("address", ["", "#", "#narrow", "#narrow/x/1", "#narrow/dm/x", "#a/b/c"])
def test_another_address_leads_nowhere(page: Browser, address: str) -> None:
    script = """
    const [address, done] = arguments;
    import("/static/chat/places.js").then(({ placeAt }) => done(placeAt(address)));
    """
    assert page.driver.execute_async_script(script, address) is None
