"""Products that post to Slack: incoming webhooks with text, blocks and attachments.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
"""

import re
from collections.abc import Iterator

from models.chat.integrations import rich_text
from models.chat.integrations.errors import MalformedPayload
from models.chat.integrations.mrkdwn import plain, to_markdown
from models.chat.integrations.payloads import Asked, Payload, Post, web_link

TOPIC = "(no topic)"
_MENTION = re.compile(r"@(?=_?\*)")


def read(payload: Payload, asked: Asked) -> Iterator[Post]:
    """Yield the message. Raise `MalformedPayload` if the payload has no visible content.

    As in Slack, `blocks` replace `text`, and attachments follow.
    """
    main = _joined([_block(block) for block in payload.items("blocks")])
    text = payload.find_text("text").strip()
    if not main and text:
        main = to_markdown(f"{payload.find_text('icon_emoji')} {text}".strip())
    attachments = [_attachment(attachment) for attachment in payload.items("attachments")]
    content = _joined([main, *attachments])
    if not content:
        raise MalformedPayload(at="payload has no text, blocks or attachments to show")
    yield Post(payload.find_text("channel").lstrip("@#") or TOPIC, content)


def _joined(pieces: list[str]) -> str:
    return "\n\n".join(piece.strip() for piece in pieces if piece.strip())


def _block(block: Payload) -> str:
    """Return the Markdown of a Block Kit block. For unknown types, all texts are shown."""
    match block.text("type"):
        case "header":
            return f"## {_text(block['text'])}"
        case "divider":
            return "----"
        case "section":
            return _section(block)
        case "context":
            return _joined([_element(element) for element in block.items("elements")])
        case "image":
            return _image(block)
        case "rich_text":
            return rich_text.read(block)
        case "markdown":
            return _MENTION.sub("&#64;", block.text("text"))
        case "video":
            title = _text(block["title"]) if block.find("title") else "video"
            return _joined([web_link(title, block.find_text("title_url")), *_texts(block)[1:]])
        case _:
            return _joined(_texts(block))


def _texts(value: Payload) -> list[str]:
    """Return the text objects inside a value in order. A button with an address becomes a link."""
    match value.value:
        case {"type": "plain_text" | "mrkdwn", "text": str()}:
            return [_text(value)]
        case {"type": "button", "url": str(url), "text": {"text": str(label)}}:
            return [web_link(label, url)]
        case dict(members):
            return [text for name in members for text in _texts_of(value, name)]
        case list():
            return [text for item in value.as_items() for text in _texts(item)]
    return []


def _texts_of(value: Payload, name: str) -> list[str]:
    found = value.find(name)
    return [] if found is None else _texts(found)


def _section(block: Payload) -> str:
    pieces = []
    text = block.find("text")
    if text is not None:
        pieces.append(_text(text))
    accessory = block.find("accessory")
    if accessory is not None:
        pieces.append(_element(accessory))
    fields = [_text(field) for field in block.items("fields")]
    if len(fields) == 1:
        pieces += fields
    elif fields:
        pieces.append(_table(fields))
    return _joined(pieces)


def _table(cells: list[str]) -> str:
    """Return the cells as a table with two columns, as in Slack."""
    flat = [" ".join(cell.split()) for cell in cells]
    flat += [""] * (len(flat) % 2)
    rows = (f"| {left} | {right} |" for left, right in zip(flat[::2], flat[1::2], strict=True))
    return "\n".join(["| | |", "|-|-|", *rows])


def _element(element: Payload) -> str:
    match element.text("type"):
        case "image":
            return _image(element)
        case "plain_text" | "mrkdwn":
            return _text(element)
        case _:
            return _joined(_texts(element))


def _text(text: Payload) -> str:
    written = text.text("text")
    return to_markdown(written) if text.text("type") == "mrkdwn" else plain(written)


def _image(image: Payload) -> str:
    title = image.find("title")
    label = image.find_text("alt_text") if title is None else title.text("text")
    return web_link(label or "image", image.find_text("image_url"))


def _attachment(attachment: Payload) -> str:
    pieces = []
    author = attachment.find_text("author_name")
    if author:
        pieces.append(web_link(author, attachment.find_text("author_link")))
    title = attachment.find_text("title")
    if title:
        pieces.append(f"## {web_link(title, attachment.find_text('title_link'))}")
    pieces += [to_markdown(attachment.find_text(name)) for name in ("pretext", "text")]
    pieces.append("\n".join(_field(field) for field in attachment.items("fields")))
    pieces += [_block(block) for block in attachment.items("blocks")]
    for name in ("image_url", "thumb_url"):
        if attachment.find_text(name):
            pieces.append(web_link("image", attachment.text(name)))
    pieces += [_action(action) for action in attachment.items("actions")]
    pieces.append(to_markdown(attachment.find_text("footer")))
    stamp = attachment.find("ts")
    if stamp is not None and str(stamp.value).isdecimal():
        pieces.append(f"<time:{stamp.value}>")
    content = _joined(pieces)
    return content or to_markdown(attachment.find_text("fallback"))


def _action(action: Payload) -> str:
    """Return a button of an attachment: a link if it has an address, otherwise only its label."""
    return web_link(action.find_text("text"), action.find_text("url"))


def _field(field: Payload) -> str:
    title, value = plain(field.find_text("title")), to_markdown(field.find_text("value"))
    return f"**{title}**: {value}" if title and value else f"**{title}**" if title else value
