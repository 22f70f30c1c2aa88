"""Deleting messages.

The permission to delete a message, its time limit, and the copy in the archive.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import delete, insert, literal, select
from sqlalchemy.orm import Session

from models.chat.access.audiences import find_readers
from models.chat.access.membership import belongs
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.messages import DeleteMessageEvent
from models.chat.identity.actors import Actor
from models.chat.messages import search
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.errors import InvalidMessage
from models.chat.messages.stars import forget_stars
from models.chat.tables import Message, MessageArchive, Reaction, ReactionArchive, User, UserMessage
from models.chat.topics.first_messages import recount_first_messages
from models.chat.topics.summary import recount_topics
from models.chat.uploads.showing import forget_shown
from models.dialects import id_in
from specd.db import Db, UtcMs, table_of


class MessageAlreadyDeleted(ChatError):
    """Another request has already deleted the message."""

    sentence = "Message already deleted"
    advice = "No action is needed."


class DeletionNotAllowed(ChatError):
    """A setting of the organization or the channel does not permit the caller to delete the
    message.
    """

    sentence = "You don't have permission to delete this message"
    advice = "Ask an administrator or a moderator to delete the message."


class DeletionTooLate(ChatError):
    """The message is older than the time limit for deletion."""

    sentence = "The time limit for deleting this message has passed"
    advice = "Ask an administrator or a moderator to delete the message."


_MESSAGE = table_of(Message)
_ARCHIVE = table_of(MessageArchive)
_REACTION = table_of(Reaction)
_REACTION_ARCHIVE = table_of(ReactionArchive)
_ARCHIVED = [column.name for column in _ARCHIVE.c if column.name in _MESSAGE.c]


def delete_message(session: Session, actor: Actor, message_id: int, *, now: datetime) -> None:
    """Delete a message. Raise `InvalidMessage`, `MessageAlreadyDeleted`, `DeletionNotAllowed`,
    `DeletionTooLate`.
    """
    # When two deletions run concurrently, the second waits for the lock and finds no row.
    if access_message(session, actor, message_id).is_archived:
        raise InvalidMessage()
    try:
        message = access_message(session, actor, message_id, lock=True)
    except InvalidMessage:
        raise MessageAlreadyDeleted() from None
    check_may_delete(session, actor, message, now=now)
    readers = find_readers(session, message.channel, [message.id])
    remove_messages(session, [message.id], actor_id=actor.id, now=now)
    if message.channel_id is not None:
        recount_topics(session, message.channel_id, [message.topic_key])
    event = DeleteMessageEvent.of([message.id], message.channel_id, message.topic)
    event = replace(event, message_id=message.id)
    log.append(session, actor.realm_id, event, user_ids=[*readers, actor.id], now=now)
    channel = message.channel
    if channel is not None and channel.first_message_id == message.id:
        recount_first_messages(session, actor.realm_id, [channel.id], now=now)


def check_may_delete(db: Db, actor: Actor, message: MessageView, *, now: datetime) -> None:
    """Raise `DeletionNotAllowed` or `DeletionTooLate` unless the actor may delete the message. The
    permission to delete any message has no time limit.
    """
    realm, channel = actor.realm, message.channel
    if belongs(db, actor, realm.can_delete_any_message_group):
        return
    if channel is not None and belongs(db, actor, channel.can_delete_any_message_group):
        return
    if message.sender_id != actor.id and not _owns_bot(db, actor, message.sender_id):
        raise DeletionNotAllowed()
    if not belongs(db, actor, realm.can_delete_own_message_group) and (
        channel is None or not belongs(db, actor, channel.can_delete_own_message_group)
    ):
        raise DeletionNotAllowed()
    limit = realm.message_content_delete_limit_seconds
    if limit is not None and now - message.sent_at > timedelta(seconds=limit):
        raise DeletionTooLate()


def _owns_bot(db: Db, actor: Actor, sender_id: int) -> bool:
    bot = select(User.id).where(
        User.id == sender_id, User.bot_owner_id == actor.id, User.bot_type.is_not(None)
    )
    return db.execute(bot).first() is not None


def remove_messages(
    session: Session, message_ids: list[int], *, actor_id: int | None, now: datetime
) -> None:
    """Move messages and their reactions to the archive, and delete copies and edits. The caller
    updates topics and first messages and appends events.
    """
    connection = session.connection()
    is_removed = _MESSAGE.c.id.in_(message_ids)
    rows = select(
        *(_MESSAGE.c[name] for name in _ARCHIVED), literal(now, UtcMs), literal(actor_id)
    ).where(is_removed)
    names = [*_ARCHIVED, "archived_at", "archived_by"]
    connection.execute(insert(_ARCHIVE).from_select(names, rows))
    names = _REACTION_ARCHIVE.c.keys()
    reactions = select(*(_REACTION.c[name] for name in names)).where(
        _REACTION.c.message_id.in_(message_ids)
    )
    connection.execute(insert(_REACTION_ARCHIVE).from_select(names, reactions))
    forget_shown(session, message_ids, now=now)
    forget_stars(session, id_in(UserMessage.message_id, message_ids))
    connection.execute(delete(_MESSAGE).where(is_removed))
    search.forget_messages(session, message_ids)
