"""Counts the requests of a service under its own limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

from specd._engine.context import Context
from specd._engine.errors import RateLimited
from specd._engine.rate_limit import Limit, LimitStore, SharedTable, policy_headers
from specd._engine.response import Headers
from specd._limits.wiring import open_limit_store
from specd._settings import Settings


class RateLimiter:
    """Counts the requests of a service, each under one or several limits.

    `limits` maps a name to a number of requests and the seconds in which they are allowed, such as
    `{"user": (200, 60.0)}`. `counted(ctx)` returns pairs of the name of a limit and a client. The
    headers of a response show the first of these limits, and those of a refusal the limit that is
    used up. `announced(requests, remaining, resets_at)` returns these headers: its arguments are
    the limit, the number of requests that remain, and the Unix time at which all are allowed again.
    The default headers are `RateLimit-Policy` and `RateLimit`.
    """

    def __init__(
        self,
        table: SharedTable,
        *,
        limits: Mapping[str, tuple[int, float]],
        counted: Callable[[Any], Sequence[tuple[str, object]]],
        announced: Callable[[int, int, float], Headers] | None = None,
        store: LimitStore | None = None,
    ) -> None:
        self._table = table
        self._store = store
        self._limits = {name: Limit(*limit) for name, limit in limits.items()}
        self._counted = counted
        self._announced = announced

    @classmethod
    def for_service(
        cls,
        service: str,
        settings: Settings,
        *,
        limits: Mapping[str, tuple[int, float]],
        counted: Callable[[Any], Sequence[tuple[str, object]]],
        find_secret: Callable[[], bytes],
        announced: Callable[[int, int, float], Headers] | None = None,
    ) -> RateLimiter | None:
        """Return the rate limiter of a service, or None if the settings disable limits.

        All processes of this machine count together, and all machines do if the settings name a
        store. The store identifies clients by a hash under the secret that `find_secret` returns.
        All machines of the service must have the same secret.
        """
        if not settings.rate_limits:
            return None
        return cls(
            SharedTable(settings.data_dir / f"{service}.request-limits"),
            limits=limits,
            counted=counted,
            announced=announced,
            store=open_limit_store(settings, service, find_secret),
        )

    def take(self, ctx: Context) -> Headers:
        """Count one request and return the headers of its response. Raise `RateLimited`."""
        return self.count(self._counted(ctx), ctx.now.timestamp())

    def count(self, counted: Sequence[tuple[str, object]], now: float) -> Headers:
        """Count one request under pairs of limit and client. `now` is in Unix seconds. Return the
        headers of its response. Raise `RateLimited`.
        """
        first: Headers = ()
        for name, client in counted:
            limit = self._limits[name]
            allowance = self._table.take(f"{name} {client}", limit, now, self._store)
            if self._announced is None:
                headers = policy_headers(allowance)
            else:
                resets_at = now + allowance.reset_s
                headers = self._announced(limit.requests, allowance.remaining, resets_at)
            if allowance.wait_s:
                raise RateLimited(
                    limit=limit.requests,
                    retry_after_s=max(1, ceil(allowance.wait_s)),
                    rate_headers=headers,
                )
            first = first or headers
        return first
