"""Process the outcome of a request: send the bot's reply, schedule another attempt, or notify the
owner.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from models.chat.errors import ChatError
from models.chat.identity.actors import Actor, find_actor, find_writer
from models.chat.integrations.payloads import NAMES
from models.chat.outgoing_webhooks import queue
from models.chat.outgoing_webhooks.content import NoAnswer
from models.chat.outgoing_webhooks.queue import Claim
from models.chat.outgoing_webhooks.requests import read_answer
from models.chat.rendering.quotes import inert_line
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.notices import try_send_notice
from models.chat.sending.recipients import Destination, ToChannel, ToUsers
from specd.db import Db

CLIENT = "OutgoingWebhookResponse"
SERVER_ERRORS = 500
RETRIED = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one request. If there was no response, `status` is None and `failure` is the
    reason.

    `message` is the message that was posted, or None.
    """

    claim: Claim
    message: Mapping[str, Any] | None
    status: int | None = None
    failure: str | None = None
    answer: str = ""

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_retried(self) -> bool:
        """Return whether another attempt may succeed."""
        return self.status is None or self.status >= SERVER_ERRORS or self.status in RETRIED


@dataclass(frozen=True, slots=True)
class Reply:
    """A bot's rendered reply, for all readers or only for the user who called it. `problem` is set
    if the response cannot be read.
    """

    text: PreparedText | None = None
    is_private: bool = False
    problem: str | None = None


def prepare(db: Db, outcome: Outcome) -> Reply:
    """Render the reply, which takes long, before anything is locked."""
    if not outcome.is_success or outcome.message is None:
        return Reply()
    try:
        answer = read_answer(outcome.claim.interface, outcome.message, outcome.answer)
    except NoAnswer as error:
        return Reply(problem=str(error))
    bot = find_actor(db, outcome.claim.bot_id)
    if answer is None or bot is None:
        return Reply()
    names = NAMES if answer.is_inert else None
    return Reply(prepare_text(db, bot, answer.content, names), answer.is_private)


def settle(session: Session, outcome: Outcome, reply: Reply, *, now: datetime) -> None:
    """Send the bot's reply, schedule another attempt, or give up and notify the owner.

    Do nothing if another worker has claimed the message since, or if the organization is stopped.
    """
    claim = outcome.claim
    if not queue.QUEUE.is_valid(session, claim):
        return
    bot = find_writer(session, claim.bot_id)
    if bot is not None and bot.realm.stopped_at is not None:
        return
    if bot is None or not bot.is_active or bot.realm.is_deactivated or outcome.message is None:
        queue.finish(session, claim)
        return
    problem = reply.problem
    if not outcome.is_success:
        if outcome.is_retried and queue.QUEUE.reschedule(session, claim, now=now):
            return
        problem = _describe(outcome)
    queue.finish(session, claim)
    if reply.text is not None:
        destination = _destination(outcome.message, is_private=reply.is_private)
        problem = _send(session, bot, destination, outcome.message, reply.text, now)
    if problem is not None:
        _notify_owner(session, bot, outcome.message, problem, now)


def _destination(message: Mapping[str, Any], *, is_private: bool) -> Destination:
    """Return the place of the message, or only its sender."""
    if is_private:
        return ToUsers([message["sender_id"]])
    if message["type"] == "private":
        return ToUsers([user["id"] for user in message["display_recipient"]])
    return ToChannel(message["stream_id"])


def _send(
    session: Session,
    bot: Actor,
    destination: Destination,
    message: Mapping[str, Any],
    text: PreparedText,
    now: datetime,
) -> str | None:
    """Send the reply. Return the problem if it cannot be sent."""
    try:
        draft = check_message(
            session, bot, destination, topic=message["subject"], text=text, client=CLIENT
        )
    except ChatError as refusal:
        return f"The answer could not be sent: {refusal}"
    send_message(session, draft, now=now)
    return None


def _describe(outcome: Outcome) -> str:
    if outcome.status is not None:
        return f"The address answered with the status {outcome.status}."
    reason = (outcome.failure or "unknown").replace("_", " ")
    return f"The address could not be reached ({reason})."


def _notify_owner(
    session: Session, bot: Actor, message: Mapping[str, Any], problem: str, now: datetime
) -> None:
    if bot.bot_owner_id is None:
        return
    notice = (
        f"Your bot {inert_line(bot.full_name)} was called by message {message['id']} and gave no"
        f" answer:\n\n> {inert_line(problem)}"
    )
    try_send_notice(session, bot.realm_id, ToUsers([bot.bot_owner_id]), content=notice, now=now)
