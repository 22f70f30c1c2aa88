"""Modules of /chat in headless Chromium, without a service, with unusual texts."""

from __future__ import annotations

import html
import random
from collections.abc import Iterator, Mapping

import pytest

from models.chat import rendering
from models.chat.rendering.sanitising import ATTRIBUTES, SCHEMES, TAGS, sanitise
from pages.chat import add_chat
from tests.live.injections import documents
from tests.models.chat.injections import ADDRESS_PLACES, ADDRESSES, UNREADABLE, vectors
from tests.pages.browser import Browser
from tests.pages.stage import serving
from tests.support.service_pages import build_pages

Place = Mapping[str, object]

FORBIDDEN = {"embed", "form", "iframe", "img", "input", "object", "script", "style", "svg"}
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
const [places, done] = arguments;
import("/static/chat/places.js").then(({ addressOf, placeAt }) => {
  done(places.map((place) => {
    location.hash = addressOf(place);
    return placeAt(location.hash);
  }));
});
"""
PLACE_AT = """
const [addresses, done] = arguments;
import("/static/chat/places.js").then(({ placeAt }) => done(addresses.map(placeAt)));
"""
UNPARSED = """
const addresses = arguments[0].flatMap((html) => {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  return [...body.querySelectorAll("a[href]")].map((link) => link.getAttribute("href"));
});
return addresses.filter((address) => !URL.canParse(address, location.href));
"""
# The timeline of a topic with these messages, followed by the events: the text of each item, and
# errors.
TIMELINE = """
const [messages, events, done] = arguments;
import("/static/chat/timeline.js").then(async ({ Timeline, announceMessage }) => {
  const nothing = { within: () => [], count: () => 0, has: () => false };
  const realm = { canEdit: true, editSeconds: null, maxMessage: 10000, emptyTopic: "general chat" };
  const names = { nameOf: String, titleOf: String };
  const state = { me: 4, users: new Map(), realm, unread: nothing, settings: {}, ...names };
  const whole = { messages, found_oldest: true, found_newest: true };
  const api = { get: async () => whole, post: async () => ({}) };
  const failures = [];
  const timeline = new Timeline({ api, state, complain: (error) => failures.push(String(error)) });
  try {
    await timeline.open({ channelId: 9, topic: "a" });
    for (const message of messages) announceMessage(state, message);
    for (const event of events) timeline.apply(event);
  } catch (error) {
    failures.push(String(error));
  }
  const items = [...document.querySelectorAll("#messages .message")];
  done([items.map((item) => [item.id, item.querySelector(".content").textContent]), failures]);
});
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Browser]:
    """The page of a server without a chat service."""
    with serving(build_pages(documents={}, own=[add_chat])) as base:
        browser.open(f"{base}/chat")
        browser.wait(lambda: browser.text("#sign-in-refusal"), "what is missing")
        browser.console()
        browser.requested()
        yield browser
        browser.open("about:blank")


def render(page: Browser, *texts: str) -> tuple[list[str], list[list[str]], str]:
    """Return the elements, attributes and text that the page renders from HTML."""
    names, attributes, words = page.driver.execute_async_script(RENDERED, texts)
    return names, attributes, words


def test_hostile_markup_is_removed_by_the_page_too(page: Browser) -> None:
    """The server already removes it."""
    names, attributes, _ = render(page, *sorted(set(vectors())))
    assert len(names) > 20
    assert FORBIDDEN.isdisjoint(names)
    assert [name for name, _ in attributes if name.startswith("on") or name == "style"] == []
    links = [value for name, value in attributes if name == "href"]
    assert [link for link in links if "script:" in link and not link.startswith("http")] == []
    # Parsing such markup causes a policy violation, even if the blocked element is removed a moment
    # later.
    assert [line for line in page.console() if "The action has been blocked" not in line] == []
    assert [url for url in page.requested() if "/static/chat/" not in url] == []


def test_markup_from_the_server_is_kept(page: Browser) -> None:
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


def message(number: int, content: str, **over: object) -> dict[str, object]:
    usual = {
        "id": number,
        "type": "stream",
        "stream_id": 9,
        "subject": "a",
        "sender_id": 5,
        "sender_full_name": "Othello",
        "timestamp": 1795262400 + number,
        "content": content,
        "reactions": [],
        "submessages": [],
    }
    return {**usual, **over}


def show(
    page: Browser, messages: list[dict[str, object]], *events: dict[str, object]
) -> tuple[dict[str, str], list[str]]:
    """Return the text of each message by the id of its item, and the errors."""
    items, failures = page.driver.execute_async_script(TIMELINE, messages, events)
    return dict(items), failures


def test_every_message_is_rendered(page: Browser) -> None:
    """With the markup of the server, and with markup from a server without a sanitizer."""
    addresses = [*ADDRESSES, *UNREADABLE]
    texts = [place.replace("{}", address) for place in ADDRESS_PLACES for address in addresses]
    texts += [*sorted(set(vectors()))[::5], *documents(100, seed=11)]
    sent = [rendering.render(text, rendering.Names()).html for text in texts]
    raw = [f'<a href="{address}">x</a>' for address in addresses]
    raw += [f'<img class="emoji" alt=":x:" src="{address}">' for address in addresses]
    raw += ['<span class="emoji emoji-ffffffff">no such sign</span>', '<time datetime="x">', *texts]
    every = [message(number, html) for number, html in enumerate((*sent, *raw), 1)]
    shown, failures = show(page, every)
    assert failures == []
    assert page.run(UNPARSED, sent) == []
    assert list(shown) == [f"message-{number}" for number in range(1, len(every) + 1)]
    assert shown[f"message-{len(sent) + 2 * len(addresses) + 1}"] == "no such sign"


def test_action_begins_with_the_name_of_the_user(page: Browser) -> None:
    over = {"is_me_message": True}
    waves = message(1, "<p>/me waves, <em>twice</em></p>", **over)
    shown, failures = show(page, [waves, message(2, "<p>/me is shown as it is</p>")])
    assert failures == []
    assert shown == {
        "message-1": "Othello waves, twice",
        "message-2": "/me is shown as it is",
    }


def shapes(count: int, seed: int) -> list[str]:
    """Return trees of allowed markup: any tag, any of its attributes, any value."""
    chance = random.Random(seed)
    values = [*ADDRESSES, *UNREADABLE, *(f"{scheme}:{rest}" for scheme in sorted(SCHEMES)
              for rest in ("", "//", "//[", "//a:99999/"))]  # fmt: skip
    values += ["emoji emoji-ffffffff", "emoji emoji-1f419-", "spoiler-block", "9" * 30, "", "\0"]

    def tree(depth: int) -> str:
        tag = chance.choice(sorted(TAGS))
        names = [name for name in sorted(ATTRIBUTES.get(tag, ())) if chance.random() < 0.7]
        said = "".join(f' {name}="{html.escape(chance.choice(values))}"' for name in names)
        inside = "".join(tree(depth - 1) for _ in range(chance.randint(0, 2))) if depth else "x"
        return f"<{tag}{said}>{inside}</{tag}>"

    return [tree(chance.randint(0, 4)) for _ in range(count)]


def test_all_allowed_markup_is_rendered(page: Browser) -> None:
    kept = [sanitise(shape) for shape in shapes(1_200, seed=3)]
    assert sum("=" in shape for shape in kept) > 200
    every = [message(number, shape) for number, shape in enumerate(kept, 1)]
    shown, failures = show(page, every)
    assert failures == []
    assert list(shown) == [f"message-{number}" for number in range(1, len(every) + 1)]


def test_message_that_cannot_be_rendered_is_shown_as_text(page: Browser) -> None:
    reaction = {"emoji_name": "x", "reaction_type": "unicode_emoji", "user_id": 5}
    bad = {**reaction, "emoji_code": "ffffffff"}
    odd = [
        message(2, "<p>two</p>", submessages=[{"sender_id": 5, "content": "{"}]),
        message(3, "<p>three</p>", reactions=[bad]),
        message(4, "<p>four</p>", last_edit_timestamp="never"),
        message(5, "<p>five</p>", sender_full_name=None),
    ]
    every = [message(1, "<p>one</p>"), *odd, message(6, "<p>six</p>")]
    later = {"type": "reaction", "op": "add", "message_id": 6, **bad}
    shown, failures = show(page, every, later)
    assert failures == []
    words = ("one", "two", "three", "four", "five", "six")
    assert shown == {f"message-{number}": word for number, word in enumerate(words, 1)}


PLACES: list[Place] = [
    {"userIds": [4, 5]},
    {"channelId": 9},
    {"search": "50% of #1/2 > a.b?"},
    {"is": "starred"},
    {"near": 7},
    {"userIds": [4, 5], "near": 7},
    {"channelId": 9, "near": 7},
    {"channelId": 9, "topic": "", "near": 7},
    *({"channelId": 9, "topic": t} for t in ("", "a b", "50% of #1/2 > a.b?", "ü 🏰", ".2E")),
]
LEADS_NOWHERE = (
    "",
    "#",
    "#narrow",
    "#narrow/x/1",
    "#narrow/search/",
    "#narrow/search/.ZZ",
    "#narrow/dm/x",
    "#narrow/is/nothing",
    "#narrow/channel/x/near/1",
    "#narrow/channel/9/sender/4",
    "#a/b/c",
)
SPELLINGS: dict[str, Place] = {
    "#narrow/stream/9-the-stage/subject/a.20b": {"channelId": 9, "topic": "a b"},
    "#narrow/channel/9-x/topic/a/with/7": {"channelId": 9, "topic": "a", "near": 7},
    "#narrow/channel/9-x/topic/a/": {"channelId": 9, "topic": "a"},
    "#narrow/pm-with/5,4-group/near/7": {"userIds": [4, 5], "near": 7},
    "#narrow/dm/4-Othello": {"userIds": [4]},
    "#narrow/id/7": {"near": 7},
    "#narrow/channel/9-x/near/x": {"channelId": 9},
}
"""Addresses in current and former notations of Zulip."""


def test_address_opens_its_conversation(page: Browser) -> None:
    assert page.driver.execute_async_script(ADDRESS, PLACES) == PLACES


def test_unknown_address_opens_nothing(page: Browser) -> None:
    found = page.driver.execute_async_script(PLACE_AT, LEADS_NOWHERE)
    assert dict(zip(LEADS_NOWHERE, found, strict=True)) == dict.fromkeys(LEADS_NOWHERE)


def test_every_address_format_of_zulip_is_understood(page: Browser) -> None:
    found = page.driver.execute_async_script(PLACE_AT, list(SPELLINGS))
    assert dict(zip(SPELLINGS, found, strict=True)) == SPELLINGS


MOVED = """
const [places, done] = arguments;
const people = (...ids) => ids.map((user_id, place) => {
  const full_name = place === 0 ? "Ada" : "Iago";
  return [user_id, { user_id, full_name, delivery_email: place === 3 ? "iago@x" : null }];
});
const before = {
  me: 1,
  users: new Map(people(1, 2, 3, 4)),
  channels: new Map([[9, { name: "stage" }], [10, { name: "gone" }]]),
};
const after = {
  me: 11,
  users: new Map(people(11, 12, 13, 14)),
  channels: new Map([[19, { name: "stage" }], [9, { name: "other" }]]),
};
import("/static/chat/state.js").then(({ placeAfterMove }) => {
  done(places.map((place) => placeAfterMove(place, before, after)));
});
"""


MOVES: list[tuple[Place, Place | None]] = [
    ({"channelId": 9}, {"channelId": 19}),
    ({"channelId": 9, "topic": "a"}, {"channelId": 19, "topic": "a"}),
    ({"channelId": 10}, None),
    ({"channelId": 11, "topic": "a"}, None),
    ({"userIds": [1]}, {"userIds": [11]}),
    ({"userIds": [4]}, {"userIds": [14]}),
    ({"userIds": [2]}, None),
    ({"userIds": [3, 4]}, None),
    ({"userIds": [5]}, None),
    ({"search": "castle"}, {"search": "castle"}),
    ({"is": "starred"}, {"is": "starred"}),
    ({"channelId": 9, "near": 7}, {"channelId": 19}),
    ({"near": 7}, None),
]
"""A conversation, and the conversation after a move."""


def test_conversation_has_other_ids_after_a_move(page: Browser) -> None:
    """A message is never sent to the wrong user, even if two users have the same name."""
    moved = page.driver.execute_async_script(MOVED, [place for place, _ in MOVES])
    assert [(place, found) for (place, _), found in zip(MOVES, moved, strict=True)] == MOVES


IN_VIEW = """
const [items, policies, done] = arguments;
import("/static/chat/reading.js").then(({ idsInView, marksAsRead }) => {
  const seen = idsInView(items, { top: 100, bottom: 500 });
  done([seen, policies.map(([place, policy]) => marksAsRead(place, policy))]);
});
"""


def test_message_is_seen_when_its_end_is_visible(page: Browser) -> None:
    items = [
        [1, {"top": 20, "bottom": 90}],
        [2, {"top": 90, "bottom": 130}],
        [3, {"top": 130, "bottom": 500}],
        [4, {"top": 480, "bottom": 520}],
        [5, {"top": 0, "bottom": 400}],
        [6, {"top": 0, "bottom": 900}],
    ]
    channel, topic, people = {"channelId": 9}, {"channelId": 9, "topic": ""}, {"userIds": [4]}
    policies = [
        *((place, policy, True) for place in (topic, people) for policy in (1, 2)),
        *((place, 3, False) for place in (channel, topic, people)),
        (channel, 1, True),
        (channel, 2, False),
        ({"search": "x"}, 1, False),
        ({"is": "starred"}, 1, False),
    ]
    asked = [[place, policy] for place, policy, _ in policies]
    seen, marks = page.driver.execute_async_script(IN_VIEW, items, asked)
    assert seen == [2, 3, 5]
    assert marks == [expected for _, _, expected in policies]


LATER = """
const [times, done] = arguments;
import("/static/chat/times.js").then(({ laterTimes }) => {
  const tell = (now, time) => [time - now, time.getDay(), time.getHours()];
  const all = times.map((text) => new Date(text));
  done(all.map((now) => laterTimes(now).map(([, time]) => tell(now, time))));
});
"""


def test_suggested_times_are_in_the_future_and_correctly_labeled(page: Browser) -> None:
    """On each day of a week, before and after nine."""
    days = [f"2026-11-{day}T{hour}:00:00" for day in range(23, 30) for hour in ("08", "23")]
    for times in page.driver.execute_async_script(LATER, days):
        (hour, *_), (tomorrow, _, nine), (monday, weekday, also_nine) = times
        assert hour == 3_600_000
        assert 0 < tomorrow < 36 * 3_600_000
        assert 0 < monday <= 8 * 24 * 3_600_000
        assert (nine, also_nine, weekday) == (9, 9, 1)


# The requests that mark 2,500 messages as read. The second request fails once.
READER = """
const done = arguments[0];
import("/static/chat/reading.js").then(async ({ Reader }) => {
  const asked = [];
  const ranges = [1000, 2000, null];
  const post = async (path, body) => {
    asked.push([path, body]);
    if (path === "/messages/flags/narrow") {
      const last = ranges.shift();
      return { last_processed_id: last, found_newest: last === null };
    }
    if (asked.length === 2) throw Object.assign(new Error("away"), { status: 0 });
  };
  const reader = new Reader({ api: { post } });
  const usual = { type: "update_message_flags", flag: "read" };
  const event = (op, messages) => reader.apply({ ...usual, op, messages });
  const ids = Array.from({ length: 2500 }, (_, at) => at + 1);
  reader.see(ids);
  reader.see(ids);
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve));
  dispatchEvent(new Event("online")); // skip the back-off
  while (asked.length < 4) await new Promise((resolve) => setTimeout(resolve));
  event("add", ids);
  event("remove", [7]);
  reader.see([7]);
  await new Promise((resolve) => setTimeout(resolve));
  const told = asked.splice(0);
  await reader.seeAll({ channelId: 9 });
  const each = told.map(([, { messages, op }]) => [messages[0], messages.length, op]);
  done([each, asked.map(([, body]) => body)]);
}).catch((error) => done(String(error)));
"""


def test_any_number_of_messages_is_marked_as_read(page: Browser) -> None:
    """Requests respect the limit of the API, contain each message once, and skip messages that the
    user marks as unread.
    """
    told, ranges = page.driver.execute_async_script(READER)
    assert told == [
        [1, 1000, "add"],
        [1001, 1000, "add"],
        [1001, 1000, "add"],
        [2001, 500, "add"],
    ]
    assert [(range_["anchor"], range_["include_anchor"]) for range_ in ranges] == [
        ("oldest", True),
        ("1000", False),
        ("2000", False),
    ]
    for range_ in ranges:
        assert {"operator": "is", "operand": "unread"} in range_["narrow"]
        assert {"operator": "channel", "operand": 9} in range_["narrow"]
        assert range_["num_after"] <= 5000
