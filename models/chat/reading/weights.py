"""As many messages as one answer holds, by their size in bytes: of a range what is nearest to the
anchor, of a list the first.
"""

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, zip_longest
from typing import cast

from sqlalchemy import Integer, column, text
from sqlalchemy.sql.selectable import TypedReturnsRows

from models.chat.messages.edit_history import MOST_TEXT
from models.chat.reading.ranges import Range
from models.prepared import Query
from models.reader import Db, bound_ids, dialect_of

MOST_BYTES = 10_000_000
"""Of Markdown and HTML together, whichever of them is asked for, of edits, reactions and
submessages.
"""
FEW = 4
"""So many messages are never too much."""
REACTION_BYTES = 250
SUBMESSAGE_BYTES = 100
"""Of a submessage beside its content."""

AT_A_TIME = 50
"""So many messages are weighed before anybody looks whether they are too much."""
AT_ONCE = 150
"""So many are weighed together at first, which most often is enough."""


def _weights(dialect: str) -> TypedReturnsRows[int]:
    """The weight of each of :ids that is there, in their order. SQLite reads no more of them than
    are asked for.
    """
    least, listed, order = (
        ("min", "json_each(:ids) AS listed CROSS JOIN message AS m ON m.id = listed.value", "")
        if dialect == "sqlite"
        else (
            "least",
            "unnest(CAST(:ids AS bigint[])) WITH ORDINALITY AS listed (id, place)"
            " JOIN message AS m ON m.id = listed.id",
            " ORDER BY listed.place",
        )
    )
    return _weighed(
        f"SELECT {_of_texts(dialect)}"
        f" + {REACTION_BYTES} * (SELECT count(*) FROM reaction WHERE message_id = m.id)"
        f" + (SELECT {_of_submessages(dialect)} FROM submessage WHERE message_id = m.id)"
        f" + coalesce((SELECT {least}(sum(l), {MOST_TEXT} + max(l)) FROM (SELECT"
        f" {_of_edit(dialect)} AS l FROM message_edit WHERE message_id = m.id) AS edits), 0)"
        f" FROM {listed}{order}"
    )


def _total(dialect: str) -> TypedReturnsRows[int]:
    """What :ids weigh together, with all of their edits: no less than the sum of `_weights`."""
    are_listed = (
        "IN (SELECT value FROM json_each(:ids))"
        if dialect == "sqlite"
        else "= ANY(CAST(:ids AS bigint[]))"
    )
    return _weighed(
        f"SELECT coalesce((SELECT sum({_of_texts(dialect)}) FROM message WHERE id {are_listed}), 0)"
        f" + {REACTION_BYTES} * (SELECT count(*) FROM reaction WHERE message_id {are_listed})"
        f" + (SELECT {_of_submessages(dialect)} FROM submessage WHERE message_id {are_listed})"
        f" + coalesce((SELECT sum({_of_edit(dialect)}) FROM message_edit"
        f" WHERE message_id {are_listed}), 0)"
    )


def _of_texts(dialect: str) -> str:
    return f"{_bytes(dialect, 'content')} + {_bytes(dialect, 'rendered_content')}"


def _of_submessages(dialect: str) -> str:
    return f"coalesce(sum({SUBMESSAGE_BYTES} + {_bytes(dialect, 'content')}), 0)"


def _of_edit(dialect: str) -> str:
    texts = (_bytes(dialect, name) for name in ("prev_content", "prev_rendered_content"))
    return " + ".join(f"coalesce({text}, 0)" for text in texts)


def _bytes(dialect: str, name: str) -> str:
    return f"length(CAST({name} AS BLOB))" if dialect == "sqlite" else f"octet_length({name})"


def _weighed(sql: str) -> TypedReturnsRows[int]:
    return cast(TypedReturnsRows[int], text(sql).columns(column("weight", Integer)))


_WEIGHTS, _TOTAL = Query(_weights), Query(_total)


def cut_to_weight(db: Db, found: Range, *, most: int | None = None) -> Range:
    """The range, or what is nearest to its anchor of a range that is too heavy. Then its ends are
    not found, and clients go on from there: at least one message is left on each side.
    """
    most = MOST_BYTES if most is None else most
    if len(found.ids) <= FEW or _are_light(db, found.ids, most):
        return found
    middle = bisect_left(found.ids, found.anchor)
    before, after = found.ids[:middle][::-1], found.ids[middle:]
    outward = [i for i in chain(*zip_longest(after, before)) if i is not None]
    kept = set(outward[: _count_light(db, outward, most)])
    kept.update(before[:1], after[:2])  # the first of those after may be the anchor itself
    if len(kept) == len(outward):
        return found
    return replace(
        found,
        ids=[i for i in found.ids if i in kept],
        found_oldest=found.found_oldest and kept.issuperset(before),
        found_newest=found.found_newest and kept.issuperset(after),
    )


def count_within(db: Db, ids: Sequence[int]) -> int:
    """Return how many of the first of these messages one answer holds."""
    if len(ids) <= FEW or _are_light(db, ids, MOST_BYTES):
        return len(ids)
    return _count_light(db, ids, MOST_BYTES)


def _are_light(db: Db, ids: Sequence[int], most: int) -> bool:
    """Are they certainly no heavier than `most`, as nearly all are? Many are not looked at."""
    if len(ids) > AT_ONCE:
        return False
    (weight,) = _TOTAL.one(db, {"ids": bound_ids(dialect_of(db), ids)})
    return weight <= most


def _count_light(db: Db, ids: Sequence[int], most: int) -> int:
    """How many of the first are together no heavier than `most`."""
    number = 0
    asked = {"ids": bound_ids(dialect_of(db), ids)}
    with closing(_WEIGHTS.chunks(db, AT_A_TIME, asked)) as weights:
        for (weight,) in chain.from_iterable(weights):
            most -= weight
            if most < 0:
                return number
            number += 1
    return number
