"""Operations of the tag bot_storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import bot_storage as stored
from models.chat.common.quotas import STORED_KEYS, require_within

if TYPE_CHECKING:
    from handlers.chat import types


def get_bot_storage(
    ctx: Context, *, keys: list[str] | None = None
) -> envelope.Answer[types.BotStorageContent]:
    """Get the stored data of your bot."""
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "storage": stored.access_values(ctx.connection, ctx.actor, keys or ()),
        },
    )


def update_bot_storage(ctx: Context, *, storage: dict[str, str]) -> envelope.Answer[types.Success]:
    """Store values for your bot."""
    limit = ctx.settings.chat_quotas["bot_storage_characters"]
    stored.store_values(ctx.session, ctx.actor, storage, limit=limit)
    require_within(ctx.session, ctx.settings, STORED_KEYS, ctx.actor.id)
    return envelope.success(ctx)


def remove_bot_storage(
    ctx: Context, *, keys: list[str] | None = None
) -> envelope.Answer[types.Success]:
    """Remove stored data of your bot."""
    stored.remove_values(ctx.session, ctx.actor, keys or ())
    return envelope.success(ctx)
