"""Opens the store that the settings name for limits shared by several machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from specd._settings import MissingExtra, Settings, variable

if TYPE_CHECKING:
    from specd._limits.redis_store import RedisLimitStore


def open_limit_store(
    settings: Settings,
    service: str,
    find_secret: Callable[[], bytes],
    *,
    timeout_s: float | None = None,
) -> RedisLimitStore | None:
    """Return the store of a service's counts, or None if each machine counts by itself. It connects
    when it is first used. `timeout_s` replaces the longest wait for a response. Raise
    `MissingExtra` without the extra `limits`.

    Clients are identified by a hash under the secret that `find_secret` returns. All machines of
    the service must have the same secret.
    """
    if not settings.limits_url:
        return None
    try:
        from specd._limits.redis_store import RedisLimitStore  # an optional extra
    except ImportError as error:
        raise MissingExtra(variable("limits_url"), "limits") from error
    secret = find_secret()
    if timeout_s is None:
        return RedisLimitStore(settings.limits_url, service=service, secret=secret)
    return RedisLimitStore(settings.limits_url, service=service, secret=secret, timeout_s=timeout_s)
