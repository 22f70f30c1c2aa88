"""Operations of the tag events."""

import asyncio
from collections.abc import Callable
from functools import partial

import orjson
from sqlalchemy import Connection

from handlers.payment import render, types
from handlers.payment.wire.context import Context
from models.payment import event_list
from models.payment.event_list import EventFilter, EventPage, EventRow
from specd import before_transaction
from specd.db import UtcMs

_Begun = tuple[Callable[[Connection], EventPage], EventPage]


def _begin(
    ctx: Context,
    *,
    after: str | None = None,
    type_: list[str] | None = None,
    invoice_id: str | None = None,
    limit: int,
) -> _Begun:
    """Return the query for the requested events, and its first page."""
    look = partial(
        event_list.list_events,
        wanted=EventFilter(ctx.actor.project_id, frozenset(type_ or ()), invoice_id),
        after=0 if after is None else event_list.read_id(after),
        limit=limit,
    )
    return look, look(ctx.connection)


@before_transaction(_begin)
async def list_events(
    ctx: Context, begun: _Begun, *, after: str | None = None, wait_s: int
) -> types.EventList:
    """List events of the project."""
    look, page = begun
    if not page.events and wait_s:
        page = await _wait(ctx, look, wait_s)
    events = [_event(row) for row in page.events]
    return {
        "data": events,
        "has_more": page.has_more,
        "next_cursor": events[-1]["id"] if events else after,
    }


async def _wait(ctx: Context, look: Callable[[Connection], EventPage], seconds: float) -> EventPage:
    """Return the first new events, or none if `seconds` have passed or the server stops. Each read
    checks the key again.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + seconds
    while True:
        with ctx.adapters.polls.joined(ctx.actor.project_id) as woken:
            page = await ctx.read_snapshot(look)
            if page.events or not await ctx.wait(woken, ends_at - loop.time()):
                return page


def get_event(ctx: Context, *, id_: str) -> types.Event:
    """Read an event."""
    row = event_list.access_event(
        ctx.connection, project_id=ctx.actor.project_id, event_id=event_list.read_id(id_)
    )
    return _event(row)


def _event(row: EventRow) -> types.Event:
    """Return the document's Event."""
    return {
        "id": event_list.written_id(row.id),
        "type": render.event_type(row.type),
        "created_at": UtcMs.to_ms(row.at),
        "invoice_id": row.invoice_id,
        "data": orjson.loads(row.data),
    }
