"""Operations of the tag navigation_views."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import navigation_views
from models.chat.common.quotas import NAVIGATION_VIEWS, require_within

if TYPE_CHECKING:
    from handlers.chat import types


def list_navigation_views(ctx: Context) -> envelope.Answer[types.NavigationViewList]:
    """Get your navigation views."""
    views = navigation_views.find_navigation_views(ctx.connection, ctx.actor)
    return envelope.success(
        ctx, {**envelope.OK, "navigation_views": cast("list[types.NavigationView]", views)}
    )


def add_navigation_view(
    ctx: Context, *, fragment: str, is_pinned: bool, name: str | None = None
) -> envelope.Answer[types.Success]:
    """Add a navigation view."""
    navigation_views.add_navigation_view(
        ctx.session, ctx.actor, fragment=fragment, is_pinned=is_pinned, name=name, now=ctx.now
    )
    require_within(ctx.session, ctx.settings, NAVIGATION_VIEWS, ctx.actor.id)
    return envelope.success(ctx)


def update_navigation_view(
    ctx: Context, *, fragment: str, is_pinned: bool | None = None, name: str | None = None
) -> envelope.Answer[types.Success]:
    """Change a navigation view."""
    navigation_views.change_navigation_view(
        ctx.session, ctx.actor, fragment, is_pinned=is_pinned, name=name, now=ctx.now
    )
    return envelope.success(ctx)


def remove_navigation_view(ctx: Context, *, fragment: str) -> envelope.Answer[types.Success]:
    """Remove a navigation view."""
    navigation_views.remove_navigation_view(ctx.session, ctx.actor, fragment, now=ctx.now)
    return envelope.success(ctx)
