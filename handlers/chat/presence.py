"""Operations of the tag presence."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.presence import presences, reports
from models.chat.presence.reports import Status
from models.reader import Db
from server.phases import prepared_by
from server.response import Response


@dataclass(frozen=True, slots=True)
class _Ping:
    """What a client reports, and what it asks for. `found` is the answer where nothing is to be
    written first.
    """

    is_news: bool
    found: dict[str, Any] | None


def _prepare_ping(ctx: Context, *, status: Status, ping_only: bool, **asked: Any) -> _Ping:
    db, actor = ctx.session, ctx.actor
    if reports.is_news(actor, reports.find_last_reports(db, actor), status, ctx.now):
        return _Ping(True, None)
    return _Ping(False, {} if ping_only else _find(ctx, db, **asked))


def _find(
    ctx: Context,
    db: Db,
    *,
    slim_presence: bool,
    last_update_id: int | None = None,
    history_limit_days: int | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Who names an update knows the newer form."""
    return presences.find_presences(
        db,
        ctx.actor,
        is_slim=slim_presence or last_update_id is not None,
        after=last_update_id,
        history_days=history_limit_days,
        now=ctx.now,
    )


@prepared_by(_prepare_ping)
async def update_own_presence(
    ctx: Context,
    ping: _Ping,
    *,
    status: Status,
    ping_only: bool,
    slim_presence: bool,
    last_update_id: int | None = None,
    history_limit_days: int | None = None,
) -> Response:
    """Update your presence."""
    if ping.is_news:
        await ctx.write(
            lambda session: reports.note_report(session, ctx.actor, status, now=ctx.now)
        )
    if ping_only:
        return envelope.success(ctx)
    found = ping.found
    if found is None:
        asked = partial(
            _find,
            ctx,
            slim_presence=slim_presence,
            last_update_id=last_update_id,
            history_limit_days=history_limit_days,
        )
        found = await ctx.read(asked)
    return envelope.success(ctx, found)


def get_user_presence(ctx: Context, *, user_id_or_email: str) -> Response:
    """Get a user's presence."""
    found = presences.access_presence(ctx.session, ctx.actor, user_id_or_email, now=ctx.now)
    return envelope.success(ctx, presence=found)


def get_realm_presence(ctx: Context) -> Response:
    """Get the presence of all users."""
    found = presences.find_presences(ctx.session, ctx.actor, is_slim=False, now=ctx.now)
    del found["presence_last_update_id"]
    return envelope.success(ctx, found)
