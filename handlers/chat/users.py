"""Operations of the tag users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy.orm import Session

from adapters.file_store.store import StoreUnavailable
from adapters.images.pictures import NotAPicture
from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.pools import STORES, make_squares, run_hashing
from models.chat.access import naming as principals
from models.chat.access.people import UserRow, find_visible_user_ids
from models.chat.accounts import avatars, deactivation, new_users
from models.chat.accounts import changes as user_changes
from models.chat.accounts.changes import UserChanges
from models.chat.accounts.deactivation import Removal
from models.chat.accounts.key_renewal import renew_key
from models.chat.common.quotas import BOTS, require_within
from models.chat.deletion.removals import DeletionScope
from models.chat.identity import passwords
from models.chat.people import statuses, users
from models.chat.people import view as user_view
from models.chat.people.emoji import check_emoji, own_kind
from models.chat.profiles import profiles
from models.chat.profiles import values as profile_values
from models.chat.profiles.values import LONGEST_RENDERED
from models.chat.rendering.texts import render_texts
from models.chat.uploads.errors import BadImage, PictureTooLarge, UploadStoreUnavailable
from models.chat.uploads.names import make_handle
from specd import File, before_transaction, idempotent

if TYPE_CHECKING:
    from handlers.chat import types


def get_own_user(ctx: Context) -> envelope.Answer[types.OwnUser]:
    """Get your own user."""
    actor = ctx.actor
    visible_ids = find_visible_user_ids(ctx.connection, actor)
    profile, newest = profiles.find_own(ctx.connection, actor.id, visible_ids=visible_ids)
    body = user_view.describe_own_user(actor, max_message_id=newest, profile_data=profile)
    return envelope.success(ctx, cast("types.OwnUser", {**envelope.OK, **body}))


def list_users(
    ctx: Context,
    *,
    client_extavatar: bool = True,
    include_custom_profile_fields: bool = False,
    user_ids: list[int] | None = None,
) -> envelope.Answer[types.UserList]:
    """List the users of the organization."""
    rows = users.find_users(ctx.connection, ctx.actor, user_ids)
    visible_ids = find_visible_user_ids(ctx.connection, ctx.actor)
    filled_in = None
    if include_custom_profile_fields:
        filled_in = profiles.find_profiles(
            ctx.connection, ctx.actor.realm_id, visible_ids=visible_ids
        )
    members = [
        user_view.describe_user(
            row,
            ctx.actor,
            visible_ids=visible_ids,
            client_extavatar=client_extavatar,
            profile_data=None if filled_in is None else filled_in.get(row.id, {}),
        )
        for row in rows
    ]
    return envelope.success(ctx, {**envelope.OK, "members": cast("list[types.User]", members)})


def _sent_user(ctx: Context, *, email: str, full_name: str, password: str) -> dict[str, str]:
    sealed = ctx.adapters.keys.seal(password)
    return {"email": email, "full_name": full_name, "password": sealed}


@idempotent(sent=_sent_user)
async def create_user(
    ctx: Context, *, email: str, full_name: str, password: str
) -> envelope.Answer[types.UserCreated]:
    """Create a user."""
    new_users.require_may_create_users(ctx.actor)
    password_hash = await run_hashing(passwords.hash_if_strong, password)

    def create(session: Session) -> envelope.Answer[types.UserCreated]:
        user_id = new_users.add_user(
            session,
            ctx.adapters.keys,
            ctx.actor,
            email=email,
            full_name=full_name,
            password_hash=password_hash,
            now=ctx.now,
        )
        return envelope.success(ctx, {**envelope.OK, "user_id": user_id})

    return await ctx.write(create)


def get_user_by_email(
    ctx: Context,
    *,
    email: str,
    client_extavatar: bool = True,
    include_custom_profile_fields: bool = False,
) -> envelope.Answer[types.OneUser]:
    """Get a user by email."""
    row = principals.access_user(ctx.connection, ctx.actor, email)
    return _one(ctx, row, client_extavatar, include_custom_profile_fields)


def get_user(
    ctx: Context,
    *,
    user_id: int,
    client_extavatar: bool = True,
    include_custom_profile_fields: bool = False,
) -> envelope.Answer[types.OneUser]:
    """Get a user by id."""
    row = principals.access_user(ctx.connection, ctx.actor, user_id)
    return _one(ctx, row, client_extavatar, include_custom_profile_fields)


def _prepare_own_profile(ctx: Context, *, data: types.ProfileChanges) -> dict[str, str]:
    values = (entry["value"] for entry in data)
    texts = (value for value in values if isinstance(value, str) and len(value) <= LONGEST_RENDERED)
    return render_texts(ctx.connection, ctx.actor, texts)


def _prepare_profile(
    ctx: Context, *, profile_data: types.ProfileChanges | None = None
) -> dict[str, str]:
    return _prepare_own_profile(ctx, data=profile_data or [])


@before_transaction(_prepare_profile)
def update_user(
    ctx: Context,
    html: dict[str, str],
    *,
    user_id: int,
    full_name: str | None = None,
    role: int | None = None,
    profile_data: types.ProfileChanges | None = None,
    new_email: str | None = None,
) -> envelope.Answer[types.Success]:
    """Update a user."""
    values = [(entry["id"], entry["value"]) for entry in profile_data or ()]
    changes = UserChanges(full_name, role, values, new_email, html=html)
    user_changes.change_user(ctx.session, ctx.actor, user_id, changes, now=ctx.now)
    return envelope.success(ctx)


@before_transaction(_prepare_profile)
def update_user_by_email(
    ctx: Context, html: dict[str, str], *, email: str, **changes: Any
) -> envelope.Answer[types.Success]:
    """Update a user by email.

    `changes`: those of `update_user` that were sent.
    """
    user_id = principals.access_user(ctx.session, ctx.actor, email).id
    return update_user(ctx, html, user_id=user_id, **changes)


def deactivate_user(
    ctx: Context,
    *,
    user_id: int,
    actions: types.AccountDeletion | None = None,
    deactivation_notification_comment: str | None = None,
) -> envelope.Answer[types.Success]:
    """Deactivate a user."""
    wanted: types.AccountDeletion = actions or {}
    places = DeletionScope(
        public_channels=wanted.get("delete_public_channel_messages", False),
        private_channels=wanted.get("delete_private_channel_messages", False),
        direct=wanted.get("delete_direct_messages", False),
    )
    removal = Removal(profile=wanted.get("delete_profile", False), messages=places)
    deactivation.deactivate_user(
        ctx.session,
        ctx.actor,
        user_id,
        removal,
        comment=deactivation_notification_comment,
        now=ctx.now,
    )
    return envelope.success(ctx)


def deactivate_own_user(ctx: Context) -> envelope.Answer[types.Success]:
    """Deactivate your own account."""
    deactivation.deactivate_self(ctx.session, ctx.actor, now=ctx.now)
    return envelope.success(ctx)


def reactivate_user(ctx: Context, *, user_id: int) -> envelope.Answer[types.ReactivatedUser]:
    """Reactivate a user."""
    bot_owner_id, api_key = deactivation.reactivate_user(
        ctx.session, ctx.adapters.keys, ctx.actor, user_id, now=ctx.now
    )
    if bot_owner_id is not None:
        require_within(ctx.session, ctx.settings, BOTS, bot_owner_id, now=ctx.now)
    answer: types.ReactivatedUser = {"result": "success", "msg": ""}
    if api_key is not None:
        answer["api_key"] = api_key
    return envelope.success(ctx, answer)


def regenerate_own_api_key(ctx: Context) -> envelope.Answer[types.RenewedApiKey]:
    """Replace your API key."""
    actor = ctx.actor
    api_key = renew_key(
        ctx.session, ctx.adapters.keys, actor.realm, actor.id, actor_id=actor.id, now=ctx.now
    )
    return envelope.success(ctx, {**envelope.OK, "api_key": api_key})


async def upload_own_avatar(ctx: Context, *, file: File) -> envelope.Answer[types.OwnAvatar]:
    """Upload your avatar."""
    avatars.require_may_change(ctx.actor)
    if file.size > avatars.FILE_MAX_MIB << 20:
        raise PictureTooLarge(limit_mib=avatars.FILE_MAX_MIB)
    handle = make_handle()
    await _store_avatar(ctx, file.path, handle)
    return await _change_avatar(ctx, handle)


async def delete_own_avatar(ctx: Context) -> envelope.Answer[types.OwnAvatar]:
    """Delete your avatar."""
    return await _change_avatar(ctx, None)


@before_transaction(_prepare_own_profile)
def update_own_profile_data(
    ctx: Context, html: dict[str, str], *, data: types.ProfileChanges
) -> envelope.Answer[types.Success]:
    """Fill in your custom profile fields."""
    values = [(entry["id"], entry["value"]) for entry in data]
    actor = ctx.actor
    profile_values.set_profile_values(ctx.session, actor, actor.id, values, html=html, now=ctx.now)
    return envelope.success(ctx)


def clear_own_profile_data(ctx: Context, *, data: list[int]) -> envelope.Answer[types.Success]:
    """Clear some of your custom profile fields."""
    values = [(field_id, None) for field_id in data]
    actor = ctx.actor
    profile_values.set_profile_values(ctx.session, actor, actor.id, values, now=ctx.now)
    return envelope.success(ctx)


def get_user_status(ctx: Context, *, user_id: int) -> envelope.Answer[types.OneUserStatus]:
    """Get a user's status."""
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "status": cast(
                "types.UserStatus", statuses.access_status(ctx.connection, ctx.actor, user_id)
            ),
        },
    )


def update_own_status(
    ctx: Context,
    *,
    away: bool | None = None,
    emoji_code: str | None = None,
    emoji_name: str | None = None,
    reaction_type: str | None = None,
    status_text: str | None = None,
) -> envelope.Answer[types.Success]:
    """Set your status."""
    text = statuses.check_status(status_text, away, emoji_name)
    kind = own_kind(reaction_type)
    emoji = check_emoji(ctx.session, ctx.actor, emoji_name, emoji_code, kind)
    statuses.change_status(
        ctx.session, ctx.actor, ctx.actor.id, status_text=text, away=away, emoji=emoji, now=ctx.now
    )
    return envelope.success(ctx)


def update_user_status(
    ctx: Context,
    *,
    user_id: int,
    emoji_code: str | None = None,
    emoji_name: str | None = None,
    reaction_type: str | None = None,
    status_text: str | None = None,
) -> envelope.Answer[types.Success]:
    """Set a user's status."""
    statuses.require_person(ctx.session, ctx.actor, user_id)
    text = statuses.check_status(status_text, None, emoji_name)
    kind = own_kind(reaction_type)
    emoji = check_emoji(ctx.session, ctx.actor, emoji_name, emoji_code, kind)
    statuses.change_status_of(
        ctx.session, ctx.actor, user_id, status_text=text, emoji=emoji, now=ctx.now
    )
    return envelope.success(ctx)


async def _store_avatar(ctx: Context, source: Path, handle: str) -> None:
    """Store both forms of a picture. Raise `BadImage`, `UploadStoreUnavailable`."""
    key, key_of_medium = avatars.keys_of(ctx.actor.realm_id, handle)
    medium = source.with_name(f"{source.name}.medium")
    small = source.with_name(f"{source.name}.small")
    try:
        sides = {medium: avatars.SIZE_MEDIUM, small: avatars.SIZE}
        await make_squares(ctx.actor.id, source, sides)
        await STORES.run(ctx.adapters.files.put, key_of_medium, medium)
        await STORES.run(ctx.adapters.files.put, key, small)
    except NotAPicture:
        raise BadImage() from None
    except StoreUnavailable as error:
        raise UploadStoreUnavailable() from error
    finally:
        medium.unlink(missing_ok=True)
        small.unlink(missing_ok=True)


async def _change_avatar(ctx: Context, handle: str | None) -> envelope.Answer[types.OwnAvatar]:
    url, replaced = await ctx.write(
        lambda session: avatars.change_avatar(session, ctx.actor, handle, now=ctx.now)
    )
    if replaced is not None:
        try:
            for key in avatars.keys_of(ctx.actor.realm_id, replaced):
                await STORES.run(ctx.adapters.files.delete, key)
        except StoreUnavailable:
            pass  # the worker sweeps what no user refers to
    return envelope.success(ctx, {**envelope.OK, "avatar_url": url})


def _one(
    ctx: Context, row: UserRow, client_extavatar: bool, with_profile: bool
) -> envelope.Answer[types.OneUser]:
    visible_ids = find_visible_user_ids(ctx.connection, ctx.actor)
    profile = None
    if with_profile:
        profile = profiles.find_profile(ctx.connection, row.id, visible_ids=visible_ids)
    body = user_view.describe_user(
        row,
        ctx.actor,
        visible_ids=visible_ids,
        client_extavatar=client_extavatar,
        profile_data=profile,
    )
    return envelope.success(ctx, {**envelope.OK, "user": cast("types.User", body)})
