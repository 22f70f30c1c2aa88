"""Operations of the tag drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat import drafts as stored
from models.chat.common.quotas import DRAFT_TEXTS, DRAFTS, require_texts_within, require_within
from models.chat.drafts import DraftData

if TYPE_CHECKING:
    from handlers.chat import types


def list_drafts(ctx: Context) -> envelope.Answer[types.DraftList]:
    """Get your drafts."""
    stored.require_synchronization(ctx.connection, ctx.actor)
    drafts = stored.find_drafts(ctx.connection, ctx.actor)
    return envelope.success(
        ctx, {**envelope.OK, "count": len(drafts), "drafts": cast("list[types.Draft]", drafts)}
    )


def create_drafts(
    ctx: Context, *, drafts: list[types.DraftData]
) -> envelope.Answer[types.DraftsCreated]:
    """Store drafts."""
    data = [_data(draft) for draft in drafts]
    ids = stored.create_drafts(ctx.session, ctx.actor, data, now=ctx.now)
    require_within(ctx.session, ctx.settings, DRAFTS, ctx.actor.id)
    require_texts_within(ctx.session, DRAFT_TEXTS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "ids": ids})


def update_draft(
    ctx: Context, *, draft_id: int, draft: types.DraftData
) -> envelope.Answer[types.Success]:
    """Change a draft."""
    stored.change_draft(ctx.session, ctx.actor, draft_id, _data(draft), now=ctx.now)
    require_texts_within(ctx.session, DRAFT_TEXTS, ctx.actor.id)
    return envelope.success(ctx)


def delete_draft(ctx: Context, *, draft_id: int) -> envelope.Answer[types.Success]:
    """Delete a draft."""
    stored.delete_draft(ctx.session, ctx.actor, draft_id, now=ctx.now)
    return envelope.success(ctx)


def _data(draft: types.DraftData) -> DraftData:
    return DraftData(
        kind=draft["type"],
        to=draft["to"],
        topic=draft["topic"],
        content=draft["content"],
        timestamp=draft.get("timestamp"),
    )
