"""The anchor `date`: the first message of a narrow at a moment or after it."""

from datetime import UTC, datetime

from sqlalchemy import select

from models.chat.common.errors import InvalidParameter, MissingParameter
from models.chat.identity.actors import Actor
from models.chat.reading.narrow import Narrow
from models.chat.reading.ranges import NEWEST, Ids
from models.chat.tables import Message
from models.ranges import IndexRange
from models.reader import Db

_OF_REALM = IndexRange([Message.realm_id], [Message.id])


def parse_anchor_date(text: str | None) -> datetime:
    """Return an ISO 8601 time, which is UTC without an offset. Raise `MissingParameter`,
    `InvalidParameter`.
    """
    if text is None:
        raise MissingParameter(var_name="anchor_date")
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidParameter(name="anchor_date", problem="is not a date") from None


def find_dated(db: Db, actor: Actor, narrow: Narrow, moment: datetime) -> int:
    """Return the id of the first message at a moment or after it; `NEWEST` when all are older."""
    bound = _first_since(db, actor.realm_id, moment)
    ids = Ids(db, actor, narrow).after(bound, 1)
    return ids[0] if ids else NEWEST


def _first_since(db: Db, realm_id: int, moment: datetime) -> int:
    """Return the first id at `moment` or after it, by a binary search of the ids, which rise with
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
