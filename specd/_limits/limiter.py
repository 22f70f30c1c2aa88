"""Counts the requests of a service under limits of its own."""

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
    `{"user": (200, 60.0)}`. `counted(ctx)` returns pairs of the name of a limit and a client. Each
    response announces the first of these limits, a refusal the one that is used up:
    `announced(requests, remaining, resets_at)` returns the headers from the number of requests, of
    those that remain, and the Unix time at which all are allowed again. By default they are
    `RateLimit-Policy` and `RateLimit`.
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
        """Return the rate limiter of a service, or None if the settings turn limits off.

        All processes of this machine count together, and all machines if the settings name a store:
        there, clients are known by a hash under the secret that `find_secret` returns, which all
        machines of the service must have.
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
        """Count one request. Return the headers with the remaining ones. Raise `RateLimited`."""
        return self.count(self._counted(ctx), ctx.now.timestamp())

    def count(self, counted: Sequence[tuple[str, object]], now: float) -> Headers:
        """Count one request under pairs of limit and client at a time, in Unix seconds. Return the
        headers with the remaining requests. Raise `RateLimited`.
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
