"""Inline syntax of Zulip's Markdown: code, mentions, channel links, formulas, times, addresses.

Each rule parses one position of the text. Unknown names remain text. Names come from
`state.env["names"]`, and the `content` of tokens is finished HTML.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from models.chat.common.name_keys import key_of
from models.chat.rendering.links import Link, find_links, is_safe
from models.chat.rendering.math import render_math
from models.chat.rendering.names import WILDCARDS, Names
from models.chat.rendering.times import parse_time

_MENTION = re.compile(r"@(_?)\*\*([^*\n]{1,250})\*\*")
_GROUP = re.compile(r"@(_?)\*([^*\n]{1,100})\*")
_CHANNEL = re.compile(r"#\*\*([^*\n]{1,250})\*\*")
_TIME = re.compile(r"<time:([^>\n]{1,100})>")
_TEX = re.compile(r"(?<!\$)\$\$([^\n_$](?:\\\$|[^$\n])*)\$\$(?![\w$])")
_TICKS = re.compile("`+")

HTML = "chat_html"
"""Token type of finished HTML."""
Piece = tuple[str, dict[str, Any]]
"""The HTML and the metadata of a token."""
Rule = Callable[[re.Match[str], StateInline], Piece | None]
"""Converts a match to a piece, or returns None if the match remains text."""


def install(parser: MarkdownIt) -> None:
    """Add the rules to a parser, in Zulip's order."""
    ruler = parser.inline.ruler
    ruler.at("text", _text)
    ruler.before("text", "chat_address", _address)
    ruler.at("backticks", _code)
    for sign, pattern, make, before in (
        ("@", _MENTION, _mention, "link"),
        ("@", _GROUP, _group_mention, "link"),
        ("#", _CHANNEL, _channel, "link"),
        ("$", _TEX, _tex, "link"),
        ("<", _TIME, _time, "link"),
    ):
        ruler.before(before, f"chat{make.__name__}", _rule(sign, pattern, make))


_links: WeakKeyDictionary[StateInline, tuple[list[int], list[Link]]] = WeakKeyDictionary()


def _links_of(state: StateInline) -> tuple[list[int], list[Link]]:
    """Return the starts of the addresses and linkifier matches in a text, and the links."""
    found = _links.get(state)
    if found is None:
        names: Names = state.env["names"]
        links = find_links(state.src, names.linkifiers) if names.finds_links else []
        links = [link for link in links if is_safe(link.url) and "`" not in link.text]
        found = _links[state] = ([link.start for link in links], links)
    return found


def _text(state: StateInline, silent: bool) -> bool:
    """Parse plain text up to the next special character or address."""
    sign = state.md.inline.terminator_re.search(state.src, state.pos)
    end = sign.start() if sign else state.posMax
    starts, _ = _links_of(state)
    at = bisect_left(starts, state.pos + 1)
    if at < len(starts):
        end = min(end, starts[at])
    if end == state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def _address(state: StateInline, silent: bool) -> bool:
    """Parse an address. An address in the text of a link is not parsed, nor is any address in
    silent mode, because that text may become the text of a link.
    """
    starts, links = _links_of(state)
    at = bisect_left(starts, state.pos)
    if silent or state.linkLevel or at == len(starts) or starts[at] != state.pos:
        return False
    link = links[at]
    state.push("link_open", "a", 1).attrs = {"href": link.url}
    state.push("text", "", 0).content = link.text
    state.push("link_close", "a", -1)
    state.pos = link.end
    return True


_runs: WeakKeyDictionary[StateInline, dict[int, list[int]]] = WeakKeyDictionary()


def _code(state: StateInline, silent: bool) -> bool:
    """Parse code between runs of backticks of the same length. Spaces at its ends are kept."""
    opening = _TICKS.match(state.src, state.pos)
    if opening is None:
        return False
    if state not in _runs:
        found: dict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(state.src):
            found[len(run.group())].append(run.start())
        _runs[state] = found
    length = len(opening.group())
    closings = _runs[state][length]
    at = bisect_left(closings, opening.end())
    if at == len(closings):
        if not silent:
            state.append_pending(opening.group())
        state.pos = opening.end()
        return True
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.content = state.src[opening.end() : closings[at]].replace("\n", " ")
    state.pos = closings[at] + length
    return True


def _rule(sign: str, pattern: re.Pattern[str], make: Rule) -> Callable[[StateInline, bool], bool]:
    def rule(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != sign or (sign != "<" and not _starts_word(state)):
            return False
        match = pattern.match(state.src, state.pos)
        piece = None if match is None else make(match, state)
        if match is None or piece is None:
            return False
        if not silent:
            token = state.push(HTML, "", 0)
            token.content, token.meta = piece
        state.pos = match.end()
        return True

    return rule


def _starts_word(state: StateInline) -> bool:
    """Return whether no letter or digit precedes the position: `mail@**x**` is not a mention."""
    return state.pos == 0 or not state.src[state.pos - 1].isalnum()


def _mention(match: re.Match[str], state: StateInline) -> Piece | None:
    names: Names = state.env["names"]
    text = match[2]
    if text in WILDCARDS:
        classes, attribute = "user-mention channel-wildcard-mention", ' data-user-id="*"'
        return _mention_of(match, classes, attribute, text, mention="channel_wildcard")
    if text == "topic":
        return _mention_of(match, "topic-mention", "", text, mention="topic_wildcard")
    user_id = names.find_user(text)
    if user_id is None:
        return None
    name, attribute = names.users[user_id], f' data-user-id="{user_id}"'
    return _mention_of(match, "user-mention", attribute, name, mention="user", id=user_id)


def _group_mention(match: re.Match[str], state: StateInline) -> Piece | None:
    names: Names = state.env["names"]
    known = names.groups.get(key_of(match[2]))
    if known is None:
        return None
    group_id, name, may_notify = known
    attribute = f' data-user-group-id="{group_id}"'
    meta = {"mention": "group", "id": group_id, "name": name, "allowed": may_notify}
    return _mention_of(match, "user-group-mention", attribute, name, **meta)


def _mention_of(
    match: re.Match[str], classes: str, attribute: str, text: str, **meta: object
) -> Piece:
    """Return a mention, which is silent if `_` follows the first character. `silenced` is its form
    in a quote.
    """
    quiet = match[1] == "_"
    silenced = f'<span class="{classes} silent"{attribute}>{escape(text)}</span>'
    markup = f'<span class="{classes}"{attribute}>@{escape(text)}</span>'
    return silenced if quiet else markup, {"quiet": quiet, "silenced": silenced, **meta}


def encode_fragment(text: str) -> str:
    """Return a name in the encoding of `#narrow/...` addresses."""
    return quote(text, safe="").replace(".", "%2E").replace("%", ".")


def channel_slug(channel_id: int, name: str) -> str:
    return f"{channel_id}-{encode_fragment(name.replace(' ', '-'))}"


def _channel(match: re.Match[str], state: StateInline) -> Piece | None:
    if state.linkLevel:
        return None
    names: Names = state.env["names"]
    whole = names.channels.get(key_of(match[1]))
    name, arrow, topic = match[1].partition(">")
    known = whole or names.channels.get(key_of(name.strip()))
    if known is None:
        return None
    channel_id, name = known
    href, classes, shown = f"/#narrow/channel/{channel_slug(*known)}", "stream", f"#{name}"
    if whole is None and arrow:
        topic, at, message_id = topic.rpartition("@")
        if not at or not message_id.isdecimal():
            topic, message_id = (topic + at + message_id).strip(), ""
        topic = topic.strip()
        empty = state.env.get("empty_topic_name", "general chat")
        href += f"/topic/{encode_fragment(topic)}"
        classes, shown = "stream-topic", f"{shown} > {topic or empty}"
        if message_id:
            href, classes = f"{href}/near/{message_id}", "message-link"
            shown += " @ 💬"
    link = f'<a class="{classes}" data-stream-id="{channel_id}" href="{escape(href)}">'
    return f"{link}{escape(shown)}</a>", {}


def _tex(match: re.Match[str], state: StateInline) -> Piece:
    return render_math(match[1], display=False, budget=state.env["math"]), {}


def _time(match: re.Match[str], state: StateInline) -> Piece:
    at = parse_time(match[1].strip())
    if at is None:
        return (
            f'<span class="timestamp-error">Invalid time format: {escape(match[1])}</span>',
            {},
        )
    shown = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return f'<time datetime="{shown}">{escape(match[1])}</time>', {}
