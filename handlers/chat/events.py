"""Operations of the tag events."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy.orm import Session

from handlers.chat.server_settings import FEATURE_LEVEL, VERSION
from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import icon_url, realm_url
from handlers.chat.wire.context import Context
from models.chat.access.people import find_visible_user_ids
from models.chat.channels.errors import NotAuthorizedForQuery
from models.chat.events.log import ABSENT, Absent
from models.chat.queues import queues
from models.chat.queues.delivery import Viewer, render_events
from models.chat.queues.lazy import LISTS
from models.chat.queues.narrow import Narrow, check_narrow
from models.chat.queues.polls import EventBatch, Waiter, catch_up
from models.chat.queues.queues import LONGEST_POLL, Poll, QueueOptions
from models.chat.queues.visibility import NOTHING_CLOSED
from models.chat.rendering.emoji import DATA_PATH
from models.chat.sending.drafts import client_name
from models.chat.snapshot.taking import take_snapshot
from models.chat.snapshot.viewing import RegisterOptions, ServerFacts, Viewing
from models.json import Json
from specd import before_transaction
from specd.db import Db

if TYPE_CHECKING:
    from handlers.chat import types

HEARTBEAT_S = (45.0, 55.0)
"""A poll without an event is answered after a time between these."""
LONG_POLL_S = 90
"""How long a client waits for an answer of GET /events."""
IDLE_S = 600
MOBILE_IDLE_S = 12 * 3600
FRESH_FOR = timedelta(seconds=2)
"""Before an older event is sent, the user's access to its subject is checked again."""


async def register_queue(
    ctx: Context,
    *,
    event_types: list[str] | None = None,
    fetch_event_types: list[str] | Absent | None = ABSENT,
    apply_markdown: bool,
    client_gravatar: bool,
    slim_presence: bool,
    include_subscribers: bool | str = False,
    all_public_streams: bool,
    narrow: list[Json] | None = None,
    idle_queue_timeout: int | str = IDLE_S,
    client_capabilities: types.ClientCapabilities | None = None,
    presence_history_limit_days: int | None = None,
) -> envelope.Answer[types.RegisteredQueue]:
    """Register an event queue."""
    _check_reach(ctx, all_public_streams)
    declared = client_capabilities or {}
    capabilities = frozenset(name for name, can in declared.items() if can is True)
    idle_timeout_s = idle_queue_timeout if isinstance(idle_queue_timeout, int) else MOBILE_IDLE_S
    options = QueueOptions(
        event_types=_names(event_types),
        narrow=await _checked(ctx, narrow or []),
        all_public_streams=all_public_streams,
        apply_markdown=apply_markdown,
        client_gravatar=client_gravatar,
        slim_presence=slim_presence,
        capabilities=capabilities,
        idle_timeout_s=idle_timeout_s,
    )
    fetched = RegisterOptions(
        fetch_types=_names(event_types if fetch_event_types is ABSENT else fetch_event_types),
        include_subscribers=bool(include_subscribers),
        client_gravatar=client_gravatar,
        slim_presence=slim_presence,
        presence_history_days=presence_history_limit_days,
        capabilities=capabilities,
    )
    head, visible_ids, state = await ctx.read_snapshot(partial(_read_state, ctx, fetched))
    queue_id = await ctx.write(partial(_open_queue, ctx, options, head, visible_ids))
    always: types.RegisteredQueue = {
        "result": "success",
        "msg": "",
        "queue_id": queue_id,
        "last_event_id": head,
        "zulip_version": VERSION,
        "zulip_feature_level": FEATURE_LEVEL,
        "zulip_merge_base": VERSION,
        "event_queue_longpoll_timeout_seconds": LONG_POLL_S,
        "idle_queue_timeout_secs": idle_timeout_s,
    }
    return envelope.success(ctx, cast("types.RegisteredQueue", {**always, **state}))


def _open_queue(
    ctx: Context,
    options: QueueOptions,
    head: int,
    visible_ids: frozenset[int] | None,
    session: Session,
) -> str:
    _check_reach(ctx, options.all_public_streams)  # the actor may have changed
    return queues.open_queue(
        session,
        ctx.actor,
        options,
        position=head,
        client=client_name(None, ctx.header("user-agent")),
        now=ctx.now,
        visible_ids=visible_ids,
    )


def _check_reach(ctx: Context, all_public_streams: bool) -> None:
    """Raise `NotAuthorizedForQuery`."""
    if all_public_streams and ctx.actor.is_guest:
        raise NotAuthorizedForQuery()


def _read_state(
    ctx: Context, options: RegisterOptions, db: Db
) -> tuple[int, frozenset[int] | None, dict[str, Any]]:
    """Return the newest event's id, the ids of the users that the actor may see (None: all) and the
    state.
    """
    view = Viewing(db, ctx.actor, options, _facts(ctx), now=ctx.now)
    return queues.find_head(db, ctx.actor.realm_id), view.visible_ids, take_snapshot(view)


async def _checked(ctx: Context, narrow: list[Json]) -> Narrow:
    return await ctx.read(lambda db: check_narrow(db, ctx.actor, narrow)) if narrow else ()


def _names(event_types: list[str] | None) -> frozenset[str] | None:
    """Return the names that can be an event type, None for all; unknown ones are dropped later."""
    if event_types is None:
        return None
    return frozenset(name for name in event_types if name.isidentifier())


def _facts(ctx: Context) -> ServerFacts:
    return ServerFacts(
        realm_url=realm_url(ctx),
        icon_url=icon_url(ctx.actor.realm.host),
        emoji_data_url=f"{realm_url(ctx)}{DATA_PATH}",
        web_public_enabled=ctx.settings.chat_web_public_streams_enabled,
        push_enabled=ctx.adapters.push.is_configured,
        is_development=ctx.settings.development,
        max_upload_mib=ctx.settings.chat_max_file_upload_size_mib,
        upload_quota_mib=ctx.settings.chat_upload_quota_mib,
        started_at=ctx.adapters.started_at,
    )


@dataclass(frozen=True, slots=True)
class _Begun:
    """A poll before it waits."""

    viewer: Viewer
    position: int
    head: int
    batch: EventBatch


def _begin(ctx: Context, *, queue_id: str, last_event_id: int) -> _Begun:
    reader, actor = ctx.connection, ctx.actor
    queue, head = queues.access_queue(reader, actor, queue_id, now=ctx.now)
    position = queues.check_position(queue, last_event_id, head)
    viewer = Viewer(actor, queue, find_visible_user_ids(reader, actor))
    batch = catch_up(reader, viewer, after=position, until=head, now=ctx.now)
    if not batch.bodies and batch.seen == head:
        queues.require_same_knowledge(queue, viewer.visible_ids)
    return _Begun(viewer, position, head, batch)


@before_transaction(_begin)
async def get_events(
    ctx: Context, begun: _Begun, *, queue_id: str, dont_block: bool = False
) -> envelope.Answer[types.EventList]:
    """Get the events of a queue."""
    events = begun.batch.bodies
    if not events and not dont_block:
        _note(ctx, begun, lasts=LONGEST_POLL)
        try:
            events = await _wait(ctx, begun)
        finally:
            _note(ctx, begun)
    else:
        _note(ctx, begun)
        if not events and begun.batch.seen < begun.head:
            events = [_heartbeat(begun.batch.seen)]  # the client goes on from there
    return envelope.success(ctx, {**envelope.OK, "events": events, "queue_id": queue_id})


async def _wait(ctx: Context, begun: _Begun) -> list[dict[str, Any]]:
    """Return the first events, a heartbeat after a while without, nothing where the wait ends."""
    polls, viewer, seen = ctx.adapters.polls, begun.viewer, begun.batch.seen
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + random.uniform(*HEARTBEAT_S)
    while True:
        waiter = polls.join(viewer, seen)
        if waiter is not None:
            try:
                has_time = await ctx.wait(waiter.woken, ends_at - loop.time())
            finally:
                polls.leave(waiter)
            if waiter.is_over:
                await ctx.read(partial(_read_head, viewer=viewer, now=polls.clock.now()))
                return []
            if _needs_no_check(waiter):
                events = render_events(
                    viewer, waiter.entries, NOTHING_CLOSED, after=seen, now=polls.clock.now()
                )
                if events:
                    return events
                seen = waiter.entries[-1].id
                continue
            if not has_time:
                if loop.time() < ends_at:
                    return []  # the server stops
                return [_heartbeat(waiter.position)]
        # The log already has newer events, or the user's access must be checked again.
        batch = await ctx.read(
            partial(_look_again, viewer=viewer, after=seen, now=polls.clock.now())
        )
        if batch.bodies:
            return batch.bodies
        seen = batch.seen


def _heartbeat(event_id: int) -> dict[str, Any]:
    """Return an event that only moves the client's position in the log."""
    return {"id": event_id, "type": "heartbeat"}


def _needs_no_check(waiter: Waiter) -> bool:
    """Return whether the events arrived so soon that the user's access cannot have changed, and are
    complete.

    The time until this user's turn among thousands does not count, because it would only grow if
    each of them queried the database.
    """
    if waiter.handed_at is None or waiter.viewer.visible_ids is not None:
        return False
    if any(entry.type in LISTS for entry in waiter.entries):
        return False
    return waiter.handed_at - waiter.entries[0].at <= FRESH_FOR


def _look_again(db: Db, *, viewer: Viewer, after: int, now: datetime) -> EventBatch:
    head = _read_head(db, viewer=viewer, now=now)
    return catch_up(db, viewer, after=after, until=head, now=now)


def _read_head(db: Db, *, viewer: Viewer, now: datetime) -> int:
    """Return the newest event's id. Raise `BadEventQueueId` if the queue has been deleted."""
    _, head = queues.access_queue(db, viewer.actor, viewer.queue.id, now=now)
    return head


def _note(ctx: Context, begun: _Begun, *, lasts: timedelta = timedelta()) -> None:
    """Record the position of the client and how long its poll lasts."""
    polls, queue = ctx.adapters.polls, begun.viewer.queue
    until = polls.clock.now() + lasts
    polls.note(Poll(queue.id, begun.position, until, queue.options.idle_timeout_s))


def delete_queue(ctx: Context, *, queue_id: str) -> envelope.Answer[types.Success]:
    """Delete a queue."""
    queues.close_queue(ctx.session, ctx.actor, queue_id, now=ctx.now)
    return envelope.success(ctx)
