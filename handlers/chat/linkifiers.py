"""Operations of the tag linkifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import LINKIFIERS, require_within
from models.chat.organization import linkifiers
from models.chat.organization.linkifier_rules import (
    CheckedLinkifier,
    LinkifierFacts,
    check_linkifier,
)
from specd import before_transaction

if TYPE_CHECKING:
    from handlers.chat import types


def list_linkifiers(ctx: Context) -> envelope.Answer[types.LinkifierList]:
    """List the linkifiers."""
    records = linkifiers.list_linkifiers(ctx.connection, ctx.actor.realm_id)
    return envelope.success(
        ctx, {**envelope.OK, "linkifiers": cast("list[types.Linkifier]", records)}
    )


def _check(
    ctx: Context,
    *,
    pattern: str,
    url_template: str,
    example_input: str | None = None,
    reverse_template: str | None = None,
    alternative_url_templates: list[str] | None = None,
) -> CheckedLinkifier:
    return check_linkifier(
        LinkifierFacts(
            pattern, url_template, example_input, reverse_template, alternative_url_templates or ()
        )
    )


@before_transaction(_check)
def create_linkifier(
    ctx: Context, checked: CheckedLinkifier
) -> envelope.Answer[types.LinkifierCreated]:
    """Add a linkifier."""
    linkifier_id = linkifiers.create_linkifier(ctx.session, ctx.actor, checked, now=ctx.now)
    require_within(ctx.session, ctx.settings, LINKIFIERS, ctx.actor.realm_id)
    return envelope.success(ctx, {**envelope.OK, "id": linkifier_id})


@before_transaction(_check)
def update_linkifier(
    ctx: Context, checked: CheckedLinkifier, *, filter_id: int
) -> envelope.Answer[types.Success]:
    """Change a linkifier."""
    linkifiers.update_linkifier(ctx.session, ctx.actor, filter_id, checked, now=ctx.now)
    return envelope.success(ctx)


def delete_linkifier(ctx: Context, *, filter_id: int) -> envelope.Answer[types.Success]:
    """Remove a linkifier."""
    linkifiers.delete_linkifier(ctx.session, ctx.actor, filter_id, now=ctx.now)
    return envelope.success(ctx)


def reorder_linkifiers(
    ctx: Context, *, ordered_linkifier_ids: list[int]
) -> envelope.Answer[types.Success]:
    """Reorder the linkifiers."""
    linkifiers.reorder_linkifiers(ctx.session, ctx.actor, ordered_linkifier_ids, now=ctx.now)
    return envelope.success(ctx)
