"""The inline syntax that chat adds to Markdown: mentions, channel links, emoji, times.

Each rule reads one position of the text; unknown names stay text. Names come from
`state.env["names"]`, and tokens have their finished HTML in `content`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from models.chat.rendering.emoji import EMOJI
from models.chat.rendering.names import WILDCARDS, Names

_MENTION = re.compile(r"@(_?)\*\*([^*\n]{1,250})\*\*")
_GROUP = re.compile(r"@(_?)\*([^*\n]{1,100})\*")
_CHANNEL = re.compile(r"#\*\*([^*\n]{1,250})\*\*")
_EMOJI = re.compile(r":([a-z0-9_+.-]{1,60}):")
_TIME = re.compile(r"<time:([^>\n]{1,100})>")

HTML = "chat_html"
"""Token type of a finished piece of HTML."""
Piece = tuple[str, dict[str, Any]]
"""The HTML and the metadata of a token."""
Rule = Callable[[re.Match[str], StateInline], Piece | None]
"""Make a piece of a match; None: the match stays text."""


def install(parser: MarkdownIt) -> None:
    """Add the rules to a parser, before those whose signs they share."""
    for sign, pattern, make, before in (
        ("@", _MENTION, _mention, "emphasis"),
        ("@", _GROUP, _group_mention, "emphasis"),
        ("#", _CHANNEL, _channel, "emphasis"),
        (":", _EMOJI, _emoji, "emphasis"),
        ("<", _TIME, _time, "autolink"),
    ):
        parser.inline.ruler.before(before, f"chat{make.__name__}", _rule(sign, pattern, make))


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
    """Return whether no letter or digit comes before: `mail@**x**` mentions nobody."""
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
    known = names.groups.get(match[2].casefold())
    if known is None:
        return None
    group_id, name, may_notify = known
    attribute = f' data-user-group-id="{group_id}"'
    meta = {"mention": "group", "id": group_id, "name": name, "allowed": may_notify}
    return _mention_of(match, "user-group-mention", attribute, name, **meta)


def _mention_of(
    match: re.Match[str], classes: str, attribute: str, text: str, **meta: object
) -> Piece:
    """Return a mention, silent where `_` follows its sign. `silenced`: its form in a quote."""
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
    whole = names.channels.get(match[1].casefold())
    name, arrow, topic = match[1].partition(">")
    known = whole or names.channels.get(name.strip().casefold())
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


def _emoji(match: re.Match[str], state: StateInline) -> Piece | None:
    name = match[1]
    words = name.replace("_", " ")
    custom = state.env["names"].emoji.get(name)
    if custom is not None:
        source = escape(custom[1])
        return f'<img alt=":{name}:" class="emoji" src="{source}" title="{words}">', {}
    if name not in EMOJI:
        return None
    markup = (
        f'<span aria-label="{words}" class="emoji emoji-{EMOJI[name]}" role="img"'
        f' title="{words}">:{name}:</span>'
    )
    return markup, {}


def _time(match: re.Match[str], state: StateInline) -> Piece:
    at = _parse_time(match[1].strip())
    if at is None:
        return f'<span class="timestamp-error">{escape(match[1])}</span>', {}
    shown = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return f'<time datetime="{shown}">{escape(match[1])}</time>', {}


def _parse_time(text: str) -> datetime | None:
    try:
        if re.fullmatch(r"[0-9]{1,11}", text, re.ASCII):
            return datetime.fromtimestamp(int(text), UTC)
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
