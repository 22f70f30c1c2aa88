"""Messages from incoming webhooks."""

import orjson

from models.chat.identity.actors import Actor
from models.chat.rendering.texts import CONTENT_MAX
from models.chat.sending.recipients import Destination, ToChannel, ToUsers
from models.json import Json

TOPIC = "JSON"
"""The topic of a request without a topic."""
BEGIN, END, CUT = "```json\n", "\n```", "\n[...]"
_LONGEST = CONTENT_MAX - len(BEGIN) - len(END)


def write_json(payload: Json) -> str:
    """Return the payload as an indented block of code, cut to the maximum length of a message. No
    line of the payload ends the block, because each begins with a space, a quotation mark or a
    bracket.
    """
    text = orjson.dumps(payload, option=orjson.OPT_INDENT_2).decode()
    if len(text) > _LONGEST:
        text = text[: _LONGEST - len(CUT)] + CUT
    return BEGIN + text + END


def destination_of(actor: Actor, channel: str | None) -> Destination:
    """Return the channel, given by its name or in digits by its id. Without a channel, return the
    bot's owner, or the user of the key.
    """
    if channel is None:
        return ToUsers([actor.bot_owner_id or actor.id])
    is_id = channel.isascii() and channel.isdigit() and len(channel) < 10
    return ToChannel(int(channel) if is_id else channel)
