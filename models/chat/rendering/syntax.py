"""The inline syntax that chat adds to Markdown: mentions, channel links, emoji, times.

Each rule reads one position of the text; unknown names stay text. Names come from
`state.env["names"]`, and tokens have their finished HTML in `content`.
"""

import re
from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from models.chat.rendering.emoji import EMOJI, character
from models.chat.rendering.names import WILDCARDS, Names

_MENTION = re.compile(r"@(_?)\*\*([^*\n]{1,250})\*\*")
_GROUP = re.compile(r"@(_?)\*([^*\n]{1,100})\*")
_CHANNEL = re.compile(r"#\*\*([^*\n]{1,250})\*\*")
_EMOJI = re.compile(r":([a-z0-9_+.-]{1,60}):")
_TIME = re.compile(r"<time:([^>\n]{1,100})>")

HTML = "chat_html"
"""Token type of a finished piece of HTML."""


def install(parser: MarkdownIt) -> None:
    """Add the rules to a parser, before those whose signs they share."""
    parser.inline.ruler.before("emphasis", "chat_mention", _mention)
    parser.inline.ruler.before("emphasis", "chat_channel", _channel)
    parser.inline.ruler.before("emphasis", "chat_emoji", _emoji)
    parser.inline.ruler.before("autolink", "chat_time", _time)


def _starts_word(state: StateInline) -> bool:
    """Return whether no letter or digit comes before: `mail@**x**` mentions nobody."""
    return state.pos == 0 or not state.src[state.pos - 1].isalnum()


def _push(state: StateInline, markup: str, source: str, **meta: object) -> None:
    token = state.push(HTML, "", 0)
    token.content = markup
    token.markup = source
    token.meta = meta


def _mention(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "@" or not _starts_word(state):
        return False
    match = _MENTION.match(state.src, state.pos)
    if match is None:
        return _group_mention(state, silent)
    quiet, text = match[1] == "_", match[2]
    names: Names = state.env["names"]
    who: int | str | None
    if text in WILDCARDS:
        kind, who, classes = "channel_wildcard", "*", "user-mention channel-wildcard-mention"
    elif text == "topic":
        kind, who, classes = "topic_wildcard", None, "topic-mention"
    else:
        user_id = names.find_user(text)
        if user_id is None:
            return False
        kind, who, classes, text = "user", user_id, "user-mention", names.users[user_id]
    if not silent:
        attribute = "" if who is None else f' data-user-id="{who}"'
        _push(
            state,
            _wrap(classes, attribute, text, quiet),
            match[0],
            mention=kind,
            id=who,
            quiet=quiet,
            silenced=_wrap(classes, attribute, text, True),
        )
    state.pos = match.end()
    return True


def _group_mention(state: StateInline, silent: bool) -> bool:
    match = _GROUP.match(state.src, state.pos)
    if match is None:
        return False
    names: Names = state.env["names"]
    known = names.groups.get(match[2].casefold())
    if known is None:
        return False
    group_id, name, may_notify = known
    if not silent:
        quiet = match[1] == "_"
        attribute = f' data-user-group-id="{group_id}"'
        _push(
            state,
            _wrap("user-group-mention", attribute, name, quiet),
            match[0],
            mention="group",
            id=group_id,
            name=name,
            allowed=may_notify,
            quiet=quiet,
            silenced=_wrap("user-group-mention", attribute, name, True),
        )
    state.pos = match.end()
    return True


def _wrap(classes: str, attribute: str, text: str, quiet: bool) -> str:
    shown = escape(text) if quiet else f"@{escape(text)}"
    classes += " silent" if quiet else ""
    return f'<span class="{classes}"{attribute}>{shown}</span>'


def encode_fragment(text: str) -> str:
    """Return a name in the encoding of `#narrow/...` addresses."""
    return quote(text, safe="").replace(".", "%2E").replace("%", ".")


def channel_slug(channel_id: int, name: str) -> str:
    return f"{channel_id}-{encode_fragment(name.replace(' ', '-'))}"


def _channel(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "#" or state.linkLevel or not _starts_word(state):
        return False
    match = _CHANNEL.match(state.src, state.pos)
    if match is None:
        return False
    names: Names = state.env["names"]
    whole = names.channels.get(match[1].casefold())
    name, arrow, topic = match[1].partition(">")
    known = whole or names.channels.get(name.strip().casefold())
    if known is None:
        return False
    if not silent:
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
        _push(
            state,
            f'<a class="{classes}" data-stream-id="{channel_id}" href="{escape(href)}">'
            f"{escape(shown)}</a>",
            match[0],
        )
    state.pos = match.end()
    return True


def _emoji(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != ":" or not _starts_word(state):
        return False
    match = _EMOJI.match(state.src, state.pos)
    if match is None:
        return False
    name = match[1]
    custom = state.env["names"].emoji.get(name)
    if custom is not None:
        markup = (
            f'<img alt=":{name}:" class="emoji" src="{escape(custom[1])}"'
            f' title="{name.replace("_", " ")}">'
        )
    elif name in EMOJI:
        code, words = EMOJI[name], name.replace("_", " ")
        markup = (
            f'<span aria-label="{words}" class="emoji emoji-{code}" role="img"'
            f' title="{words}">:{name}:</span>'
        )
    else:
        return False
    if not silent:
        text = f":{name}:" if custom else character(EMOJI[name])
        _push(state, markup, match[0], text=text)
    state.pos = match.end()
    return True


def _time(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "<":
        return False
    match = _TIME.match(state.src, state.pos)
    if match is None:
        return False
    at = _parse_time(match[1].strip())
    if not silent:
        if at is None:
            markup = f'<span class="timestamp-error">{escape(match[1])}</span>'
        else:
            shown = at.strftime("%Y-%m-%dT%H:%M:%SZ")
            markup = f'<time datetime="{shown}">{escape(match[1])}</time>'
        _push(state, markup, match[0])
    state.pos = match.end()
    return True


def _parse_time(text: str) -> datetime | None:
    try:
        if re.fullmatch(r"[0-9]{1,11}", text, re.ASCII):
            return datetime.fromtimestamp(int(text), UTC)
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
