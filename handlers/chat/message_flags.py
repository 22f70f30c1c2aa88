"""Operations of the tag message_flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.steps import take_steps
from models.chat.messages.access import check_readable, find_readable
from models.chat.reading.flagging import update_flags
from models.chat.reading.marking import Place, access_place, mark_next
from models.chat.reading.narrow import build_narrow
from models.chat.reading.ranges import Range, clamp_counts, find_range, parse_anchor
from models.json import Json
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def _find(
    ctx: Context,
    *,
    anchor: str,
    include_anchor: bool,
    num_before: int,
    num_after: int,
    narrow: list[Json],
) -> Range:
    at = parse_anchor(anchor)
    num_before, num_after = clamp_counts(num_before, num_after)
    return find_range(
        ctx.connection,
        ctx.actor,
        build_narrow(ctx.connection, ctx.actor, narrow),
        anchor=at,
        include_anchor=include_anchor,
        num_before=num_before,
        num_after=num_after,
    )


@before_transaction(_find)
def update_message_flags_for_narrow(
    ctx: Context, range_: Range, *, op: str, flag: str
) -> envelope.Answer[types.FlagsUpdatedForNarrow]:
    """Add or remove a flag on a range of messages."""
    ids = find_readable(ctx.session, ctx.actor, range_.ids)
    flagged = update_flags(ctx.session, ctx.actor, ids, op=op, flag=flag, now=ctx.now)
    answer: types.FlagsUpdatedForNarrow = {
        "result": "success",
        "msg": "",
        "processed_count": len(ids),
        "updated_count": flagged.changed,
        "first_processed_id": ids[0] if ids else None,
        "last_processed_id": ids[-1] if ids else None,
        "found_oldest": range_.found_oldest,
        "found_newest": range_.found_newest,
    }
    if flag == "read" and op == "remove":
        answer["ignored_because_not_subscribed_channels"] = flagged.unsubscribed
    return envelope.success(ctx, answer)


def update_message_flags(
    ctx: Context, *, messages: list[int], op: str, flag: str
) -> envelope.Answer[types.FlagsUpdated]:
    """Add or remove a flag on messages."""
    ids = check_readable(ctx.session, ctx.actor, messages)
    flagged = update_flags(ctx.session, ctx.actor, ids, op=op, flag=flag, now=ctx.now)
    answer: types.FlagsUpdated = {
        "result": "success",
        "msg": "",
        "messages": [i for i in ids if i not in flagged.ignored],
    }
    if flag == "read" and op == "remove":
        answer["ignored_because_not_subscribed_channels"] = flagged.unsubscribed
    return envelope.success(ctx, answer)


async def mark_all_as_read(ctx: Context) -> envelope.Answer[types.MarkedAsRead]:
    """Mark all messages as read."""
    return envelope.success(ctx, {**envelope.OK, "complete": await _mark_as_read(ctx, None)})


async def mark_channel_as_read(
    ctx: Context, *, stream_id: int
) -> envelope.Answer[types.PlaceMarkedAsRead]:
    """Mark the messages of a channel as read."""
    place = await ctx.read(lambda db: access_place(db, ctx.actor, stream_id))
    return await _mark_place_as_read(ctx, place)


async def mark_topic_as_read(
    ctx: Context, *, stream_id: int, topic_name: str
) -> envelope.Answer[types.PlaceMarkedAsRead]:
    """Mark the messages of a topic as read."""
    place = await ctx.read(lambda db: access_place(db, ctx.actor, stream_id, topic_name))
    return await _mark_place_as_read(ctx, place)


async def _mark_place_as_read(
    ctx: Context, place: Place
) -> envelope.Answer[types.PlaceMarkedAsRead]:
    answer: types.PlaceMarkedAsRead = {"result": "success", "msg": ""}
    if not await _mark_as_read(ctx, place):  # older clients expect no `complete: true` of a place
        answer["complete"] = False
    return envelope.success(ctx, answer)


async def _mark_as_read(ctx: Context, place: Place | None) -> bool:
    """Return whether nothing is left to mark."""

    def mark(after: int, session: Session) -> int | None:
        return mark_next(session, ctx.actor, place, after=after, now=ctx.now)

    return await take_steps(ctx, mark)
