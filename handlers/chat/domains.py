"""Operations of the tag domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import DOMAINS, require_within
from models.chat.organization import domains as realm_domains

if TYPE_CHECKING:
    from handlers.chat import types


def list_domains(ctx: Context) -> envelope.Answer[types.DomainList]:
    """List the email domains."""
    domains = realm_domains.find_domains(ctx.connection, ctx.actor.realm_id)
    return envelope.success(ctx, {**envelope.OK, "domains": cast("list[types.Domain]", domains)})


def create_domain(
    ctx: Context, *, domain: str, allow_subdomains: bool
) -> envelope.Answer[types.DomainCreated]:
    """Add an email domain."""
    added = realm_domains.add_domain(
        ctx.session, ctx.actor, domain=domain, allow_subdomains=allow_subdomains, now=ctx.now
    )
    require_within(ctx.session, ctx.settings, DOMAINS, ctx.actor.realm_id)
    return envelope.success(ctx, {**envelope.OK, "new_domain": [added.id, added.domain]})


def update_domain(
    ctx: Context, *, domain: str, allow_subdomains: bool
) -> envelope.Answer[types.Success]:
    """Change whether a domain's subdomains are included."""
    realm_domains.change_domain(
        ctx.session, ctx.actor, domain, allow_subdomains=allow_subdomains, now=ctx.now
    )
    return envelope.success(ctx)


def delete_domain(ctx: Context, *, domain: str) -> envelope.Answer[types.Success]:
    """Remove an email domain."""
    realm_domains.remove_domain(ctx.session, ctx.actor, domain, now=ctx.now)
    return envelope.success(ctx)
