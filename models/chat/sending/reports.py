"""Reports of messages, which the notification bot posts in the moderators' channel."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.channels import find_channel
from models.chat.common import audit
from models.chat.identity.actors import Actor, find_actor
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.conversations import find_members
from models.chat.messages.view import address_of
from models.chat.rendering.quotes import Quotes, fenced, inert_block, link, one_line, snippet
from models.chat.sending.drafts import effective_topics_policy
from models.chat.sending.errors import ExplanationRequired, ReportingNotEnabled
from models.chat.sending.notices import try_send_notice
from models.chat.sending.recipients import ToChannel
from models.chat.tables import User

REPORT_TYPES: dict[str, str] = {
    "spam": "Spam",
    "harassment": "Harassment",
    "inappropriate": "Inappropriate content",
    "norms": "Violates community norms",
    "other": "Other reason",
}
"""Key in the API -> name, as in the response to registration."""


def report_message(
    session: Session,
    actor: Actor,
    message_id: int,
    *,
    report_type: str,
    description: str | None,
    now: datetime,
) -> None:
    """Post the report. Raise `ExplanationRequired`, `ReportingNotEnabled`, `InvalidMessage`."""
    description = (description or "").strip()
    if report_type == "other" and not description:
        raise ExplanationRequired()
    channel_id = actor.realm.moderation_request_channel_id
    if channel_id is None:
        raise ReportingNotEnabled()
    message = access_message(session, actor, message_id)
    channel = find_channel(session, actor, channel_id=channel_id)
    if channel is None or channel.is_archived:
        raise ReportingNotEnabled()
    sender = find_actor(session, message.sender_id)
    assert sender is not None
    topic = f"{one_line(sender.full_name)} moderation"
    if effective_topics_policy(actor, channel) == "empty_topic_only":
        topic = ""
    quotes = Quotes()
    try_send_notice(
        session,
        actor.realm_id,
        ToChannel(channel_id),
        topic=topic,
        content=_report(session, quotes, actor, sender, message, report_type, description),
        quotes=quotes,
        now=now,
        message_id=message.id,
    )
    audit.record(
        session,
        actor.realm_id,
        "message_reported",
        actor_id=actor.id,
        user_id=sender.id,
        channel_id=message.channel_id,
        facts={"message_id": message.id, "report_type": report_type},
        now=now,
    )


def _report(
    session: Session,
    quotes: Quotes,
    reporter: Actor,
    sender: Actor,
    message: MessageView,
    report_type: str,
    description: str,
) -> str:
    at = f"<time:{message.sent_at.isoformat(timespec='seconds')}>"
    who = quotes.user(sender.id, sender.full_name)
    if message.channel is None:
        assert message.conversation_id is not None
        members = find_members(session, [message.conversation_id])[message.conversation_id]
        others = [user_id for user_id in members if user_id not in (reporter.id, sender.id)]
        what = f"a DM sent by {who}{_and_to(session, quotes, others)}"
    else:
        what = f"a message sent by {who}"
    reason = [f"- **{REPORT_TYPES[report_type]}**"]
    if description:
        reason[0] += ":"
        reason.append(fenced(inert_block(description), "quote"))
    return "\n".join(
        [
            f"{quotes.user(reporter.id, reporter.full_name)} reported {what} at {at}.",
            "",
            *reason,
            "",
            fenced(
                snippet(message.content),
                "spoiler "
                + link(f"Message sent by {sender.full_name}", address_of(session, message)),
            ),
        ]
    )


def _and_to(session: Session, quotes: Quotes, others: list[int]) -> str:
    if not others:
        return ""
    rows = session.execute(
        select(User.id, User.full_name).where(User.id.in_(others)).order_by(User.id)
    )
    return " to " + ", ".join(quotes.user(row.id, row.full_name) for row in rows)
