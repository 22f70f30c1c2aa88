"""Operations of the tag linkifiers."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import LINKIFIERS, require_within
from models.chat.organization import linkifiers
from models.chat.organization.linkifier_rules import (
    CheckedLinkifier,
    LinkifierFacts,
    check_linkifier,
)
from specd import Response, before_transaction


def list_linkifiers(ctx: Context) -> Response:
    """List the linkifiers."""
    records = linkifiers.list_linkifiers(ctx.connection, ctx.actor.realm_id)
    return envelope.success(ctx, linkifiers=records)


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
def create_linkifier(ctx: Context, checked: CheckedLinkifier) -> Response:
    """Add a linkifier."""
    linkifier_id = linkifiers.create_linkifier(ctx.session, ctx.actor, checked, now=ctx.now)
    require_within(ctx.session, ctx.settings, LINKIFIERS, ctx.actor.realm_id)
    return envelope.success(ctx, id=linkifier_id)


@before_transaction(_check)
def update_linkifier(ctx: Context, checked: CheckedLinkifier, *, filter_id: int) -> Response:
    """Change a linkifier."""
    linkifiers.update_linkifier(ctx.session, ctx.actor, filter_id, checked, now=ctx.now)
    return envelope.success(ctx)


def delete_linkifier(ctx: Context, *, filter_id: int) -> Response:
    """Remove a linkifier."""
    linkifiers.delete_linkifier(ctx.session, ctx.actor, filter_id, now=ctx.now)
    return envelope.success(ctx)


def reorder_linkifiers(ctx: Context, *, ordered_linkifier_ids: list[int]) -> Response:
    """Reorder the linkifiers."""
    linkifiers.reorder_linkifiers(ctx.session, ctx.actor, ordered_linkifier_ids, now=ctx.now)
    return envelope.success(ctx)
