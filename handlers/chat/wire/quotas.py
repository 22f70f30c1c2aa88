"""Where operations ask whether what they have just made is within its quota."""

from handlers.chat.wire.context import Context
from models.chat.ground.quotas import Quota, require_within


def require_own(ctx: Context, quota: Quota) -> None:
    """Of the actor's own things. Raises `QuotaExceeded`, as the others do."""
    require_of(ctx, quota, ctx.actor.id)


def require_realms(ctx: Context, quota: Quota) -> None:
    """Of the organization's."""
    require_of(ctx, quota, ctx.actor.realm_id)


def require_of(ctx: Context, quota: Quota, owner_id: int) -> None:
    """Of whatever the quota counts by."""
    require_within(ctx.session, quota, owner_id, most=getattr(ctx.settings, quota.setting))
