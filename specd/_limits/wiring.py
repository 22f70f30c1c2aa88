"""The store that the settings name for limits of several machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from specd._settings import Settings, SettingsError, variable

if TYPE_CHECKING:
    from specd._limits.redis_store import RedisLimitStore

EXTRA = "limits"


def open_limit_store(
    settings: Settings,
    service: str,
    find_secret: Callable[[], bytes],
    *,
    timeout_s: float | None = None,
) -> RedisLimitStore | None:
    """Return the store of a service's counts, None where each machine counts by itself. It connects
    when it is used. `timeout_s` is the longest wait for an answer, if another than for requests.
    Raise `SettingsError` without the extra `limits`.

    Clients are known by a hash under the secret that `find_secret` returns. All machines of the
    service must have the same.
    """
    if not settings.limits_url:
        return None
    try:
        from specd._limits.redis_store import RedisLimitStore  # an optional extra
    except ImportError as error:
        raise SettingsError(
            f"{variable('limits_url')} requires the extra `{EXTRA}`: pip install 'specd[{EXTRA}]'."
        ) from error
    secret = find_secret()
    if timeout_s is None:
        return RedisLimitStore(settings.limits_url, service=service, secret=secret)
    return RedisLimitStore(settings.limits_url, service=service, secret=secret, timeout_s=timeout_s)
