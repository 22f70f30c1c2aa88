"""Operations of the tag linkifiers."""

from handlers.chat import envelope
from handlers.chat.context import Context
from handlers.chat.quotas import require_realms
from models.chat import linkifiers
from models.chat.linkifier_rules import LinkifierFacts
from models.chat.quotas import LINKIFIERS
from server.response import Response


def list_linkifiers(ctx: Context) -> Response:
    """List the linkifiers."""
    found = linkifiers.list_linkifiers(ctx.session, ctx.actor.realm_id)
    return envelope.success(ctx, linkifiers=found)


def create_linkifier(
    ctx: Context,
    *,
    pattern: str,
    url_template: str,
    example_input: str | None = None,
    reverse_template: str | None = None,
    alternative_url_templates: list[str] | None = None,
) -> Response:
    """Add a linkifier."""
    wanted = LinkifierFacts(
        pattern, url_template, example_input, reverse_template, alternative_url_templates or ()
    )
    linkifier_id = linkifiers.create_linkifier(ctx.session, ctx.actor, wanted, now=ctx.now)
    require_realms(ctx, LINKIFIERS)
    return envelope.success(ctx, id=linkifier_id)


def update_linkifier(
    ctx: Context,
    *,
    filter_id: int,
    pattern: str,
    url_template: str,
    example_input: str | None = None,
    reverse_template: str | None = None,
    alternative_url_templates: list[str] | None = None,
) -> Response:
    """Change a linkifier."""
    wanted = LinkifierFacts(
        pattern, url_template, example_input, reverse_template, alternative_url_templates or ()
    )
    linkifiers.update_linkifier(ctx.session, ctx.actor, filter_id, wanted, now=ctx.now)
    return envelope.success(ctx)


def delete_linkifier(ctx: Context, *, filter_id: int) -> Response:
    """Remove a linkifier."""
    linkifiers.delete_linkifier(ctx.session, ctx.actor, filter_id, now=ctx.now)
    return envelope.success(ctx)


def reorder_linkifiers(ctx: Context, *, ordered_linkifier_ids: list[int]) -> Response:
    """Reorder the linkifiers."""
    linkifiers.reorder_linkifiers(ctx.session, ctx.actor, ordered_linkifier_ids, now=ctx.now)
    return envelope.success(ctx)
