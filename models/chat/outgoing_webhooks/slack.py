"""Slack's format of outgoing webhooks and slash commands.

https://docs.slack.dev/legacy/legacy-custom-integrations/legacy-custom-integrations-outgoing-webhooks
https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from models.chat.identity.actors import Actor
from models.chat.integrations.catalogue import INTEGRATIONS, find_posts
from models.chat.integrations.errors import MalformedPayload
from models.chat.integrations.payloads import Asked
from models.chat.outgoing_webhooks.content import Answer, NoAnswer, read_content
from models.json import Json

_COMMAND = re.compile(
    r"(?P<mentions>(?:@\*\*[^*\n]+\*\*[,:]?\s*)*)"
    r"(?P<command>/[a-z0-9][a-z0-9_-]{0,31})(?:\s+(?P<text>.*))?",
    re.DOTALL | re.IGNORECASE,
)
_OWN = ("/me", "/poll", "/todo")
"""Commands of the chat itself. They have an effect at the beginning of a message."""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, and the text after it."""

    command: str
    text: str


def find_command(content: str) -> Command | None:
    """Return the slash command at the beginning of a message, after mentions, or None."""
    match = _COMMAND.fullmatch(content.strip())
    if match is None or (not match["mentions"] and match["command"].lower() in _OWN):
        return None
    return Command(match["command"].lower(), match["text"] or "")


def form_of(bot: Actor, message: Mapping[str, Any], token: str) -> Mapping[str, Any]:
    """Return the form fields of a request. A slash command and its text are separate fields."""
    is_direct = message["type"] == "private"
    fields = {
        "token": token,
        "team_id": f"T{bot.realm_id}",
        "team_domain": bot.realm.host,
        "channel_id": "D" if is_direct else f"C{message['stream_id']}",
        "channel_name": "directmessage" if is_direct else message["display_recipient"],
        "thread_ts": message["timestamp"],
        "timestamp": message["timestamp"],
        "user_id": f"U{message['sender_id']}",
        "user_name": message["sender_full_name"],
        "text": message["content"],
        "service_id": bot.id,
    }
    found = find_command(message["content"])
    if found is None:
        return {**fields, "trigger_word": "mention"}
    return {**fields, "command": found.command, "text": found.text}


def read_answer(message: Mapping[str, Any], text: str) -> Answer | None:
    """Return the bot's reply to the message, or None if there is none.

    The `text` of a response is Markdown. Responses to slash commands, and responses with blocks or
    attachments, are in Slack's markup. A response to a slash command may be plain text, and it is
    private unless its `response_type` is `in_channel`. Raise `NoAnswer`.
    """
    is_command = find_command(message["content"]) is not None
    try:
        answer: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        if not is_command:
            raise NoAnswer("The answer is no JSON.") from None
        answer = {"text": text}
    if answer == "":
        return None
    if not isinstance(answer, dict):
        raise NoAnswer("The answer is no JSON object.")
    if not any(answer.get(name) for name in ("text", "blocks", "attachments")):
        return None
    if is_command or answer.get("blocks") or answer.get("attachments"):
        is_private = is_command and answer.get("response_type") != "in_channel"
        return _in_markup(answer, is_private=is_private)
    return read_content(answer.get("text"))


def _in_markup(answer: Json, *, is_private: bool) -> Answer:
    product = INTEGRATIONS["slack_incoming"]
    try:
        [post] = find_posts(product, answer, Asked(), only=None, exclude=None)
    except MalformedPayload as error:
        raise NoAnswer(str(error)) from None
    return Answer(post.content, is_inert=True, is_private=is_private)
