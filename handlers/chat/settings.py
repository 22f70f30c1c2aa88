"""Operations of the tag settings: one's own settings, and administrators' for many."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope, limits
from handlers.chat.wire.addresses import realm_url
from handlers.chat.wire.auth import host_of
from handlers.chat.wire.context import Context
from handlers.chat.wire.pools import run_hashing
from models.chat.accounts.changes import change_own_name
from models.chat.identity.actors import access_realm
from models.chat.settings import email_changes, own_password, user_settings
from models.chat.settings.user_settings import Targets
from models.chat.snapshot.settings import describe_settings
from specd import Response

if TYPE_CHECKING:
    from handlers.chat import types

PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Email address</title>{}</html>\n'
)
ASK = "<p>Use {} from now on?</p><form method=post><button>Confirm</button></form>"
DONE = "<p>Your email address is {} from now on. You can close this window.</p>"


def get_settings(ctx: Context) -> envelope.Answer[types.OwnSettings]:
    """Get your settings."""
    settings = user_settings.find_settings(ctx.connection, ctx.actor.id)
    return envelope.success(
        ctx, {**envelope.OK, "settings": cast("types.UserSettings", describe_settings(settings))}
    )


async def update_settings(
    ctx: Context,
    *,
    email: str | None = None,
    full_name: str | None = None,
    new_password: str | None = None,
    old_password: str | None = None,
    target_users: types.TargetUsers | None = None,
    **settings: object,
) -> envelope.Answer[types.Success]:
    """Change your settings or those of other users."""
    if target_users is not None:
        targets = Targets(**target_users)
        more = any(value is not None for value in (email, full_name, new_password))
        user_settings.require_bulk_allowed(ctx.actor, targets, list(settings), more=more)
        return await _update_others(ctx, targets, settings)
    hashes = await _check_password(ctx, old_password or "", new_password) if new_password else None
    changes = user_settings.check_settings(settings)
    new_email = None
    if email is not None:
        new_email = await ctx.read(lambda db: email_changes.check_new_email(db, ctx.actor, email))
    if new_email is not None:
        wanted = new_email
        await limits.count_email_change(ctx)
        await ctx.read(lambda db: email_changes.require_free_or_hidden(db, ctx.actor, wanted))

    def change(session: Session) -> envelope.Answer[types.Success]:
        actor = ctx.actor
        if hashes is not None:
            old, new = hashes
            own_password.set_password(session, actor, old_hash=old, new_hash=new, now=ctx.now)
            limits.clear_attempts(ctx, session, actor.realm_id, actor.delivery_email)
        if full_name is not None:
            change_own_name(session, actor, full_name, now=ctx.now)
        if new_email is not None:
            vault, base_url = ctx.adapters.vault, f"{realm_url(ctx)}/api/v1"
            email_changes.ask_to_confirm(
                session, vault, actor, new_email, base_url=base_url, now=ctx.now
            )
        user_settings.change_settings(session, actor, changes, user_ids=[actor.id], now=ctx.now)
        return envelope.success(ctx)

    return await ctx.write(change)


async def update_notification_settings(
    ctx: Context, **parameters: Any
) -> envelope.Answer[types.Success]:
    """Change your notification settings."""
    return await update_settings(ctx, **parameters)


async def _update_others(
    ctx: Context, targets: Targets, settings: dict[str, object]
) -> envelope.Answer[types.Success]:
    changes = user_settings.check_settings(settings)

    def change(session: Session) -> envelope.Answer[types.Success]:
        user_settings.require_bulk_allowed(ctx.actor, targets, list(settings), more=False)
        user_settings.change_settings(
            session,
            ctx.actor,
            changes,
            user_ids=user_settings.find_target_ids(session, ctx.actor, targets),
            skip_if_already_edited=targets.skip_if_already_edited,
            now=ctx.now,
        )
        return envelope.success(ctx)

    return await ctx.write(change)


async def _check_password(ctx: Context, old: str, new: str) -> tuple[str | None, str]:
    """Return the hash of the old password, which is right, and of the new one, which is strong.

    Attempts count together with those to sign in and are cleared only when the password changes,
    because the right old password alone must not make attempts with a weak new one free.
    """
    await limits.count_own_attempt(ctx)
    old_hash = await ctx.read(lambda db: own_password.find_hash(db, ctx.actor))
    await run_hashing(own_password.check_old, old, old_hash)
    return old_hash, await run_hashing(own_password.hash_new, new)


def get_email_confirmation(
    ctx: Context, *, token: str
) -> envelope.Answer[types.EmailConfirmation] | Response:
    """Show the email change of an emailed link."""
    realm = access_realm(ctx.connection, host_of(ctx))
    change = email_changes.access_change(ctx.connection, realm, token, now=ctx.now)
    return _answer(ctx, change.new_email, ASK)


def confirm_new_email(
    ctx: Context, *, token: str
) -> envelope.Answer[types.EmailConfirmation] | Response:
    """Confirm a new email address with an emailed link."""
    realm = access_realm(ctx.session, host_of(ctx))
    email = email_changes.confirm_change(ctx.session, realm, token, now=ctx.now)
    return _answer(ctx, email, DONE)


def _answer(
    ctx: Context, email: str, text: str
) -> envelope.Answer[types.EmailConfirmation] | Response:
    if envelope.wants_page(ctx):
        return envelope.page(PAGE.format(text.format(escape(email))))
    answer: types.EmailConfirmation = {**envelope.OK, "new_email": email}
    return envelope.success(ctx, answer)
