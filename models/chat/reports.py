"""Reporting a message to those who moderate: the notification bot tells their channel."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat import audit
from models.chat.actors import Actor, find_actor
from models.chat.conversations import find_members
from models.chat.drafts import effective_topics_policy
from models.chat.errors.messages import ExplanationRequired, ReportingNotEnabled
from models.chat.message_access import MessageView, access_message
from models.chat.notices import send_notice
from models.chat.permissions import find_channel
from models.chat.recipients import ToChannel
from models.chat.rendering.syntax import channel_slug, encode_fragment
from models.chat.tables import User

REPORT_TYPES: dict[str, str] = {
    "spam": "Spam",
    "harassment": "Harassment",
    "inappropriate": "Inappropriate content",
    "norms": "Violates community norms",
    "other": "Other reason",
}
"""Key on the wire -> name, as registration lists them."""

DESCRIPTION_MAX = 1000
SNIPPET_MAX = 500
_TRUNCATED = "\n[message truncated]"


def report_message(
    session: Session,
    actor: Actor,
    message_id: int,
    *,
    report_type: str,
    description: str | None,
    now: datetime,
) -> None:
    """Post the report. Raises `ExplanationRequired`, `ReportingNotEnabled`, `InvalidMessage`."""
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
    topic = f"{sender.full_name} moderation"
    if effective_topics_policy(actor, channel) == "empty_topic_only":
        topic = ""
    send_notice(
        session,
        actor.realm_id,
        ToChannel(channel_id),
        topic=topic,
        content=_report(session, actor, sender, message, report_type, description),
        now=now,
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


def _mention(user: Actor) -> str:
    return f"@_**{user.full_name}|{user.id}**"


def _report(
    session: Session,
    reporter: Actor,
    sender: Actor,
    message: MessageView,
    report_type: str,
    description: str,
) -> str:
    at = f"<time:{message.sent_at.isoformat(timespec='seconds')}>"
    if message.channel is None:
        assert message.conversation_id is not None
        members = find_members(session, [message.conversation_id])[message.conversation_id]
        others = [user_id for user_id in members if user_id not in (reporter.id, sender.id)]
        what = f"a DM sent by {_mention(sender)}{_and_to(session, others)}"
        link = f"/#narrow/dm/{','.join(map(str, members))}/near/{message.id}"
    else:
        what = f"a message sent by {_mention(sender)}"
        slug = channel_slug(message.channel.id, message.channel.name)
        link = f"/#narrow/channel/{slug}/topic/{encode_fragment(message.topic)}/near/{message.id}"
    snippet = message.content
    if len(snippet) > SNIPPET_MAX:
        snippet = snippet[:SNIPPET_MAX] + _TRUNCATED
    inner = _fence_for(snippet, 3)
    lines = [f"- **{REPORT_TYPES[report_type]}**"]
    if description:
        lines[0] += ":"
        quote = _fence_for(description, 3)
        lines += [f"{quote}quote", description, quote]
    return "\n".join(
        [
            f"{_mention(reporter)} reported {what} at {at}.",
            "",
            *lines,
            "",
            f"{inner}spoiler [Message sent by {sender.full_name}]({link})",
            snippet,
            inner,
        ]
    )


def _and_to(session: Session, others: list[int]) -> str:
    if not others:
        return ""
    rows = session.execute(
        select(User.id, User.full_name).where(User.id.in_(others)).order_by(User.id)
    )
    return " to " + ", ".join(f"@_**{row.full_name}|{row.id}**" for row in rows)


def _fence_for(text: str, least: int) -> str:
    """More backticks than stand together anywhere in the text: it cannot leave its block."""
    longest = run = 0
    for sign in text:
        run = run + 1 if sign == "`" else 0
        longest = max(longest, run)
    return "`" * max(least, longest + 1)
