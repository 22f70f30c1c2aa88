"""Operations of the tag custom_emoji."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlalchemy.orm import Session

from adapters.file_store.store import StoreUnavailable
from adapters.images.pictures import NotAPicture
from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.pools import STORES, make_picture
from models.chat.access.people import find_visible_user_ids
from models.chat.common.quotas import CUSTOM_EMOJI, require_within
from models.chat.organization import emoji
from models.chat.organization.emoji import NewEmoji, find_custom_emoji
from models.chat.uploads.errors import BadImage, PictureTooLarge, UploadStoreUnavailable
from models.chat.uploads.names import key_of, make_handle
from specd import File

if TYPE_CHECKING:
    from handlers.chat import types


def list_custom_emoji(ctx: Context) -> envelope.Answer[types.CustomEmojiList]:
    """List the custom emoji."""
    db, actor = ctx.connection, ctx.actor
    visible_ids = find_visible_user_ids(db, actor)
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "emoji": cast(
                "dict[str, types.RealmEmoji]",
                find_custom_emoji(db, actor.realm_id, visible_ids=visible_ids),
            ),
        },
    )


async def create_custom_emoji(
    ctx: Context, *, emoji_name: str, file: File
) -> envelope.Answer[types.Success]:
    """Add a custom emoji."""
    name = emoji.check_emoji_name(emoji_name)
    actor = ctx.actor
    await ctx.read(lambda db: emoji.require_may_add(db, actor, name))
    if file.size > emoji.FILE_MAX_MIB << 20:
        raise PictureTooLarge(limit_mib=emoji.FILE_MAX_MIB)
    handle = make_handle()
    key = key_of(actor.realm_id, handle)
    is_animated = await _store(ctx, file.path, key)

    def add(session: Session) -> int:
        new = NewEmoji(name, handle, is_animated)
        emoji_id = emoji.add_custom_emoji(session, ctx.actor, new, now=ctx.now)
        require_within(session, ctx.settings, CUSTOM_EMOJI, ctx.actor.realm_id)
        return emoji_id

    await ctx.write(add)
    return envelope.success(ctx)


def delete_custom_emoji(ctx: Context, *, emoji_name: str) -> envelope.Answer[types.Success]:
    """Deactivate a custom emoji."""
    emoji.deactivate_custom_emoji(ctx.session, ctx.actor, emoji_name, now=ctx.now)
    return envelope.success(ctx)


async def _store(ctx: Context, source: Path, key: str) -> bool:
    """Store the small picture and, of an animation, its first frame. Return whether it is one."""
    store = ctx.adapters.files
    target = source.with_name(f"{source.name}.small")
    try:
        picture = await make_picture(ctx.actor.id, source, target, emoji.SIZE, emoji.SIZE)
    except NotAPicture:
        raise BadImage() from None
    try:
        await STORES.run(store.put, key, picture.small)
        if picture.still is not None:
            await STORES.run(store.put, key + emoji.STILL, picture.still)
    except StoreUnavailable as error:
        raise UploadStoreUnavailable() from error
    finally:
        picture.small.unlink(missing_ok=True)
        if picture.still is not None:
            picture.still.unlink(missing_ok=True)
    return picture.still is not None
