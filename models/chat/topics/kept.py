"""Lists of topics that a connection keeps between requests, where ids are in the order of commits.

SQLite takes 5 ms to hand over the topics of a channel that has 10,000. Of a list that is kept, only
what is newer is read. Messages that are sent make a topic the newest of its channel; whatever else
changes topics counts in `topic_change`, which triggers keep (a migration makes both), and the next
request reads the whole list. On PostgreSQL a message may become visible after one with a larger id,
so nothing is kept there.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import cast

import orjson
from sqlalchemy import BigInteger, Connection, Integer, bindparam, column, func, select, table

from models.chat.tables import Topic
from models.chat.topics.names import key_of
from models.prepared import Query

MOST_TOPICS = 30_000
"""Of all the lists that one connection keeps, about 200 bytes each."""
_INFO = "topics"

_CHANGED = table("topic_change", column("channel_id", BigInteger), column("number", Integer))
_NUMBER = func.coalesce(
    select(_CHANGED.c.number)
    .where(_CHANGED.c.channel_id == bindparam("channel_id"))
    .scalar_subquery(),
    0,
)
_CHANGES = Query(select(_NUMBER))
_FROM = Query(
    select(Topic.name, Topic.max_id, _NUMBER)
    .where(Topic.channel_id == bindparam("channel_id"), Topic.max_id >= bindparam("newest"))
    .order_by(Topic.max_id)
)


@dataclass(slots=True)
class _List:
    """The topics of a channel as JSON, the newest last, by what makes two spellings one."""

    changes: int
    newest: int
    topics: dict[str, bytes]

    def add(self, name: str, max_id: int) -> None:
        key = key_of(name)
        self.topics.pop(key, None)
        self.topics[key] = b'{"name":%b,"max_id":%d}' % (orjson.dumps(name), max_id)
        self.newest = max_id


_Lists = OrderedDict[int, _List]


def encode_all(connection: Connection, channel_id: int) -> bytes:
    """All topics of a channel on SQLite as a JSON array, the latest first."""
    lists = cast(_Lists, connection.info.setdefault(_INFO, OrderedDict()))
    asked = {"channel_id": channel_id, "newest": 0}
    known = lists.pop(channel_id, None)
    if known is not None:
        rows = _FROM.all(connection, {**asked, "newest": known.newest})
        if not rows or rows[0][2] != known.changes:
            known = None
    if known is None:
        # Counted first: what changes before the list is read is only read once more.
        (changes,) = _CHANGES.one(connection, asked)
        rows = _FROM.all(connection, asked)
        known = _List(changes, 0, {})
    for name, max_id, _ in rows:
        if max_id > known.newest:
            known.add(name, max_id)
    lists[channel_id] = known
    _forget(lists)
    return b"[%b]" % b",".join(reversed(known.topics.values()))


def _forget(lists: _Lists) -> None:
    """Let go of the lists that were asked for longest ago."""
    while sum(len(kept.topics) for kept in lists.values()) > MOST_TOPICS:
        lists.popitem(last=False)
