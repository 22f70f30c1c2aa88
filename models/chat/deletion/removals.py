"""Deleting everything that users have sent to some kind of place, or a topic: a first batch at
once, the rest in steps by a worker, so that a unit of work takes no longer than a batch does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, insert, or_, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.channels import access_channel
from models.chat.access.errors import InvalidChannelId
from models.chat.common import audit
from models.chat.deletion.batches import PLACED, PlacedMessage, delete_batch
from models.chat.deletion.in_topic import find_in_topic
from models.chat.identity.actors import Actor
from models.chat.tables import Channel, Message, MessageRemoval
from models.chat.topics.names import normalise_topic
from models.reader import Db
from models.rows import read_rows

AT_ONCE = 200
"""How many messages one unit of work deletes: the request's, and each step's of the worker."""
_MESSAGE = table_of(Message)
_LAST = select(func.coalesce(func.max(Message.id), 0))


@dataclass(frozen=True, slots=True)
class DeletionScope:
    """Where messages are to be deleted: in public channels, in private ones, in direct messages."""

    public_channels: bool = False
    private_channels: bool = False
    direct: bool = False

    @property
    def condition(self) -> ColumnElement[bool]:
        """Of a message outer-joined with its channel."""
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
    """Move what the users have sent to these places to the archive: up to `AT_ONCE` messages now,
    and what more there is in the steps of `remove_some`. Returns how many of each user went now.

    Those who have copies are told, topics and first messages are true again.
    """
    removed = dict.fromkeys(sender_ids, 0)
    if not places:
        return removed
    until_id = session.execute(_LAST).scalar_one()
    batch: list[PlacedMessage] = []
    left: list[dict[str, Any]] = []
    for sender_id in sender_ids:
        wanted = AT_ONCE - len(batch)
        found = _find(session, sender_id, places, 0, until_id, wanted) if wanted else []
        removed[sender_id] = len(found)
        batch.extend(found)
        if len(found) == wanted:
            after_id = found[-1].id if found else 0
            left.append({"sender_id": sender_id, "after_id": after_id})
    if batch:
        delete_batch(session, batch, actor_id=actor_id, now=now)
    if left:
        known = {"realm_id": realm_id, "actor_id": actor_id, "until_id": until_id}
        rows = [{**row, **known, **asdict(places)} for row in left]
        session.connection().execute(insert(table_of(MessageRemoval)), rows)
    return removed


def remove_some(session: Session, now: datetime) -> bool:
    """Take one removal a step further; False when none is left that nobody else works on. What a
    removal did after its request is audited at its end.
    """
    removal = session.scalars(
        select(MessageRemoval)
        .order_by(MessageRemoval.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    ).first()
    if removal is None:
        return False
    _go_on(session, removal, now)
    return True


def remove_topic(
    session: Session, actor: Actor, channel_id: int, topic: str, *, now: datetime
) -> int | None:
    """Delete the newest messages of a topic, as far as the actor can read it: up to `AT_ONCE` now,
    and the others in the steps of `remove_some` and `go_on_with`. Returns the id of what is left to
    do, or None. A removal that was asked for before goes on, up to the newest message of now.

    Raises `InvalidChannelId` (an archived channel too) and `InvalidCharacterInTopic`.
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
    return removal.id if _go_on(session, removal, now) else None


def find_left(db: Db, removal_id: int) -> int | None:
    """Up to which message a removal of a topic has still to go; None: it is through."""
    left = select(MessageRemoval.until_id).where(MessageRemoval.id == removal_id)
    return db.execute(left).scalar()


def go_on_with(session: Session, removal_id: int, *, now: datetime) -> None:
    """Take a removal a step further, unless somebody else does or it is through."""
    removal = session.scalars(
        select(MessageRemoval)
        .where(MessageRemoval.id == removal_id)
        .with_for_update(skip_locked=True)
    ).first()
    if removal is not None:
        _go_on(session, removal, now)


def _go_on(session: Session, removal: MessageRemoval, now: datetime) -> bool:
    """Delete the next batch; whether there may be more. The row goes with the last."""
    if removal.sender_id is None:
        batch = _take_newest(session, removal, now)
    else:
        batch = _take_oldest(session, removal, removal.sender_id, now)
    removal.removed += len(batch)
    is_over = len(batch) < AT_ONCE
    if is_over:
        _end(session, removal, now)
    session.flush()
    return not is_over


def _take_oldest(
    session: Session, removal: MessageRemoval, sender_id: int, now: datetime
) -> Sequence[PlacedMessage]:
    places = DeletionScope(removal.public_channels, removal.private_channels, removal.direct)
    batch = _find(session, sender_id, places, removal.after_id, removal.until_id, AT_ONCE)
    if batch:
        delete_batch(session, batch, actor_id=removal.actor_id, now=now)
        removal.after_id = batch[-1].id
    return batch


def _take_newest(
    session: Session, removal: MessageRemoval, now: datetime
) -> Sequence[PlacedMessage]:
    """Those of a topic: so the channel gets another first message at the end only."""
    batch = find_in_topic(session, removal, AT_ONCE)
    if batch:
        delete_batch(session, batch, actor_id=removal.actor_id, now=now)
        removal.until_id = batch[0].id - 1
    return batch


def _end(session: Session, removal: MessageRemoval, now: datetime) -> None:
    if removal.removed and removal.topic is not None:
        audit.record(
            session,
            removal.realm_id,
            "topic_deleted",
            actor_id=removal.actor_id,
            channel_id=removal.channel_id,
            now=now,
            facts={"topic": removal.topic, "messages": removal.removed},
        )
    elif removal.removed:
        audit.record(
            session,
            removal.realm_id,
            "user_data_deleted",
            actor_id=removal.actor_id,
            user_id=removal.sender_id,
            now=now,
            facts={"profile": False, "messages": removal.removed},
        )
    session.delete(removal)


def _find(
    session: Session,
    sender_id: int,
    places: DeletionScope,
    after_id: int,
    until_id: int,
    limit: int,
) -> Sequence[PlacedMessage]:
    """The next messages to delete, locked."""
    found = session.execute(
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
    return read_rows(PlacedMessage, found)
