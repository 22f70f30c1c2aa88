"""Operations of the tag bots."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import bots
from models.chat.bots import Address, BotChanges
from models.chat.common.errors import MissingParameter
from models.chat.common.quotas import BOTS, require_within
from models.chat.identity.roles import BotType
from models.chat.outgoing_webhooks.errors import InvalidPayloadUrl
from models.webhooks.addresses import AddressRefused

if TYPE_CHECKING:
    from handlers.chat import types


def list_bots(ctx: Context) -> envelope.Answer[types.BotList]:
    """Get your bots."""
    adapters = ctx.adapters
    own_bots = bots.find_own_bots(ctx.connection, adapters.keys, adapters.vault, ctx.actor)
    return envelope.success(ctx, {**envelope.OK, "bots": cast("list[types.OwnBot]", own_bots)})


async def create_bot(
    ctx: Context,
    *,
    full_name: str,
    short_name: str,
    bot_type: int = BotType.GENERIC,
    interface_type: int = 1,
    payload_url: str | None = None,
) -> envelope.Answer[types.BotCreated]:
    """Create a bot."""
    await ctx.read(lambda db: bots.require_may_create(db, ctx.actor, bot_type))
    address = None
    if bot_type == BotType.OUTGOING_WEBHOOK:
        if payload_url is None:
            raise MissingParameter(var_name="payload_url")
        address = Address(await _check_url(ctx, payload_url), interface_type)

    def create(session: Session) -> envelope.Answer[types.BotCreated]:
        bot = bots.create_bot(
            session,
            ctx.adapters.keys,
            ctx.adapters.vault,
            ctx.actor,
            full_name=full_name,
            short_name=short_name,
            bot_type=bot_type,
            address=address,
            now=ctx.now,
        )
        require_within(session, ctx.settings, BOTS, ctx.actor.id, now=ctx.now)
        return envelope.success(ctx, cast("types.BotCreated", {**envelope.OK, **bot}))

    return await ctx.write(create)


async def update_bot(
    ctx: Context,
    *,
    bot_id: int,
    full_name: str | None = None,
    role: int | None = None,
    bot_owner_id: int | None = None,
    service_payload_url: str | None = None,
    service_interface: int | None = None,
) -> envelope.Answer[types.BotChanged]:
    """Change a bot."""
    url = None
    if service_payload_url is not None:
        await ctx.read(lambda db: bots.require_managed(db, ctx.actor, bot_id))
        url = await _check_url(ctx, service_payload_url)
    changes = BotChanges(
        full_name=full_name,
        role=role,
        owner_id=bot_owner_id,
        url=url,
        interface=service_interface,
    )

    def change(session: Session) -> envelope.Answer[types.BotChanged]:
        changed = bots.change_bot(
            session, ctx.adapters.keys, ctx.actor, bot_id, changes, now=ctx.now
        )
        if bot_owner_id is not None:
            require_within(session, ctx.settings, BOTS, bot_owner_id, now=ctx.now)
        return envelope.success(ctx, cast("types.BotChanged", {**envelope.OK, **changed}))

    return await ctx.write(change)


async def _check_url(ctx: Context, url: str) -> str:
    """Return the address. Raise `InvalidPayloadUrl` where it leads to an internal network."""
    try:
        await ctx.adapters.webhooks.check(url)
    except AddressRefused as refused:
        raise InvalidPayloadUrl(problem=str(refused)) from None
    return url


def regenerate_bot_api_key(ctx: Context, *, bot_id: int) -> envelope.Answer[types.RenewedBotApiKey]:
    """Replace a bot's API key."""
    api_key = bots.renew_bot_key(ctx.session, ctx.adapters.keys, ctx.actor, bot_id, now=ctx.now)
    answer: types.RenewedBotApiKey = {"result": "success", "msg": ""}
    if api_key is not None:
        answer["api_key"] = api_key
    return envelope.success(ctx, answer)


def deactivate_bot(ctx: Context, *, bot_id: int) -> envelope.Answer[types.Success]:
    """Deactivate a bot."""
    bots.end_bot(ctx.session, ctx.actor, bot_id, now=ctx.now)
    return envelope.success(ctx)
