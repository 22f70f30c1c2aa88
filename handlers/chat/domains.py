"""Operations of the tag domains."""

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import DOMAINS, require_within
from models.chat.organization import domains as realm_domains
from specd import Response


def list_domains(ctx: Context) -> Response:
    """List the email domains."""
    domains = realm_domains.find_domains(ctx.connection, ctx.actor.realm_id)
    return envelope.success(ctx, domains=domains)


def create_domain(ctx: Context, *, domain: str, allow_subdomains: bool) -> Response:
    """Add an email domain."""
    added = realm_domains.add_domain(
        ctx.session, ctx.actor, domain=domain, allow_subdomains=allow_subdomains, now=ctx.now
    )
    require_within(ctx.session, ctx.settings, DOMAINS, ctx.actor.realm_id)
    return envelope.success(ctx, new_domain=[added.id, added.domain])


def update_domain(ctx: Context, *, domain: str, allow_subdomains: bool) -> Response:
    """Include or exclude a domain's subdomains."""
    realm_domains.change_domain(
        ctx.session, ctx.actor, domain, allow_subdomains=allow_subdomains, now=ctx.now
    )
    return envelope.success(ctx)


def delete_domain(ctx: Context, *, domain: str) -> Response:
    """Remove an email domain."""
    realm_domains.remove_domain(ctx.session, ctx.actor, domain, now=ctx.now)
    return envelope.success(ctx)
