"""Operations of the tag navigation_views."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import navigation_views
from models.chat.common.quotas import NAVIGATION_VIEWS, require_within
from specd import Response


def list_navigation_views(ctx: Context) -> Response:
    """Get your navigation views."""
    views = navigation_views.find_navigation_views(ctx.connection, ctx.actor)
    return envelope.success(ctx, navigation_views=views)


def add_navigation_view(
    ctx: Context, *, fragment: str, is_pinned: bool, name: str | None = None
) -> Response:
    """Add a navigation view."""
    navigation_views.add_navigation_view(
        ctx.session, ctx.actor, fragment=fragment, is_pinned=is_pinned, name=name, now=ctx.now
    )
    require_within(ctx.session, ctx.settings, NAVIGATION_VIEWS, ctx.actor.id)
    return envelope.success(ctx)


def update_navigation_view(
    ctx: Context, *, fragment: str, is_pinned: bool | None = None, name: str | None = None
) -> Response:
    """Change a navigation view."""
    navigation_views.change_navigation_view(
        ctx.session, ctx.actor, fragment, is_pinned=is_pinned, name=name, now=ctx.now
    )
    return envelope.success(ctx)


def remove_navigation_view(ctx: Context, *, fragment: str) -> Response:
    """Remove a navigation view."""
    navigation_views.remove_navigation_view(ctx.session, ctx.actor, fragment, now=ctx.now)
    return envelope.success(ctx)
