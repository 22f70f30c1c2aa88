"""A range of messages for its reader, with searched words marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from models.chat.identity.actors import Actor
from models.chat.messages.view import ViewOptions, find_messages
from models.chat.reading.date_anchors import find_dated, parse_anchor_date
from models.chat.reading.marks import mark_matches
from models.chat.reading.narrow import build_narrow
from models.chat.reading.ranges import Range, check_counts, find_range, parse_anchor
from models.chat.reading.weights import cut_to_weight
from models.json import Json
from models.reader import Db


@dataclass(frozen=True, slots=True)
class RangeRequest:
    """The parameters that select a range of messages, not yet parsed."""

    anchor: str
    include_anchor: bool
    num_before: int
    num_after: int
    narrow: Sequence[Json]
    anchor_date: str | None = None


def list_range(
    db: Db, actor: Actor, request: RangeRequest, options: ViewOptions
) -> tuple[Range, list[dict[str, Any]]]:
    """Return the range and its message objects. Raise the errors of an invalid request."""
    is_dated = request.anchor == "date"
    moment = parse_anchor_date(request.anchor_date) if is_dated else None
    anchor = None if is_dated else parse_anchor(request.anchor)
    check_counts(request.num_before, request.num_after)
    narrow = build_narrow(db, actor, request.narrow)
    if moment is not None:
        anchor = find_dated(db, actor, narrow, moment)
    found = find_range(
        db,
        actor,
        narrow,
        anchor=anchor,
        include_anchor=request.include_anchor,
        num_before=request.num_before,
        num_after=request.num_after,
    )
    found = cut_to_weight(db, found)
    messages = find_messages(db, actor, found.ids, options)
    if narrow.searched:
        mark_matches(messages, narrow.searched)
    return found, messages
