"""Operations of the tag saved_snippets."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import saved_snippets
from models.chat.common.quotas import (
    SAVED_SNIPPET_TEXTS,
    SAVED_SNIPPETS,
    require_texts_within,
    require_within,
)

if TYPE_CHECKING:
    from handlers.chat import types


def list_saved_snippets(ctx: Context) -> envelope.Answer[types.SavedSnippetList]:
    """Get your saved snippets."""
    snippets = saved_snippets.find_saved_snippets(ctx.connection, ctx.actor)
    return envelope.success(
        ctx, {**envelope.OK, "saved_snippets": cast("list[types.SavedSnippet]", snippets)}
    )


def create_saved_snippet(
    ctx: Context, *, title: str, content: str
) -> envelope.Answer[types.SavedSnippetCreated]:
    """Save a snippet."""
    snippet_id = saved_snippets.create_saved_snippet(
        ctx.session, ctx.actor, title=title, content=content, now=ctx.now
    )
    require_within(ctx.session, ctx.settings, SAVED_SNIPPETS, ctx.actor.id)
    require_texts_within(ctx.session, SAVED_SNIPPET_TEXTS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "saved_snippet_id": snippet_id})


def update_saved_snippet(
    ctx: Context, *, saved_snippet_id: int, title: str | None = None, content: str | None = None
) -> envelope.Answer[types.Success]:
    """Change a saved snippet."""
    saved_snippets.change_saved_snippet(
        ctx.session, ctx.actor, saved_snippet_id, title=title, content=content, now=ctx.now
    )
    require_texts_within(ctx.session, SAVED_SNIPPET_TEXTS, ctx.actor.id)
    return envelope.success(ctx)


def delete_saved_snippet(ctx: Context, *, saved_snippet_id: int) -> envelope.Answer[types.Success]:
    """Delete a saved snippet."""
    saved_snippets.delete_saved_snippet(ctx.session, ctx.actor, saved_snippet_id, now=ctx.now)
    return envelope.success(ctx)
