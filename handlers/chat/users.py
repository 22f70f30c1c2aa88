"""Operations of the tag users."""

from typing import Any

from handlers.chat import envelope, render
from models.chat import profiles, statuses, users
from server.context import Context
from server.response import Response


def get_own_user(ctx: Context) -> Response:
    """Get your own user."""
    actor = ctx.actor
    return envelope.success(
        ctx,
        render.own_user(
            actor,
            max_message_id=users.find_max_message_id(ctx.session, actor.id),
            profile_data=profiles.find_profile(ctx.session, actor.id),
        ),
    )


def list_users(
    ctx: Context,
    *,
    client_extavatar: bool,
    include_custom_profile_fields: bool,
    client_gravatar: bool | None = None,
    user_ids: list[int] | None = None,
) -> Response:
    """List the users of the organization."""
    rows = users.find_users(ctx.session, ctx.actor, user_ids)
    known = None
    if include_custom_profile_fields:
        known = profiles.find_profiles(ctx.session, ctx.actor.realm_id)
    members = [
        render.user(
            row,
            ctx.actor,
            client_extavatar=_extavatar(client_extavatar, client_gravatar),
            profile_data=None if known is None else known.get(row.id, {}),
        )
        for row in rows
    ]
    return envelope.success(ctx, members=members)


def get_user_by_email(
    ctx: Context,
    *,
    email: str,
    client_extavatar: bool,
    include_custom_profile_fields: bool,
    client_gravatar: bool | None = None,
) -> Response:
    """Get a user by email."""
    row = users.access_user_by_email(ctx.session, ctx.actor, email)
    extavatar = _extavatar(client_extavatar, client_gravatar)
    return _one(ctx, row, extavatar, include_custom_profile_fields)


def get_user(
    ctx: Context,
    *,
    user_id: int,
    client_extavatar: bool,
    include_custom_profile_fields: bool,
    client_gravatar: bool | None = None,
) -> Response:
    """Get a user by id."""
    row = users.access_user(ctx.session, ctx.actor, user_id)
    extavatar = _extavatar(client_extavatar, client_gravatar)
    return _one(ctx, row, extavatar, include_custom_profile_fields)


def get_user_status(ctx: Context, *, user_id: int) -> Response:
    """Get a user's status."""
    return envelope.success(ctx, status=statuses.access_status(ctx.session, ctx.actor, user_id))


def update_own_status(
    ctx: Context,
    *,
    away: bool | None = None,
    emoji_code: str | None = None,
    emoji_name: str | None = None,
    reaction_type: str | None = None,
    status_text: str | None = None,
) -> Response:
    """Set your status."""
    text = statuses.check_status(status_text, away, emoji_name)
    kind = statuses.EXTRA if reaction_type == "zulip_extra_emoji" else reaction_type
    emoji = statuses.check_emoji(ctx.session, ctx.actor, emoji_name, emoji_code, kind)
    statuses.change_status(
        ctx.session, ctx.actor, status_text=text, away=away, emoji=emoji, now=ctx.now
    )
    return envelope.success(ctx)


def _one(ctx: Context, row: Any, client_extavatar: bool, with_profile: bool) -> Response:
    profile = profiles.find_profile(ctx.session, row.id) if with_profile else None
    body = render.user(row, ctx.actor, client_extavatar=client_extavatar, profile_data=profile)
    return envelope.success(ctx, user=body)


def _extavatar(client_extavatar: bool, client_gravatar: bool | None) -> bool:
    """The parameter under either of its names; the reference's own wins where it was sent."""
    return client_extavatar if client_gravatar is None else client_gravatar
