"""Operations of the tag exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import realm_url
from handlers.chat.wire.context import Context
from models.chat.exports import requests as exports
from models.chat.exports.scope import PUBLIC

if TYPE_CHECKING:
    from handlers.chat import types


def create_export(
    ctx: Context, *, export_type: str = PUBLIC
) -> envelope.Answer[types.ExportCreated]:
    """Export the organization's data."""
    export_id = exports.request_export(
        ctx.session,
        ctx.actor,
        export_type,
        messages_max=ctx.settings.chat_export_messages_max,
        contact=ctx.settings.chat_administrator_email,
        base=realm_url(ctx),
        now=ctx.now,
    )
    return envelope.success(ctx, {**envelope.OK, "id": export_id})


def list_exports(ctx: Context) -> envelope.Answer[types.ExportList]:
    """List the exports of the organization's data."""
    records = exports.find_exports(
        ctx.connection,
        ctx.actor.realm_id,
        base=realm_url(ctx),
        links_for=(ctx.adapters.vault, ctx.actor),
        now=ctx.now,
    )
    return envelope.success(ctx, {**envelope.OK, "exports": cast("list[types.Export]", records)})


def list_export_consents(ctx: Context) -> envelope.Answer[types.ExportConsentList]:
    """List consents to the export of private data."""
    consents = exports.find_consents(ctx.connection, ctx.actor.realm_id)
    return envelope.success(
        ctx, {**envelope.OK, "export_consents": cast("list[types.ExportConsent]", consents)}
    )


def delete_export(ctx: Context, *, export_id: int) -> envelope.Answer[types.Success]:
    """Delete the archive of an export."""
    exports.delete_export(ctx.session, ctx.actor, export_id, base=realm_url(ctx), now=ctx.now)
    return envelope.success(ctx)
