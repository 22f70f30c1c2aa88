"""Delete all messages of a topic, or all messages that users sent to some kinds of places.

The request deletes the first batch and a worker deletes the others, so that each transaction is
short.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, exists, func, insert, or_, select
from sqlalchemy.orm import Session

from models.chat.access.channels import access_channel
from models.chat.access.errors import InvalidChannelId
from models.chat.common import audit
from models.chat.common.name_keys import key_of
from models.chat.deletion.batches import PLACED, PlacedMessage, delete_batch
from models.chat.identity.actors import Actor, is_running
from models.chat.tables import Channel, Message, MessageRemoval, UserMessage
from models.chat.topics.names import normalise_topic
from models.rows import read_rows
from specd.db import Db, table_of

AT_ONCE = 200
"""Maximum number of messages that one transaction deletes."""
_MESSAGE = table_of(Message)
_LAST = select(func.coalesce(func.max(Message.id), 0))


@dataclass(frozen=True, slots=True)
class DeletionScope:
    """The places of messages to delete: public channels, private channels, direct messages."""

    public_channels: bool = False
    private_channels: bool = False
    direct: bool = False

    @property
    def condition(self) -> ColumnElement[bool]:
        """The condition on a message that is outer-joined with its channel."""
        of_place = {
            "public_channels": Channel.invite_only.is_(False),
            "private_channels": Channel.invite_only.is_(True),
            "direct": _MESSAGE.c.channel_id.is_(None),
        }
        return or_(*(of_place[name] for name, wanted in asdict(self).items() if wanted))

    def __bool__(self) -> bool:
        return self.public_channels or self.private_channels or self.direct


def remove_sent(
    session: Session,
    realm_id: int,
    sender_ids: Sequence[int],
    places: DeletionScope,
    *,
    actor_id: int,
    now: datetime,
) -> dict[int, int]:
    """Delete the users' messages in these places: up to `AT_ONCE` messages immediately, and the
    others in steps of `remove_some`. Return user id -> number of messages that were deleted
    immediately.
    """
    removed = dict.fromkeys(sender_ids, 0)
    if not places:
        return removed
    until_id = session.execute(_LAST).scalar_one()
    batch: list[PlacedMessage] = []
    left: list[dict[str, Any]] = []
    for sender_id in sender_ids:
        wanted = AT_ONCE - len(batch)
        sent = _find_sent(session, sender_id, places, 0, until_id, wanted) if wanted else []
        removed[sender_id] = len(sent)
        batch.extend(sent)
        if len(sent) == wanted:
            after_id = sent[-1].id if sent else 0
            left.append({"sender_id": sender_id, "after_id": after_id})
    if batch:
        delete_batch(session, batch, actor_id=actor_id, now=now)
    if left:
        shared = {"realm_id": realm_id, "actor_id": actor_id, "until_id": until_id}
        rows = [{**row, **shared, **asdict(places)} for row in left]
        session.connection().execute(insert(table_of(MessageRemoval)), rows)
    return removed


def remove_some(session: Session, now: datetime, *, removal_id: int | None = None) -> bool:
    """Do the next step of the removal with this id, or of the oldest removal. Return False if there
    is none or if another transaction has locked it.
    """
    removals = select(MessageRemoval).where(is_running(MessageRemoval.realm_id))
    removals = removals.order_by(MessageRemoval.id).limit(1)
    if removal_id is not None:
        removals = removals.where(MessageRemoval.id == removal_id)
    removal = session.scalars(removals.with_for_update(skip_locked=True)).first()
    if removal is None:
        return False
    _continue(session, removal, now)
    return True


def remove_topic(
    session: Session, actor: Actor, channel_id: int, topic: str, *, now: datetime
) -> int | None:
    """Delete the newest messages of a topic that the actor can read: up to `AT_ONCE` immediately,
    and the others in steps of `remove_some`. If an earlier removal is unfinished, it continues and
    includes newer messages. Return the id of the removal, or None if it ended.

    Raise `InvalidChannelId` (also for an archived channel) and `InvalidCharacterInTopic`.
    """
    channel = access_channel(session, actor, channel_id)
    if channel.is_archived:
        raise InvalidChannelId()
    name = normalise_topic(topic, empty_name=actor.realm.empty_topic_display_name)
    until_id = session.execute(_LAST).scalar_one()
    removal = session.scalars(
        select(MessageRemoval)
        .where(
            MessageRemoval.actor_id == actor.id,
            MessageRemoval.channel_id == channel.id,
            MessageRemoval.topic == name,
        )
        .limit(1)
        .with_for_update()
    ).first()
    if removal is None:
        removal = MessageRemoval(
            realm_id=actor.realm_id,
            channel_id=channel.id,
            topic=name,
            actor_id=actor.id,
            after_id=0,
            removed=0,
        )
        session.add(removal)
    removal.until_id = until_id
    session.flush()
    return removal.id if _continue(session, removal, now) else None


def find_left(db: Db, removal_id: int) -> int | None:
    """Return the id of the newest message that may remain for a removal, or None if it ended."""
    left = select(MessageRemoval.until_id).where(MessageRemoval.id == removal_id)
    return db.execute(left).scalar()


def _continue(session: Session, removal: MessageRemoval, now: datetime) -> bool:
    """Delete the next batch, and after the last batch the row of the removal. Return whether
    messages may remain.

    In a topic the newest messages are deleted first, so that the channel's first message changes
    only once.
    """
    if removal.sender_id is None:
        batch = _find_in_topic(session, removal)
    else:
        places = DeletionScope(removal.public_channels, removal.private_channels, removal.direct)
        after_id, until_id = removal.after_id, removal.until_id
        batch = _find_sent(session, removal.sender_id, places, after_id, until_id, AT_ONCE)
    if batch:
        delete_batch(session, batch, actor_id=removal.actor_id, now=now)
        if removal.sender_id is None:
            removal.until_id = batch[0].id - 1
        else:
            removal.after_id = batch[-1].id
    removal.removed += len(batch)
    is_over = len(batch) < AT_ONCE
    if is_over:
        _end(session, removal, now)
    session.flush()
    return not is_over


def _end(session: Session, removal: MessageRemoval, now: datetime) -> None:
    if removal.removed:
        kind = "topic_deleted"
        facts: dict[str, object] = {"topic": removal.topic}
        if removal.topic is None:
            kind, facts = "user_data_deleted", {"profile": False}
        audit.record(
            session,
            removal.realm_id,
            kind,
            actor_id=removal.actor_id,
            user_id=removal.sender_id,
            channel_id=removal.channel_id,
            now=now,
            facts={**facts, "messages": removal.removed},
        )
    session.delete(removal)


_IS_READABLE = or_(
    ~Channel.invite_only,
    Channel.history_public_to_subscribers,
    exists().where(
        UserMessage.message_id == _MESSAGE.c.id, UserMessage.user_id == bindparam("actor_id")
    ),
)
"""In a protected history, the actor can read only messages of which they have a copy."""
_NEWEST_IN_TOPIC = (
    select(*PLACED)
    .select_from(_MESSAGE)
    .join(Channel, Channel.id == _MESSAGE.c.channel_id)
    .where(
        _MESSAGE.c.channel_id == bindparam("channel_id"),
        _MESSAGE.c.topic_key == bindparam("topic_key"),
        _MESSAGE.c.id <= bindparam("until_id"),
        _IS_READABLE,
    )
    .order_by(_MESSAGE.c.id.desc())
    .limit(bindparam("limit"))
    .with_for_update(of=_MESSAGE)
)


def _find_in_topic(session: Session, removal: MessageRemoval) -> Sequence[PlacedMessage]:
    """Return the newest remaining messages, ordered by id. They are locked."""
    parameters = {
        "actor_id": removal.actor_id,
        "channel_id": removal.channel_id,
        "topic_key": key_of(removal.topic or ""),
        "until_id": removal.until_id,
        "limit": AT_ONCE,
    }
    return read_rows(PlacedMessage, session.execute(_NEWEST_IN_TOPIC, parameters))[::-1]


def _find_sent(
    session: Session,
    sender_id: int,
    places: DeletionScope,
    after_id: int,
    until_id: int,
    limit: int,
) -> Sequence[PlacedMessage]:
    """Return the next messages of a sender to delete. They are locked."""
    messages = session.execute(
        select(*PLACED)
        .select_from(_MESSAGE)
        .outerjoin(Channel, Channel.id == _MESSAGE.c.channel_id)
        .where(
            _MESSAGE.c.sender_id == bindparam("sender_id"),
            _MESSAGE.c.id > bindparam("after_id"),
            _MESSAGE.c.id <= bindparam("until_id"),
            places.condition,
        )
        .order_by(_MESSAGE.c.id)
        .limit(bindparam("limit"))
        .with_for_update(of=_MESSAGE),
        {"sender_id": sender_id, "after_id": after_id, "until_id": until_id, "limit": limit},
    )
    return read_rows(PlacedMessage, messages)
