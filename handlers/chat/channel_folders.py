"""Operations of the tag channel_folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.channels import folders as channel_folders
from models.chat.channels.folders import FolderChanges
from models.chat.common.quotas import CHANNEL_FOLDERS, require_within
from models.chat.rendering.texts import render_texts
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def list_channel_folders(
    ctx: Context, *, include_archived: bool = False
) -> envelope.Answer[types.ChannelFolderList]:
    """List the channel folders."""
    folders = channel_folders.find_folders(
        ctx.connection, ctx.actor, include_archived=include_archived
    )
    return envelope.success(
        ctx, {**envelope.OK, "channel_folders": cast("list[types.ChannelFolder]", folders)}
    )


def _prepare(ctx: Context, *, description: str | None = None) -> str:
    text = description or ""
    return render_texts(ctx.connection, ctx.actor, [text])[text]


@before_transaction(_prepare)
def create_channel_folder(
    ctx: Context, html: str, *, name: str, description: str
) -> envelope.Answer[types.ChannelFolderCreated]:
    """Create a channel folder."""
    folder_id = channel_folders.create_folder(
        ctx.session,
        ctx.actor,
        name=name,
        description=description,
        html=html,
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, CHANNEL_FOLDERS, ctx.actor.realm_id)
    return envelope.success(ctx, {**envelope.OK, "channel_folder_id": folder_id})


@before_transaction(_prepare)
def update_channel_folder(
    ctx: Context,
    html: str,
    *,
    channel_folder_id: int,
    name: str | None = None,
    description: str | None = None,
    is_archived: bool | None = None,
) -> envelope.Answer[types.Success]:
    """Change, archive or restore a channel folder."""
    changes = FolderChanges(name=name, description=description, is_archived=is_archived)
    channel_folders.update_folder(
        ctx.session, ctx.actor, channel_folder_id, changes, html=html, now=ctx.now
    )
    return envelope.success(ctx)


def reorder_channel_folders(ctx: Context, *, order: list[int]) -> envelope.Answer[types.Success]:
    """Reorder the channel folders."""
    channel_folders.reorder_folders(ctx.session, ctx.actor, order, now=ctx.now)
    return envelope.success(ctx)
