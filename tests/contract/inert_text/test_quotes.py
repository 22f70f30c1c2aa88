"""Names and texts of users in notices are unchanged if they are harmless, and inert otherwise."""

import pytest

from models.chat.access.channels import ChannelView
from models.chat.rendering import Names, render
from models.chat.rendering.quotes import Quotes, inert_block, inert_line
from tests.contract.inert_text.payloads import LINES, PAYLOADS
from tests.contract.inert_text.reading import Reading

EVERYTHING = Names(
    users={4: "Hamlet", 5: "Othello"},
    users_by_name={"hamlet": [4], "othello": [5]},
    groups={"shield": (7, "shield", False)},
    channels={"secret": (9, "secret"), "denmark": (1, "Denmark")},
    emoji={"secret": (1, "/secret.png")},
)
"""The names known to a client that renders Markdown itself."""


def channel(name: str) -> ChannelView:
    fields = dict.fromkeys(ChannelView.__dataclass_fields__)
    return ChannelView(**{**fields, "id": 1, "name": name})  # type: ignore[arg-type]


def is_quiet(markdown: str, names: Names, *tags: str) -> Reading:
    """Check that only the bot's own text is active. Return the visible text."""
    rendered = render(markdown, names)
    seen = Reading(rendered.html)
    assert seen.tags <= {"p", "br", "span", *tags}, rendered.html
    assert not rendered.user_ids | rendered.group_ids, rendered.html
    assert not rendered.mentions_channel, rendered.html
    assert not rendered.mentions_topic, rendered.html
    assert rendered.refused_group is None, rendered.html
    return seen


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Hamlet", "Hamlet"),
        ("Prince of Denmark (he)", "Prince of Denmark (he)"),
        ("王子 — ハムレット", "王子 — ハムレット"),
        ("Not authorized to send to channel 'Denmark'", ...),
        ("'o.phelia@acme.example' is no longer using specd.", ...),
        ("a*b", "` a*b `"),
        ("`` ``` `", "```` `` ``` ` ````"),
        ("a\r\nb\u2028c", "a b c"),
        ("\u202eabc", "abc"),
        ("www.evil.example", "` www.evil.example `"),
    ],
)
def test_line_is_quoted(text: str, line: str) -> None:
    assert inert_line(text) == (text if line is ... else line)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("Who is there?\n\nNay, answer me: stand.", ...),
        ("99% sure - or not", ...),
        ("**x**", "```\n**x**\n```"),
        ("``` x", "~~~\n``` x\n~~~"),
        ("``` ~~~ x", "````\n``` ~~~ x\n````"),
        ("`" * 1000, f"~~~\n{'`' * 1000}\n~~~"),
        ("1. x", "```\n1. x\n```"),
    ],
)
def test_block_is_quoted(text: str, block: str) -> None:
    assert inert_block(text) == (text if block is ... else block)


@pytest.mark.parametrize(
    ("name", "topic", "markdown"),
    [
        ("Denmark", "castle", "#**Denmark>castle**"),
        ("my_channel #2", "✔ was it?", "#**my_channel #2>✔ was it?**"),
        ("Denmark", "", "#**Denmark>**"),
        ("a*b", "c", "[&#35;a&#42;b &#62; c](/#narrow/channel/1-a.2Ab/topic/c)"),
        ("a", "b>c", "[&#35;a &#62; b&#62;c](/#narrow/channel/1-a/topic/b.3Ec)"),
    ],
)
def test_thread_is_quoted(name: str, topic: str, markdown: str) -> None:
    assert Quotes().thread(channel(name), topic) == markdown


@pytest.mark.parametrize("text", PAYLOADS + LINES)
def test_hostile_text_stays_inert(text: str) -> None:
    one_line = " ".join(text.split())
    for names in (Quotes().names, EVERYTHING):
        seen = is_quiet(f"> {inert_line(text)}", names, "blockquote", "code")
        assert seen.mentions == seen.addresses == []
        seen = is_quiet(inert_block(text), names, "div", "pre", "code")
        assert seen.mentions == seen.addresses == []
        assert "".join(seen.text.split()) == "".join(text.split()), "all of it is shown"
    for pair in ((one_line, "castle"), ("Denmark", one_line), (one_line, one_line)):
        quotes = Quotes()
        who = quotes.user(4, one_line)
        link = quotes.thread(channel(pair[0]), pair[1])
        for names in (quotes.names, EVERYTHING):
            seen = is_quiet(f"{link} and {who}", names, "a", "strong")
            assert len(seen.addresses) == 1 or names is EVERYTHING
            for address in seen.addresses:
                assert address.startswith("/#narrow/channel/1-")
            assert {user_id for _, user_id in seen.mentions} <= {"4"}
