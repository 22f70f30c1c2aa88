"""The store that the settings name for limits of several machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.secret_files import load_secret
from settings import Settings, SettingsError, variable

if TYPE_CHECKING:
    from adapters.limits.redis_store import RedisLimitStore

EXTRA = "limits"


def open_limit_store(
    settings: Settings, service: str, *, timeout_s: float | None = None
) -> RedisLimitStore | None:
    """Return the store of a service's counts, None where each machine counts by itself. It connects
    when it is used. `timeout_s` is the longest wait for an answer, if another than for requests.
    Raise `SettingsError` without the extra `limits`.

    Clients are known by a hash under the service's secret, which all machines share.
    """
    if not settings.limits_url:
        return None
    try:
        from adapters.limits.redis_store import RedisLimitStore  # an optional extra
    except ImportError as error:
        raise SettingsError(
            f"{variable('limits_url')} requires the extra `{EXTRA}`: pip install 'specd[{EXTRA}]'."
        ) from error
    secret = load_secret(
        settings.data_dir / f"{service}-secret", getattr(settings, f"{service}_secret")
    )
    if timeout_s is None:
        return RedisLimitStore(settings.limits_url, service=service, secret=secret)
    return RedisLimitStore(settings.limits_url, service=service, secret=secret, timeout_s=timeout_s)
