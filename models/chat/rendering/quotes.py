"""What users wrote, in the words of a system bot: none of it comes alive there.

A text that Markdown could take for anything else is written as code, a name in a link as entities:
so clients that render the Markdown themselves, or quote it on, keep it inert. And a notice refers
to the users and channels it was given and to nothing else: no name in it is looked up.
"""

import re

from models.chat.access.channels import ChannelView
from models.chat.rendering import Names
from models.chat.rendering.syntax import channel_slug, encode_fragment
from models.chat.rendering.texts import TRUNCATED

SNIPPET_MAX = 500
"""Characters of a message that a notice quotes."""

# Signs that turn the direction of what follows them: they would turn the bot's own words too.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Addresses and domains, emoji, and what some take for the end of a line.
_ALIVE = (
    rf"://|www\.|[^\W\d_]\.[^\W\d_]{{2,}}|:[a-z0-9_+-]+:|[\r\x85\u2028\u2029]|{_TURNING.pattern}"
)
_NOT_PLAIN = re.compile(
    r"[*_`~\[\]<>&\\|$#@{}^\x00-\x09\x0b-\x1f\x7f]"  # signs of Markdown, and of chat's own syntax
    r"|^[^\S\n]*(?:[-+=>]|[0-9]+[.)])"  # lists, rules, quotes
    r"|^ {4}|" + _ALIVE,  # code
    re.IGNORECASE | re.MULTILINE,
)
# What would end `#**name>topic**` early, or be alive where a client does not know the channel. The
# reference has the first two (its zerver/lib/topic_link_util.py); `_` and `#` are common in names.
_BREAKS_A_LINK = re.compile(r"[`>*&\[\]]|\$\$|[<\\@\n]|~~|" + _ALIVE, re.IGNORECASE)
_EMAIL = re.compile(r"\b[a-z0-9][a-z0-9.+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)+\b", re.IGNORECASE)
_SIGN = re.compile(r"[*_`~\[\]<>&\\|$#@:!^{}]")


def inert_line(text: str) -> str:
    """A short text as one line of Markdown that shows it as it is: prose as prose, else as code."""
    line = one_line(text)
    if _NOT_PLAIN.search(_EMAIL.sub("", line)) is None:
        return line
    ticks = "`" * _more_than("`", line)
    return f"{ticks} {line} {ticks}"


def inert_block(text: str) -> str:
    """Lines of Markdown that show the text as it is: prose as prose, anything else as code."""
    if _NOT_PLAIN.search(text) is None:
        return text
    return fenced(text)


def snippet(text: str) -> str:
    """The beginning of a message, as `inert_block` writes it."""
    if len(text) <= SNIPPET_MAX:
        return inert_block(text)
    return inert_block(text[:SNIPPET_MAX]) + TRUNCATED


def fenced(text: str, kind: str = "", *, least: int = 3) -> str:
    """A block that the text cannot leave. `kind` is what Markdown calls its info string.

    The fence is of the sign that makes it shorter: a text of backticks stays no longer than it is.
    """
    lengths = {sign: max(least, _more_than(sign, text)) for sign in "`~"}
    sign = min(lengths, key=lambda sign: lengths[sign])
    fence = sign * lengths[sign]
    return f"{fence}{kind}\n{text}\n{fence}"


def link(label: str, address: str) -> str:
    """A link whose label shows nothing but its signs. `address` is percent-encoded."""
    return f"[{_escape(label)}]({address})"


def one_line(text: str) -> str:
    """A name for the middle of a line, in a mail too."""
    return " ".join(_TURNING.sub("", text).split())


def _more_than(sign: str, text: str) -> int:
    """One more than stand side by side in the text."""
    return 1 + max(map(len, re.findall(f"{sign}+", text)), default=0)


def _escape(text: str) -> str:
    """Signs as entities. Only right inside a link: elsewhere addresses become links still."""
    return _SIGN.sub(lambda sign: f"&#{ord(sign[0])};", one_line(text))


class Quotes:
    """Whom and what a notice names, written as its Markdown wants it."""

    def __init__(self) -> None:
        self._users: dict[int, str] = {}
        self._groups: dict[str, tuple[int, str, bool]] = {}
        self._channels: dict[str, tuple[int, str]] = {}

    @property
    def names(self) -> Names:
        """What the notice may refer to."""
        return Names(
            users=self._users, groups=self._groups, channels=self._channels, finds_links=False
        )

    def user(self, user_id: int, full_name: str, *, silent: bool = True) -> str:
        """A mention of a user."""
        self._users[user_id] = full_name
        name = "" if _BREAKS_A_LINK.search(full_name) else full_name
        return f"@{'_' if silent else ''}**{name}|{user_id}**"

    def group(self, group_id: int, name: str) -> str:
        """A silent mention of a user group."""
        if _BREAKS_A_LINK.search(name):
            return inert_line(name)
        self._groups[name.casefold()] = (group_id, name, False)
        return f"@_*{name}*"

    def channel(self, channel: ChannelView) -> str:
        """A link to a channel."""
        if _BREAKS_A_LINK.search(channel.name):
            return link(f"#{channel.name}", channel_address(channel))
        self._channels[channel.name.casefold()] = (channel.id, channel.name)
        return f"#**{channel.name}**"

    def thread(self, channel: ChannelView, topic: str) -> str:
        """A link to a topic of a channel."""
        if _BREAKS_A_LINK.search(f"{channel.name} {topic}"):
            return link(f"#{channel.name} > {topic}", topic_address(channel, topic))
        self._channels[channel.name.casefold()] = (channel.id, channel.name)
        return f"#**{channel.name}>{topic}**"


def channel_address(channel: ChannelView) -> str:
    return f"/#narrow/channel/{channel_slug(channel.id, channel.name)}"


def topic_address(channel: ChannelView, topic: str) -> str:
    return f"{channel_address(channel)}/topic/{encode_fragment(topic)}"
