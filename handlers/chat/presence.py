"""Operations of the tag presence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.presence import presences, reports
from models.chat.presence.reports import Status
from specd import before_transaction
from specd.db import Db

if TYPE_CHECKING:
    from handlers.chat import types


def _prepare(
    ctx: Context, *, status: Status, ping_only: bool, **query: Any
) -> dict[str, object] | None:
    """Return the answer, or None where the report has to be written first."""
    db, actor = ctx.connection, ctx.actor
    if reports.is_news(actor, reports.find_last_reports(db, actor), status, ctx.now):
        return None
    return {} if ping_only else _find(ctx, db, **query)


def _find(
    ctx: Context,
    db: Db,
    *,
    slim_presence: bool,
    last_update_id: int | None = None,
    history_limit_days: int | None = None,
    **_: object,
) -> dict[str, object]:
    """Return presences, in the slim form also for clients that name their last update."""
    return presences.find_presences(
        db,
        ctx.actor,
        is_slim=slim_presence or last_update_id is not None,
        after=last_update_id,
        history_days=history_limit_days,
        now=ctx.now,
    )


@before_transaction(_prepare)
async def update_own_presence(
    ctx: Context, answer: dict[str, object] | None, *, status: Status, ping_only: bool, **query: Any
) -> envelope.Answer[types.PresenceUpdate]:
    """Update your presence.

    `query`: the other parameters that were sent.
    """
    if answer is None:
        await ctx.write(
            lambda session: reports.note_report(session, ctx.actor, status, now=ctx.now)
        )
        answer = {} if ping_only else await ctx.read(partial(_find, ctx, **query))
    return envelope.success(ctx, cast("types.PresenceUpdate", {**envelope.OK, **answer}))


def get_user_presence(
    ctx: Context, *, user_id_or_email: str
) -> envelope.Answer[types.OneUserPresence]:
    """Get a user's presence."""
    presence = presences.access_presence(ctx.connection, ctx.actor, user_id_or_email, now=ctx.now)
    return envelope.success(ctx, {**envelope.OK, "presence": cast("types.UserPresences", presence)})


def get_realm_presence(ctx: Context) -> envelope.Answer[types.RealmPresence]:
    """Get the presence of all users."""
    answer = presences.find_presences(ctx.connection, ctx.actor, is_slim=False, now=ctx.now)
    del answer["presence_last_update_id"]
    return envelope.success(ctx, cast("types.RealmPresence", {**envelope.OK, **answer}))
