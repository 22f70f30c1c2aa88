"""Operations of the tag realm."""

from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.accounts.new_users import prepare_welcome_text, try_welcome_text
from models.chat.organization.settings import change_realm
from models.chat.rendering.texts import PreparedText
from models.chat.settings.user_defaults import change_user_defaults
from specd import Response, before_transaction


def update_realm(ctx: Context, **changes: Any) -> Response:
    """Change settings of the organization.

    `changes`: the parameters that were sent; null is a value of several settings.
    """
    change_realm(ctx.session, ctx.actor.realm_id, changes, actor=ctx.actor, now=ctx.now)
    return envelope.success(ctx)


def update_user_defaults(ctx: Context, **settings: Any) -> Response:
    """Change the settings that new users begin with.

    `settings`: the parameters that were sent.
    """
    change_user_defaults(ctx.session, ctx.actor, settings, now=ctx.now)
    return envelope.success(ctx)


def _prepare_welcome(ctx: Context, *, welcome_message_custom_text: str) -> PreparedText:
    return prepare_welcome_text(ctx.connection, ctx.actor, welcome_message_custom_text)


@before_transaction(_prepare_welcome)
def try_welcome_message(ctx: Context, text: PreparedText) -> Response:
    """Try a text for new members."""
    sent = try_welcome_text(ctx.session, ctx.actor, text, now=ctx.now)
    return envelope.success(ctx, message_id=sent)
