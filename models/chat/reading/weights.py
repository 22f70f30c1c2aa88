"""The messages that fit into one response by their size in bytes: the nearest to the anchor of a
range, or the first of a list.
"""

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, zip_longest

from sqlalchemy import ColumnElement, Select, func, select

from models.chat.messages.edit_history import MAX_TEXT
from models.chat.reading.ranges import Range
from models.chat.tables import Message, MessageEdit, Reaction, Submessage
from models.dialects import byte_length, each_of_parameter, in_parameter, least
from specd.db import Db, Query

MAX_BYTES = 10_000_000
"""Maximum size of Markdown and HTML together (independent of the requested format), and of edits,
reactions and submessages.
"""
FEW = 4
"""This number of messages is always returned."""
REACTION_BYTES = 250
SUBMESSAGE_BYTES = 100
"""Size of a submessage in addition to its content."""

AT_A_TIME = 50
"""Number of messages that are weighed before their sum is compared with the maximum."""
AT_ONCE = 150
"""Maximum number of messages whose sum is read first, which usually suffices."""


def _total() -> Select[int]:
    """Return the query for the weight of all `:ids`. It is at least the sum of `_weights`."""
    texts = select(func.coalesce(func.sum(_TEXTS), 0)).where(in_parameter(Message.id, "ids"))
    reactions = _count_reactions(in_parameter(Reaction.message_id, "ids"))
    submessages = _weigh_submessages(in_parameter(Submessage.message_id, "ids"))
    edits = select(func.sum(_EDIT)).where(in_parameter(MessageEdit.message_id, "ids"))
    return select(
        texts.scalar_subquery()
        + reactions
        + submessages
        + func.coalesce(edits.scalar_subquery(), 0)
    )


def _weights() -> Select[int]:
    """Return the query for the weight of each of `:ids`, in order, with 0 for a deleted message. A
    database computes only the weights that are fetched.
    """
    listed = each_of_parameter("ids")
    reactions = _count_reactions(Reaction.message_id == Message.id)
    submessages = _weigh_submessages(Submessage.message_id == Message.id)
    edits = select(least(func.sum(_EDIT), MAX_TEXT + func.max(_EDIT))).where(
        MessageEdit.message_id == Message.id
    )
    weight = select(
        _TEXTS + reactions + submessages + func.coalesce(edits.scalar_subquery(), 0)
    ).where(Message.id == listed.c.value)
    return select(func.coalesce(weight.scalar_subquery(), 0)).select_from(listed)


def _count_reactions(there: ColumnElement[bool]) -> ColumnElement[int]:
    return REACTION_BYTES * select(func.count(Reaction.id)).where(there).scalar_subquery()


def _weigh_submessages(there: ColumnElement[bool]) -> ColumnElement[int]:
    weight = func.sum(SUBMESSAGE_BYTES + byte_length(Submessage.content))
    return select(func.coalesce(weight, 0)).where(there).scalar_subquery()


_TEXTS = byte_length(Message.content) + byte_length(Message.rendered_content)
_EDIT = func.coalesce(byte_length(MessageEdit.prev_content), 0) + func.coalesce(
    byte_length(MessageEdit.prev_rendered_content), 0
)
_WEIGHTS, _TOTAL = Query(_weights()), Query(_total())


def cut_to_weight(db: Db, range_: Range, *, most: int | None = None) -> Range:
    """Return the range, or if it is too large, the part that is nearest to its anchor, with at
    least one message on each side. Clients continue from there, because its ends are then not
    found.
    """
    most = MAX_BYTES if most is None else most
    if len(range_.ids) <= FEW or _are_light(db, range_.ids, most):
        return range_
    middle = bisect_left(range_.ids, range_.anchor)
    before, after = range_.ids[:middle][::-1], range_.ids[middle:]
    outward = [i for i in chain(*zip_longest(after, before)) if i is not None]
    kept = set(outward[: _count_light(db, outward, most)])
    kept.update(before[:1], after[:2])  # the first message in `after` may be the anchor
    if len(kept) == len(outward):
        return range_
    return replace(
        range_,
        ids=[i for i in range_.ids if i in kept],
        found_oldest=range_.found_oldest and kept.issuperset(before),
        found_newest=range_.found_newest and kept.issuperset(after),
    )


def count_within(db: Db, ids: Sequence[int]) -> int:
    """Return how many of these messages, from the first, fit into one response."""
    if len(ids) <= FEW or _are_light(db, ids, MAX_BYTES):
        return len(ids)
    return _count_light(db, ids, MAX_BYTES)


def _are_light(db: Db, ids: Sequence[int], most: int) -> bool:
    """Return whether the messages are few and not heavier than `most` together, which is usually
    true.
    """
    if len(ids) > AT_ONCE:
        return False
    (weight,) = _TOTAL.one(db, {"ids": ids})
    return weight <= most


def _count_light(db: Db, ids: Sequence[int], most: int) -> int:
    """Return how many of the messages, from the first, are not heavier than `most` together."""
    number = 0
    values = {"ids": ids}
    with closing(_WEIGHTS.chunks(db, AT_A_TIME, values)) as weights:
        for (weight,) in chain.from_iterable(weights):
            most -= weight
            if most < 0:
                return number
            number += 1
    return number
