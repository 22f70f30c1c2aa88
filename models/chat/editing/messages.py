"""Edit a message: its content, and its channel and topic (moving.py), with one history row."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from models.chat.access.audiences import find_readers
from models.chat.alert_words import find_alerted_with_copy
from models.chat.editing.errors import (
    ContentAndChannelEdited,
    DirectMessagesCannotMove,
    DirectMessagesHaveNoTopic,
    EditingTurnedOff,
    EditNotAllowed,
    EditTooLate,
    PreviousContentMismatch,
    PropagationWithoutMove,
    WidgetNotEditable,
)
from models.chat.editing.moving import Changes, Move, check_move, move_messages
from models.chat.events import log
from models.chat.events.messages import UpdateMessageEvent
from models.chat.identity.actors import Actor
from models.chat.messages import search
from models.chat.messages.access import MessageView, access_open_message
from models.chat.messages.errors import NothingToChange
from models.chat.messages.flags import OF_TEXT, WITHOUT_COPY, names_of, text_bits
from models.chat.messages.stars import all_flags
from models.chat.messages.submessages import find_widget_type
from models.chat.messages.view import is_status_message
from models.chat.rendering import Rendered, find_linkifiers, plain_text, topic_links
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import check_mentions, check_stored
from models.chat.tables import Message, MessageEdit, UserMessage
from models.chat.uploads.showing import change_shown
from specd.db import Db, table_of

_EDIT = table_of(MessageEdit)
_COPY = table_of(UserMessage)
TOMBSTONE = "(deleted)"


@dataclass(frozen=True, slots=True)
class Edited:
    """The result: records of the actor's files that are no longer in a message, and the ids of the
    moved messages.
    """

    detached: list[dict[str, Any]]
    moved_ids: Sequence[int] = ()


def prepare_edit(db: Db, actor: Actor, content: str) -> PreparedText:
    """Return the new content, rendered. Empty content becomes a tombstone, as in Zulip."""
    return prepare_text(db, actor, content if content.strip() else TOMBSTONE)


def edit_message(
    session: Session,
    actor: Actor,
    message_id: int,
    changes: Changes,
    *,
    text: PreparedText | None,
    now: datetime,
) -> Edited:
    """Change a message, and move the messages that belong to the move. `text` is the result of
    `prepare_edit` for the new content.

    All errors of the checks are raised before any change.
    """
    message = access_open_message(session, actor, message_id)
    _check_combination(message, changes)
    move = check_move(session, actor, message, changes, now=now)
    rendered: Rendered | None = None
    content = message.content
    if changes.content is not None:
        assert text is not None
        content, rendered = _check_content(session, actor, message, changes, text, now)
    if rendered is None and move is None:
        return Edited([])  # because no value changes
    if content == message.content:
        rendered = None
    detached: list[dict[str, Any]] = []
    if rendered is not None:
        _change_content(session, actor, message, content, rendered, now)
        detached = change_shown(session, actor, message.id, rendered.upload_handles, now=now)
    _record(session, actor, message, move, rendered, now)
    if move is None:
        readers = find_readers(session, message.channel, [message.id])
    else:
        readers = move_messages(session, actor, message, move, now=now)
    _notify(session, actor, message, move, content, rendered, changes, readers, now)
    if move is not None:
        move.notify(session, actor, message, changes, now=now)
    return Edited(detached, () if move is None else move.message_ids)


def _check_combination(message: MessageView, changes: Changes) -> None:
    """Raise an error if the changes contradict each other or do not apply to a direct message."""
    if changes.content is None and not changes.moves:
        raise NothingToChange()
    if message.channel is None:
        if changes.channel_id is not None:
            raise DirectMessagesCannotMove()
        if changes.topic is not None:
            raise DirectMessagesHaveNoTopic()
    if changes.propagate_mode != "change_one" and not changes.moves:
        raise PropagationWithoutMove()
    if changes.content is not None and changes.channel_id is not None:
        raise ContentAndChannelEdited()


def require_may_edit_content(actor: Actor, message: MessageView, now: datetime) -> None:
    """Raise `EditingTurnedOff`, `EditNotAllowed`, `EditTooLate`."""
    realm = actor.realm
    if not realm.allow_message_editing:
        raise EditingTurnedOff()
    if message.sender_id != actor.id:
        raise EditNotAllowed()
    limit = realm.message_content_edit_limit_seconds
    if limit is not None and now - message.sent_at > timedelta(seconds=limit):
        raise EditTooLate()


def _check_content(
    session: Session,
    actor: Actor,
    message: MessageView,
    changes: Changes,
    text: PreparedText,
    now: datetime,
) -> tuple[str, Rendered]:
    require_may_edit_content(actor, message, now)
    if find_widget_type(session, message) is not None:
        raise WidgetNotEditable()
    if changes.prev_content_sha256 is not None:
        digest = sha256(message.content.encode("utf-8")).hexdigest()
        if digest != changes.prev_content_sha256.lower():
            raise PreviousContentMismatch()
    content = check_stored(text.stored)
    check_mentions(session, actor, message.channel, message.topic, text.rendered)
    return content, text.rendered


def _change_content(
    session: Session,
    actor: Actor,
    message: MessageView,
    content: str,
    rendered: Rendered,
    now: datetime,
) -> None:
    connection = session.connection()
    connection.execute(
        update(Message)
        .where(Message.id == message.id)
        .values(
            content=content,
            rendered_content=rendered.html,
            last_edit_at=now,
            has_link=rendered.has_link,
            has_image=rendered.has_image,
            has_attachment=rendered.has_attachment,
        )
    )
    search.index_messages(session, [(message.id, message.topic, plain_text(rendered.html))])
    user_id, topic_key = _COPY.c.user_id, message.topic_key
    alerted = find_alerted_with_copy(session, actor.realm_id, message.id, content)
    bits = text_bits(session, rendered, alerted, user_id, message.channel_id, topic_key)
    old_bits = _COPY.c.flags.op("&")(OF_TEXT)
    connection.execute(
        update(_COPY)
        .where(_COPY.c.message_id == message.id, old_bits != bits)
        .values(flags=_COPY.c.flags - old_bits + bits)
    )


def _record(
    session: Session,
    actor: Actor,
    message: MessageView,
    move: Move | None,
    rendered: Rendered | None,
    now: datetime,
) -> None:
    """Insert a history row for the message and for each message that moves with it."""
    values = {
        "editor_id": actor.id,
        "edited_at": now,
        "prev_topic": None,
        "prev_channel_id": None,
        "prev_content": None,
        "prev_rendered_content": None,
    }
    rows = []
    for message_id in move.message_ids if move is not None else [message.id]:
        row = {**values, "message_id": message_id}
        if move is not None and move.topic_changes:
            row["prev_topic"] = message.topic
        if move is not None and move.channel_changes:
            row["prev_channel_id"] = message.channel_id
        if rendered is not None and message_id == message.id:
            row["prev_content"] = message.content
            row["prev_rendered_content"] = message.rendered_content
        rows.append(row)
    session.connection().execute(insert(_EDIT), rows)


def _notify(
    session: Session,
    actor: Actor,
    message: MessageView,
    move: Move | None,
    content: str,
    rendered: Rendered | None,
    changes: Changes,
    readers: set[int],
    now: datetime,
) -> None:
    event = UpdateMessageEvent(
        user_id=actor.id,
        edit_timestamp=int(now.timestamp()),
        message_id=message.id,
        message_ids=[message.id] if move is None else move.message_ids,
        rendering_only=False,
        flags=[],
    )
    if message.channel is not None:
        event = replace(event, stream_id=message.channel.id, stream_name=message.channel.name)
    if rendered is not None:
        event = replace(
            event,
            orig_content=message.content,
            orig_rendered_content=message.rendered_content,
            content=content,
            rendered_content=rendered.html,
            is_me_message=is_status_message(content),
        )
    if move is not None:
        event = replace(event, propagate_mode=changes.propagate_mode, orig_subject=message.topic)
        if move.topic_changes:
            links = topic_links(move.topic, find_linkifiers(session, actor.realm_id))
            event = replace(event, subject=move.topic, topic_links=links)
        if move.channel_changes:
            event = replace(event, new_stream_id=move.channel.id)
    events = [
        (replace(event, flags=names_of(bits)), user_ids)
        for bits, user_ids in _by_flags(session, message.id, {*readers, actor.id}).items()
    ]
    log.append_all(session, actor.realm_id, events, now=now)


def _by_flags(session: Session, message_id: int, readers: set[int]) -> dict[int, set[int]]:
    """Return flags -> readers whose copies have these flags. Readers without a copy are
    included.
    """
    copies = session.execute(
        select(UserMessage.user_id, all_flags(UserMessage)).where(
            UserMessage.message_id == message_id
        )
    )
    by_flags: dict[int, set[int]] = defaultdict(set)
    for user_id, bits in copies:
        if user_id in readers:
            by_flags[bits].add(user_id)
    without_copy = readers.difference(*by_flags.values())
    if without_copy:
        by_flags[WITHOUT_COPY] |= without_copy
    return by_flags
