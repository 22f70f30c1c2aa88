"""Probes and metrics for operators: `/healthz` (the process), `/readyz` (its dependencies),
`/metrics`.
"""

from __future__ import annotations

import asyncio
import platform
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any, TypeVar

import structlog
from starlette.types import Scope

from specd._engine.pools import Pool
from specd._engine.response import Response, encode
from specd._engine.service import Gauge, Service
from specd._engine.serving.metrics import COUNTS_IN_FILES, METRICS_LAG_S, exposition
from specd._release import RELEASE

log = structlog.get_logger("specd.health")
PATHS = frozenset(("/healthz", "/readyz", "/metrics"))
_TIMEOUT_S = 5.0
_EXPOSITIONS = Pool("metrics", 1)
T = TypeVar("T")
BUILD: Gauge = (
    "specd_build_info",
    "The release that this server runs; the value is 1.",
    1,
    {"version": RELEASE, "python": platform.python_version()},
)
_FORWARDED = frozenset((b"x-forwarded-for", b"forwarded", b"via"))


def is_inside(scope: Scope) -> bool:
    """Return whether a request comes directly from this machine or a private network, not through
    a proxy.
    """
    peer = scope.get("client")
    if any(name.lower() in _FORWARDED for name, _ in scope["headers"]):
        return False
    try:
        return not peer or not peer[0] or ip_address(peer[0]).is_private
    except ValueError:
        return False


stopping = threading.Event()
"""Set while this process finishes its requests. It still serves, but is not ready."""


class Probes:
    """Responds to the operators' paths for all services of one process."""

    def __init__(self) -> None:
        self._services: list[Service] = []
        self._unready: set[str] = set()
        self._threads: dict[str, ThreadPoolExecutor] = {}
        self.flush_metrics: Callable[[], None] = lambda: None

    def watch(self, service: Service) -> None:
        """Include a service in `/readyz` and `/metrics`."""
        self._services.append(service)

    def close(self) -> None:
        """Stop all threads."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        self._threads.clear()

    async def respond(self, path: str, method: str, *, is_inside: bool) -> Response:
        """Return the response to GET or HEAD, or a 405 for any other method. Only responses to
        requests from inside contain the release.
        """
        if method not in ("GET", "HEAD"):
            return Response(
                405, encode({"status": "method not allowed"}), (("Allow", "GET, HEAD"),)
            )
        if path == "/healthz":
            told = {"version": RELEASE} if is_inside else {}
            return Response(200, encode({"status": "ok", **told}))
        if path == "/metrics":
            if COUNTS_IN_FILES:  # the other workers flush within METRICS_LAG_S
                await asyncio.sleep(METRICS_LAG_S * 1.2)
            self.flush_metrics()
            found = await asyncio.gather(*(self._gauges(service) for service in self._services))
            gauges = [BUILD, *(gauge for of_service in found for gauge in of_service)]
            body, media_type = await _EXPOSITIONS.run(exposition, gauges)
            return Response(200, body, media_type=media_type)
        return await self._readiness()

    async def _readiness(self) -> Response:
        if stopping.is_set():
            return Response(503, encode({"status": "stopping"}))
        checks = await asyncio.gather(*(self._check(service) for service in self._services))
        ready = all(state == "ok" for _, state in checks)
        body = {"status": "ok" if ready else "unavailable", "services": dict(checks)}
        return Response(200 if ready else 503, encode(body))

    async def _gauges(self, service: Service) -> Sequence[Gauge]:
        """Return the service's gauges. The result is empty after an error."""
        ask = service.gauges
        if ask is None:
            return ()
        try:
            return await self._in_time(service, ask, service.database, service.clock.now())
        except Exception as error:
            log.warning("no gauges", service=service.name, error=f"{type(error).__name__}: {error}")
            return ()

    async def _check(self, service: Service) -> tuple[str, str]:
        def ask() -> None:
            if service.database is not None:
                service.database.ping()
            if service.ready is not None:
                service.ready()

        try:
            await self._in_time(service, ask)
        except Exception as error:
            if service.name not in self._unready:  # once, not for each request
                reason = f"{type(error).__name__}: {error}"
                log.warning("not ready", service=service.name, error=reason)
            self._unready.add(service.name)
            return service.name, "unavailable"
        self._unready.discard(service.name)
        return service.name, "ok"

    async def _in_time(self, service: Service, ask: Callable[..., T], *parts: Any) -> T:
        """Run `ask` in the service's single probe thread, so that hanging probes do not accumulate,
        and return its result. Raise TimeoutError.
        """
        threads = self._threads.get(service.name)
        if threads is None:
            threads = self._threads[service.name] = ThreadPoolExecutor(1, f"{service.name}-probes")
        async with asyncio.timeout(_TIMEOUT_S):
            return await asyncio.get_running_loop().run_in_executor(threads, ask, *parts)
