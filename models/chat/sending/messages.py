"""Send a checked draft: store the message and the copies of all readers, update the newest message
of the topic, and append events. This happens in the caller's transaction, with a number of
statements that does not depend on the realm.

POST /messages, the worker for scheduled messages and the notification bot use this module.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, insert, literal, select
from sqlalchemy.orm import Session

from models.chat.access.people import email_for_all
from models.chat.alert_words import find_alerted_among, find_alerted_in
from models.chat.events import log
from models.chat.events.log import ABSENT, WireObject
from models.chat.events.messages import LocalEcho, MessageEvent
from models.chat.messages import flags, search
from models.chat.messages.conversations import find_people, require_conversation
from models.chat.messages.submessages import attach_widget
from models.chat.messages.view import MessageRow, ViewOptions, message_object
from models.chat.rendering import plain_text
from models.chat.sending.bot_calls import call_bots
from models.chat.sending.drafts import Draft
from models.chat.tables import Message, Subscription, User, UserMessage
from models.chat.topics import automatic_policies, first_messages, summary
from models.chat.uploads.showing import show_in
from specd.db import Query, UtcMs, table_of

_MESSAGE = table_of(Message)
_COPY = table_of(UserMessage)

_INSERT_MESSAGE = Query(insert(_MESSAGE).returning(Message.id))


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A sent message. `new_policy` is the sender's visibility policy for the topic if sending has
    changed it, otherwise None.
    """

    id: int
    new_policy: int | None


def send_message(
    session: Session,
    draft: Draft,
    *,
    now: datetime,
    scheduled_message_id: int | None = None,
    local: LocalEcho | None = None,
) -> SentMessage:
    """Send the draft of `check_message`, in the transaction of the check."""
    sender, channel, rendered = draft.sender, draft.channel, draft.rendered
    conversation_id = None
    if channel is None:
        conversation_id = require_conversation(session, sender.realm_id, draft.user_ids)
    (message_id,) = _INSERT_MESSAGE.one(
        session,
        {
            **columns_of(draft, now),
            "channel_id": None if channel is None else channel.id,
            "conversation_id": conversation_id,
            "scheduled_message_id": scheduled_message_id,
        },
    )
    copies = _make_copies(session, draft, message_id)
    call_bots(session, draft, message_id, copies.values(), now=now)
    new_policy = None
    if channel is not None:
        has_policy = automatic_policies.has_policy_for_new_topics(sender)
        starts_topic = has_policy and not summary.has_topic(session, sender, channel, draft.topic)
        summary.note_topic(session, channel.id, draft.topic, message_id)
        if channel.first_message_id is None:
            first_messages.note_first_message(session, channel, message_id, now=now)
        new_policy = automatic_policies.follow_as_sender(
            session, sender, channel.id, draft.topic, starts_topic=starts_topic, now=now
        )
        mentioned = rendered.user_ids & {user for users in copies.values() for user in users}
        if mentioned:
            automatic_policies.follow_as_mentioned(
                session, sender.realm_id, mentioned, channel.id, draft.topic, now=now
            )
    search.index_messages(session, [(message_id, draft.topic, plain_text(rendered.html))])
    submessages = attach_widget(session, sender.id, message_id, draft.content)
    _append_events(session, draft, message_id, conversation_id, copies, submessages, local, now)
    show_in(session, sender, message_id, rendered.upload_handles, now=now)
    return SentMessage(message_id, new_policy)


def columns_of(draft: Draft, now: datetime) -> dict[str, Any]:
    """Return the columns of a draft's message, except its channel or conversation."""
    rendered = draft.rendered
    return {
        "realm_id": draft.sender.realm_id,
        "sender_id": draft.sender.id,
        "topic": draft.topic,
        "topic_key": draft.topic_key,
        "content": draft.content,
        "rendered_content": rendered.html,
        "sent_at": now,
        "has_link": rendered.has_link,
        "has_image": rendered.has_image,
        "has_attachment": rendered.has_attachment,
        "client": draft.client,
    }


# --- copies -----------------------------------------------------------------------------------

_ACTIVE_SUBSCRIBERS = (
    select(
        Subscription.user_id,
        bindparam("message_id", type_=BigInteger).label("message_id"),
        flags.read_by_some(
            Subscription.user_id, bindparam("of_sender_id"), bindparam("reader_id")
        ).label("flags"),
    )
    .join(User, User.id == Subscription.user_id)
    .where(
        Subscription.channel_id == bindparam("to_channel_id"),
        Subscription.is_active,
        User.is_active,
    )
)
# The most frequent case, a message to a channel without mentions and alert words, uses one prebuilt
# statement.
_COPIES_OF_CHANNEL = Query(
    insert(_COPY)
    .from_select(["user_id", "message_id", "flags"], _ACTIVE_SUBSCRIBERS)
    .returning(UserMessage.user_id, UserMessage.flags)
)


def _make_copies(session: Session, draft: Draft, message_id: int) -> dict[int, list[int]]:
    """Create the copies of all readers with one INSERT ... SELECT. Return flags -> user ids."""
    rendered = draft.rendered
    mentions = (
        rendered.user_ids
        or rendered.group_ids
        or rendered.mentions_channel
        or rendered.mentions_topic
    )
    alerted = _find_alerted(session, draft)
    if draft.channel is not None and not mentions and not alerted:
        made: Iterable[tuple[int, int]] = _COPIES_OF_CHANNEL.all(
            session,
            {
                "message_id": message_id,
                "of_sender_id": draft.sender.id,
                "reader_id": draft.sender.id if draft.read_by_sender else 0,
                "to_channel_id": draft.channel.id,
            },
        )
    else:
        readers = _readers(session, draft, alerted, message_id)
        made = session.connection().execute(
            insert(_COPY)
            .from_select(["user_id", "message_id", "flags"], readers)
            .returning(UserMessage.user_id, UserMessage.flags)
        )
    copies: dict[int, list[int]] = defaultdict(list)
    for user_id, bits in made:
        copies[bits].append(user_id)
    return copies


def _find_alerted(session: Session, draft: Draft) -> set[int]:
    """Return the users with an alert word in the message."""
    realm_id, content = draft.sender.realm_id, draft.content
    if draft.channel is None:
        return find_alerted_among(session, realm_id, draft.user_ids, content)
    return find_alerted_in(session, realm_id, draft.channel.id, content)


def _readers(
    session: Session, draft: Draft, alerted: set[int], message_id: int
) -> Select[int, int, int]:
    """Return the query for the readers of a message and their flags. It is used for direct
    messages, and for messages with mentions or alert words.
    """
    source, channel = User.id, draft.channel
    channel_id = None if channel is None else channel.id
    bits = flags.text_bits(session, draft.rendered, alerted, source, channel_id, draft.topic_key)
    reader_id = draft.sender.id if draft.read_by_sender else 0
    bits = bits + flags.read_by_some(source, literal(draft.sender.id), literal(reader_id))
    columns = (source, literal(message_id, BigInteger))
    if channel is None:
        return select(*columns, bits + flags.IS_PRIVATE).where(
            User.id.in_(draft.user_ids), User.is_active
        )
    return (
        select(*columns, bits)
        .join(Subscription, Subscription.user_id == User.id)
        .where(Subscription.channel_id == channel.id, Subscription.is_active, User.is_active)
    )


# --- events -----------------------------------------------------------------------------------


def _append_events(
    session: Session,
    draft: Draft,
    message_id: int,
    conversation_id: int | None,
    copies: dict[int, list[int]],
    submessages: Sequence[WireObject],
    local: LocalEcho | None,
    now: datetime,
) -> None:
    """Append one event for each set of flags. All of them contain the same message."""
    sender = draft.sender
    people: list[dict[str, Any]] = []
    if draft.channel is None:
        people = list(find_people(session, sender, draft.user_ids, for_all=True).values())
    message = message_as_sent(draft, message_id, conversation_id, people, now=now)
    message["submessages"] = submessages
    if draft.topic:
        message["topic_links"] = draft.topic_links
    # Queues of all public channels get the event with the most recipients.
    common = max(copies, key=lambda bits: len(copies[bits]), default=None)
    is_public = draft.channel is not None and not draft.channel.invite_only
    for bits, user_ids in sorted(copies.items()):
        others = [i for other, ids in copies.items() if other != bits for i in ids]
        event = MessageEvent(
            message=message,
            flags=flags.names_of(bits),
            markdown=draft.content,
            others=others if is_public and bits == common else ABSENT,
            local=local if local is not None and sender.id in user_ids else ABSENT,
        )
        log.append(session, sender.realm_id, event, user_ids=user_ids, now=now)


def message_as_sent(
    draft: Draft,
    message_id: int,
    conversation_id: int | None,
    people: list[dict[str, Any]],
    *,
    now: datetime,
) -> dict[str, Any]:
    """Return the message object for the event. `people` are the users of the conversation."""
    sender, channel = draft.sender, draft.channel
    row = MessageRow(
        id=message_id,
        sender_id=sender.id,
        channel_id=None if channel is None else channel.id,
        conversation_id=conversation_id,
        topic=draft.topic,
        content=draft.content,
        rendered_content=draft.rendered.html,
        sent_ms=UtcMs.to_ms(now),
        client=draft.client,
        channel_name=None if channel is None else channel.name,
        full_name=sender.full_name,
        # Readers may see different emails of the sender: the event contains an email that all may
        # see.
        delivery_email=email_for_all(sender, sender.realm.host),
        bot_type=sender.bot_type,
        email_address_visibility=sender.email_address_visibility,
        avatar_version=sender.avatar_version,
        avatar_handle=sender.avatar_handle,
    )
    return message_object(
        row, sender, ViewOptions(client_gravatar=False, allow_empty_topic_name=True), people
    )
