"""Operations of the tag alert_words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import alert_words as words
from models.chat.common.quotas import ALERT_WORDS, require_within

if TYPE_CHECKING:
    from handlers.chat import types


def list_alert_words(ctx: Context) -> envelope.Answer[types.AlertWordList]:
    """Get your alert words."""
    return envelope.success(
        ctx, {**envelope.OK, "alert_words": words.find_alert_words(ctx.connection, ctx.actor)}
    )


def add_alert_words(
    ctx: Context, *, alert_words: list[str]
) -> envelope.Answer[types.AlertWordList]:
    """Add alert words."""
    all_words = words.add_alert_words(ctx.session, ctx.actor, alert_words, now=ctx.now)
    require_within(ctx.session, ctx.settings, ALERT_WORDS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "alert_words": all_words})


def remove_alert_words(
    ctx: Context, *, alert_words: list[str]
) -> envelope.Answer[types.AlertWordList]:
    """Remove alert words."""
    all_words = words.remove_alert_words(ctx.session, ctx.actor, alert_words, now=ctx.now)
    return envelope.success(ctx, {**envelope.OK, "alert_words": all_words})
