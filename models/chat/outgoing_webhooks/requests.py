"""Requests to bots and their responses, in two formats: the service's and Slack's."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import orjson

from models.chat.common.webhook_secrets import token_of
from models.chat.identity.actors import find_actor
from models.chat.messages.access import find_readable
from models.chat.messages.view import ViewOptions, find_messages
from models.chat.outgoing_webhooks import slack
from models.chat.outgoing_webhooks.content import Answer, NoAnswer, read_content
from models.chat.outgoing_webhooks.queue import Claim
from models.json import Json
from models.webhooks import signing
from specd.db import Db

SLACK = 2
_RAW = ViewOptions(apply_markdown=False, client_gravatar=False, allow_empty_topic_name=True)
_HTML = ViewOptions(apply_markdown=True, client_gravatar=False, allow_empty_topic_name=True)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a bot. `message` is the message in Markdown, as the bot may read it."""

    claim: Claim
    content_type: str
    body: bytes
    secret: str
    message: Mapping[str, Any]

    def headers(self, now: datetime) -> Mapping[str, str]:
        """Return the headers with the signature. `webhook-id` is the same for all attempts."""
        signed = signing.sign(f"msg_{self.claim.id}", self.body, [self.secret], now=now)
        return {"Content-Type": self.content_type, **signed}


def find_request(db: Db, secret: str, claim: Claim) -> Request | None:
    """Return the request, signed with `secret`. Return None if the bot or its organization is
    deactivated, or if the bot can no longer read the message.
    """
    bot = find_actor(db, claim.bot_id)
    if bot is None or not bot.is_active or bot.realm.is_deactivated:
        return None
    readable = find_readable(db, bot, [claim.message_id])
    raw = find_messages(db, bot, readable, _RAW)
    if not raw:
        return None
    [message], [shown] = raw, find_messages(db, bot, readable, _HTML)
    token = token_of(secret)
    if claim.interface == SLACK:
        body = urlencode(slack.form_of(bot, message, token)).encode()
        return Request(claim, "application/x-www-form-urlencoded", body, secret, message)
    own = {name: value for name, value in message.items() if name not in ("flags", "edit_history")}
    payload = {
        "bot_email": bot.delivery_email,
        "bot_full_name": bot.full_name,
        "data": message["content"],
        "message": {**own, "rendered_content": shown["content"]},
        "token": token,
        "trigger": claim.cause,
    }
    return Request(claim, "application/json", orjson.dumps(payload), secret, message)


def read_answer(interface: int, message: Mapping[str, Any], text: str) -> Answer | None:
    """Return the bot's reply to the message, or None if there is none. Raise `NoAnswer`."""
    if not text.strip():
        return None
    if interface == SLACK:
        return slack.read_answer(message, text)
    try:
        answer: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise NoAnswer("The answer is no JSON.") from None
    if answer == "":
        return None
    if not isinstance(answer, dict):
        raise NoAnswer("The answer is no JSON object.")
    if answer.get("response_not_required"):
        return None
    return read_content(answer.get("response_string", answer.get("content")))
