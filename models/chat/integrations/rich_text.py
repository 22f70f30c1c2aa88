"""Convert Slack's `rich_text` blocks to Markdown.

https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

import re

from models.chat.integrations.mrkdwn import plain
from models.chat.integrations.payloads import Payload, web_link
from models.chat.rendering.quotes import fenced

_STYLES = {"strike": "~~", "italic": "*", "bold": "**"}
_LIST_DEPTH = 8
_EMOJI = re.compile(r"[a-z0-9_+-]{1,60}")


def read(block: Payload) -> str:
    """Return the Markdown of a block. Raise `MalformedPayload`."""
    return "\n".join(piece for each in block.items("elements") if (piece := _part(each)))


def _part(part: Payload) -> str:
    match part.text("type"):
        case "rich_text_list":
            return _list(part)
        case "rich_text_preformatted":
            return fenced(_raw(part))
        case "rich_text_quote":
            return "\n".join(f"> {line}" for line in _line(part).split("\n"))
        case _:
            return _line(part)


def _list(part: Payload) -> str:
    depth = part.find("indent")
    level = depth.value if depth is not None and isinstance(depth.value, int) else 0
    indent = "  " * max(0, min(level, _LIST_DEPTH))
    marker = "1." if part.find_text("style") == "ordered" else "*"
    lines = (_line(item).replace("\n", " ").strip() for item in part.items("elements"))
    return "\n".join(f"{indent}{marker} {line}" for line in lines if line)


def _line(part: Payload) -> str:
    return "".join(_element(element) for element in part.items("elements"))


def _raw(part: Payload) -> str:
    """Return the unescaped texts of a preformatted part."""
    return "".join(
        element.find_text("text") or element.find_text("url") for element in part.items("elements")
    )


def _element(element: Payload) -> str:
    match element.text("type"):
        case "text":
            return _styled(element, element.text("text"))
        case "link":
            return web_link(element.find_text("text") or element.text("url"), element.text("url"))
        case "emoji":
            name = element.text("name")
            return f":{name}:" if _EMOJI.fullmatch(name) else plain(name)
        case "user":
            return plain(f"@{element.find_text('user_id')}")
        case "usergroup":
            return plain(f"@{element.find_text('usergroup_id')}")
        case "channel":
            return plain(f"#{element.find_text('channel_id')}")
        case "broadcast":
            return plain(f"@{element.find_text('range')}")
        case "date":
            stamp = element.find("timestamp")
            if stamp is not None and isinstance(stamp.value, int):
                return f"<time:{stamp.value}>"
            return plain(element.find_text("fallback"))
        case "color":
            return plain(element.find_text("value"))
        case _:
            return plain(element.find_text("text"))


def _styled(element: Payload, text: str) -> str:
    """Return a text with its style. Leading and trailing spaces stay outside the marks."""
    style = element.find("style")
    inner = text.strip()
    if style is None or not inner or "\n" in inner:
        return plain(text)
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if style.flag("code") and "`" not in inner:
        return f"{before}`{inner}`{after}"
    shown = plain(inner)
    for name, mark in _STYLES.items():
        if style.flag(name):
            shown = f"{mark}{shown}{mark}"
    return f"{before}{shown}{after}"
