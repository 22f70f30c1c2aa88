"""The store that the settings name for limits of several machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specd._engine.rate_limit import (
    Allowance,
    Headers,
    Limit,
    RateLimiter,
    SharedTable,
    policy_headers,
)
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
    """Return the store of a service's counts, None where each machine counts by itself. It connects
    when it is used. `timeout_s` is the longest wait for an answer, if another than for requests.
    Raise `MissingExtra` without the extra `limits`.

    Clients are known by a hash under the secret that `find_secret` returns. All machines of the
    service must have the same.
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


def open_rate_limiter(
    settings: Settings,
    service: str,
    find_secret: Callable[[], bytes],
    *,
    limits: Mapping[str, Limit],
    counted: Callable[[Any], Sequence[tuple[str, object]]],
    announced: Callable[[Allowance, float], Headers] = policy_headers,
) -> RateLimiter | None:
    """Return what counts the requests of a service, or None if the settings turn limits off.

    `counted(ctx)` returns pairs of a limit and a client; `announced(allowance, now)` the headers of
    an answer. All processes of this machine count together, and all machines if the settings name
    a store: there, clients are known by a hash under the secret that `find_secret` returns.
    """
    if not settings.rate_limits:
        return None
    return RateLimiter(
        SharedTable(settings.data_dir / f"{service}.request-limits"),
        limits=limits,
        counted=counted,
        announced=announced,
        store=open_limit_store(settings, service, find_secret),
    )
