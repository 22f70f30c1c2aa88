"""Message objects, read by id with a few statements, and URLs of messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import aliased

from models.chat.access.people import email_and_picture
from models.chat.identity.actors import Actor
from models.chat.messages.access import MessageView
from models.chat.messages.conversations import describe_people, find_members
from models.chat.messages.edit_history import find_edit_histories
from models.chat.messages.flags import WITHOUT_COPY, names_of
from models.chat.messages.reactions import find_reactions
from models.chat.messages.stars import all_flags
from models.chat.messages.submessages import find_submessages
from models.chat.rendering import find_linkifiers, topic_links
from models.chat.rendering.quotes import topic_address
from models.chat.tables import Channel, Message, User, UserMessage
from models.chat.topics.names import display_topic
from models.dialects import in_parameter
from specd.db import Db, Query


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """A client's options for message objects."""

    apply_markdown: bool = True
    client_gravatar: bool = True
    allow_empty_topic_name: bool = False


_MINE = aliased(UserMessage)


class MessageRow(NamedTuple):
    """A message with its channel's name, its sender, and the flags of the viewer's copy: a row of
    `_ROWS`, or a new message. Times are in Unix milliseconds.
    """

    id: int
    sender_id: int
    channel_id: int | None
    conversation_id: int | None
    topic: str
    content: str
    rendered_content: str
    sent_ms: int
    client: str
    channel_name: str | None
    full_name: str
    delivery_email: str
    bot_type: int | None
    email_address_visibility: int
    avatar_version: int
    avatar_handle: str | None
    is_deleted: bool = False
    edited_ms: int | None = None
    moved_ms: int | None = None
    flags: int | None = None


_ROWS = Query(
    select(
        Message.id,
        Message.sender_id,
        Message.channel_id,
        Message.conversation_id,
        Message.topic,
        Message.content,
        Message.rendered_content,
        Query.unconverted(Message.sent_at),
        Message.client,
        Channel.name.label("channel_name"),
        User.full_name,
        User.delivery_email,
        User.bot_type,
        User.email_address_visibility,
        User.avatar_version,
        User.avatar_handle,
        Query.unconverted(User.is_deleted),
        Query.unconverted(Message.last_edit_at),
        Query.unconverted(Message.last_moved_at),
        all_flags(_MINE),
    )
    .join(User, User.id == Message.sender_id)
    .outerjoin(Channel, Channel.id == Message.channel_id)
    .outerjoin(_MINE, (_MINE.message_id == Message.id) & (_MINE.user_id == bindparam("viewer_id")))
    .where(in_parameter(Message.id, "message_ids"))
    .order_by(Message.id)
)


def recipient_id(channel_id: int | None, conversation_id: int | None) -> int:
    """Return one number for a channel or a conversation.

    # decided: channels are even, conversations odd, so that they never collide.
    """
    return 2 * channel_id if channel_id is not None else 2 * (conversation_id or 0) + 1


def find_messages(
    db: Db, viewer: Actor, message_ids: Sequence[int], options: ViewOptions
) -> list[dict[str, Any]]:
    """Return the message objects of ids that the viewer may read, ordered by id."""
    if not message_ids:
        return []
    values = {"viewer_id": viewer.id, "message_ids": message_ids}
    rows = [*map(MessageRow._make, _ROWS.all(db, values))]
    conversations = {row.conversation_id for row in rows if row.conversation_id is not None}
    people = describe_people(db, viewer, find_members(db, conversations))
    reactions = find_reactions(db, viewer, message_ids)
    submessages = find_submessages(db, {row.id: row.content for row in rows})
    changed = [
        (row.id, row.channel_id, row.topic)
        for row in rows
        if row.edited_ms is not None or row.moved_ms is not None
    ]
    histories = find_edit_histories(
        db, viewer, changed, allow_empty_topic_name=options.allow_empty_topic_name
    )
    linkifiers = find_linkifiers(db, viewer.realm_id)
    links: dict[str, list[dict[str, str]]] = {}  # by topic, which many messages share
    senders: dict[int, _Shown] = {}
    messages = []
    for row in rows:
        if row.topic not in links:
            links[row.topic] = topic_links(row.topic, linkifiers)
        if row.sender_id not in senders:
            senders[row.sender_id] = _shown_sender(row, viewer, options)
        members = people.get(row.conversation_id or 0, [])
        message = _message_object(row, senders[row.sender_id], viewer, options, members)
        message["topic_links"] = links[row.topic]
        if row.id in reactions:
            message["reactions"] = reactions[row.id]
        if row.id in submessages:
            message["submessages"] = submessages[row.id]
        if row.id in histories:
            message["edit_history"] = histories[row.id]
        message["flags"] = names_of(WITHOUT_COPY if row.flags is None else row.flags)
        messages.append(message)
    return messages


def message_object(
    row: MessageRow, viewer: Actor, options: ViewOptions, people: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a message object without flags, reactions, submessages and edits."""
    return _message_object(row, _shown_sender(row, viewer, options), viewer, options, people)


_Shown = tuple[str, str | None]
"""A sender's email address and avatar, as the viewer may see them."""


def _shown_sender(row: MessageRow, viewer: Actor, options: ViewOptions) -> _Shown:
    sender = _Person(
        row.sender_id,
        row.bot_type,
        row.delivery_email,
        row.email_address_visibility,
        row.avatar_version,
        row.avatar_handle,
        row.is_deleted,
    )
    return email_and_picture(viewer, sender, client_makes_it=options.client_gravatar)


def _message_object(
    row: MessageRow,
    sender: _Shown,
    viewer: Actor,
    options: ViewOptions,
    people: list[dict[str, Any]],
) -> dict[str, Any]:
    # A response contains a hundred rows, and unpacking is faster than reading each attribute.
    (
        message_id, sender_id, channel_id, conversation_id, topic, content, rendered_content,
        sent_ms, client, channel_name, full_name, *_, edited_ms, moved_ms, _,
    ) = row  # fmt: skip
    email, picture = sender
    body = {
        "id": message_id,
        "sender_id": sender_id,
        "sender_full_name": full_name,
        "sender_email": email,
        "sender_realm_str": "",
        "avatar_url": picture,
        "client": client,
        "content": rendered_content if options.apply_markdown else content,
        "content_type": "text/html" if options.apply_markdown else "text/x-markdown",
        "display_recipient": people if channel_id is None else channel_name,
        "recipient_id": recipient_id(channel_id, conversation_id),
        "type": "private" if channel_id is None else "stream",
        "subject": display_topic(
            topic,
            empty_name=viewer.realm.empty_topic_display_name,
            allow_empty=options.allow_empty_topic_name or channel_id is None,
        ),
        "timestamp": sent_ms // 1000,
        "is_me_message": is_status_message(content),
        "reactions": [],
        "submessages": [],
        "topic_links": [],
    }
    if channel_id is not None:
        body["stream_id"] = channel_id
    if edited_ms is not None:
        body["last_edit_timestamp"] = edited_ms // 1000
    if moved_ms is not None:
        body["last_moved_timestamp"] = moved_ms // 1000
    return body


def is_status_message(content: str) -> bool:
    """Return whether clients show the message as an action of its sender (`/me waves`)."""
    return content.startswith("/me ")


def address_of(db: Db, message: MessageView) -> str:
    """Return the URL of the message in its topic or conversation, without the
    organization's host.
    """
    if message.channel is not None:
        return f"{topic_address(message.channel, message.topic)}/near/{message.id}"
    assert message.conversation_id is not None
    members = find_members(db, [message.conversation_id])[message.conversation_id]
    return f"/#narrow/dm/{','.join(map(str, members))}/near/{message.id}"


class _Person(NamedTuple):
    """A sender. It implements `Pictured`."""

    id: int
    bot_type: int | None
    delivery_email: str
    email_address_visibility: int
    avatar_version: int
    avatar_handle: str | None
    is_deleted: bool
