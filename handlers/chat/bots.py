"""Operations of the tag bots."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.bots import bots
from models.chat.bots.bots import BotChanges
from models.chat.ground.quotas import BOTS, require_within
from server.response import Response


def list_bots(ctx: Context) -> Response:
    """Get your bots."""
    return envelope.success(ctx, bots=bots.find_own_bots(ctx.session, ctx.adapters.keys, ctx.actor))


def create_bot(ctx: Context, *, full_name: str, short_name: str, bot_type: int) -> Response:
    """Create a bot."""
    made = bots.create_bot(
        ctx.session,
        ctx.adapters.keys,
        ctx.actor,
        full_name=full_name,
        short_name=short_name,
        bot_type=bot_type,
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, BOTS, ctx.actor.id)
    return envelope.success(ctx, made)


def update_bot(
    ctx: Context,
    *,
    bot_id: int,
    full_name: str | None = None,
    role: int | None = None,
    bot_owner_id: int | None = None,
) -> Response:
    """Change a bot."""
    changes = BotChanges(full_name=full_name, role=role, owner_id=bot_owner_id)
    changed = bots.change_bot(ctx.session, ctx.actor, bot_id, changes, now=ctx.now)
    if bot_owner_id is not None:
        require_within(ctx.session, ctx.settings, BOTS, bot_owner_id)
    return envelope.success(ctx, changed)


def regenerate_bot_api_key(ctx: Context, *, bot_id: int) -> Response:
    """Replace a bot's API key."""
    api_key = bots.renew_bot_key(ctx.session, ctx.adapters.keys, ctx.actor, bot_id, now=ctx.now)
    return envelope.success(ctx, {} if api_key is None else {"api_key": api_key})


def deactivate_bot(ctx: Context, *, bot_id: int) -> Response:
    """Deactivate a bot."""
    bots.end_bot(ctx.session, ctx.actor, bot_id, now=ctx.now)
    return envelope.success(ctx)
