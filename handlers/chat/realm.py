"""Operations of the tag realm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.accounts.new_users import prepare_welcome_text, try_welcome_text
from models.chat.organization.settings import change_realm
from models.chat.rendering.texts import PreparedText
from models.chat.settings.user_defaults import change_user_defaults
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def update_realm(ctx: Context, **changes: object) -> envelope.Answer[types.Success]:
    """Change settings of the organization.

    `changes`: the parameters that were sent; null is a value of several settings.
    """
    change_realm(ctx.session, ctx.actor.realm_id, changes, actor=ctx.actor, now=ctx.now)
    return envelope.success(ctx)


def update_user_defaults(ctx: Context, **settings: object) -> envelope.Answer[types.Success]:
    """Change the default settings of new users.

    `settings`: the parameters that were sent.
    """
    change_user_defaults(ctx.session, ctx.actor, settings, now=ctx.now)
    return envelope.success(ctx)


def _prepare_welcome(ctx: Context, *, welcome_message_custom_text: str) -> PreparedText:
    return prepare_welcome_text(ctx.connection, ctx.actor, welcome_message_custom_text)


@before_transaction(_prepare_welcome)
def try_welcome_message(
    ctx: Context, text: PreparedText
) -> envelope.Answer[types.WelcomeMessageTried]:
    """Preview the welcome message for new users."""
    sent = try_welcome_text(ctx.session, ctx.actor, text, now=ctx.now)
    return envelope.success(ctx, {**envelope.OK, "message_id": sent})
