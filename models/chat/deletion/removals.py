"""Deleting everything that users have sent to some kind of place: a first batch at once, the rest
in steps by a worker, so that a request takes no longer than a batch does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Table, bindparam, func, insert, or_, select
from sqlalchemy.orm import Session

from models.chat.deletion.batches import NAMED, PlacedMessage, delete_batch
from models.chat.ground import audit
from models.chat.tables import Channel, Message, MessageRemoval

AT_ONCE = 200
"""How many messages one unit of work deletes: the request's, and each step's of the worker."""
_MESSAGE = cast(Table, Message.__table__)
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
        known = {"realm_id": realm_id, "actor_id": actor_id, "until_id": until_id, "asked_at": now}
        rows = [{**row, **known, **asdict(places)} for row in left]
        session.connection().execute(insert(cast(Table, MessageRemoval.__table__)), rows)
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
    places = DeletionScope(removal.public_channels, removal.private_channels, removal.direct)
    batch = _find(session, removal.sender_id, places, removal.after_id, removal.until_id, AT_ONCE)
    if batch:
        delete_batch(session, batch, actor_id=removal.actor_id, now=now)
        removal.after_id = batch[-1].id
        removal.removed += len(batch)
    if len(batch) < AT_ONCE:
        _end(session, removal, now)
    session.flush()
    return True


def _end(session: Session, removal: MessageRemoval, now: datetime) -> None:
    if removal.removed:
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
    """The next messages to delete, as `NAMED` columns, locked."""
    return session.execute(
        select(*NAMED)
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
    ).all()
