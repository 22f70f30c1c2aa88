"""Operations of the tag exports."""

from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import realm_url
from handlers.chat.wire.context import Context
from models.chat.exports import requests as exports
from models.chat.exports.scope import PUBLIC
from specd import Response


def create_export(ctx: Context, *, export_type: str = PUBLIC) -> Response:
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
    return envelope.success(ctx, id=export_id)


def list_exports(ctx: Context) -> Response:
    """List the exports of the organization's data."""
    records = exports.find_exports(
        ctx.connection,
        ctx.actor.realm_id,
        base=realm_url(ctx),
        links_for=(ctx.adapters.vault, ctx.actor),
        now=ctx.now,
    )
    return envelope.success(ctx, exports=records)


def list_export_consents(ctx: Context) -> Response:
    """List consents to the export of private data."""
    consents = exports.find_consents(ctx.connection, ctx.actor.realm_id)
    return envelope.success(ctx, export_consents=consents)


def delete_export(ctx: Context, *, export_id: int) -> Response:
    """Delete the archive of an export."""
    exports.delete_export(ctx.session, ctx.actor, export_id, base=realm_url(ctx), now=ctx.now)
    return envelope.success(ctx)
