"""Operations of the tag uploads."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlalchemy.orm import Session

from adapters.file_store.store import StoreUnavailable
from adapters.file_store.uploads import store_upload
from adapters.images.pictures import NotAPicture
from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.pools import STORES, make_picture
from models.chat.common.quotas import ATTACHMENTS, require_within
from models.chat.rendering.previews import THUMBNAIL_SIZE
from models.chat.uploads import access, attachments, names
from models.chat.uploads.attachments import AttachmentRow, NewUpload
from models.chat.uploads.errors import UploadStoreUnavailable
from specd import File

if TYPE_CHECKING:
    from handlers.chat import types


async def upload_file(ctx: Context, *, file: File) -> envelope.Answer[types.FileUploaded]:
    """Upload a file."""
    actor, quota_mib = ctx.actor, ctx.settings.chat_upload_quota_mib
    name = names.check_name(file.name)
    new = NewUpload(
        handle=names.make_handle(),
        name=name,
        path_name=names.path_name_of(name),
        size=file.size,
        media_type=names.check_media_type(file.media_type, name),
    )
    await ctx.read(
        lambda db: attachments.require_space(db, actor.realm_id, new.size, quota_mib=quota_mib)
    )
    try:
        new = await _store(ctx, file.path, new)
    except StoreUnavailable as error:
        raise UploadStoreUnavailable() from error

    # A file without a row is swept by the worker. Deleting it here could leave a row without its
    # file, because it is not certain that a unit that failed was rolled back.
    def add(session: Session) -> AttachmentRow:
        attachments.require_space(session, actor.realm_id, new.size, quota_mib=quota_mib)
        row = attachments.add_upload(session, ctx.actor, new, now=ctx.now)
        require_within(session, ctx.settings, ATTACHMENTS, ctx.actor.id)
        return row

    row = await ctx.write(add)
    url = f"/user_uploads/{names.path_id_of(row.realm_id, row.handle, row.path_name)}"
    return envelope.success(ctx, {**envelope.OK, "uri": url, "url": url, "filename": row.name})


def get_temporary_url(
    ctx: Context, *, realm_id_str: str, filename: str
) -> envelope.Answer[types.TemporaryUrl]:
    """Get a temporary URL of a file."""
    row = access.access_upload(ctx.connection, ctx.actor, realm_id_str, filename)
    url = access.make_temporary_path(ctx.adapters.vault, ctx.actor, row, now=ctx.now)
    return envelope.success(ctx, {**envelope.OK, "url": url})


def list_attachments(ctx: Context) -> envelope.Answer[types.AttachmentList]:
    """Get your uploaded files."""
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "attachments": cast(
                "list[types.Attachment]", attachments.find_attachments(ctx.connection, ctx.actor)
            ),
            "upload_space_used": attachments.find_space_used(ctx.connection, ctx.actor.realm_id),
        },
    )


def delete_attachment(ctx: Context, *, attachment_id: int) -> envelope.Answer[types.Success]:
    """Delete an uploaded file."""
    attachments.delete_attachment(ctx.session, ctx.actor, attachment_id, now=ctx.now)
    return envelope.success(ctx)


async def _store(ctx: Context, path: Path, new: NewUpload) -> NewUpload:
    """Return what `store_upload` returns. Raise `StoreUnavailable`."""
    picture = None
    if new.media_type.startswith("image/"):
        target = path.with_name(f"{path.name}.small")
        # Without a picture it is stored and linked to, and has no preview.
        with suppress(NotAPicture):
            picture = await make_picture(
                ctx.actor.id, path, target, *THUMBNAIL_SIZE, only_still=True
            )
    return await STORES.run(
        store_upload, ctx.adapters.files, ctx.actor.realm_id, new, path, picture
    )
