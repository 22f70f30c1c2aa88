"""Texts of users in notices, escaped so that they have no effect.

A text that Markdown could interpret is written as code, and a name in a link as entities, so that
it stays inert in clients that render or quote the Markdown. A notice refers only to the users and
channels that are passed to it: names in its text are not looked up.
"""

import re

from models.chat.access.channels import ChannelView
from models.chat.common.name_keys import key_of
from models.chat.rendering import Names
from models.chat.rendering.syntax import channel_slug, encode_fragment
from models.chat.rendering.texts import TRUNCATED

SNIPPET_MAX = 500
"""Maximum number of characters of a message that a notice quotes."""

# Characters that change the text direction. They would also affect the bot's words.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Addresses and domains, emoji, and characters that some programs treat as the end of a line.
_ALIVE = (
    rf"://|www\.|[^\W\d_]\.[^\W\d_]{{2,}}|:[a-z0-9_+-]+:|[\r\x85\u2028\u2029]|{_TURNING.pattern}"
)
_NOT_PLAIN = re.compile(
    r"[*_`~\[\]<>&\\|$#@{}^\x00-\x09\x0b-\x1f\x7f]"  # signs of Markdown, and of chat's own syntax
    r"|^[^\S\n]*(?:[-+=>]|[0-9]+[.)])"  # lists, rules, quotes
    r"|^ {4}|" + _ALIVE,  # code
    re.IGNORECASE | re.MULTILINE,
)
# Characters that would end `#**name>topic**` early, or have an effect if a client lacks the
# channel. Zulip has the first two groups (its zerver/lib/topic_link_util.py). `_` and `#` are
# common in names.
_BREAKS_A_LINK = re.compile(r"[`>*&\[\]]|\$\$|[<\\@\n]|~~|" + _ALIVE, re.IGNORECASE)
_EMAIL = re.compile(r"\b[a-z0-9][a-z0-9.+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)+\b", re.IGNORECASE)
_SIGN = re.compile(r"[*_`~\[\]<>&\\|$#@:!^{}]")


def inert_line(text: str) -> str:
    """Return a short text as one line of inert Markdown: plain prose unchanged, other texts as
    code.
    """
    line = one_line(text)
    if _NOT_PLAIN.search(_EMAIL.sub("", line)) is None:
        return line
    ticks = "`" * _more_than("`", line)
    return f"{ticks} {line} {ticks}"


def inert_block(text: str) -> str:
    """Return a text as lines of inert Markdown: plain prose unchanged, other texts as code."""
    if _NOT_PLAIN.search(text) is None:
        return text
    return fenced(text)


def snippet(text: str) -> str:
    """Return the beginning of a message as inert Markdown."""
    if len(text) <= SNIPPET_MAX:
        return inert_block(text)
    return inert_block(text[:SNIPPET_MAX]) + TRUNCATED


def fenced(text: str, kind: str = "", *, least: int = 3) -> str:
    """Return a fenced block that the text cannot end. `kind` is its info string in Markdown.

    The fence uses the character that makes it shorter.
    """
    lengths = {sign: max(least, _more_than(sign, text)) for sign in "`~"}
    sign = min(lengths, key=lambda sign: lengths[sign])
    fence = sign * lengths[sign]
    return f"{fence}{kind}\n{text}\n{fence}"


def link(label: str, address: str) -> str:
    """Return a link with an inert label. `address` is percent-encoded."""
    return f"[{_escape(label)}]({address})"


def one_line(text: str) -> str:
    """Return a name for use inside a line, also in mails."""
    return " ".join(_TURNING.sub("", text).split())


def _more_than(sign: str, text: str) -> int:
    """Return one more than the length of the longest run of the character."""
    return 1 + max(map(len, re.findall(f"{sign}+", text)), default=0)


def _escape(text: str) -> str:
    """Return text with special characters as entities, for the label of a link. Elsewhere,
    addresses in it would become links.
    """
    return _SIGN.sub(lambda sign: f"&#{ord(sign[0])};", one_line(text))


class Quotes:
    """The users, groups and channels of a notice, as Markdown."""

    def __init__(self) -> None:
        self._users: dict[int, str] = {}
        self._groups: dict[str, tuple[int, str, bool]] = {}
        self._channels: dict[str, tuple[int, str]] = {}

    @property
    def names(self) -> Names:
        """The names that the notice may refer to."""
        return Names(
            users=self._users, groups=self._groups, channels=self._channels, finds_links=False
        )

    def user(self, user_id: int, full_name: str, *, silent: bool = True) -> str:
        """Return a mention of a user."""
        self._users[user_id] = full_name
        name = "" if _BREAKS_A_LINK.search(full_name) else full_name
        return f"@{'_' if silent else ''}**{name}|{user_id}**"

    def group(self, group_id: int, name: str) -> str:
        """Return a silent mention of a user group."""
        if _BREAKS_A_LINK.search(name):
            return inert_line(name)
        self._groups[key_of(name)] = (group_id, name, False)
        return f"@_*{name}*"

    def channel(self, channel: ChannelView) -> str:
        """Return a link to a channel."""
        if _BREAKS_A_LINK.search(channel.name):
            return link(f"#{channel.name}", channel_address(channel))
        self._channels[key_of(channel.name)] = (channel.id, channel.name)
        return f"#**{channel.name}**"

    def thread(self, channel: ChannelView, topic: str) -> str:
        """Return a link to a topic of a channel."""
        if _BREAKS_A_LINK.search(f"{channel.name} {topic}"):
            return link(f"#{channel.name} > {topic}", topic_address(channel, topic))
        self._channels[key_of(channel.name)] = (channel.id, channel.name)
        return f"#**{channel.name}>{topic}**"


def channel_address(channel: ChannelView) -> str:
    return f"/#narrow/channel/{channel_slug(channel.id, channel.name)}"


def topic_address(channel: ChannelView, topic: str) -> str:
    return f"{channel_address(channel)}/topic/{encode_fragment(topic)}"
