"""Convert Slack's markup to Markdown. Only markup that Slack would show has an effect. Mentions
become plain text.

https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from html import unescape

from models.chat.integrations.payloads import web_link
from models.chat.rendering.quotes import fenced, one_line

_MARKUP = re.compile(
    r"```(?P<block>.+?)```"
    r"|`(?P<code>[^`\n]+)`"
    r"|<(?P<angle>[^<>\n]+)>"
    r"|(?P<address>https?://[^\s<>|`*]*[^\s<>|`*.,;:!?)])"
    r"|(?<![\w*])\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>[^\s_](?:[^_\n]*[^\s_])?)_(?![\w_])"
    r"|(?<![\w~])~(?P<struck>[^\s~](?:[^~\n]*[^\s~])?)~(?![\w~])"
    r"|(?P<emoji>:[a-z0-9_+-]{1,60}:)",
    re.DOTALL,
)
_MARKS = {"bold": "**", "italic": "*", "struck": "~~"}
_SIGN = re.compile(r"[`*\[|]|~(?=~|\Z)|<(?=time:|\Z)|[@#](?=_?\Z)|\$(?=\$|\Z)|&(?=#?\w+;|\Z)")
"""Characters with an effect in Zulip's Markdown. Some are matched only before characters that could
complete the markup.
"""
_LINE_START = re.compile(
    r"^[^\S\n]*(?:([-+](?=[\s-]|\Z)|>|#(?=[\s#]|\Z))|([0-9]{1,9})\.(?=\s|\Z))|^[^\S\n]{4,}",
    re.MULTILINE,
)
_QUOTED = re.compile(r"^(?:>|&gt;) ?", re.MULTILINE)


def to_markdown(text: str, *, starts_line: bool = True) -> str:
    """Convert a text in Slack's markup to Markdown. `starts_line` is False if it is inside
    a line.
    """
    pieces = []
    position = 0
    for match in _MARKUP.finditer(text):
        pieces.append(_plain(text[position : match.start()], starts_line=starts_line))
        pieces.append(_piece(match))
        position = match.end()
        starts_line = match.lastgroup == "block"
    pieces.append(_plain(text[position:], starts_line=starts_line))
    return "".join(pieces)


def plain(text: str, *, starts_line: bool = True) -> str:
    """Return Markdown that shows a text unchanged. `starts_line` is False if it is inside a
    line.
    """
    shown = _SIGN.sub(lambda sign: _entity(sign[0]), text)
    if starts_line:
        return _LINE_START.sub(_start_of_line, shown)
    line, separator, rest = shown.partition("\n")
    return f"{line}{separator}{_LINE_START.sub(_start_of_line, rest)}"


def _entity(sign: str) -> str:
    """Return a character as an entity, without its effect. Zulip's Markdown has no backslash
    escapes.
    """
    return f"&#{ord(sign)};"


def _plain(text: str, *, starts_line: bool) -> str:
    """Return text without markup except quotes. Slack escapes three characters as entities."""
    first, *others = text.split("\n")
    lines = [_line(first) if starts_line else plain(unescape(first), starts_line=False)]
    return "\n".join([*lines, *map(_line, others)])


def _line(line: str) -> str:
    if _QUOTED.match(line):
        return "> " + plain(unescape(_QUOTED.sub("", line)))
    return plain(unescape(line))


def _start_of_line(match: re.Match[str]) -> str:
    if match[1]:
        return _entity(match[1])
    return f"{match[2]}{_entity('.')}" if match[2] else ""


def _piece(match: re.Match[str]) -> str:
    kind, text = match.lastgroup or "", match[match.lastgroup or 0]
    match kind:
        case "block":
            return f"\n{fenced(unescape(text).strip(chr(10)))}\n"
        case "code":
            code = unescape(text)
            return f"`{code}`" if "`" not in code else plain(code, starts_line=False)
        case "angle":
            return _angle(text)
        case "address":
            return web_link(unescape(text), unescape(text))
        case "emoji":
            return text
        case _:
            return f"{_MARKS[kind]}{to_markdown(text, starts_line=False)}{_MARKS[kind]}"


def _angle(text: str) -> str:
    """Return a link, or the text of a reference to a Slack user, channel, group or date."""
    target, _, label = text.partition("|")
    target, label = unescape(target), one_line(unescape(label))
    if target[:1] in ("@", "#", "!"):
        sign = "" if target.startswith(("!date", "!subteam")) else target[0].replace("!", "@")
        name = label.lstrip("@#") if sign else label
        return plain(f"{sign}{name or target[1:].partition('^')[0]}")
    return web_link(label or target, target)
