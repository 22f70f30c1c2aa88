"""List a range of messages for its reader, with marked search words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from models.chat.common.errors import InvalidParameter, MissingParameter
from models.chat.identity.actors import Actor
from models.chat.messages.view import ViewOptions, find_messages
from models.chat.reading.marks import mark_matches
from models.chat.reading.narrow import Narrow, build_narrow
from models.chat.reading.ranges import NEWEST, Ids, Range, check_counts, find_range, parse_anchor
from models.chat.reading.weights import cut_to_weight
from models.chat.tables import Message
from models.json import Json
from models.ranges import IndexRange
from specd.db import Db

_OF_REALM = IndexRange([Message.realm_id], [Message.id])


@dataclass(frozen=True, slots=True)
class RangeRequest:
    """The parameters that select a range of messages, before parsing."""

    anchor: str
    include_anchor: bool
    num_before: int
    num_after: int
    narrow: Sequence[Json]
    anchor_date: str | None = None


def list_range(
    db: Db, actor: Actor, request: RangeRequest, options: ViewOptions
) -> tuple[Range, list[dict[str, Any]]]:
    """Return the range and its message objects. Raise an error if the request is invalid."""
    is_dated = request.anchor == "date"
    moment = _parse_date(request.anchor_date) if is_dated else None
    anchor = None if is_dated else parse_anchor(request.anchor)
    check_counts(request.num_before, request.num_after)
    narrow = build_narrow(db, actor, request.narrow)
    if moment is not None:
        anchor = _find_dated(db, actor, narrow, moment)
    listed = find_range(
        db,
        actor,
        narrow,
        anchor=anchor,
        include_anchor=request.include_anchor,
        num_before=request.num_before,
        num_after=request.num_after,
    )
    listed = cut_to_weight(db, listed)
    messages = find_messages(db, actor, listed.ids, options)
    if narrow.searched:
        mark_matches(messages, narrow.searched)
    return listed, messages


def _parse_date(text: str | None) -> datetime:
    """Return an ISO 8601 time. Without an offset, it is in UTC. Raise `MissingParameter`,
    `InvalidParameter`.
    """
    if text is None:
        raise MissingParameter(var_name="anchor_date")
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidParameter(name="anchor_date", problem="is not a date") from None


def _find_dated(db: Db, actor: Actor, narrow: Narrow, moment: datetime) -> int:
    """Return the id of the first message at or after a moment, or `NEWEST` if all are older."""
    bound = _first_since(db, actor.realm_id, moment)
    ids = Ids(db, actor, narrow).after(bound, 1)
    return ids[0] if ids else NEWEST


def _first_since(db: Db, realm_id: int, moment: datetime) -> int:
    """Return the first id at or after `moment`, by a binary search of the ids, which increase with
    time.
    """
    ours = select(Message.id, Message.sent_at).limit(1)
    first, last = (
        db.execute(ours.where(_OF_REALM.rows(realm_id)).order_by(*order)).first()
        for order in (_OF_REALM.ascending, _OF_REALM.descending)
    )
    if first is None or last is None:
        return 0
    low, high = first.id, last.id + 1
    while low < high:
        middle = (low + high) // 2
        row = db.execute(
            ours.where(_OF_REALM.rows(realm_id, since=(middle,))).order_by(*_OF_REALM.ascending)
        ).one()
        if row.sent_at < moment:
            low = int(row.id) + 1
        else:
            high = middle
    return int(low)
