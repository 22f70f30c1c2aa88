"""Move messages to another topic or channel: one message, it and all later ones, or the whole
topic.

The number of statements does not depend on the number of messages.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, delete, func, insert, literal, select, update
from sqlalchemy.orm import Session

from models.chat.access.audiences import find_audience, find_readers
from models.chat.access.channels import ChannelView, access_channel, can_send_to_channel
from models.chat.access.membership import belongs
from models.chat.common.name_keys import key_of
from models.chat.editing.errors import (
    ChannelEditTooLate,
    MoveNotAllowed,
    MoveTimeLimitExceeded,
    ResolveNotAllowed,
    TopicEditTooLate,
)
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.messages import DeleteMessageEvent
from models.chat.identity.actors import Actor
from models.chat.identity.roles import Role
from models.chat.messages import search
from models.chat.messages.access import MessageView
from models.chat.messages.flags import WITHOUT_COPY
from models.chat.messages.stars import forget_stars
from models.chat.rendering import plain_text
from models.chat.rendering.quotes import Quotes
from models.chat.sending.drafts import check_topic
from models.chat.sending.errors import NotAuthorizedToSend
from models.chat.sending.notices import try_send_notice
from models.chat.sending.recipients import ToChannel
from models.chat.tables import Message, Subscription, User, UserMessage
from models.chat.topics.first_messages import recount_first_messages
from models.chat.topics.names import RESOLVED, normalise_topic
from models.chat.topics.summary import recount_topics
from models.dialects import id_in
from specd.db import table_of

_COPY = table_of(UserMessage)


@dataclass(frozen=True, slots=True)
class Changes:
    """New values; None means no change."""

    content: str | None = None
    prev_content_sha256: str | None = None
    topic: str | None = None
    channel_id: int | None = None
    propagate_mode: str = "change_one"
    notify_old_thread: bool = False
    notify_new_thread: bool = True

    @property
    def moves(self) -> bool:
        """Whether the request contains a topic or a channel."""
        return self.topic is not None or self.channel_id is not None


@dataclass(frozen=True, slots=True)
class Move:
    """A permitted move: `message_ids`, in ascending order, go to `topic` of `channel`."""

    message_ids: list[int]
    channel: ChannelView
    topic: str
    topic_changes: bool
    channel_changes: bool
    whole_topic: bool

    def notify(
        self,
        session: Session,
        actor: Actor,
        message: MessageView,
        changes: Changes,
        *,
        now: datetime,
    ) -> None:
        """Post a notice about the move in both topics."""
        assert message.channel is not None
        count = len(self.message_ids)
        if self.whole_topic:
            what = "This topic was"
        else:
            what = "A message was" if count == 1 else f"{count} messages were"
        new, old = (self.channel, self.topic), (message.channel, message.topic)
        for is_wanted, (channel, topic), direction, other in (
            (changes.notify_new_thread, new, "here from", old),
            (changes.notify_old_thread, old, "to", new),
        ):
            if is_wanted:
                quotes = Quotes()
                by = quotes.user(actor.id, actor.full_name)
                content = f"{what} moved {direction} {_thread(quotes, channel, *other)} by {by}."
                try_send_notice(
                    session,
                    actor.realm_id,
                    ToChannel(channel.id),
                    topic=topic,
                    content=content,
                    quotes=quotes,
                    now=now,
                    message_id=message.id,
                )


def _thread(quotes: Quotes, reader: ChannelView, channel: ChannelView, topic: str) -> str:
    """Return the name of a topic for readers of the channel `reader`. Private channels are not
    named.
    """
    if channel.invite_only and channel.id != reader.id:
        return "a private channel"
    return quotes.thread(channel, topic)


def check_move(
    session: Session, actor: Actor, message: MessageView, changes: Changes, *, now: datetime
) -> Move | None:
    """Return the move in these changes, or None if all messages would stay in place.

    Raise `InvalidCharacterInTopic`, `InvalidChannelId`, `MoveNotAllowed`, `ResolveNotAllowed`,
    `NotAuthorizedToSend`, an error of a time limit, or an error of `check_topic`.
    """
    old = message.channel
    if old is None or not changes.moves:
        return None
    new_topic, channel = message.topic, old
    if changes.topic is not None:
        empty_name = actor.realm.empty_topic_display_name
        new_topic = normalise_topic(changes.topic, empty_name=empty_name)
    if changes.channel_id is not None and changes.channel_id != old.id:
        channel = access_channel(session, actor, changes.channel_id)
    topic_changes, channel_changes = new_topic != message.topic, channel.id != old.id
    if not topic_changes and not channel_changes:
        return None
    if topic_changes:
        _require_topic_move(session, actor, old, message.topic, new_topic)
    if channel_changes:
        _require_channel_move(session, actor, old, channel)
    check_topic(session, actor, channel, new_topic)
    ids = _find_moving(session, actor, message, changes.propagate_mode)
    whole_topic = changes.propagate_mode == "change_all"
    if not actor.is_moderator:
        limits: list[tuple[int | None, type[ChatError]]] = []
        if topic_changes and not _resolves(message.topic, new_topic):
            limits.append((actor.realm.move_messages_within_stream_limit_seconds, TopicEditTooLate))
        if channel_changes:
            limits.append(
                (actor.realm.move_messages_between_streams_limit_seconds, ChannelEditTooLate)
            )
        _check_age(session, message, ids if whole_topic else None, limits, now)
    return Move(ids, channel, new_topic, topic_changes, channel_changes, whole_topic)


def _resolves(old: str, new: str) -> bool:
    """Return whether the names differ only in the mark of resolved topics."""
    return old.removeprefix(RESOLVED) == new.removeprefix(RESOLVED)


def _require_topic_move(
    session: Session, actor: Actor, channel: ChannelView, old: str, new: str
) -> None:
    realm = actor.realm
    if _resolves(old, new):
        if not (
            belongs(session, actor, realm.can_resolve_topics_group)
            or belongs(session, actor, channel.can_resolve_topics_group)
        ):
            raise ResolveNotAllowed()
        return
    if not old and not actor.is_guest:
        return  # every member may give a topic to messages without a topic
    if not (
        belongs(session, actor, realm.can_move_messages_between_topics_group)
        or belongs(session, actor, channel.can_move_messages_within_channel_group)
    ):
        raise MoveNotAllowed()


def _require_channel_move(
    session: Session, actor: Actor, old: ChannelView, new: ChannelView
) -> None:
    if not (
        belongs(session, actor, actor.realm.can_move_messages_between_channels_group)
        or belongs(session, actor, old.can_move_messages_out_of_channel_group)
    ):
        raise MoveNotAllowed()
    if not can_send_to_channel(session, actor, new):
        raise NotAuthorizedToSend(channel=new.name)


def _find_moving(
    session: Session, actor: Actor, message: MessageView, propagate_mode: str
) -> list[int]:
    """Return the ids of the messages to move. Only messages that the actor may read are
    included.
    """
    if propagate_mode == "change_one":
        return [message.id]
    moving = select(Message.id).where(
        Message.channel_id == message.channel_id, Message.topic_key == message.topic_key
    )
    if propagate_mode == "change_later":
        moving = moving.where(Message.id >= message.id)
    assert message.channel is not None
    if message.channel.has_protected_history:
        copies = select(UserMessage.message_id).where(UserMessage.user_id == actor.id)
        moving = moving.where(Message.id.in_(copies))
    return sorted(session.execute(moving).scalars())


def _check_age(
    session: Session,
    message: MessageView,
    topic_ids: list[int] | None,
    limits: list[tuple[int | None, type[ChatError]]],
    now: datetime,
) -> None:
    """Check the age of the message, or of all messages of its topic (`topic_ids`), against the
    strictest limit in seconds. Raise the error of that limit, or `MoveTimeLimitExceeded` if only
    some of the messages are too old.
    """
    set_limits = [(seconds, error) for seconds, error in limits if seconds is not None]
    if not set_limits:
        return
    seconds, too_late = min(set_limits, key=lambda limit: limit[0])
    oldest = now - timedelta(seconds=seconds)
    if topic_ids is None:
        if message.sent_at < oldest:
            raise too_late()
        return
    first, allowed = session.execute(
        select(func.min(Message.id), func.count()).where(
            id_in(Message.id, topic_ids), Message.sent_at >= oldest
        )
    ).one()
    if first is None:
        raise too_late()
    if allowed < len(topic_ids):
        raise MoveTimeLimitExceeded(
            first_message_id_allowed_to_move=first,
            total_messages_in_topic=len(topic_ids),
            total_messages_allowed_to_move=allowed,
        )


def move_messages(
    session: Session, actor: Actor, message: MessageView, move: Move, *, now: datetime
) -> set[int]:
    """Move the messages. Return the ids of the users who get the event of the move. Readers who may
    not read the new channel get a deletion instead.
    """
    old = message.channel
    assert old is not None
    connection = session.connection()
    moving = id_in(Message.id, move.message_ids)
    readers = find_readers(session, old, move.message_ids)
    with_copy = find_readers(session, None, move.message_ids) if move.channel_changes else set()
    connection.execute(
        update(Message)
        .where(moving)
        .values(
            channel_id=move.channel.id,
            topic=move.topic,
            topic_key=key_of(move.topic),
            last_moved_at=now,
        )
    )
    if move.channel_changes:
        _update_copies(session, move)
        recount_first_messages(session, actor.realm_id, [old.id, move.channel.id], now=now)
        recount_topics(session, old.id, [message.topic_key])
        recount_topics(session, move.channel.id, [key_of(move.topic)])
    else:
        recount_topics(session, old.id, [message.topic_key, key_of(move.topic)])
    if move.topic_changes and len(move.message_ids) > search.AT_ONCE:
        search.mark_stale(session, move.message_ids)
    elif move.topic_changes:
        texts = connection.execute(select(Message.id, Message.rendered_content).where(moving))
        search.index_soon(
            session,
            [(message_id, move.topic, plain_text(markup)) for message_id, markup in texts],
        )
    if not move.channel_changes:
        return readers
    new_readers = find_readers(session, move.channel, move.message_ids)
    deletion = DeleteMessageEvent.of(move.message_ids, old.id, message.topic)
    log.append(session, actor.realm_id, deletion, user_ids=readers - new_readers, now=now)
    # Users who may not see the old channel get no event, because the event contains its name.
    audience = find_audience(session, actor.realm, old)
    return new_readers if audience is None else new_readers & (audience | with_copy)


def _update_copies(session: Session, move: Move) -> None:
    """Delete the copies of users who may not read the new channel. If the new channel has a
    protected history, its subscribers get copies, because they could not read the messages
    otherwise.
    """
    new = move.channel
    connection = session.connection()
    is_moved = id_in(UserMessage.message_id, move.message_ids)
    subscribed = select(Subscription.user_id).where(
        Subscription.channel_id == new.id, Subscription.is_active
    )
    lost = None
    if new.invite_only:
        lost = and_(is_moved, _COPY.c.user_id.not_in(subscribed))
    elif not new.is_web_public:
        guests = select(User.id).where(User.id.in_(select(_COPY.c.user_id).where(is_moved)))
        guests = guests.where(User.role == Role.GUEST)
        lost = and_(is_moved, _COPY.c.user_id.in_(guests), _COPY.c.user_id.not_in(subscribed))
    if lost is not None:
        forget_stars(session, lost)
        connection.execute(delete(_COPY).where(lost))
    if new.has_protected_history:
        copy = select(literal(1)).where(
            _COPY.c.user_id == Subscription.user_id, _COPY.c.message_id == Message.id
        )
        missing = (
            select(Subscription.user_id, Message.id, literal(WITHOUT_COPY))
            .join(Message, Message.channel_id == Subscription.channel_id)
            .join(User, User.id == Subscription.user_id)
            .where(
                Subscription.channel_id == new.id,
                Subscription.is_active,
                User.is_active,
                id_in(Message.id, move.message_ids),
                ~copy.exists(),
            )
        )
        connection.execute(insert(_COPY).from_select(["user_id", "message_id", "flags"], missing))
