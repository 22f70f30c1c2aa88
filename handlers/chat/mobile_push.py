"""Operations of the tag mobile_push."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from adapters.push_relay.relay import (
    Push,
    RegistrationRefused,
    RelayBroken,
    RelayDenied,
    RelayFailed,
    RelayUnreachable,
)
from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import realm_url
from handlers.chat.wire.context import Context
from models.chat import devices
from models.chat.common.quotas import DEVICES, require_within
from models.chat.devices import (
    AdminActionRequired,
    FailedToConnectBouncer,
    InternalServerErrorOnBouncer,
    NoActivePushDevice,
    PushServiceNotConfigured,
    PushToken,
    encrypt,
)
from models.chat.errors import ChatError
from specd.db import UtcMs

if TYPE_CHECKING:
    from handlers.chat import types


def register_client_device(ctx: Context) -> envelope.Answer[types.RegisteredDevice]:
    """Register a device you are signed in on."""
    device_id = devices.register_device(ctx.session, ctx.actor, now=ctx.now)
    require_within(ctx.session, ctx.settings, DEVICES, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "device_id": device_id})


def remove_client_device(ctx: Context, *, device_id: int) -> envelope.Answer[types.Success]:
    """Remove a device."""
    devices.remove_device(ctx.session, ctx.actor, device_id, now=ctx.now)
    return envelope.success(ctx)


def list_own_devices(ctx: Context) -> envelope.Answer[types.DeviceList]:
    """List your devices."""
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "devices": cast(
                "dict[str, types.Device]", devices.find_devices(ctx.connection, ctx.actor.id)
            ),
        },
    )


async def register_push_device(
    ctx: Context,
    *,
    device_id: int,
    bouncer_public_key: str | None = None,
    encrypted_push_registration: str | None = None,
    push_key: str | None = None,
    push_key_id: int | None = None,
    token_id: str | None = None,
    token_kind: str | None = None,
) -> envelope.Answer[types.Success]:
    """Set a device up for push notifications."""
    if not ctx.adapters.push.is_configured:
        raise PushServiceNotConfigured()
    vault = ctx.adapters.vault
    await ctx.read(lambda db: devices.require_device(db, ctx.actor, device_id))
    key, token = devices.check_push_fields(
        push_key,
        push_key_id,
        token_kind,
        token_id,
        bouncer_public_key,
        encrypted_push_registration,
    )
    is_new = await ctx.write(
        lambda session: devices.begin_registration(
            session, vault, ctx.actor, device_id, key=key, token=token, now=ctx.now
        )
    )
    if is_new and token is not None:
        await _notify_relay(ctx, device_id, token)
    return envelope.success(ctx)


async def _notify_relay(ctx: Context, device_id: int, token: PushToken) -> None:
    """Register the token at the relay outside any unit, and store the result."""
    error_code, failure = None, None
    try:
        await ctx.adapters.push.register(
            _realm_uuid(ctx),
            token_id=token.token_id,
            public_key=token.public_key,
            registration=token.registration,
        )
    except RegistrationRefused as refused:
        error_code = refused.code
    except RelayFailed as error:
        failure = REFUSALS[type(error)]()
    await ctx.write_down(
        lambda session: devices.end_registration(
            session,
            ctx.actor,
            device_id,
            token.token_id,
            error_code=error_code,
            has_failed=failure is not None,
            now=ctx.now,
        )
    )
    if failure is not None:
        raise failure


async def send_test_push_notification(
    ctx: Context, *, device_id: int | None = None
) -> envelope.Answer[types.Success]:
    """Send a test notification to your devices."""
    actor, vault = ctx.actor, ctx.adapters.vault
    targets = await ctx.read(lambda db: devices.find_targets(db, vault, actor, device_id))
    payload = {
        "realm_name": actor.realm.name,
        "realm_url": realm_url(ctx),
        "time": UtcMs.to_ms(ctx.now) // 1000,
        "type": "test",
        "user_id": actor.id,
    }
    pushes = [
        Push(to.token_id, to.token_kind, to.key_id, encrypt(payload, to.key)) for to in targets
    ]
    try:
        gone = await ctx.adapters.push.notify(_realm_uuid(ctx), pushes)
    except RelayFailed as failure:
        raise REFUSALS[type(failure)]() from None
    if gone:
        await ctx.write_down(
            lambda session: devices.forget_tokens(session, actor, gone, now=ctx.now)
        )
    if all(push.token_id in gone for push in pushes):
        raise NoActivePushDevice()
    return envelope.success(ctx)


REFUSALS: Mapping[type[RelayFailed], type[ChatError]] = {
    RelayBroken: InternalServerErrorOnBouncer,
    RelayDenied: AdminActionRequired,
    RelayUnreachable: FailedToConnectBouncer,
}


def _realm_uuid(ctx: Context) -> str:
    """Return the organization's id at the relay, which follows from its host."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, ctx.actor.realm.host))
