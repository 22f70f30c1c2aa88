"""A message as the event of its sending shows it, before anybody reads it back."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from models.chat.messages.view import ViewOptions, message_object
from models.chat.sending.drafts import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentMessage:
    """A message just sent, as `message_object` reads one."""

    id: int
    sender_id: int
    channel_id: int | None
    conversation_id: int | None
    topic: str
    content: str
    rendered_content: str
    sent_at: datetime
    client: str
    channel_name: str | None
    full_name: str
    delivery_email: str
    bot_type: int | None
    email_address_visibility: int
    avatar_version: int
    last_edit_at: datetime | None = None
    last_moved_at: datetime | None = None
    is_deleted: bool = False


def message_as_sent(
    draft: Draft,
    message_id: int,
    conversation_id: int | None,
    people: list[dict[str, Any]],
    *,
    now: datetime,
) -> dict[str, Any]:
    """The message as its event shows it; `people` are those of the conversation."""
    sender, channel = draft.sender, draft.channel
    visibility = sender.email_address_visibility
    row = _SentMessage(
        id=message_id,
        sender_id=sender.id,
        channel_id=None if channel is None else channel.id,
        conversation_id=conversation_id,
        topic=draft.topic,
        content=draft.content,
        rendered_content=draft.rendered.html,
        sent_at=now,
        client=draft.client,
        channel_name=None if channel is None else channel.name,
        full_name=sender.full_name,
        # Readers differ in whose email they may see: an event shows what all of them may.
        delivery_email=sender.delivery_email
        if sender.is_bot or visibility == 1
        else sender.dummy_email,
        bot_type=sender.bot_type,
        email_address_visibility=visibility,
        avatar_version=sender.avatar_version,
    )
    return message_object(
        row, sender, ViewOptions(client_gravatar=False, allow_empty_topic_name=True), people
    )
